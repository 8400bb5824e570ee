package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/homing-gateway/homing/internal/durable"
)

// Exit codes of a supervisor. Nobody depends on them: what counts is the record.
const (
	exitDone     = 0
	exitUsage    = 2
	exitInternal = 70
)

// Supervise is the whole life of a supervisor: the hidden mode of the binary, called by main as
//
//	if len(os.Args) > 1 && os.Args[1] == process.SuperviseArg {
//		os.Exit(process.Supervise(os.Args[2:]))
//	}
//
// before anything else, on the main goroutine. It works in the current directory, which is the process's, and on the
// descriptors that Start hands over; args is the directory's path, for whoever looks at a list of processes. It returns
// the exit code for the operating system when the end of the command is on record.
func Supervise(args []string) int { return supervise(args, func(string) {}) }

// supervise is Supervise, telling reached where it has come to; tests end it there.
func supervise(args []string, reached func(point string)) int {
	// The leader gets SIGKILL when the thread that forked it ends, so that must be one that lasts. Never unlocked.
	runtime.LockOSThread()
	if len(args) != 1 || !handedOver() {
		fmt.Fprintln(os.Stderr, "this command is run by the gateway itself and by nobody else")
		return exitUsage
	}
	// One of these runs beside every command: little memory is worth more than a little time.
	debug.SetGCPercent(25)
	runtime.GOMAXPROCS(1)
	s := &supervisor{id: filepath.Base(args[0]), dir: ".", reached: reached}
	if err := s.run(); err != nil {
		s.complain(err)
		return exitInternal
	}
	return exitDone
}

// handedOver tells whether this process was started by Start: it has a lock and four FIFOs where they belong.
func handedOver() bool {
	for fd, want := range map[int]int{
		lockFD: unix.S_IFREG, controlFD: unix.S_IFIFO,
		startedGateFD: unix.S_IFIFO, leaderGateFD: unix.S_IFIFO, exitGateFD: unix.S_IFIFO,
	} {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || int(st.Mode)&unix.S_IFMT != want {
			return false
		}
	}
	return true
}

// supervisor runs one command. All of it happens on one goroutine, but for emptying the pipe and listening.
type supervisor struct {
	id      string
	dir     string
	reached func(point string)

	spec     Spec
	started  Started
	record   *draft // of the end; nil: it is made when it is written
	pump     *pump
	output   int // the pipe's write end, until the command has it
	family   family
	pokes    chan struct{}
	children chan os.Signal
	stops    chan os.Signal
	hungUp   [firstForeignFD]bool
}

// run supervises from the first to the last. An error means that the end could not be recorded.
func (s *supervisor) run() error {
	if err := s.prepare(); err != nil {
		return s.conclude(Exit{State: FailedStart, Reason: err.Error()})
	}
	s.reached("before started")
	if kill, wanted := wantedKill(s.dir); wanted {
		return s.conclude(Exit{State: FailedStart, Reason: killedBeforeStart + kill.Reason})
	}
	err := s.start()
	if err != nil {
		return s.conclude(Exit{State: FailedStart, Reason: err.Error()})
	}
	s.reached("running")
	go func() {
		s.reached("before pump")
		s.pump.run()
	}()
	if s.record, err = newDraft(s.dir, exitFile); err != nil {
		s.record = nil // it is tried again
	}
	e := s.attend()
	s.reached("before exit record")
	err = s.conclude(e)
	s.reached("after exit record")
	return err
}

// prepare makes everything ready that can fail before the command is started.
func (s *supervisor) prepare() error {
	if err := closeForeign(firstForeignFD); err != nil {
		return err
	}
	var c command
	if err := readRecord(s.dir, commandFile, &c); err != nil {
		return err
	}
	s.spec = c.spec()
	if err := becomeReaper(); err != nil {
		return err
	}
	// SIGHUP and its like are caught and not ignored: what is ignored, the command would inherit.
	s.children, s.stops = make(chan os.Signal, 1), make(chan os.Signal, 4)
	signal.Notify(s.children, unix.SIGCHLD)
	signal.Notify(s.stops, unix.SIGTERM, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP)
	s.pokes = make(chan struct{}, 1)
	go listen(os.NewFile(controlFD, controlFIFO), s.pokes)
	log, err := createOutputLog(s.dir, s.spec.OutputLimit)
	if err != nil {
		return err
	}
	self, err := identify(os.Getpid())
	if err != nil {
		return err
	}
	boot, namespace := lifeOfMachine()
	s.started = Started{Supervisor: self, BootID: boot, PIDNamespace: namespace}
	s.pump, s.output, err = newPump(log)
	return err
}

// listen turns each poke into an event. The supervisor holds the write end too, so this never ends.
func listen(control *os.File, pokes chan<- struct{}) {
	var b [64]byte
	for {
		if _, err := control.Read(b[:]); err != nil {
			return
		}
		select {
		case pokes <- struct{}{}:
		default: // one is waiting already, and whoever takes it looks at everything
		}
	}
}

// start records the start and then executes the command. The record is on disk before: a command that runs without one
// can't be. Who leads is added when it is known; a supervisor that is lost in between takes the leader with it, and what
// that forked in the meantime is known by its session.
func (s *supervisor) start() error {
	s.started.At = time.Now()
	if err := writeRecord(s.dir, startedFile, s.started); err != nil {
		return err
	}
	// Nor must a power cut take away the directory of a command that ran: no directory means that nothing did.
	if err := durable.Names(filepath.Join(s.dir, "..")); err != nil {
		return err
	}
	s.reached("after started")
	argv := []string{s.spec.Shell, "-c", s.spec.Command}
	stdin, err := openStdin()
	if err != nil {
		return err
	}
	out := uintptr(s.output)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir: s.spec.Workdir, Env: os.Environ(), Files: []uintptr{uintptr(stdin), out, out}, Sys: leaderAttr(),
	})
	_ = unix.Close(stdin)
	_ = unix.Close(s.output)
	if err != nil {
		return s.whyNot(err)
	}
	s.family.leader = pid
	s.reached("after fork")
	if s.started.Leader, err = identify(pid); err == nil {
		err = replaceRecord(s.dir, startedFile, s.started, false)
	}
	if err != nil { // it runs, so it must not be called a failed start; the session tells who belongs to it
		s.complain(err)
	}
	s.hangUp(startedGateFD)
	return nil
}

// openStdin returns the command's standard input, which is empty so far. A way to write to it begins here.
func openStdin() (int, error) {
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	return fd, nil
}

// whyNot tells which of the two paths a failed fork complains about.
func (s *supervisor) whyNot(err error) error {
	if info, serr := os.Stat(s.spec.Workdir); serr != nil {
		return fmt.Errorf("workdir: %w", serr)
	} else if !info.IsDir() {
		return fmt.Errorf("workdir: %w", &fs.PathError{Op: "chdir", Path: s.spec.Workdir, Err: unix.ENOTDIR})
	}
	return fmt.Errorf("execute %s: %w", s.spec.Shell, err)
}

// conclude writes the final record and lets everybody know. The supervisor does not go before it is written: as long as
// it holds the lock, a full disk delays the news instead of turning it into "lost".
//
// The news goes out once the record outlives every process; that it outlives a power cut as well is seen to afterwards.
// Nobody is told of the end before the gateway has made it durable in its own store, and waits for one disk instead of two.
func (s *supervisor) conclude(e Exit) error {
	e.ID = s.id
	e.EndedAt = time.Now()
	if !s.started.At.IsZero() && e.State != FailedStart {
		e.StartedAt = s.started.At
		e.EndedAt = s.started.At.Add(time.Since(s.started.At)) // a step of the wall clock makes no negative time
	}
	if s.pump != nil {
		e.Output = s.pump.totals()
	}
	for {
		err := s.recordEnd(e)
		if err == nil {
			break
		}
		if _, serr := os.Stat(commandFile); errors.Is(serr, fs.ErrNotExist) {
			return err // the directory has been deleted: nobody is interested
		}
		time.Sleep(time.Second)
	}
	s.hangUp(startedGateFD, leaderGateFD, exitGateFD)
	if err := syncRecord(s.dir, exitFile); err != nil {
		s.complain(err) // the record is there, and what can be done was
	}
	return nil
}

// recordEnd gives the final record its name.
func (s *supervisor) recordEnd(e Exit) error {
	if d := s.record; d != nil {
		s.record = nil
		return d.publish(e, false)
	}
	return replaceRecord(s.dir, exitFile, e, false)
}

// hangUp lets go of gates, which wakes whoever waits at them. One that was let go of before is passed over: its descriptor
// may be something else's by now.
func (s *supervisor) hangUp(gates ...int) {
	for _, gate := range gates {
		if !s.hungUp[gate] {
			s.hungUp[gate] = true
			_ = unix.Close(gate)
		}
	}
}

// complain writes to the standard error, which Start has made the process's supervisor.log.
func (s *supervisor) complain(err error) {
	fmt.Fprintln(os.Stderr, time.Now().Format(time.RFC3339), err)
}
