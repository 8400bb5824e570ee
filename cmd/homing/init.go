package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/homing-gateway/homing/config"
)

func initCommand(g *global) *cobra.Command {
	yes, force := false, false
	c := leaf("init", "write a commented configuration file", "homing init\nhoming init --yes --config ./homing.yaml", cobra.NoArgs,
		func([]string) error { return writeConfig(g, yes, force) })
	c.Long = `Asks for the model, the chat platforms and the people who may talk to the agent, and writes a file in which every key stands
with its value and a comment. Nothing is written before the last answer; Ctrl-C ends it. --yes takes the defaults.

The file goes to --config, $HOMING_CONFIG, or $XDG_CONFIG_HOME/homing/homing.yaml.`
	c.Flags().BoolVar(&yes, "yes", false, "take the defaults without asking")
	c.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	return c
}

func writeConfig(g *global, yes, force bool) error {
	path := g.options().InitPath()
	if path == "" {
		return errorText("there is no place for the file: name one with --config")
	}
	// Looked at before the questions, and again at the end.
	free := func(string) error {
		if _, err := os.Lstat(path); err == nil && !force {
			return errorText(path + " exists already: --force overwrites it")
		}
		return nil
	}
	if err := free(path); err != nil {
		return err
	}
	text, hints := config.Example(), []string{"Set a model and a platform's token in it."}
	if !yes {
		if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
			return exit(exitUsage, errorText("there is no terminal to ask at, and nothing was written: --yes takes the defaults without asking"))
		}
		var err error
		if text, hints, err = askAtTerminal(path, g.options().LookupEnv); err != nil {
			return err
		}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return folderError(dir, err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil { // --force writes where a link leads
		path = target
	}
	err := writeFile(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	}, free)
	if _, told := errors.AsType[errorText](err); err != nil && !told {
		return folderError(dir, err)
	}
	if err != nil {
		return err
	}
	named := ""
	if g.configFile != "" {
		named = " --config " + g.configFile
	}
	fmt.Printf("%s is written, readable by you alone.\n", path)
	for _, h := range hints {
		fmt.Println(h)
	}
	fmt.Printf("Then: homing config check%s tells what is missing, homing run%s starts the gateway.\n", named, named)
	return nil
}

// askAtTerminal interviews the person at the terminal, which is as it was when it returns.
func askAtTerminal(path string, env func(string) (string, bool)) (text []byte, hints []string, err error) {
	fd := int(os.Stdin.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return nil, nil, fmt.Errorf("the terminal can't be asked at: %w", err)
	}
	defer func() { _ = term.Restore(fd, state) }()
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}, "")
	if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height)
	}
	return (&interview{terminal: t, env: env, values: map[string]config.Value{}}).run(path)
}
