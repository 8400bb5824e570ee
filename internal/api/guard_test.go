package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/api"
)

// Open on loopback, else by key; without a key nobody is let in there, whatever they send.
func TestGuarded(t *testing.T) {
	const secret = "the-key"
	for _, c := range []struct {
		name   string
		open   bool
		key    string
		header string
		want   int
	}{
		{"loopback", true, "", "", http.StatusOK},
		{"loopback with a key", true, secret, "", http.StatusOK},
		{"no key", false, "", "", http.StatusForbidden},
		{"no key, an empty one sent", false, "", "Bearer ", http.StatusForbidden},
		{"nothing sent", false, secret, "", http.StatusUnauthorized},
		{"an empty one sent", false, secret, "Bearer", http.StatusUnauthorized},
		{"another one", false, secret, "Bearer the-kez", http.StatusUnauthorized},
		{"a part of it", false, secret, "Bearer the", http.StatusUnauthorized},
		{"another scheme", false, secret, "Basic the-key", http.StatusUnauthorized},
		{"the key", false, secret, "Bearer the-key", http.StatusOK},
		{"the key, scheme in small letters", false, secret, "bearer the-key", http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			numbers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("numbers")) })
			h := api.Public(func() bool { return true }, nil, api.Guarded(numbers, c.open, c.key))
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			if c.header != "" {
				r.Header.Set("Authorization", c.header)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			body := w.Body.String()
			if w.Code != c.want || (body == "numbers") != (c.want == http.StatusOK) || strings.Contains(body, secret) {
				t.Errorf("code %d, want %d: %q", w.Code, c.want, body)
			}
			if asks := w.Header().Get("WWW-Authenticate") != ""; asks != (c.want == http.StatusUnauthorized) {
				t.Errorf("asks for the key: %v", asks)
			}
		})
	}
}
