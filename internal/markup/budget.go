package markup

import "strings"

// The bounds of what is parsed. The parser's time can grow with the square of a paragraph's length when that paragraph
// consists of markup that never closes, and with the square of how deep quotations nest. Nobody writes such texts;
// machines do.
const (
	maxParsed  = 256 << 10
	maxNesting = 60
	maxWork    = 60_000_000 // markup characters of a paragraph times its length, summed up
	maxCells   = 100_000
	maxRules   = 2_000_000
)

// affordable tells whether parsing md takes time in proportion to its length.
func affordable(md string) bool {
	if len(md) > maxParsed {
		return false
	}
	work, marks, size := 0, 0, 0
	fence := ""
	for line := range strings.Lines(md) {
		body := strings.TrimLeft(line, " ")
		if f := fenceOf(body); len(line)-len(body) < 4 && f != "" && (fence == "" || closes(body, fence)) {
			if fence == "" {
				fence = f
			} else {
				fence = ""
			}
			work, marks, size = work+marks*size, 0, 0
			continue
		}
		if fence != "" {
			continue
		}
		if nesting(line) > maxNesting {
			return false
		}
		if strings.TrimSpace(line) == "" {
			work, marks, size = work+marks*size, 0, 0
			continue
		}
		size += len(line)
		for i := range len(line) {
			switch line[i] {
			case '[', ']', '*', '_', '~', '`', '<':
				marks++
			}
		}
	}
	return work+marks*size <= maxWork
}

// fenceOf gives the run of backticks or tildes that makes a line the border of a code block, or "".
func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	rest := strings.TrimLeft(line, line[:1])
	if n := len(line) - len(rest); n >= 3 && (line[0] == '~' || !strings.Contains(rest, "`")) {
		return line[:n]
	}
	return ""
}

func closes(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]+" \t\n") == ""
}

// nesting counts the quotations and lists that a line opens or continues.
func nesting(line string) int {
	n := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>':
			n++
		case strings.IndexByte("-+*.)", c) >= 0:
			if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				n++
			}
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return n
}

// tablesAffordable tells whether the tables of md stay of a sane size: every row counts as many cells as the widest, and
// every line that could be the rule below a heading makes the parser begin anew.
func tablesAffordable(md string) bool {
	rows, widest, rules := 0, 0, 0
	for line := range strings.Lines(md) {
		rows++
		widest = max(widest, strings.Count(line, "|"))
		if strings.Trim(line, "|:- \t\n") == "" && strings.Contains(line, "-") {
			rules++
		}
	}
	return widest*rows <= maxCells && rules*rows <= maxRules
}
