package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What TestMain makes for all tests.
var (
	root    string // the folder that everything lies in
	binary  string // the program
	faulted string // the program with fault points
	racy    = os.Getenv("HOMING_TEST_RACE") != ""
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !isSet("test.parallel") { // these tests wait for processes and hardly compute
		_ = flag.Set("test.parallel", "16")
	}
	os.Exit(run(m))
}

func isSet(name string) bool {
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// run builds the program twice, tests it and cleans up.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "homing") // short: sockets lie below
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	root, binary, faulted = dir, filepath.Join(dir, "homing"), filepath.Join(dir, "homing-faulted")
	for path, tags := range map[string]string{binary: "", faulted: "faultpoint"} {
		args := []string{"build", "-o", path, "-tags", tags}
		cgo := "CGO_ENABLED=0"
		if racy {
			args, cgo = append(args, "-race"), "CGO_ENABLED=1"
		}
		build := exec.Command("go", append(args, "github.com/homing-gateway/homing/cmd/homing")...)
		build.Env = append(os.Environ(), cgo)
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}
