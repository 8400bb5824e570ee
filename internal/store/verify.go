package store

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// verify looks at every page of an existing file, and at the log, before it is opened for writing: a damaged file, or one of a
// newer version, is left as it is. bbolt walks the file as well when it opens it, but in a goroutine of its own, where what it
// finds ends the process; here it is an error.
func verify(path string) error {
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && st.Size() == 0 {
		return nil // a new store
	}
	if err != nil {
		return err
	}
	db, err := open(path, &bbolt.Options{Timeout: openTimeout, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if st, err = os.Stat(path); err != nil { // before, another process may have been at it
		return err
	}
	// A file that was cut leaves mapped pages that are not there: touching them is a fault, which then is a panic.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err = db.guard("look at the store", func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			if page := int64(db.bolt.Info().PageSize); tx.Size() > st.Size() || st.Size()%page != 0 {
				return fmt.Errorf("%w: %s was cut: it has %d bytes, its pages need %d in whole pages of %d", ErrDamaged, path, st.Size(), tx.Size(), page)
			}
			return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
				c := b.Cursor()
				for k, _ := c.First(); k != nil; {
					k, _ = c.Next()
				}
				return nil
			})
		})
	})
	if err != nil {
		return err
	}
	_, err = db.readLog()
	return err
}
