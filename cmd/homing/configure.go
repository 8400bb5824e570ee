package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/homing-gateway/homing/config"
)

func configCommand(g *global) *cobra.Command {
	return group("config", "check, show and describe the configuration",
		leaf("check", "validate the configuration", "homing config check --config homing.yaml", cobra.NoArgs, func([]string) error { return checkConfig(g) }),
		g.jsonFlag(leaf("show", "the effective configuration, with the source of each value", "homing config show --json", cobra.NoArgs, func([]string) error { return showConfig(g) })),
		leaf("schema", "the JSON Schema of the file", "homing config schema > homing.schema.json", cobra.NoArgs, func([]string) error {
			b, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = os.Stdout.Write(append(bytes.TrimRight(b, "\n"), '\n'))
			return err
		}),
	)
}

func checkConfig(g *global) error {
	loaded, err := g.load()
	if err != nil {
		return err
	}
	for _, p := range slices.Concat(loaded.NotBuilt, loaded.Warnings, loaded.RequireForRun()) {
		fmt.Println("warning:", p)
	}
	if len(loaded.NotBuilt)+len(loaded.RequireForRun()) > 0 {
		fmt.Println("homing run will refuse this until the warnings above that ask for something are dealt with")
	}
	if loaded.File == "" {
		fmt.Println("no configuration file; defaults and environment are in order")
	} else {
		fmt.Printf("%s is in order\n", loaded.File)
	}
	return nil
}

func showConfig(g *global) error {
	loaded, err := g.load()
	if err != nil {
		return err
	}
	entries := loaded.Show()
	if g.json {
		return printJSON(entries)
	}
	var rows [][]string
	for _, e := range entries {
		source := e.Source
		if e.NotBuilt {
			source += ", without effect in this version"
		}
		rows = append(rows, []string{e.Path, fmt.Sprint(e.Value), source})
	}
	table("KEY\tVALUE\tSOURCE", rows)
	return nil
}

func initCommand(g *global) *cobra.Command {
	yes, force := false, false
	c := leaf("init", "write a commented configuration file", "homing init\nhoming init --yes --config ./homing.yaml", cobra.NoArgs, func([]string) error {
		path := g.options().InitPath()
		if path == "" {
			return errorText("there is no place for the file: name one with --config")
		}
		if _, err := os.Stat(path); err == nil && !force {
			return errorText(path + " exists already: --force overwrites it")
		}
		if !yes && !confirm("Write "+path+"?") {
			return errorText("nothing was written; --yes writes without asking")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return folderError(filepath.Dir(path), err)
		}
		if err := os.WriteFile(path, config.Example(), 0o600); err != nil {
			return folderError(filepath.Dir(path), err)
		}
		fmt.Printf("%s is written. Set a model and a platform's token in it, then: homing run\n", path)
		return nil
	})
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	return c
}

// confirm asks a person at the terminal; nobody there means no.
func confirm(question string) bool {
	fmt.Print(question + " [y/N] ")
	var answer string
	_, _ = fmt.Scanln(&answer)
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}
