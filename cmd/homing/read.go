package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/homing-gateway/homing/internal/api"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/store"
	"github.com/homing-gateway/homing/internal/view"
)

// storeError gives the errors of the store their exit codes.
func storeError(err error) error {
	switch {
	case errors.Is(err, store.ErrDamaged):
		return exit(exitDamaged, err)
	case errors.Is(err, store.ErrInUse):
		return exit(exitInUse, err)
	case errors.Is(err, os.ErrPermission):
		return exit(exitNoAccess, err)
	}
	return err
}

// show reads a value and prints it, as JSON or by the given function.
func show[T any](g *global, path string, print func(T)) error {
	c, done, err := g.reader()
	if err != nil {
		return err
	}
	defer done()
	var v T
	if err := c.get(path, &v); err != nil {
		return err
	}
	if g.json {
		return printJSON(v)
	}
	print(v)
	return nil
}

// list is show for a list: while nothing was stored yet it is empty.
func list[T any](g *global, path string, print func([]T)) error {
	err := show(g, path, print)
	if errors.Is(err, store.ErrNoStore) {
		if g.json {
			return printJSON([]T{})
		}
		print(nil)
		return nil
	}
	return err
}

func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table prints rows under a head; without rows it says so.
func table(head string, rows [][]string) {
	if len(rows) == 0 {
		fmt.Println("none")
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, head)
	for _, r := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	_ = w.Flush()
}

func ago(t time.Time) string { return machine.Age(time.Since(t)) + " ago" }

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// do asks the daemon for a change and prints what it says.
func do(g *global, path string, body any) error {
	c, err := g.connect()
	if err != nil {
		return err
	}
	var got api.Done
	if err := c.post(path, body, &got); err != nil {
		return err
	}
	if g.json {
		return printJSON(got)
	}
	if got.Text != "" {
		fmt.Println(got.Text)
	} else if got.Outgoing != "" {
		fmt.Println(got.Outgoing)
	}
	return nil
}

func sessionsCommand(g *global) *cobra.Command {
	live := false
	ls := g.jsonFlag(leaf("ls", "list sessions with owner, route and end", "homing sessions ls --live", cobra.NoArgs, func([]string) error {
		path := "/sessions"
		if live {
			path += "?live=1"
		}
		return list(g, path, func(list []view.Session) {
			var rows [][]string
			for _, s := range list {
				state := s.State
				if s.EndReason != "" {
					state += ": " + s.EndReason
				}
				place := s.Route
				if place == "" {
					place = "for " + s.Owner
				}
				rows = append(rows, []string{s.ID, state, fmt.Sprint(s.Turns), ago(s.UpdatedAt), place, short(s.Title)})
			}
			table("ID\tSTATE\tTURNS\tACTIVE\tPLACE\tTITLE", rows)
		})
	}))
	ls.Flags().BoolVar(&live, "live", false, "leave ended ones out")
	return listing("sessions", "conversations and subagents' runs",
		ls,
		g.jsonFlag(leaf("show ID", "a session with its transcript", "homing sessions show ses_01J9ZK", cobra.ExactArgs(1), func(args []string) error {
			return show(g, "/sessions/"+escapeID(args[0]), printSession)
		})),
		g.jsonFlag(leaf("export ID", "a session as one JSON document, with all that its transcript holds", "homing sessions export ses_01J9ZK > conversation.json", cobra.ExactArgs(1), func(args []string) error {
			return show(g, "/sessions/"+escapeID(args[0])+"/export", func(s view.Export) { _ = printJSON(s) })
		})),
		g.jsonFlag(leaf("end ID", "end a conversation; its person may still resume it", "homing sessions end ses_01J9ZK", cobra.ExactArgs(1), func(args []string) error {
			return do(g, "/sessions/"+escapeID(args[0])+"/end", nil)
		})),
	)
}

func queueCommand(g *global) *cobra.Command {
	all, to := false, ""
	ls := g.jsonFlag(leaf("ls", "what is not finished: waiting, unknown, and dead with its reason", "homing queue ls\nhoming queue ls --all", cobra.NoArgs, func([]string) error {
		path := "/queue"
		if all {
			path += "?all=1"
		}
		return list(g, path, func(list []view.QueueEntry) {
			var rows [][]string
			for _, q := range list {
				about := q.Text
				if q.Queue == "completion" {
					about = q.Subject + " " + q.Status
				}
				rows = append(rows, []string{q.ID, stateOf(q.Common), ago(q.CreatedAt), q.Route, short(about)})
			}
			table("ID\tSTATE\tMADE\tROUTE\tABOUT", rows)
		})
	}))
	ls.Flags().BoolVar(&all, "all", false, "with what is finished")
	retry := g.jsonFlag(leaf("retry ID", "try a dead letter again", "homing queue retry out_01J9ZK\nhoming queue retry cmp_01J9ZK --to telegram:1001", cobra.ExactArgs(1), func(args []string) error {
		return do(g, "/queue/"+escapeID(args[0])+"/retry", api.To{To: to})
	}))
	retry.Flags().StringVar(&to, "to", "", "send it to another place")
	return listing("queue", "completions and outgoing messages, dead letters included",
		ls,
		g.jsonFlag(leaf("show ID", "one entry with everything known of it", "homing queue show cmp_01J9ZK", cobra.ExactArgs(1), func(args []string) error {
			return show(g, "/queue/"+escapeID(args[0]), printQueued)
		})),
		retry,
		g.jsonFlag(leaf("drop ID", "give a dead letter up", "homing queue drop out_01J9ZK", cobra.ExactArgs(1), func(args []string) error {
			return do(g, "/queue/"+escapeID(args[0])+"/drop", nil)
		})),
	)
}

func processesCommand(g *global) *cobra.Command {
	return listing("processes", "background processes",
		g.jsonFlag(leaf("ls", "list processes", "homing processes ls", cobra.NoArgs, func([]string) error {
			return list(g, "/processes", func(list []view.Process) {
				var rows [][]string
				for _, p := range list {
					code := ""
					if p.ExitCode != nil {
						code = fmt.Sprint(*p.ExitCode)
					}
					rows = append(rows, []string{p.ID, p.State, code, ago(p.CreatedAt), p.Owner, short(p.Command)})
				}
				table("ID\tSTATE\tCODE\tSTARTED\tOWNER\tCOMMAND", rows)
			})
		})),
		g.jsonFlag(leaf("log ID", "what a process has written", "homing processes log proc_01J9ZK", cobra.ExactArgs(1), func(args []string) error { return printLog(g, args[0]) })),
		g.jsonFlag(leaf("kill ID", "end a process", "homing processes kill proc_01J9ZK", cobra.ExactArgs(1), func(args []string) error {
			return do(g, "/processes/"+escapeID(args[0])+"/kill", nil)
		})),
	)
}

func printLog(g *global, typed string) error {
	c, done, err := g.reader()
	if err != nil {
		return err
	}
	defer done()
	whole := api.Log{}
	for {
		var page api.Log
		if err := c.get(fmt.Sprintf("/processes/%s/log?offset=%d", escapeID(typed), whole.Next), &page); err != nil {
			return err
		}
		if page.Dropped > 0 {
			whole.Output += fmt.Sprintf("[%d bytes were not kept]\n", page.Dropped)
		}
		last := page.End || page.Next == whole.Next
		whole.Output += page.Output
		whole.Next, whole.Total, whole.End = page.Next, page.Total, page.End
		whole.Dropped += page.Dropped
		if !last {
			continue
		}
		if g.json {
			return printJSON(whole)
		}
		fmt.Print(whole.Output)
		return nil
	}
}

func delegationsCommand(g *global) *cobra.Command {
	return listing("delegations", "delegated work and its subagents",
		g.jsonFlag(leaf("ls", "list delegations", "homing delegations ls", cobra.NoArgs, func([]string) error {
			return list(g, "/delegations", func(list []view.Delegation) {
				var rows [][]string
				for _, d := range list {
					goal := ""
					if len(d.Subagents) > 0 {
						goal = d.Subagents[0].Goal
					}
					rows = append(rows, []string{d.ID, d.State, fmt.Sprint(len(d.Subagents)), ago(d.CreatedAt), d.Session, short(goal)})
				}
				table("ID\tSTATE\tSUBAGENTS\tMADE\tFOR\tGOAL", rows)
			})
		})),
		g.jsonFlag(leaf("show ID", "a delegation with its results", "homing delegations show del_01J9ZK", cobra.ExactArgs(1), func(args []string) error {
			return show(g, "/delegations/"+escapeID(args[0]), printDelegation)
		})),
		g.jsonFlag(leaf("stop ID", "stop a delegation", "homing delegations stop del_01J9ZK", cobra.ExactArgs(1), func(args []string) error {
			return do(g, "/delegations/"+escapeID(args[0])+"/stop", nil)
		})),
	)
}

func traceCommand(g *global) *cobra.Command {
	c := g.jsonFlag(leaf("trace ID", "the causal chain of any id: who caused what, when, and why it went where it went", "homing trace cmp_01J9ZK", func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errorText("say which id: homing trace ID; homing queue ls lists them")
		}
		return cobra.ExactArgs(1)(c, args)
	}, func(args []string) error {
		return show(g, "/trace/"+escapeID(args[0]), func(t view.Trace) { fmt.Println(t.Text()) })
	}))
	c.Aliases = []string{"why"}
	return c
}

func sendCommand(g *global) *cobra.Command {
	to := ""
	c := g.jsonFlag(leaf("send --to ROUTE TEXT", "send a message through the running gateway", "homing send --to telegram:1001 \"the build is done\"", cobra.MinimumNArgs(1), func(args []string) error {
		return do(g, "/send", api.To{To: to, Text: strings.Join(args, " ")})
	}))
	c.Flags().StringVar(&to, "to", "", "the place: platform:chat[:thread], a route as printed, or platform for its home chat")
	_ = c.MarkFlagRequired("to")
	return c
}
