package faketelegram

import (
	"encoding/json"
	"fmt"
	"time"
)

// Button is a button of an inline keyboard.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

type keyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

// Pressed is one press of a button. Until it is answered, the person sees it wait.
type Pressed struct {
	ID       string
	At       time.Time
	Answered bool
}

// patience is how long after a press it can be answered.
const patience = 15 * time.Minute

// parseButtons reads the inline keyboard of a call.
func parseButtons(raw string) ([]Button, reply) {
	if raw == "" {
		return nil, reply{OK: true}
	}
	var k keyboard
	if err := json.Unmarshal([]byte(raw), &k); err != nil {
		return nil, refuse(400, "Bad Request: can't parse reply keyboard markup JSON object")
	}
	var out []Button
	for _, row := range k.Rows {
		for _, b := range row {
			switch {
			case b.Text == "":
				return nil, refuse(400, "Bad Request: can't parse inline keyboard button: Text must be non-empty")
			case b.Data == "":
				return nil, refuse(400, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
			case len(b.Data) > 64:
				return nil, refuse(400, "Bad Request: BUTTON_DATA_INVALID")
			}
			out = append(out, b)
		}
	}
	return out, reply{OK: true}
}

// Press lets a person press the button with that label under a message of the bot. It is nothing if there is none.
func (s *Server) Press(chat, message, from int64, label string) (updateID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.chats[chat]
	m := r.post(message)
	if m == nil {
		return 0
	}
	for _, b := range m.Buttons {
		if b.Text == label {
			p := Pressed{ID: fmt.Sprint(9000 + len(s.presses)), At: time.Now()}
			s.presses = append(s.presses, p)
			return s.push("callback_query", encode(map[string]any{
				"id": p.ID, "from": s.users[from], "message": s.present(r, m), "chat_instance": fmt.Sprint(chat), "data": b.Data,
			}))
		}
	}
	return 0
}

// Presses gives the presses so far.
func (s *Server) Presses() []Pressed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Pressed(nil), s.presses...)
}

// answerPress ends the waiting of a press. The caller holds the lock.
func (s *Server) answerPress(id string) reply {
	for i, p := range s.presses {
		if p.ID == id && time.Since(p.At) < patience {
			s.presses[i].Answered = true
			return result(true)
		}
	}
	return refuse(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
}
