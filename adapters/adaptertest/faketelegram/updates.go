package faketelegram

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// future is how far an offset may be ahead of the last update before Telegram takes it for one of another numbering and
// starts from the oldest update that waits.
const future = 10

type update struct {
	id   int64
	kind string
	body json.RawMessage // of the kind
}

// Deliver queues an update of a kind, whatever its body is: also one that nobody can decode. It returns the update's id.
func (s *Server) Deliver(kind string, body any) int64 {
	raw := encode(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.push(kind, raw)
}

func encode(body any) json.RawMessage {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // a test's own fault
	}
	return raw
}

// push queues an update. The caller holds the lock.
func (s *Server) push(kind string, body json.RawMessage) int64 {
	s.lastID++
	u := update{s.lastID, kind, body}
	s.said, s.queue = append(s.said, u), append(s.queue, u)
	s.Change()
	return s.lastID
}

// Repeat queues an update once more as it was, as if its confirmation had been lost.
func (s *Server) Repeat(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.said {
		if u.id == id {
			s.queue = append(s.queue, u)
			s.Change()
			return
		}
	}
}

// Replay queues an update once more under the id that it had, with a new body, as a broken proxy would.
func (s *Server) Replay(id int64, kind string, body any) {
	raw := encode(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, update{id, kind, raw})
	s.Change()
}

// Renumber lets the following updates count on from id, as Telegram does after a week without any.
func (s *Server) Renumber(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID = id
}

// Waiting is how many updates the bot has not confirmed.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Polling tells whether a poll waits for updates.
func (s *Server) Polling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polling != nil
}

// Confirmed is the id of the last update that the bot confirmed by a higher offset.
func (s *Server) Confirmed() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.confirm
}

// Webhook sets the address that updates go to; while there is one, polls are refused. "" removes it.
func (s *Server) Webhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = url
	s.Change()
}

// getUpdates waits for updates. Of two polls the later one wins.
func (s *Server) getUpdates(ctx context.Context, p map[string]string) reply {
	var kinds []string
	_ = json.Unmarshal([]byte(p["allowed_updates"]), &kinds)
	limit := int(number(p["limit"]))
	if limit < 1 || limit > 100 {
		limit = 100
	}
	deadline := time.NewTimer(time.Duration(min(number(p["timeout"]), 50)) * time.Second)
	defer deadline.Stop()
	mine := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.polling != nil {
		close(s.polling)
	}
	s.polling = mine
	defer func() {
		if s.polling == mine {
			s.polling = nil
		}
	}()
	if s.webhook == "" {
		s.confirmBelow(number(p["offset"]))
	}
	for {
		if s.revoked {
			return refuse(401, "Unauthorized")
		}
		if s.webhook != "" {
			return refuse(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
		}
		if out := s.due(limit, kinds); len(out) > 0 {
			return result(out)
		}
		changed, quit := s.Changes(), s.Gone()
		s.mu.Unlock()
		ended := false
		select {
		case <-changed:
		case <-deadline.C:
			ended = true
		case <-ctx.Done():
			ended = true
		case <-quit:
			ended = true
		case <-mine:
		}
		s.mu.Lock()
		if s.polling != mine {
			return refuse(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
		}
		if ended {
			return result([]any{})
		}
	}
}

// confirmBelow forgets what an offset confirms. The caller holds the lock.
func (s *Server) confirmBelow(offset int64) {
	if offset > s.lastID+future {
		return
	}
	s.confirm = max(s.confirm, offset-1)
	if n := len(s.queue); n > 0 {
		if s.queue = slices.DeleteFunc(s.queue, func(u update) bool { return u.id < offset }); len(s.queue) < n {
			s.Change()
		}
	}
}

// due gives what comes next, of the kinds that are wanted. The caller holds the lock.
func (s *Server) due(limit int, kinds []string) []map[string]any {
	var out []map[string]any
	for _, u := range s.queue {
		if len(out) < limit && (len(kinds) == 0 || slices.Contains(kinds, u.kind)) {
			out = append(out, map[string]any{"update_id": u.id, u.kind: u.body})
		}
	}
	return out
}
