package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// stat is what /proc/PID/stat tells of a process.
type stat struct {
	pid     int
	name    string
	state   byte
	parent  int
	group   int
	session int
	start   uint64 // clock ticks since boot
}

// alive tells whether it can still do anything: neither a zombie nor dead.
func (s stat) alive() bool { return s.state != 'Z' && s.state != 'X' }

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(data)
}

// parseStat takes one line of /proc/PID/stat apart. The name stands in parentheses and may hold anything, spaces and
// parentheses included, so the last one counts.
func parseStat(line []byte) (stat, error) {
	open, last := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || last < open {
		return stat{}, fmt.Errorf("malformed stat line %q", line)
	}
	fields := strings.Fields(string(line[last+1:])) // from the third field on
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("short stat line %q", line)
	}
	pid, err0 := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	parent, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	session, err3 := strconv.Atoi(fields[3])
	start, err4 := strconv.ParseUint(fields[19], 10, 64)
	if err := errors.Join(err0, err1, err2, err3, err4); err != nil {
		return stat{}, fmt.Errorf("stat line %q: %w", line, err)
	}
	return stat{
		pid: pid, name: string(line[open+1 : last]), state: fields[0][0],
		parent: parent, group: group, session: session, start: start,
	}, nil
}

// allStats reads every process that can be seen. One that ends meanwhile is left out.
func allStats() ([]stat, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	stats := make([]stat, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil {
			stats = append(stats, s)
		}
	}
	return stats, nil
}

// descendants returns the living descendants of root, root excluded.
func descendants(root int) ([]stat, error) {
	stats, err := allStats()
	if err != nil {
		return nil, err
	}
	children := make(map[int][]stat, len(stats))
	for _, s := range stats {
		children[s.parent] = append(children[s.parent], s)
	}
	var found []stat
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		if queue[0].alive() {
			found = append(found, queue[0])
		}
		queue = append(queue, children[queue[0].pid]...)
	}
	return found, nil
}

// ownChildren returns the numbers of this process's children, zombies included. It is cheap, and complete as long as
// nobody reaps meanwhile. ok is false where the kernel does not offer it.
func ownChildren() (pids []int, ok bool) {
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		return nil, false
	}
	defer func() { _ = tasks.Close() }()
	names, err := tasks.Readdirnames(-1)
	if err != nil || len(names) == 0 {
		return nil, false
	}
	for _, name := range names {
		data, err := os.ReadFile("/proc/self/task/" + name + "/children")
		ok = ok || err == nil
		if err != nil {
			continue // the thread has ended; its children are with another one, whose list comes or came
		}
		for field := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, ok
}

// identify returns the identity of a living process.
func identify(pid int) (Identity, error) {
	s, err := readStat(pid)
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return Identity{PID: pid, StartTicks: s.start}, nil
}

// lifeOfMachine names the life of the machine and of the container in which process numbers mean anything.
func lifeOfMachine() (boot, namespace string) {
	boot = "unknown"
	if data, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		boot = strings.TrimSpace(string(data))
	}
	namespace, _ = os.Readlink("/proc/self/ns/pid") // empty where hidden: then the boot alone has to do
	return boot, namespace
}
