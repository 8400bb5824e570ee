package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

func pictured() agent.Request {
	r := question("what is on it?")
	r.Messages[0].Images = []agent.Image{{MIME: "image/png", Data: []byte("\x89PNG")}, {MIME: "image/jpeg", Data: []byte{0xff, 0xd8}}}
	return r
}

// Images go with the words that they came with, as data, so that the server needs to fetch nothing.
func TestImagesAreShown(t *testing.T) {
	fake, p := start(t, 0)
	fake.When(fakeopenai.Anything(), fakeopenai.Say("a cat"))
	if got, err := p.Complete(t.Context(), pictured(), nil); err != nil || got.Text != "a cat" {
		t.Fatalf("%+v, %v", got, err)
	}
	m := fake.Asks()[0].Messages[1]
	if m.Text != "what is on it?" || len(m.Images) != 2 || m.Images[0] != "data:image/png;base64,iVBORw==" || m.Images[1] != "data:image/jpeg;base64,/9g=" {
		t.Errorf("%+v", m)
	}
	var parts []struct{ Type string }
	if err := json.Unmarshal(m.Content, &parts); err != nil || len(parts) != 3 || parts[0].Type != "text" || parts[1].Type != "image_url" {
		t.Errorf("%s: %v", m.Content, err)
	}
}

// A model that reads text only does not end the conversation: it is asked without the images and knows of it.
func TestAServerThatTakesNoImagesIsAskedWithout(t *testing.T) {
	fake, p := start(t, 0)
	fake.When(func(a fakeopenai.Ask) bool { return len(a.Messages[1].Images) > 0 }, fakeopenai.Fail(http.StatusBadRequest, "this model does not support image input"))
	fake.When(fakeopenai.Anything(), fakeopenai.Say("I cannot see it"))
	r := pictured()
	if got, err := p.Complete(t.Context(), r, nil); err != nil || got.Text != "I cannot see it" {
		t.Fatalf("%+v, %v", got, err)
	}
	asks := fake.Asks()
	if said := asks[len(asks)-1].Said(); len(asks) != 2 || !strings.Contains(said, "what is on it?\n\n(2 image(s) could not be shown to you") {
		t.Errorf("%d requests, the last says %q", len(asks), said)
	}
	if len(r.Messages[0].Images) != 2 {
		t.Error("the caller's request was changed")
	}
	if _, err := p.Complete(t.Context(), question("and a refusal without images is one"), nil); err != nil {
		t.Error(err)
	}
	if n := len(fake.Asks()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}
