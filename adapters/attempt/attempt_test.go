package attempt_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// a secret is in no text, also in part, and also as it stands in an address; a short part hides nothing else.
func TestSecrets(t *testing.T) {
	s := attempt.Hide([]string{"47:AA/secret+one", ""}, "AA/secret+one", "AA")
	for text, want := range map[string]string{
		"bot47:AA/secret+one/x": "bot***/x",
		"AA/secret+one":         "***",
		"https://x/" + url.PathEscape("47:AA/secret+one"): "https://x/***",
		"q=" + url.QueryEscape("47:AA/secret+one"):        "q=***",
		"an AAA battery": "an AAA battery",
	} {
		if got := s.Mask(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := s.Words("  " + strings.Repeat("ä", 99) + "47:AA/secret+one and more"); strings.Contains(got, "secret") || len(got) > 210 || !strings.HasSuffix(got, "…") {
		t.Errorf("said %q", got)
	}
	at := &url.Error{Op: "Get", URL: "https://x/signed", Err: errors.New("refused for 47:AA/secret+one")}
	if got := s.Clean(at).Error(); got != "refused for ***" {
		t.Errorf("said %q", got)
	}
	if err := s.Clean(context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an error without a secret became %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	for says, want := range map[string]time.Duration{"": time.Second, "0": time.Second, "33": 33 * time.Second, "1.5": 1500 * time.Millisecond, "soon": time.Second} {
		if got := attempt.RetryAfter(http.Header{"Retry-After": {says}}); got != want {
			t.Errorf("%q: %s, want %s", says, got, want)
		}
	}
}

// A call says how far it came: D-03 depends on it. A redirect is an answer like others: nothing is sent elsewhere.
func TestOnce(t *testing.T) {
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/cut":
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = c.Close()
			}
		case "/half":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		case "/away":
			http.Redirect(w, r, "/there", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "yes")
		}
	}))
	defer s.Close()
	c := attempt.New(nil, time.Second, attempt.Hide(nil))
	defer c.Close()
	once := func(at string, body func() io.Reader) (attempt.Answer, error) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return c.Once(req, 5, body)
	}
	whole := func() io.Reader { return strings.NewReader("hello") }
	fault := func(err error) chat.Fault {
		t.Helper()
		e, ok := errors.AsType[*attempt.Error](err)
		if !ok {
			t.Fatalf("%T %v, want an Error", err, err)
		}
		return e.Fault().Fault
	}
	if a, err := once(s.URL+"/", whole); err != nil || a.Code != http.StatusOK || string(a.Text) != "yes" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := once(s.URL+"/away", whole); err != nil || a.Code != http.StatusFound || calls.Load() != 2 {
		t.Errorf("%+v, %v after %d calls", a, err, calls.Load())
	}
	for path, want := range map[string]chat.Fault{"/cut": chat.Unknown, "/half": chat.Unknown} {
		calls.Store(0)
		if _, err := once(s.URL+path, whole); fault(err) != want || calls.Load() != 1 {
			t.Errorf("%s: %v after %d calls, want %s after one", path, err, calls.Load(), want)
		}
	}
	if _, err := once(s.URL+"/", func() io.Reader { return io.MultiReader(strings.NewReader("he"), failing{}) }); fault(err) != chat.Unreachable {
		t.Errorf("a body that ends early: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := once("http://"+l.Addr().String(), whole); fault(err) != chat.Unreachable {
		t.Errorf("nobody there: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// A file goes to its writer whole or with an error; what the platform says about it is judged before.
func TestDownload(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			w.Header().Set("Content-Length", "100")
		}
		_, _ = io.WriteString(w, "a file")
	}))
	defer s.Close()
	c := attempt.New(nil, time.Second, attempt.Hide(nil))
	defer c.Close()
	gone := attempt.Refused(chat.ClassOther, "it is gone")
	for path, want := range map[string]error{"/": nil, "/gone": gone, "/half": io.ErrUnexpectedEOF} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		err = c.Download(req, &b, func(*http.Response) error {
			if path == "/gone" {
				return gone
			}
			return nil
		})
		if !errors.Is(err, want) || want == nil && b.String() != "a file" {
			t.Errorf("%s: %q, %v, want %v", path, b.String(), err, want)
		}
	}
}
