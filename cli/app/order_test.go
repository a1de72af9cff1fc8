package app

import (
	"context"
	"testing"

	"pi/agent"
)

// watching is a front end that notes what it is told an answer is.
type watching struct {
	agent.NoUI
	answer string
}

func (*watching) Wants(k agent.Kind) bool { return k == agent.KindMessageEnd }

func (w *watching) Handle(_ context.Context, e agent.Event) error {
	w.answer = e.(*agent.MessageEnd).Message.Text()
	return nil
}

func TestAFrontEndSeesWhatHooksMadeOfAnEvent(t *testing.T) {
	p := place(t, Options{}, map[string]string{"replace.lua": `pi.on("message_end", function(e)
		if e.message.role ~= "assistant" then return end
		e.message.content = { { type = "text", text = "what the hook says" } }
		return { message = e.message }
	end)`})
	p.Options.Model = "demo/tour"
	r, f := p.newRun(), new(watching)
	if err := r.with(t.Context(), front{f, f}, "print", nil, func() error { return r.agent.Prompt(t.Context(), agent.Prompt{Text: "hello"}) }); err != nil {
		t.Fatal(err)
	}
	if f.answer != "what the hook says" {
		t.Errorf("the front end was told %q", f.answer)
	}
}
