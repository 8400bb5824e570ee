package rehearsal

import (
	"regexp"
	"strings"
)

// notice is what a machine notice says beside its content.
type notice struct {
	kind, id, status string
	origin           string // where it comes from, as the gateway writes it
}

var (
	marker = regexp.MustCompile(`^\[homing:(delegation|process|watch) (\S+)(?: (.*))?\]$`)
	origin = regexp.MustCompile(`^(?:Origin: |Started by subagent )`)
)

// split takes a user-role message apart: notices come first, each beginning with its marker line, then, after an empty
// line, the texts of people. A notice may hold empty lines itself, so the texts begin at the first empty line after its
// origin; a notice that names no origin reaches to the next marker, or to the end.
func split(text string) []input {
	var out []input
	lines := strings.Split(text, "\n")
	for len(lines) > 0 {
		found := marker.FindStringSubmatch(lines[0])
		if found == nil {
			break
		}
		end := noticeEnd(lines)
		n := &notice{kind: found[1], id: found[2], status: found[3]}
		body := lines[min(2, end):end] // the second line says that this is a machine notice
		tail := len(body)
		for tail > 0 && (origin.MatchString(body[tail-1]) || strings.TrimSpace(body[tail-1]) == "") {
			tail--
		}
		n.origin = strings.TrimSpace(strings.Join(body[tail:], "\n"))
		out = append(out, input{notice: n, text: strings.TrimSpace(strings.Join(body[:tail], "\n"))})
		for lines = lines[end:]; len(lines) > 0 && strings.TrimSpace(lines[0]) == ""; {
			lines = lines[1:]
		}
	}
	rest := strings.Join(lines, "\n")
	if len(out) > 0 {
		rest = strings.TrimSpace(rest)
	}
	if strings.TrimSpace(rest) != "" {
		out = append(out, input{text: rest})
	}
	return out
}

// withoutSummary leaves out the summary of what was said before, which is nothing to be answered.
func withoutSummary(text string) string {
	const begins, ends = "[homing:summary]\n", "\n[homing:end of summary]"
	before, rest, found := strings.Cut("\n"+text, "\n"+begins)
	if !found {
		return text
	}
	_, after, _ := strings.Cut(rest, ends)
	return strings.TrimSpace(strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(after))
}

// noticeEnd is the number of lines of the notice that lines begin with.
func noticeEnd(lines []string) int {
	ended := false // the origin was seen
	for i := 1; i < len(lines); i++ {
		blank := strings.TrimSpace(lines[i]) == ""
		switch {
		case marker.MatchString(lines[i]) && strings.TrimSpace(lines[i-1]) == "":
			return i
		case blank && ended && (i+1 >= len(lines) || !origin.MatchString(lines[i+1])):
			return i
		case origin.MatchString(lines[i]):
			ended = true
		}
	}
	return len(lines)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
