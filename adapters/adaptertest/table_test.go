package adaptertest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

const (
	document = "../../docs/adapters.md"
	begin    = "<!-- adapters-table: begin -->\n"
	end      = "<!-- adapters-table: end -->\n"
)

// The table in the document is what the adapters were seen to do.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	old, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no %s… %s", document, begin, end)
	}
	table := assemble(t)
	if os.Getenv("ADAPTERTEST_UPDATE") != "" {
		if err := os.WriteFile(document, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != table {
		t.Errorf("the table in %s is not what testdata says: run make adapters-table", document)
	}
}

// assemble makes one table of all columns. They have the same rows: each was compared with the suite's by its adapter's test.
func assemble(t *testing.T) string {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no columns in testdata: %v", err)
	}
	head, rule := "| behaviour |", "|---|"
	var rows []string
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := []rune(strings.TrimSuffix(filepath.Base(file), ".txt"))
		name[0] = unicode.ToUpper(name[0])
		head, rule = head+" "+string(name)+" |", rule+"---|"
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if i == 0 {
			rows = make([]string, len(lines))
		}
		if len(lines) != len(rows) {
			t.Fatalf("%s has %d rows, and others have %d: run make adapters-table", file, len(lines), len(rows))
		}
		for n, line := range lines {
			behaviour, cell, _ := strings.Cut(line, "\t")
			switch {
			case i == 0:
				rows[n] = "| " + behaviour + " |"
			case !strings.HasPrefix(rows[n], "| "+behaviour+" |"):
				t.Fatalf("%s has %q where others have %s: run make adapters-table", file, behaviour, rows[n])
			}
			rows[n] += " " + cell + " |"
		}
	}
	return "\n" + head + "\n" + rule + "\n" + strings.Join(rows, "\n") + "\n\n"
}
