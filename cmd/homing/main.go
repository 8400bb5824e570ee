// Command homing is the gateway and its command line. It is thin: commands parse, ask the daemon or the store, and print;
// daemon.go wires a daemon together.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/homing-gateway/homing/internal/process"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == process.SuperviseArg {
		os.Exit(process.Supervise(os.Args[2:]))
	}
	os.Exit(run(os.Args[1:]))
}

// The exit codes, which scripts rely on.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNoDaemon = 68
	exitInUse    = 69
	exitInternal = 70
	exitDamaged  = 74
	exitHardStop = 76
	exitNoAccess = 77
	exitConfig   = 78
)

// exitError is an error with the exit code that tells it.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exit gives an error its exit code.
func exit(code int, err error) error { return &exitError{code, err} }

// run carries out one command line and returns the exit code.
func run(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "homing: internal error: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	e, ok := errors.AsType[*exitError](err)
	if !ok { // the command line itself is wrong: no command of ours returns a bare error
		fmt.Fprintln(os.Stderr, "homing:", err)
		fmt.Fprintln(os.Stderr, "homing --help lists the commands.")
		return exitUsage
	}
	if text := e.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "homing:", text)
	}
	return e.code
}
