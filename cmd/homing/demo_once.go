package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/api"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/view"
)

// demo plays a story against a real gateway and keeps account of what held.
type demo struct {
	d      *demoDaemon
	out    io.Writer
	began  time.Time
	failed []string

	mu   sync.Mutex
	said []string // what the chat showed, in order
	conn io.ReadWriteCloser
}

// patience bounds every wait of the story.
const patience = 10 * time.Second

// playOnce plays the takeover scenario: a subagent's process ends while the subagent lives, the result comes home, the
// next message is answered by the person's own conversation, also after the gateway was killed in the middle.
func playOnce(d *demoDaemon, out io.Writer) error {
	p := &demo{d: d, out: out, began: time.Now()}
	defer p.hangUp()
	for _, act := range []func() error{p.greeting, p.takeover, p.surfaced, p.handoff, p.crash} {
		if err := act(); err != nil {
			return fmt.Errorf("%w\nThe chat so far:\n%s\nThe gateway's log:\n%s", err, p.transcript(), d.logs())
		}
	}
	fmt.Fprintf(out, "\n%.1f s. ", time.Since(p.began).Seconds())
	if len(p.failed) > 0 {
		fmt.Fprintf(out, "DID NOT HOLD: %s\n", strings.Join(p.failed, "; "))
		return errorText("the demo did not hold")
	}
	fmt.Fprintln(out, "Everything held.")
	return nil
}

func (p *demo) chapter(text string) { fmt.Fprintf(p.out, "\n━━ %s\n", text) }

func (p *demo) show(format string, a ...any) { fmt.Fprintf(p.out, "   "+format+"\n", a...) }

// holds writes a check down.
func (p *demo) holds(ok bool, what string) {
	if ok {
		fmt.Fprintln(p.out, "   ✔", what)
		return
	}
	fmt.Fprintln(p.out, "   ✖", what)
	p.failed = append(p.failed, what)
}

// connect attaches to the chat and keeps what is shown.
func (p *demo) connect() error {
	conn, err := p.d.client.chat()
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.conn = conn
	p.mu.Unlock()
	d := &dialogue{conn: conn, lines: bufio.NewReader(conn), out: io.Discard}
	go func() { // ends with the connection
		for {
			f, err := d.next()
			if err != nil {
				return
			}
			if f.Type == "message" {
				p.mu.Lock()
				p.said = append(p.said, f.Text)
				p.mu.Unlock()
			}
		}
	}()
	return nil
}

func (p *demo) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close()
	}
}

func (p *demo) say(text string) error {
	fmt.Fprintf(p.out, "   you ▸ %s\n", text)
	d := &dialogue{conn: p.conn, ids: id.NewSource(nil)}
	return d.send(api.Frame{Type: "say", ID: d.ids.New("say_", time.Now()), Text: text})
}

func (p *demo) transcript() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, "\n")
}

// count counts the messages that contain all of the texts.
func (p *demo) count(subs ...string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
message:
	for _, m := range p.said {
		for _, s := range subs {
			if !strings.Contains(m, s) {
				continue message
			}
		}
		n++
	}
	return n
}

// hears waits for the n-th message that contains all of the texts, and shows it.
func (p *demo) hears(n int, subs ...string) error {
	if err := p.until("the chat shows "+strings.Join(subs, " and "), func() (bool, error) { return p.count(subs...) >= n, nil }); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range slices.Backward(p.said) {
		if strings.Contains(m, subs[0]) {
			fmt.Fprintf(p.out, "   agent ▸ %s\n", strings.ReplaceAll(m, "\n", "\n           "))
			return nil
		}
	}
	return nil
}

// until waits for a condition.
func (p *demo) until(what string, holds func() (bool, error)) error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ok, err := holds()
		if err != nil || ok {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("not within %s: %s", patience, what)
		}
	}
}

// owner returns the chat's conversation as the store has it.
func (p *demo) owner() (view.Session, error) {
	var list []view.Session
	if err := p.d.client.get("/sessions?live=1", &list); err != nil {
		return view.Session{}, err
	}
	for _, s := range list {
		if s.Kind == "chat" {
			return s, nil
		}
	}
	return view.Session{}, errorText("no conversation is live")
}

// sameSeat checks that the place is still in the same conversation, under the same version of its route.
func (p *demo) sameSeat(before view.Session) error {
	after, err := p.owner()
	if err != nil {
		return err
	}
	p.show("route   %s", after.Route)
	p.show("before  %s, version %d", before.ID, before.RouteVersion)
	p.show("after   %s, version %d", after.ID, after.RouteVersion)
	p.holds(after.ID == before.ID && after.RouteVersion == before.RouteVersion && after.State == "live", "the place is in the same conversation, its route was not touched")
	return nil
}

// answersAsOwner asks who answers, and checks that it is the person's own conversation.
func (p *demo) answersAsOwner(owner view.Session, n int) error {
	if err := p.say("what did we talk about?"); err != nil {
		return err
	}
	if err := p.hears(n, "You first said"); err != nil {
		return err
	}
	p.holds(p.count("You first said", owner.ID, "hello") == n, "the next message is answered by the person's own conversation "+owner.ID)
	return nil
}

// home shows how a completion of that kind came home: the walk, the proof, and what was delivered where.
func (p *demo) home(kind, text string) error {
	var queue []view.QueueEntry
	if err := p.until("what is shown is on record as sent", func() (bool, error) {
		err := p.d.client.get("/queue", &queue)
		return len(queue) == 0, err
	}); err != nil {
		return err
	}
	if err := p.d.client.get("/queue?all=1", &queue); err != nil {
		return err
	}
	for _, c := range slices.Backward(queue) {
		if c.Queue == "completion" && c.Kind == kind && strings.Contains(c.Text, text) {
			p.show("%s of %s: %s %s", c.ID, c.Subject, c.State, c.Reason)
			p.show("owner walk  %s → proof: route version %d", strings.Join(c.Path, " → "), c.Version)
			for _, m := range queue {
				if c.Turn != "" && m.Queue == "outgoing" && m.Turn == c.Turn {
					p.show("delivered   %s to %s: %s", m.ID, m.Route, m.State)
				}
			}
			return nil
		}
	}
	return fmt.Errorf("no completion of kind %s about %q", kind, text)
}

func (p *demo) greeting() error {
	p.chapter("A person talks to the agent")
	if err := p.d.start(false); err != nil {
		return err
	}
	if err := p.connect(); err != nil {
		return err
	}
	if err := p.say("hello"); err != nil {
		return err
	}
	return p.hears(1, "Hello!")
}

// takeover: the fault that others have. A subagent's process ends while the subagent is at work.
func (p *demo) takeover() error {
	p.chapter("A subagent's process ends while the subagent works; its result comes home")
	p.show("Elsewhere such an end makes the subagent the chat's owner, and its real report is lost. Here the place keeps its")
	p.show("conversation: its route and the version of it do not move. The process itself is told to nobody (the switch is off).")
	before, err := p.owner()
	if err != nil {
		return err
	}
	if err := p.say("research otters"); err != nil {
		return err
	}
	if err := p.hears(1, "Findings on otters"); err != nil {
		return err
	}
	if err := p.sameSeat(before); err != nil {
		return err
	}
	if err := p.home("delegation", "otters"); err != nil {
		return err
	}
	if err := p.home("process", "otters"); err != nil {
		return err
	}
	p.holds(p.count("Findings on otters") == 1, "the report was shown exactly once")
	p.holds(p.count("started by subagent") == 0, "nothing was shown of the subagent's process")
	return p.answersAsOwner(before, 1)
}

// surfaced: the same with the switch on.
func (p *demo) surfaced() error {
	p.chapter("The same with delegation.surface_child_process_notifications on (an orderly restart first)")
	before, err := p.owner()
	if err != nil {
		return err
	}
	p.hangUp()
	code := p.d.stop()
	p.holds(code == 0, fmt.Sprintf("the gateway ended in order (exit code %d)", code))
	if err := p.d.start(true); err != nil {
		return err
	}
	if err := p.connect(); err != nil {
		return err
	}
	if err := p.say("research beavers"); err != nil {
		return err
	}
	if err := p.hears(1, "started by subagent", "Research beavers"); err != nil {
		return err
	}
	if err := p.hears(1, "Findings on beavers"); err != nil {
		return err
	}
	p.holds(p.count("started by subagent", "Research beavers") == 1, "one receipt, with its attribution, and no turn of its own")
	return p.sameSeat(before)
}

// handoff: a subagent leaves a running process to the person's conversation.
func (p *demo) handoff() error {
	p.chapter("A subagent hands a running process off; its end is the person's conversation's to tell")
	p.show("The subagent is gone by then. The walk from the process begins at the person's own conversation.")
	before, err := p.owner()
	if err != nil {
		return err
	}
	if err := p.say("research dams and hand the build off"); err != nil {
		return err
	}
	if err := p.hears(1, "Findings on dams"); err != nil {
		return err
	}
	if err := p.hears(1, "The build is ready"); err != nil {
		return err
	}
	if err := p.home("process", "built: dams"); err != nil {
		return err
	}
	return p.sameSeat(before)
}

// crash: the gateway is killed while a subagent and its process are at work.
func (p *demo) crash() error {
	p.chapter("The gateway is killed (SIGKILL) while a subagent is at work")
	p.show("Everything that was begun is on disk; commands run under supervisors of their own and do not notice.")
	before, err := p.owner()
	if err != nil {
		return err
	}
	if err := p.say("research herons"); err != nil {
		return err
	}
	if err := p.until("the subagent's command runs", func() (bool, error) {
		var list []view.Process
		err := p.d.client.get("/processes", &list)
		for _, x := range list {
			if x.State == "running" && strings.Contains(x.Command, "notes on") && strings.Contains(x.Command, "herons") {
				return true, err
			}
		}
		return false, err
	}); err != nil {
		return err
	}
	p.hangUp()
	p.d.kill()
	p.show("killed with SIGKILL; the subagent's commands go on under their supervisors")
	if err := p.d.start(true); err != nil {
		return err
	}
	if err := p.connect(); err != nil {
		return err
	}
	p.show("started again")
	if err := p.hears(1, "Findings on herons"); err != nil {
		return err
	}
	p.holds(p.count("Findings on herons") == 1, "the report came home all the same, exactly once")
	if err := p.home("delegation", "herons"); err != nil {
		return err
	}
	if err := p.sameSeat(before); err != nil {
		return err
	}
	return p.answersAsOwner(before, 2)
}
