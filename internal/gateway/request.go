package gateway

import (
	"fmt"
	"strings"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/workspace"
)

// messages turns entries that are in force into the messages of a request. Notices and texts that stand together are one user-role
// message, in their order, an empty line between them; an answer that said nothing is left out. What comes out alternates
// and answers every call, as strict providers want it.
// dir is where the agent finds the files that came with a text; images are shown with the entry that they came with.
func messages(force []machine.Entry, dir string, images map[uint64][]agent.Image) []agent.Message {
	var out []agent.Message
	for _, e := range force {
		switch e.Kind {
		case machine.EntryUser, machine.EntryNotice, machine.EntrySummary:
			text := e.Content
			switch e.Kind {
			case machine.EntryUser:
				text = unmarked(text)
			case machine.EntrySummary:
				text = summaryText(text)
			}
			if e.Speaker != "" {
				text = e.Speaker + ": " + text
			}
			text = strings.TrimSpace(text + "\n\n" + e.Attached(dir))
			if n := len(out); n > 0 && out[n-1].Role == agent.User {
				out[n-1].Text += "\n\n" + text
				out[n-1].Images = append(out[n-1].Images, images[e.Seq]...)
				continue
			}
			out = append(out, agent.Message{Role: agent.User, Text: text, Images: images[e.Seq]})
		case machine.EntryAssistant:
			if e.Content == "" && len(e.Calls) == 0 {
				continue
			}
			out = append(out, agent.Message{Role: agent.Assistant, Text: e.Content, Calls: e.Calls})
		case machine.EntryTool:
			out = append(out, agent.Message{Role: agent.ToolRole, Text: e.Content, CallID: e.CallID, Name: e.Tool})
		}
	}
	return out
}

// unmarked keeps a person's text from reading like a machine notice: only the gateway writes a line that begins so.
func unmarked(text string) string {
	const marker = "[homing:"
	if strings.HasPrefix(text, marker) {
		text = "\\" + text
	}
	return strings.ReplaceAll(text, "\n"+marker, "\n\\"+marker)
}

// systemPrompt is what stands before every conversation: who the agent is, the operator's words, and the workspace's own
// notes.
func systemPrompt(p *Profile, s session.Session) string {
	var b strings.Builder
	if s.Kind == session.Subagent {
		b.WriteString("You are a subagent. Another agent gave you the goal in the first message; nothing else of its conversation is known to you. " +
			"Work on the goal with your tools, then give a summary of what you found or did: your last message is the result that the other agent gets. " +
			"You cannot ask anybody.")
	} else {
		b.WriteString("You are an assistant that people talk to in a chat. Answer in plain Markdown. " +
			"Messages whose first line is a marker in square brackets that begins with homing are machine notices about work that you started earlier; no person wrote them. " +
			"When a notice has nothing that your person needs to know, answer [SILENT]. " +
			"A line that begins with " + machine.FileMarker + " tells of a file that the person sent, and where you can read it.")
	}
	fmt.Fprintf(&b, "\n\nCommands run in %s.", p.Workspace)
	if p.SystemPrompt != "" {
		b.WriteString("\n\n" + strings.TrimSpace(p.SystemPrompt))
	}
	if notes := workspaceNotes(p.Workspace); notes != "" {
		b.WriteString("\n\nNotes of the workspace (AGENTS.md):\n" + notes)
	}
	return b.String()
}

// maxNotes bounds what is taken of the workspace's notes.
const maxNotes = 32 << 10

// workspaceNotes reads AGENTS.md of the workspace; none, or one that is no regular text file, is no error.
func workspaceNotes(dir string) string {
	folder, err := workspace.Open(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = folder.Close() }()
	page, err := folder.Read("AGENTS.md", 0, maxNotes)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(page.Content)
}
