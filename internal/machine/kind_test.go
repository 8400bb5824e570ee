package machine_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/homing-gateway/homing/internal/machine"
)

// Every kind of request has a name, so that a test can let the process die before and after its commit.
func TestEveryRequestHasAName(t *testing.T) {
	named := []machine.Request{
		machine.Receive{},
		machine.Answered{},
		machine.Unanswered{},
		machine.Compacted{},
		machine.ToolDone{},
		machine.Started{},
		machine.Left{},
		machine.Ended{},
		machine.Promoted{},
		machine.Overdue{},
		machine.Claim{},
		machine.SendDone{},
		machine.Fetched{},
		machine.Discarded{},
		machine.Showing{},
		machine.Shown{},
		machine.Astray{},
		machine.Retracted{},
		machine.Observed{},
		machine.Due{},
		machine.Reachable{},
		machine.Say{},
		machine.EndSession{},
		machine.StopDelegation{},
		machine.KillProcess{},
		machine.Requeue{},
		machine.Drop{},
		machine.Examined{},
		machine.Recover{},
		machine.Shutdown{},
	}
	seen := map[string]bool{}
	for _, r := range named {
		kind := machine.KindOf(r)
		if kind == "" || seen[kind] {
			t.Errorf("%T is called %q, which is no name of its own", r, kind)
		}
		seen[kind] = true
	}
	if declared := requests(t); len(declared) != len(named) {
		t.Errorf("%d kinds of requests are declared, %d are named here: %v", len(declared), len(named), declared)
	}
}

// requests lists the types of the package that are requests.
func requests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "request" && fn.Recv != nil {
				out = append(out, fn.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(out)
	return out
}
