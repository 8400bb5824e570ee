package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/homing-gateway/homing/internal/durable"
)

// The files of a process directory; doc.go says what each is for.
const (
	commandFile     = "command.json"
	lockFile        = "lock"
	startedFile     = "started"
	leaderFile      = "leader.json"
	exitFile        = "exit.json"
	killFile        = "kill"
	outputFile      = "output.log"
	countFile       = "output.count"
	diagnosticsFile = "supervisor.log"
	controlFIFO     = "control"
	startedGate     = "gate.started"
	leaderGate      = "gate.leader"
	exitGate        = "gate.exit"
)

// errDamaged says that a record is there but can't be read as one.
var errDamaged = errors.New("damaged record")

// killRequest is the content of the kill marker.
type killRequest struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// writeRecord puts v into dir/name so that a reader, or a crash at any instruction, sees the old content or the new one,
// never half of it. It returns when the record, and every entry made in dir before, is on disk.
func writeRecord(dir, name string, v any) error {
	if err := replaceRecord(dir, name, v, true); err != nil {
		return err
	}
	return durable.Names(dir)
}

// replaceRecord is writeRecord with a choice: without durable, it outlives every process but not a power cut.
func replaceRecord(dir, name string, v any, durable bool) error {
	d, err := newDraft(dir, name)
	if err != nil {
		return err
	}
	return d.publish(v, durable)
}

// draft is the file of a record that has not got its name yet. To make a file takes longer than to fill it: who knows that a
// record is going to be written, and will be waited for, makes it before.
type draft struct {
	dir, name string
	file      *os.File
}

func newDraft(dir, name string) (*draft, error) {
	f, err := os.CreateTemp(dir, name+".*.tmp") // made with mode 0600
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &draft{dir, name, f}, nil
}

// publish lets the draft be the record, with v in it. It can be called once.
func (d *draft) publish(v any, durable bool) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = d.file.Write(append(data, '\n'))
	}
	if err == nil && durable {
		err = d.file.Sync()
	}
	if cerr := d.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(d.file.Name(), filepath.Join(d.dir, d.name))
	}
	if err != nil {
		_ = os.Remove(d.file.Name()) // what is left over is told by its .tmp, and harmless
		return fmt.Errorf("write %s: %w", d.name, err)
	}
	return nil
}

// syncRecord lets dir/name, as it is, outlive a power cut. One that has been removed meanwhile needs nothing.
func syncRecord(dir, name string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = durable.Names(dir)
	}
	return err
}

// readRecord reads dir/name into v. The error is fs.ErrNotExist or errDamaged where it is one of these.
func readRecord(dir, name string, v any) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %s: %w", errDamaged, name, err)
	}
	return nil
}

// readExit reads a record of an end. A record that is damaged, or of another process, counts as none: ok is false.
func readExit(dir, name, id string) (e Exit, ok bool, err error) {
	switch err := readRecord(dir, name, &e); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errDamaged):
		return Exit{}, false, nil
	case err != nil:
		return Exit{}, false, err
	}
	switch e.State {
	case Exited, Killed, Lost, FailedStart:
		return e, e.ID == id, nil
	}
	return Exit{}, false, nil
}

// wantedKill reads the kill marker; ok is false when no kill is wanted. A damaged one still wants the kill.
func wantedKill(dir string) (k killRequest, ok bool) {
	err := readRecord(dir, killFile, &k)
	return k, err == nil || errors.Is(err, errDamaged)
}
