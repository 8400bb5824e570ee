package openai

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait bounds what a server may ask for.
const longestWait = 24 * time.Hour

// retryAfter reads how long the server wants us to wait; 0 when it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms * float64(time.Millisecond))
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			return bounded(s * float64(time.Second))
		}
		if at, err := http.ParseTime(v); err == nil {
			if date, err := http.ParseTime(h.Get("Date")); err == nil {
				now = date // the server's clock, so that ours may be wrong
			}
			return bounded(float64(at.Sub(now)))
		}
	}
	var longest time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		if left := h.Get("X-Ratelimit-Remaining-" + what); left != "" && left != "0" {
			continue // not the limit that was hit
		}
		longest = max(longest, resetTime(h.Get("X-Ratelimit-Reset-"+what)))
	}
	return longest
}

// resetTime reads OpenAI's form, such as 6m0s or 120ms, and bare seconds.
func resetTime(v string) time.Duration {
	v = strings.TrimSpace(v)
	if d, err := time.ParseDuration(v); err == nil {
		return bounded(float64(d))
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil && s < longestWait.Seconds() { // else it is a point in time
		return bounded(s * float64(time.Second))
	}
	return 0
}

func bounded(d float64) time.Duration {
	switch {
	case d != d || d <= 0:
		return 0
	case d > float64(longestWait):
		return longestWait
	}
	return time.Duration(d)
}
