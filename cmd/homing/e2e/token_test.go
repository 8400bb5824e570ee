package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// twin is another installation on the same machine, with the same configuration and a data directory of its own.
func (w *world) twin() *world {
	w.Helper()
	c := *w
	c.dir, c.config, c.daemon = filepath.Join(w.dir, "twin"), maps.Clone(w.config), &daemon{}
	c.config["data_dir"] = c.data()
	c.environ = append(slices.Clone(w.environ), "XDG_RUNTIME_DIR="+filepath.Join(w.dir, "run"))
	if err := os.MkdirAll(c.workspace(""), 0o700); err != nil {
		w.Fatal(err)
	}
	c.configure()
	w.Cleanup(func() {
		if c.daemon.running() {
			c.kill()
		}
	})
	return &c
}

// of two installations with one token the first goes on undisturbed; the second serves everything else, says who has
// the token, keeps what it has to say, and takes over by itself once the first is gone, however that went.
func TestTokenInUse(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.answers("hello", "the first answers")
	w.start()
	other := w.twin()
	if r := other.run("doctor"); r.code != 1 || !strings.Contains(r.out, "the token is in use by process "+fmt.Sprint(w.daemon.command.Process.Pid)+", data_dir "+w.data()) {
		t.Errorf("doctor beforehand: code %d\n%s", r.code, r.out)
	}
	if r := w.run("doctor"); strings.Contains(r.out, "in use by") {
		t.Errorf("doctor of the first: %s", r.out)
	}
	other.begin("")
	telegram := func() platform {
		var status struct{ Platforms []platform }
		if r := other.run("status", "--json"); json.Unmarshal([]byte(r.out), &status) != nil {
			return platform{} // it is about to start
		}
		for _, p := range status.Platforms {
			if p.Platform == "telegram" {
				return p
			}
		}
		return platform{}
	}
	other.until("the second is parked", func() bool { return telegram().State == "parked" })
	if s := telegram(); s.Cause != "token_in_use" || !strings.Contains(s.Remedy, w.data()) {
		t.Errorf("the second says %+v", s)
	}
	other.do("send", "--to", fmt.Sprintf("telegram:%d", owner), "from the second")
	other.do("chat", "/platform pause telegram")
	other.do("chat", "/platform resume telegram") // gives it no right to the token either
	other.until("the second is parked again", func() bool { return telegram().Cause == "token_in_use" })
	p.ask("hello", "the first answers")
	if strings.Contains(p.seen(), "from the second") {
		t.Error("the second used the token")
	}
	w.kill()
	p.sees("from the second")
	other.until("the second is up", func() bool { return telegram().State == "up" })
	for _, c := range w.tg.Calls("getUpdates") {
		if c.Status == 409 {
			t.Error("both received at once")
		}
	}
}
