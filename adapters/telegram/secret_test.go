package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/internal/chat"
)

// X-13, besides what the conformance suite does: the token is in every address, and in no text that leaves the adapter, whatever fails and in whatever call.
func TestTokenStaysSecret(t *testing.T) {
	_, secret, _ := strings.Cut(token, ":")
	page := "<html>The requested URL /bot" + token + "/sendMessage was not found, nor was /bot" + url.PathEscape(token) + "</html>"
	for name, c := range map[string]struct {
		change func(*telegram.Options)
		fault  *faketelegram.Fault
	}{
		"dns":      {change: func(o *telegram.Options) { o.APIURL = "http://no-such-host.invalid" }},
		"bad host": {change: func(o *telegram.Options) { o.APIURL = "http://127.0.0.1:99999" }},
		"tls":      {change: func(o *telegram.Options) { o.APIURL = strings.Replace(o.APIURL, "http:", "https:", 1) }},
		"dialer that tells": {change: func(o *telegram.Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) {
				return nil, &url.Error{Op: "Post", URL: "http://x/bot" + token + "/", Err: errors.New("token " + token + " and " + secret)}
			}
		}},
		"page":            {fault: &faketelegram.Fault{Status: 404, Body: page}},
		"page as success": {fault: &faketelegram.Fault{Status: 200, Body: page}},
		"page, long":      {fault: &faketelegram.Fault{Status: 502, Body: strings.Repeat("x", 180) + token}},
		"redirect":        {fault: &faketelegram.Fault{Status: 302, Body: page}},
		"400":             {fault: &faketelegram.Fault{Status: 400, Description: "Bad Request: " + token}},
		"401":             {fault: &faketelegram.Fault{Status: 401, Description: "Unauthorized " + token}},
		"409":             {fault: &faketelegram.Fault{Status: 409, Description: "Conflict " + token}},
		"429":             {fault: &faketelegram.Fault{Status: 429, Description: "Too Many Requests " + token, RetryAfter: 1}},
		"500":             {fault: &faketelegram.Fault{Status: 500, Description: "oops " + token}},
		"nonsense":        {fault: &faketelegram.Fault{Status: 200, Body: `{"ok":true,"result":"` + token + `"}`}},
		"poison":          {fault: &faketelegram.Fault{Method: "getUpdates", Status: 200, Body: `{"ok":true,"result":[{"update_id":1,"message":"` + token + `"}]}`, Times: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, func(o *telegram.Options) {
				o.CallTimeout, o.PollTime, o.PollMargin = 100*time.Millisecond, time.Second, 100*time.Millisecond
				if c.change != nil {
					c.change(o)
				}
			})
			if c.fault != nil {
				w.tg.Add(*c.fault)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			var sinks []string
			say := func(where string, v any) {
				sinks = append(sinks, fmt.Sprintf("%s: %v %+v %#v %q", where, v, v, v, v))
				for err, _ := v.(error); err != nil; err = errors.Unwrap(err) {
					sinks = append(sinks, fmt.Sprintf("%s: %T %v %+v", where, err, err, err))
				}
			}
			_, err := w.a.Send(ctx, chat.Outbound{To: to(alice), Text: "x"})
			say("Send", err)
			say("Typing", w.a.Typing(ctx, to(alice)))
			say("SetMenu", w.a.SetMenu(ctx, []chat.MenuEntry{{Name: "x", Description: "x"}}))
			_, err = w.a.Webhook(ctx)
			say("Webhook", err)
			r := w.run("", nil)
			select {
			case err := <-r.Ended():
				say("Run", err)
			case <-time.After(1500 * time.Millisecond):
				r.Cancel()
				<-r.Ended()
			}
			// Only Run's own poll is broken: getMe went well.
			if c.fault != nil && c.fault.Method == "" {
				f := *c.fault
				w.tg.Clear()
				f.Method = "getUpdates"
				w.tg.Add(f)
				q := w.run("", nil)
				select {
				case err := <-q.Ended():
					say("poll", err)
				case <-time.After(1500 * time.Millisecond):
					q.Cancel()
					<-q.Ended()
				}
			}
			for _, e := range r.Events {
				if e.Aside != nil {
					say("reason", e.Aside.Reason)
				}
			}
			for _, l := range w.logs.All() {
				say("log", l.Message)
				for k, v := range l.ContextMap() {
					say("log field "+k, v)
				}
			}
			say("adapter", w.a)
			say("options", telegram.Options{Token: token, APIURL: "x"})
			say("info", w.a.Describe())
			for _, s := range sinks {
				if strings.Contains(s, secret) || strings.Contains(s, secret[:12]) {
					where, _, _ := strings.Cut(s, ": ")
					t.Errorf("the token is in what %s says", where)
				}
			}
		})
	}
}
