package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/view"
)

// Admin serves the admin socket of a running daemon. Whoever can open the socket is the operator.
func Admin(g *gateway.Gateway, status func() view.Status) http.Handler {
	mux := Read(g.Store(), g.Processes(), g.Serves)
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, status(), nil) })
	mux.HandleFunc("GET /backup", func(w http.ResponseWriter, _ *http.Request) { serveBackup(g.Store(), w) })
	mux.HandleFunc("POST /chat", func(w http.ResponseWriter, r *http.Request) { serveChat(g, w, r) })
	post := func(pattern string, f func(r *http.Request, full string) (machine.Request, error)) {
		mux.HandleFunc("POST "+pattern, func(w http.ResponseWriter, r *http.Request) {
			full := ""
			var err error
			if typed := r.PathValue("id"); typed != "" {
				full, err = view.Find(g.Store(), typed)
			}
			var req machine.Request
			if err == nil {
				req, err = f(r, full)
			}
			var got machine.Answer
			if err == nil {
				got, err = g.Submit(r.Context(), req)
			}
			answer(w, Done{got.Text, string(got.Outgoing)}, err)
		})
	}
	post("/sessions/{id}/end", func(_ *http.Request, full string) (machine.Request, error) {
		return machine.EndSession{Session: id.Session(full)}, nil
	})
	post("/processes/{id}/kill", func(_ *http.Request, full string) (machine.Request, error) {
		return machine.KillProcess{Process: id.Process(full)}, nil
	})
	post("/delegations/{id}/stop", func(_ *http.Request, full string) (machine.Request, error) {
		return machine.StopDelegation{Delegation: id.Delegation(full)}, nil
	})
	post("/queue/{id}/drop", func(_ *http.Request, full string) (machine.Request, error) {
		return machine.Drop{ID: full}, nil
	})
	post("/queue/{id}/retry", func(r *http.Request, full string) (machine.Request, error) {
		req := machine.Requeue{ID: full}
		var body To
		if err := decode(r, &body); err != nil || body.To == "" {
			return req, err
		}
		parse := g.ParseRoute
		if strings.HasPrefix(full, id.PrefixCompletion) {
			parse = g.ParseConversation
		}
		to, keying, err := parse(body.To)
		req.To, req.Keying = &to, keying
		return req, err
	})
	post("/send", func(r *http.Request, _ string) (machine.Request, error) {
		var body To
		if err := decode(r, &body); err != nil {
			return nil, err
		}
		if body.Text == "" {
			return nil, errors.New("there is no text to send")
		}
		to, _, err := g.ParseRoute(body.To)
		return machine.Say{To: to, Text: body.Text, Cause: "operator"}, err
	})
	return mux
}

// To is the body of requests that name a place.
type To struct {
	To   string `json:"to"`
	Text string `json:"text,omitempty"`
}

// Done is the answer to a request that changed something.
type Done struct {
	Text     string `json:"text,omitempty"`
	Outgoing string `json:"outgoing,omitempty"`
}

func decode(r *http.Request, v any) error {
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20)).Decode(v); err != nil {
		return fmt.Errorf("the request is not readable: %w", err)
	}
	return nil
}
