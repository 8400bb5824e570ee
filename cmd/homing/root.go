package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/homing-gateway/homing/config"
)

// global is what every command knows of its surroundings.
type global struct {
	configFile string
	json       bool
}

func newRoot() *cobra.Command {
	g := &global{}
	root := &cobra.Command{
		Use:   "homing",
		Short: "A gateway that hosts AI agents in people's chats and brings every result home",
		Long: "Homing hosts AI agents in people's chats. Whatever an agent started and finishes later finds its way home:\n" +
			"to the conversation of the person for whom it was done, exactly once, whoever crashed in between.",
		Example:       "  homing demo            the product without any key\n  homing run             the gateway in the foreground\n  homing chat hello      a word with the running gateway",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&g.configFile, "config", "", "configuration file")
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		runCommand(g), demoCommand(g), initCommand(g), configCommand(g), statusCommand(g), doctorCommand(g), chatCommand(g), sessionsCommand(g), queueCommand(g),
		processesCommand(g), delegationsCommand(g), traceCommand(g), sendCommand(g), backupCommand(g), restoreCommand(g), versionCommand(g),
	)
	return root
}

// leaf makes a command. Its errors are those of doing; what cobra finds wrong with the line itself is usage.
func leaf(use, short, example string, args cobra.PositionalArgs, do func(args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: "  " + strings.ReplaceAll(example, "\n", "\n  "), Args: args,
		RunE: func(_ *cobra.Command, args []string) error { return coded(do(args)) },
	}
}

// coded gives an error without an exit code the one for "failed".
func coded(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*exitError); ok { //nolint:errorlint // only the outermost decides
		return err
	}
	return exit(exitFailed, err)
}

// group makes a command that only holds others. Called alone it is wrong usage.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	var examples []string
	for _, sub := range commands {
		examples = append(examples, sub.Example)
	}
	c.Example = strings.Join(slices.Compact(examples), "\n")
	c.AddCommand(commands...)
	c.RunE = func(c *cobra.Command, _ []string) error {
		_ = c.Help()
		return exit(exitUsage, errorText("say which: "+strings.Join(names(commands), ", ")))
	}
	return c
}

// listing is a group that lists when it is called alone: its first command is ls, with the same flags.
func listing(use, short string, ls *cobra.Command, others ...*cobra.Command) *cobra.Command {
	c := group(use, short, append([]*cobra.Command{ls}, others...)...)
	c.Flags().AddFlagSet(ls.Flags())
	c.RunE = ls.RunE
	return c
}

func names(commands []*cobra.Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Name())
	}
	return out
}

// errorText is an error that is only a text for people.
type errorText string

func (e errorText) Error() string { return string(e) }

// options says where the configuration may come from.
func (g *global) options() config.Options {
	dir, _ := os.Getwd()
	return config.Options{File: g.configFile, Dir: dir}.WithEnviron(os.Environ())
}

// load reads the configuration; what is wrong with it ends the command with exit code 78.
func (g *global) load() (*config.Loaded, error) {
	loaded, err := config.Load(g.options())
	if err != nil {
		return nil, exit(exitConfig, err)
	}
	return loaded, nil
}

// jsonFlag adds --json.
func (g *global) jsonFlag(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&g.json, "json", false, "print JSON")
	return c
}

func socketPath(dataDir string) string { return filepath.Join(dataDir, "homing.sock") }
