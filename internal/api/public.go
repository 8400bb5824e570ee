package api

import (
	"net/http"

	"github.com/homing-gateway/homing/internal/view"
)

// Public serves the HTTP listener: whether the daemon lives and whether it is ready, and what metrics serves.
func Public(ready func() bool, status func() view.Status, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]string{"status": "alive"}, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status":"not ready"}` + "\n"))
			return
		}
		answer(w, map[string]any{"status": "ready", "platforms": status().Platforms}, nil)
	})
	mux.Handle("GET /metrics", metrics)
	return mux
}
