package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/homing-gateway/homing/internal/process"
	"github.com/homing-gateway/homing/internal/store"
	"github.com/homing-gateway/homing/internal/view"
)

// Failure is the body of an answer that is no success.
type Failure struct {
	Error string `json:"error"`
}

// answer writes a value, or the error with its status.
func answer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, view.ErrNotFound) {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
		v = Failure{err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v) // the client is gone: nobody is left to tell
}

// Read serves what only reads: over the admin socket of a daemon, or inside a command while none runs. Which accounts are
// served only a daemon knows.
func Read(db *store.DB, processes *process.Runner, serves view.Serves) *http.ServeMux {
	mux := http.NewServeMux()
	get := func(pattern string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := f(r)
			answer(w, v, err)
		})
	}
	get("/sessions", func(r *http.Request) (any, error) { return view.Sessions(db, r.FormValue("live") != "") })
	get("/sessions/{id}", func(r *http.Request) (any, error) { return view.ShowSession(db, r.PathValue("id")) })
	get("/sessions/{id}/export", func(r *http.Request) (any, error) { return view.ExportSession(db, r.PathValue("id")) })
	get("/queue", func(r *http.Request) (any, error) { return view.Queue(db, r.FormValue("all") != "", serves) })
	get("/queue/{id}", func(r *http.Request) (any, error) { return view.ShowQueue(db, r.PathValue("id"), serves) })
	get("/processes", func(*http.Request) (any, error) { return view.Processes(db) })
	get("/processes/{id}/log", func(r *http.Request) (any, error) { return log(db, processes, r) })
	get("/delegations", func(*http.Request) (any, error) { return view.Delegations(db) })
	get("/delegations/{id}", func(r *http.Request) (any, error) { return view.ShowDelegation(db, r.PathValue("id")) })
	get("/trace/{id}", func(r *http.Request) (any, error) { return view.TraceOf(db, r.PathValue("id")) })
	get("/counts", func(*http.Request) (any, error) { return view.Count(db) })
	return mux
}

// Log is a part of a process's output.
type Log struct {
	Output  string `json:"output"`
	Offset  int64  `json:"offset"`
	Next    int64  `json:"next"`
	Total   int64  `json:"total"`
	Dropped int64  `json:"dropped"`
	End     bool   `json:"end"`
}

func log(db *store.DB, processes *process.Runner, r *http.Request) (any, error) {
	full, err := view.Find(db, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p, err := processes.Open(full)
	if err != nil {
		return nil, err
	}
	offset := int64(0)
	if typed := r.FormValue("offset"); typed != "" {
		if offset, err = strconv.ParseInt(typed, 10, 64); err != nil {
			return nil, fmt.Errorf("the offset %q is no number", typed)
		}
	}
	page, err := p.ReadLog(offset, 256<<10)
	return Log{page.Text, page.Offset, page.Next, page.Total, page.Dropped, page.End}, err
}
