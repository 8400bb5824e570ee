package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/slack"
	"github.com/homing-gateway/homing/config"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/durable"
	"github.com/homing-gateway/homing/internal/gateway"
)

// slackAccount makes the account of the configured workspace. Which one that is only Slack can tell: it is asked once for a
// token, and the answer is kept, so that a later start needs no network.
func (d *daemon) slackAccount() (gateway.AccountOptions, error) {
	s := d.cfg.Platforms.Slack
	o := slackOptions(s, d.log)
	if err := o.Check(); err != nil {
		return gateway.AccountOptions{}, exit(exitConfig, fmt.Errorf("platforms.slack: %w", err))
	}
	out := gateway.AccountOptions{Access: access(s.Access), Account: chat.Account{Profile: config.DefaultProfile, Platform: slack.Name}, Claim: d.claim(o.BotToken)}
	file := filepath.Join(d.cfg.DataDir, "slack.json")
	me, err := knownIdentity(file, o.BotToken)
	switch {
	case err == nil:
		out.Adapter, err = slack.New(o, me)
		return out, err
	case !errors.Is(err, fs.ErrNotExist):
		d.log.Warn("the workspace is asked for again", zap.Error(err))
	}
	out.Learn = func(ctx context.Context) (chat.Adapter, error) {
		me, err := slack.Identify(ctx, o)
		if err != nil {
			return nil, err
		}
		if err := keepIdentity(file, o.BotToken, me); err != nil { // it is asked for again then
			d.log.Warn("the workspace is not kept", zap.Error(err))
		}
		return slack.New(o, me)
	}
	return out, nil
}

func slackOptions(s config.Slack, log *zap.Logger) slack.Options {
	return slack.Options{
		Profile: config.DefaultProfile, BotToken: s.BotToken.Reveal(), AppToken: s.AppToken.Reveal(), APIURL: s.APIURL, ReplyInThread: s.ReplyInThread, Log: log,
	}
}

// identities are what slack.json holds, by the digest of the bot token.
type identities map[string]slack.Identity

func tokenDigest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// knownIdentity gives whom a token stands for, as Slack said once; fs.ErrNotExist when nobody has asked.
func knownIdentity(file, token string) (slack.Identity, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return slack.Identity{}, err
	}
	var all identities
	if err := json.Unmarshal(text, &all); err != nil {
		return slack.Identity{}, fmt.Errorf("%s: %w", file, err)
	}
	me, ok := all[tokenDigest(token)]
	if !ok || me.Team == "" {
		return slack.Identity{}, fs.ErrNotExist
	}
	return me, nil
}

// keepIdentity writes the file anew, with this token alone: whom an old one stood for can be asked again.
func keepIdentity(file, token string, me slack.Identity) error {
	text, err := json.MarshalIndent(identities{tokenDigest(token): me}, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(file, append(text, '\n'))
}

// slackScopes are what the bot token has to be allowed.
func slackScopes() []string {
	return []string{"app_mentions:read", "channels:history", "chat:write", "files:read", "files:write", "groups:history", "im:history", "mpim:history", "users:read"}
}

// slackFinding looks at both tokens and at what they may do.
func slackFinding(ctx context.Context, c *config.Config) Finding {
	const check = "slack"
	s := c.Platforms.Slack
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	_, scopes, err := slack.Inspect(ctx, slackOptions(s, zap.NewNop()))
	if e, ok := errors.AsType[*chat.RunError](err); ok {
		remedy := e.Remedy
		if remedy == "" {
			remedy = "check the network and platforms.slack.api_url"
		}
		return Finding{check, wrong, fmt.Sprintf("%s: %v", e.Cause, e.Err), remedy}
	}
	lacking := slices.DeleteFunc(slackScopes(), func(scope string) bool { return slices.Contains(scopes, scope) })
	switch {
	case errors.Is(err, slack.ErrTokens):
		return Finding{check, wrong, err.Error(), "copy both tokens again from api.slack.com/apps"}
	case err != nil:
		return Finding{check, wrong, err.Error(), "check the network and platforms.slack.api_url"}
	case len(scopes) > 0 && len(lacking) > 0:
		return Finding{
			check, wrong, "the bot token lacks scopes: " + strings.Join(lacking, ", "),
			"add them at api.slack.com/apps, OAuth & Permissions, and install the app into the workspace again",
		}
	case len(s.AllowedUsers)+len(s.Admins) == 0 && !s.AllowAll:
		return Finding{check, warning, "the tokens work, but nobody may talk to the bot", "set platforms.slack.allowed_users"}
	}
	return Finding{check, sound, "both tokens work", ""}
}
