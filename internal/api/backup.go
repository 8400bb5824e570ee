package api

import (
	"io"
	"net/http"
	"strconv"

	"github.com/homing-gateway/homing/internal/store"
)

// serveBackup hands out a copy of the store as it is now. However slowly the client takes it, it holds up nobody: it reads
// from a file of its own.
func serveBackup(db *store.DB, w http.ResponseWriter) {
	f, err := db.Spool()
	if err != nil {
		answer(w, nil, err)
		return
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		answer(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(st.Size(), 10)) // so that a copy that was cut is known to be
	_, _ = io.Copy(w, f)                                               // the client is gone: nobody is left to tell
}
