package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/homing-gateway/homing"

// mayImport says, for each package, which packages of the module it may import: imports point one way. Tests are free.
var mayImport = map[string][]string{
	"config":                           {},
	"internal/id":                      {},
	"internal/chat":                    {},
	"internal/durable":                 {},
	"internal/process":                 {"internal/durable"},
	"internal/workspace":               {},
	"internal/media":                   {"internal/durable"},
	"internal/agent":                   {},
	"internal/agent/openai":            {"internal/agent"},
	"internal/agent/openai/fakeopenai": {},
	"internal/agent/rehearsal":         {"internal/agent"},
	"internal/markup":                  {"internal/chat"},
	"internal/tool":                    {"internal/agent"},
	"internal/session":                 {"internal/chat", "internal/id"},
	"internal/delivery":                {"internal/chat", "internal/id", "internal/session"},
	"internal/machine":                 {"internal/agent", "internal/chat", "internal/delivery", "internal/id", "internal/session", "internal/tool"},
	"internal/store":                   {"internal/agent", "internal/chat", "internal/delivery", "internal/durable", "internal/id", "internal/machine", "internal/session"},
	"internal/view":                    {"internal/chat", "internal/delivery", "internal/id", "internal/machine", "internal/session", "internal/store"},
	"internal/gateway": {
		"internal/agent", "internal/chat", "internal/delivery", "internal/id", "internal/machine", "internal/markup", "internal/media", "internal/process",
		"internal/session", "internal/store", "internal/tool", "internal/view", "internal/workspace",
	},
	"internal/metrics":                  {"internal/chat", "internal/delivery", "internal/gateway", "internal/machine", "internal/session", "internal/view"},
	"internal/api":                      {"internal/gateway", "internal/id", "internal/machine", "internal/process", "internal/store", "internal/view"},
	"adapters/attempt":                  {"internal/chat"},
	"adapters/telegram":                 {"adapters/attempt", "internal/chat"},
	"adapters/adaptertest":              {"internal/chat"},
	"adapters/adaptertest/example":      {"internal/chat"},
	"adapters/discord":                  {"adapters/attempt", "internal/chat"},
	"adapters/adaptertest/fakeserver":   {},
	"adapters/adaptertest/faketelegram": {"adapters/adaptertest/fakeserver"},
	"adapters/adaptertest/fakediscord":  {"adapters/adaptertest/fakeserver"},
	"adapters/slack":                    {"adapters/attempt", "internal/chat"},
	"adapters/adaptertest/fakeslack":    {"adapters/adaptertest/fakeserver"},
}

// onlyIn says which package alone may import a library.
var onlyIn = map[string]string{
	"go.etcd.io/bbolt":                  "internal/store",
	"google.golang.org/protobuf":        "internal/store",
	"github.com/spf13/viper":            "config",
	"github.com/go-telegram/bot":        "adapters/telegram",
	"github.com/bwmarrin/discordgo":     "adapters/discord",
	"github.com/slack-go/slack":         "adapters/slack",
	"github.com/sashabaranov/go-openai": "internal/agent/openai",
	"github.com/spf13/cobra":            "cmd/homing",
	"github.com/yuin/goldmark":          "internal/markup",
	"github.com/prometheus":             "internal/metrics",
}

// pure packages hold rules: nothing that does I/O, logs, or waits is linked into them directly.
var (
	pure   = []string{"internal/session", "internal/delivery", "internal/tool", "internal/id", "internal/markup"}
	impure = []string{"os", "net", "net/http", "context", "log", "log/slog", "go.uber.org/zap", "database/sql", "os/exec"}
)

type listed struct {
	ImportPath string
	Doc        string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Doc,Imports", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// Imports point one way: cmd → adapters, gateway → … → the message form and the ids.
func TestImportDirections(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, listed := mayImport[name]
		isMain := name == "cmd/homing"
		if !listed && !isMain && !strings.HasSuffix(name, "e2e") {
			t.Errorf("%s is not in the table: say what it may import", name)
		}
		for _, i := range p.Imports {
			own, ours := strings.CutPrefix(i, module+"/")
			if ours && !isMain && !slices.Contains(allowed, own) {
				t.Errorf("%s must not import %s", name, own)
			}
			for lib, home := range onlyIn {
				if (i == lib || strings.HasPrefix(i, lib+"/")) && name != home {
					t.Errorf("%s imports %s, which only %s may", name, i, home)
				}
			}
			if slices.Contains(pure, name) && slices.Contains(impure, i) {
				t.Errorf("%s holds pure rules and imports %s", name, i)
			}
		}
	}
}

// Every package says what lives in it.
func TestPackagesAreDocumented(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}
