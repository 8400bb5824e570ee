package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"

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
	for _, p := range slices.Concat(loaded.NotBuilt, loaded.Warnings, unheard(&loaded.Config), loaded.RequireForRun()) {
		fmt.Println("warning:", p)
	}
	if problems := malformed(&loaded.Config); len(problems) > 0 {
		return exit(exitConfig, &config.Error{Problems: problems})
	}
	what := loaded.File
	if what == "" {
		what = "no configuration file; what the defaults and the environment say"
	}
	if len(loaded.NotBuilt)+len(loaded.RequireForRun()) > 0 {
		fmt.Printf("%s is well-formed; homing run will refuse it until the warnings above that ask for something are dealt with\n", what)
		return nil
	}
	fmt.Printf("%s is in order\n", what)
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
