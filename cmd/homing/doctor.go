package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/config"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/store"
)

// Finding is what doctor says of one thing it looked at.
type Finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // ok | warning | error
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// The states of a finding.
const (
	sound   = "ok"
	warning = "warning"
	wrong   = "error"
)

// patient is how long doctor waits for anything outside of this machine.
const patient = 10 * time.Second

// lowDisk is how much free space a data folder should have at least, in bytes.
const lowDisk = 256 << 20

func doctorCommand(g *global) *cobra.Command {
	return g.jsonFlag(leaf("doctor", "check the installation: configuration, folder, store, disk, port, model, platforms",
		"homing doctor\nhoming doctor --json", cobra.NoArgs, func([]string) error {
			findings, err := examine(g)
			if err != nil {
				return err
			}
			bad := 0
			for _, f := range findings {
				if f.State == wrong {
					bad++
				}
			}
			if g.json {
				err = printJSON(findings)
			} else {
				for _, f := range findings {
					fmt.Printf("%-8s %-10s %s\n", f.State, f.Check, f.Text)
					if f.Remedy != "" {
						fmt.Printf("%-8s %-10s → %s\n", "", "", f.Remedy)
					}
				}
			}
			if err == nil && bad > 0 {
				err = errorText(fmt.Sprintf("%d thing(s) are wrong", bad))
			}
			return err
		}))
}

// examine looks at everything, with the daemon running or not.
func examine(g *global) ([]Finding, error) {
	loaded, err := g.load()
	if err != nil {
		return nil, err
	}
	c := &loaded.Config
	ctx, cancel := context.WithTimeout(context.Background(), 3*patient)
	defer cancel()
	conn, err := dialSocket(ctx, socketPath(c.DataDir))
	running := err == nil
	if running {
		_ = conn.Close()
	}
	var out []Finding
	for _, p := range slices.Concat(loaded.NotBuilt, loaded.RequireForRun(), malformed(c)) {
		out = append(out, Finding{"config", wrong, p.String(), "homing run refuses this: change it in the file"})
	}
	for _, p := range loaded.Warnings {
		out = append(out, Finding{"config", warning, p.String(), ""})
	}
	if len(out) == 0 {
		out = append(out, Finding{"config", sound, "in order: " + orDefaults(loaded.File), ""})
	}
	out = append(out, folder(c.DataDir), disk(c.DataDir), storeFile(c.DataDir, running))
	if !running {
		out = append(out, port(c.HTTP.Listen))
	}
	out = append(out, model(ctx, c))
	p := c.Platforms
	for _, t := range []struct {
		platform, token string
		enabled         bool
	}{
		{"telegram", p.Telegram.Token.Reveal(), p.Telegram.Enabled}, {"discord", p.Discord.Token.Reveal(), p.Discord.Enabled}, {"slack", p.Slack.BotToken.Reveal(), p.Slack.Enabled},
	} {
		if f, held := tokenFinding(t.platform, t.token, c.DataDir); t.enabled && held {
			out = append(out, f)
		}
	}
	if p.Telegram.Enabled {
		out = append(out, telegramAccount(ctx, c))
	}
	if c.Platforms.Discord.Enabled {
		out = append(out, discordAccount(ctx, c))
	}
	if c.Platforms.Slack.Enabled {
		out = append(out, slackFinding(ctx, c))
	}
	return out, nil
}

func orDefaults(file string) string {
	if file == "" {
		return "there is no file, defaults and environment hold"
	}
	return file
}

func folder(dir string) Finding {
	for at := dir; ; at = filepath.Dir(at) { // a start makes what is missing
		err := unix.Access(at, unix.W_OK|unix.X_OK)
		switch {
		case err == nil:
			return Finding{"data_dir", sound, dir, ""}
		case !errors.Is(err, unix.ENOENT) || at == filepath.Dir(at):
			return Finding{"data_dir", wrong, fmt.Sprintf("%s can't be used: %v", dir, err), "give this user the folder, or name another data_dir"}
		}
	}
}

func disk(dir string) Finding {
	var fs unix.Statfs_t
	for at := dir; unix.Statfs(at, &fs) != nil; at = filepath.Dir(at) {
		if at == filepath.Dir(at) {
			return Finding{"disk", warning, "the free space is not known", ""}
		}
	}
	free := int64(fs.Bavail) * fs.Bsize
	if free < lowDisk {
		return Finding{"disk", warning, fmt.Sprintf("only %d MiB are free below %s", free>>20, dir), "make room: a full disk stops the intake"}
	}
	return Finding{"disk", sound, fmt.Sprintf("%d MiB free", free>>20), ""}
}

func storeFile(dir string, running bool) Finding {
	if running {
		return Finding{"store", sound, "held by the running daemon", ""}
	}
	path := filepath.Join(dir, "homing.db")
	db, err := store.OpenRead(path)
	switch {
	case errors.Is(err, store.ErrNoStore):
		return Finding{"store", sound, "there is none yet", ""}
	case errors.Is(err, store.ErrInUse):
		return Finding{"store", wrong, "another process holds " + path, "end it; homing.lock in the same folder names a daemon"}
	case err != nil:
		return Finding{"store", wrong, err.Error(), "homing restore FILE puts a backup in its place"}
	}
	_ = db.Close()
	return Finding{"store", sound, path, ""}
}

func port(listen string) Finding {
	if listen == "" {
		return Finding{"port", sound, "none is wanted", ""}
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return Finding{"port", wrong, fmt.Sprintf("http.listen %s: %v", listen, err), "choose another address, or \"\" for none"}
	}
	_ = l.Close()
	return Finding{"port", sound, listen, ""}
}

// model asks for the list of models, which every compatible server has and which costs nothing.
func model(ctx context.Context, c *config.Config) Finding {
	if c.Agent.Provider == config.ProviderRehearsal {
		return Finding{"model", sound, "rehearsal: a script, no model", ""}
	}
	base := strings.TrimRight(c.Agent.BaseURL, "/")
	if base == "" {
		base = "https://api.openai.com/v1"
	}
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", http.NoBody)
	if err != nil {
		return Finding{"model", wrong, "agent.base_url is no address", "name the server's address, with its /v1"}
	}
	if key := c.Agent.APIKey.Reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return Finding{"model", wrong, fmt.Sprintf("%s can't be reached: %v", base, err), "check agent.base_url and whether the server runs"}
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return Finding{"model", wrong, base + " does not accept the key", "set agent.api_key"}
	case res.StatusCode >= 400:
		return Finding{"model", warning, fmt.Sprintf("%s answers %s to a question for its models", base, res.Status), "check agent.base_url: it usually ends with /v1"}
	}
	return Finding{"model", sound, base, ""}
}

func telegramAccount(ctx context.Context, c *config.Config) Finding {
	t := c.Platforms.Telegram
	a, err := telegram.New(telegram.Options{Token: t.Token.Reveal(), APIURL: t.APIURL, Log: zap.NewNop()})
	if err != nil {
		return Finding{"telegram", wrong, err.Error(), "copy the token from @BotFather again"}
	}
	defer a.Close()
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	hook, err := a.Webhook(ctx)
	if e, ok := errors.AsType[*chat.RunError](err); ok {
		remedy := e.Remedy
		if remedy == "" {
			remedy = "check the network and platforms.telegram.api_url"
		}
		return Finding{"telegram", wrong, fmt.Sprintf("%s: %v", e.Cause, e.Err), remedy}
	}
	switch {
	case err != nil:
		return Finding{"telegram", wrong, err.Error(), "check the network and platforms.telegram.api_url"}
	case hook != "":
		return Finding{"telegram", wrong, "a webhook is set, so that nothing comes here", "if nobody needs it: call deleteWebhook of the Bot API, without drop_pending_updates"}
	case len(t.AllowedUsers)+len(t.Admins) == 0 && !t.AllowAll:
		return Finding{"telegram", warning, "the token works, but nobody may talk to the bot", "set platforms.telegram.allowed_users"}
	}
	return Finding{"telegram", sound, "the token works, no webhook is set", ""}
}

func discordAccount(ctx context.Context, c *config.Config) Finding {
	d := c.Platforms.Discord
	a, err := discord.New(discord.Options{Token: d.Token.Reveal(), APIURL: d.APIURL, Version: version()})
	if err != nil {
		return Finding{"discord", wrong, err.Error(), "copy the token from the Bot page of the Developer Portal again"}
	}
	defer a.Close()
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	standing, err := a.Check(ctx)
	if e, ok := errors.AsType[*chat.RunError](err); ok && e.Remedy != "" {
		return Finding{"discord", wrong, fmt.Sprintf("%s: %v", e.Cause, e.Err), e.Remedy}
	}
	switch {
	case err != nil:
		return Finding{"discord", wrong, err.Error(), "check the network and platforms.discord.api_url"}
	case !standing.Content:
		return Finding{
			"discord", wrong, "the message content intent is off, so that Discord withholds what people write",
			"switch it on: Developer Portal, your application, Bot, Privileged Gateway Intents",
		}
	case len(d.AllowedUsers)+len(d.Admins) == 0 && !d.AllowAll:
		return Finding{"discord", warning, "the token works, but nobody may talk to the bot", "set platforms.discord.allowed_users"}
	}
	return Finding{"discord", sound, fmt.Sprintf("the token of %s works, the message content intent is on", standing.Bot), ""}
}
