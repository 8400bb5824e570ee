package openai

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/homing-gateway/homing/internal/agent"
)

const maxMessage = 300

func fault(f agent.Failure, text string) *agent.ProviderError {
	return &agent.ProviderError{Failure: f, Err: errors.New(text)}
}

// presentable is a text that may be shown: without the key, on one line, not long. Masking comes before cutting, so that
// no half of a key is left.
func (p *Provider) presentable(text string) string {
	if len(p.key) >= 4 { // shorter ones are no secret but a placeholder
		for _, spelled := range []string{p.key, url.QueryEscape(p.key), url.PathEscape(p.key), strings.ReplaceAll(p.key, "/", `\/`)} {
			text = strings.ReplaceAll(text, spelled, "***")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// complaint is what a server says of an error.
type complaint struct {
	message string
	kind    string // the error's type
	code    string
}

// readComplaint reads the body of an error. Servers write OpenAI's object, a list of one, a bare text, or FastAPI's detail;
// proxies write a page.
func readComplaint(body []byte) complaint {
	text := strings.TrimSpace(string(body))
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var top struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(body, &top) != nil {
		if strings.HasPrefix(text, "<") {
			text = "(a web page) " + title(text)
		}
		return complaint{message: text}
	}
	c := complaint{kind: loose(top.Type), code: loose(top.Code)}
	var inner struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	switch {
	case isSet(top.Error) && json.Unmarshal(top.Error, &inner) == nil:
		c = complaint{message: loose(inner.Message), kind: loose(inner.Type), code: loose(inner.Code)}
		if c.message == "" {
			c.message = loose(top.Error)
		}
	case isSet(top.Error):
		c.message = loose(top.Error)
	case isSet(top.Message):
		c.message = loose(top.Message)
	case isSet(top.Detail):
		c.message = loose(top.Detail)
	default:
		c.message = text
	}
	return c
}

// title is the title of an HTML page.
func title(page string) string {
	lower := strings.ToLower(page)
	from := strings.Index(lower, "<title>")
	if from < 0 || len(lower) != len(page) {
		return ""
	}
	from += len("<title>")
	if n := strings.Index(lower[from:], "</title>"); n >= 0 {
		return page[from : from+n]
	}
	return ""
}

// noMoney tells whether the account has run dry. OpenAI reports that as 429, like a rate limit, but waiting does not help.
func (c complaint) noMoney() bool {
	return slices.ContainsFunc([]string{c.code, c.kind}, func(word string) bool {
		switch word {
		case "insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "exceeded_current_quota_error", "insufficient_balance":
			return true
		}
		return false
	})
}

// codedTooLong tells by its code whether the complaint is that the request is longer than the model takes.
func (c complaint) codedTooLong() bool {
	for _, word := range []string{c.code, c.kind} {
		switch word {
		case "context_length_exceeded", "exceed_context_size_error", "string_above_max_length":
			return true
		}
	}
	return false
}

// saysTooLong tells the same by its words: many servers have no code for it.
func (c complaint) saysTooLong() bool {
	said := strings.ToLower(c.message)
	return slices.ContainsFunc([]string{
		"context length", "context window", "context size", "context_length", "prompt is too long", "input is too long", "input length",
		"too many tokens", "request too large", "maximum number of tokens",
	}, func(words string) bool { return strings.Contains(said, words) })
}

// failureOf says how an HTTP error is to be taken.
func failureOf(status int, c complaint) agent.Failure {
	switch {
	case c.noMoney():
		return agent.Refused
	case c.codedTooLong(), status == 413, (status == 400 || status == 422) && c.saysTooLong():
		return agent.TooLong
	case status == 429:
		return agent.RateLimited
	case status == 401, status == 403:
		return agent.Credential
	case status == 408, status == 409, status == 425, status >= 500:
		return agent.Unavailable
	}
	return agent.Refused
}

// midStream says how an error inside an answer that had begun is to be taken. There the code may be an HTTP status.
func (c complaint) midStream() agent.Failure {
	if status, err := strconv.Atoi(c.code); err == nil && status >= 400 && status < 600 {
		return failureOf(status, c)
	}
	if c.noMoney() {
		return agent.Refused
	}
	if c.codedTooLong() {
		return agent.TooLong
	}
	for _, word := range []string{c.code, c.kind} {
		switch word {
		case "rate_limit_exceeded", "rate_limit_error":
			return agent.RateLimited
		case "invalid_request_error", "BadRequestError":
			if c.saysTooLong() {
				return agent.TooLong
			}
			return agent.Refused
		case "model_not_found", "content_filter":
			return agent.Refused
		case "invalid_api_key", "authentication_error", "permission_error":
			return agent.Credential
		}
	}
	return agent.Unavailable
}
