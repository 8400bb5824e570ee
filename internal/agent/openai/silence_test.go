package openai_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/openai"
	"github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// onTheClock asks a server that lives on the bubble's clock, and returns how long it took.
func onTheClock(t *testing.T, silence time.Duration, answer fakeopenai.Answer) (got agent.Response, took time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		fake, client := fakeopenai.NewInMemory()
		defer fake.Close()
		p := openai.New(openai.Options{BaseURL: fake.URL(), APIKey: key, RequestTimeout: silence, HTTP: client})
		defer p.Close()
		fake.Next(answer)
		began := time.Now()
		got, err = p.Complete(t.Context(), question("hello"), nil)
		took = time.Since(began)
	})
	return got, took, err
}

func TestASlowAnswerThatGoesOnIsNoTimeOut(t *testing.T) {
	steps := []fakeopenai.StreamStep{fakeopenai.Pause(9 * time.Minute)}
	for range 8 {
		steps = append(steps, fakeopenai.Text("x"), fakeopenai.Pause(9*time.Minute), fakeopenai.Comment(), fakeopenai.Pause(9*time.Minute))
	}
	answer := fakeopenai.After(9*time.Minute, fakeopenai.Stream(append(steps, fakeopenai.Finish("stop"), fakeopenai.Done())...))
	got, took, err := onTheClock(t, 10*time.Minute, answer)
	if err != nil || got.Text != "xxxxxxxx" || took != 18*9*time.Minute {
		t.Errorf("got %+v, %v after %v", got, err, took)
	}
}

func TestSilenceIsMeasuredFromTheLastByte(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer fakeopenai.Answer
		want   time.Duration
	}{
		{"before the first byte", fakeopenai.Hang(), 10 * time.Minute},
		{"after the head", fakeopenai.After(time.Minute, fakeopenai.Stream(fakeopenai.Stall())), 11 * time.Minute},
		{"between tokens", fakeopenai.Stream(fakeopenai.Pause(time.Minute), fakeopenai.Text("x"), fakeopenai.Stall()), 11 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, took, err := onTheClock(t, 10*time.Minute, tt.answer)
			if e := wantFailure(t, err, agent.Unavailable); !strings.Contains(e.Error(), "10m0s") || took != tt.want {
				t.Errorf("%v after %v, want %v", e, took, tt.want)
			}
		})
	}
}

func TestAFinishedAnswerDoesNotWaitForAStreamThatStaysOpen(t *testing.T) {
	for _, silence := range []time.Duration{0, 10 * time.Minute, time.Second} {
		got, took, err := onTheClock(t, silence, fakeopenai.Stream(fakeopenai.Text("all of it"), fakeopenai.Finish("stop"), fakeopenai.Stall()))
		if err != nil || got.Text != "all of it" || took > 5*time.Second {
			t.Errorf("silence %v: got %+v, %v after %v", silence, got, err, took)
		}
	}
}
