package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Guarded serves h to everybody where it is open, and elsewhere to who has the key: `Authorization: Bearer KEY`. Without a
// key nobody is let in there.
func Guarded(h http.Handler, open bool, key string) http.Handler {
	if open {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case key == "":
			http.Error(w, "this is open on a loopback address only: set http.api_key, or http.listen to one", http.StatusForbidden)
		case !hasKey(r, key):
			w.Header().Set("WWW-Authenticate", `Bearer realm="homing"`)
			http.Error(w, "this needs the header Authorization: Bearer, with http.api_key", http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// hasKey compares in a time that tells nothing about the key.
func hasKey(r *http.Request, key string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(key))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
