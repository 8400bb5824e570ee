package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/go-telegram/bot/models"

	"github.com/homing-gateway/homing/internal/chat"
)

// FuzzUpdate: whatever Telegram sends as an update becomes one event, or ends the poll with an error and no event. An
// event says one thing, of a place that has a key; the same update makes the same event.
func FuzzUpdate(f *testing.F) {
	for _, s := range []string{
		`{"update_id":1,"message":{"message_id":2,"date":3,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"first_name":"A"},"text":"hello"}}`,
		`{"update_id":1,"message":{"message_id":2,"chat":{"id":-500,"type":"group"},"from":{"id":1001},"text":"@homing_bot hi","entities":[{"type":"mention","offset":0,"length":11}]}}`,
		`{"update_id":1,"message":{"message_id":2,"chat":{"id":-100800,"type":"supergroup"},"from":{"id":1001},"message_thread_id":7,"is_topic_message":true,"text":"/new@homing_bot x","entities":[{"type":"bot_command","offset":0,"length":15}]}}`,
		`{"update_id":1,"message":{"message_id":2,"chat":{"id":-500,"type":"group"},"migrate_to_chat_id":-100500}}`, `{"update_id":1,"message":{"chat":{"id":-100500},"migrate_from_chat_id":-500}}`,
		`{"update_id":1,"message":{"message_id":2,"chat":{"id":-5,"type":"group"},"sender_chat":{"id":-5,"title":"t"},"caption":"😀@homing_bot","photo":[{}],"caption_entities":[{"type":"mention","offset":2,"length":11},{"type":"mention","offset":-1,"length":99999}]}}`,
		`{"update_id":1,"message":{"message_id":2,"chat":{"id":-5,"type":"channel"},"text":"x"}}`, `{"update_id":1,"message":{"chat":{"id":5,"type":"private"},"text":"x","reply_to_message":{"from":{"id":4711}}}}`,
		`{"update_id":1,"callback_query":{"id":"1","data":"x"}}`,
		`{"update_id":1,"callback_query":{"id":"1","from":{"id":1001,"first_name":"A"},"data":"/stop","message":{"message_id":2,"date":3,"chat":{"id":-5,"type":"supergroup"},"message_thread_id":7,"is_topic_message":true}}}`,
		`{"update_id":1,"callback_query":{"id":"1","from":{"id":1001},"data":"/stop","message":{"message_id":2,"date":0,"chat":{"id":1001,"type":"private"}}}}`, `{"update_id":1,"message":{"message_id":"no number"}}`, `{"update_id":9223372036854775807}`, `{"update_id":null}`, `{}`, `null`, `[]`, `{"update_id":1,"message":null}`, `{`,
	} {
		f.Add([]byte(s))
	}
	a, err := New(Options{Token: "4711:AAHfakeSecretOfTheBot_0123456789", APIURL: "http://telegram.test"})
	if err != nil {
		f.Fatal(err)
	}
	defer a.Close()
	take := func(raw []byte) (events []chat.Event, err error) {
		l := &loop{a: a, client: a.calls, tr: translator{account: a.account, me: models.User{ID: 4711, Username: "homing_bot"}, moved: map[string]bool{}}}
		l.answer = func(string) {}
		l.admit = func(_ context.Context, e chat.Event) error { events = append(events, e); return nil }
		return events, l.take(context.Background(), raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return // the answer to a poll is taken apart as a whole before
		}
		events, err := take(raw)
		if err != nil {
			if _, ok := errors.AsType[*chat.RunError](err); !ok || len(events) > 0 {
				t.Fatalf("%s: %v, %+v", raw, err, events)
			}
			return
		}
		if again, err := take(raw); err != nil || !reflect.DeepEqual(again, events) || len(events) != 1 {
			t.Fatalf("%s: %+v, then %+v, %v", raw, events, again, err)
		}
		e := events[0]
		said := 0
		for _, has := range []bool{e.Message != nil, e.Moved != nil, e.Aside != nil} {
			if has {
				said++
			}
		}
		if e.ID == "" || e.Cursor == "" || said > 1 {
			t.Fatalf("%s: %+v", raw, e)
		}
		if e.Moved != nil && (e.Moved.From == "" || e.Moved.To == "" || e.Moved.Account != a.account) {
			t.Fatalf("%s: %+v", raw, e.Moved)
		}
		if m := e.Message; m != nil {
			k := chat.KeyOf(m.Address, chat.Keying{PerPersonInGroups: true, PerPersonInThreads: true})
			if back := k.Address(); m.Address.Person == "" || m.Address.Account != a.account || back.Chat != m.Address.Chat || back.Thread != m.Address.Thread || back.Type != m.Address.Type {
				t.Fatalf("%s: %+v has the key %s, of %+v", raw, m.Address, k, back)
			}
			if m.Text == "" && len(m.Files) == 0 && len(m.Unsupported) == 0 && !m.Addressed {
				t.Fatalf("%s: a message that says nothing to nobody: %+v", raw, m)
			}
		}
	})
}
