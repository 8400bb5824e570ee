package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/homing-gateway/homing/internal/process"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == process.SuperviseArg { // a supervisor of a daemon that a script started
		main()
	}
	testscript.Main(m, map[string]func(){"homing": main})
}

// The scripts tell how the command line behaves: codes, texts, files. Each has a data folder of its own, and needs neither a
// platform nor a model.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Deadline:            time.Now().Add(5 * time.Minute), // for a command that was to fail and serves
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code, "until": until},
	})
}

// code runs a command and wants that exit code: code 78 homing config check.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command...")
	}
	if got := exitCode(ts.Exec(args[1], args[2:]...)); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s ended with code %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

// until repeats a command until its output contains a text: until 'gateway running' homing status.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until text command...")
	}
	path := ""
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), ":") {
		if _, err := os.Stat(filepath.Join(dir, args[1])); err == nil && path == "" {
			path = filepath.Join(dir, args[1])
		}
	}
	var last []byte
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c := exec.Command(path, args[2:]...)
		c.Dir, c.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME")}
		last, _ = c.Output() // a command may fail until it doesn't
		if strings.Contains(string(last), args[0]) {
			return
		}
	}
	ts.Fatalf("%q did not come; at the end it was %q", args[0], last)
}

// Every command explains itself with an example, and its examples are command lines that exist.
func TestEveryCommandHasAnExample(t *testing.T) {
	t.Parallel()
	var commands [][]string
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		commands = append(commands, path)
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	walk(newRoot(), nil)
	if len(commands) < 20 {
		t.Fatalf("only %d commands", len(commands))
	}
	for _, path := range commands {
		t.Run(strings.Join(append([]string{"homing"}, path...), " "), func(t *testing.T) {
			var out bytes.Buffer
			root := newRoot()
			root.SetOut(&out)
			root.SetArgs(append(slices.Clone(path), "--help"))
			if err := root.Execute(); err != nil {
				t.Fatal(err)
			}
			_, examples, ok := strings.Cut(out.String(), "Examples:\n")
			examples, _, _ = strings.Cut(examples, "\n\n")
			if !ok || !strings.Contains(examples, "homing") {
				t.Fatalf("no example:\n%s", out.String())
			}
			for line := range strings.Lines(examples) {
				words := strings.Fields(line)
				if len(words) < 2 || words[0] != "homing" {
					continue
				}
				if c, _, err := newRoot().Find(words[1:]); err != nil || c == newRoot() || !c.HasParent() {
					t.Errorf("the example %q is of no command: %v", strings.TrimSpace(line), err)
				}
			}
		})
	}
}
