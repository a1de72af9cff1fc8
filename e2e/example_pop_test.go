//go:build unix

package e2e

import (
	"os"
	"strings"
	"testing"
)

func TestPopLetsTheUserChooseTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, err := os.ReadFile(inModule("examples/pop.lua"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.agentFile("hooks/pop.lua"), string(code))
	s, m := talk(t, w, "text First answer.\n---\ntext Second answer.\n---\ntext sum\n---\ntext Third answer.")
	s.prompt()
	s.keys("a prompt of more than forty characters in all\r")
	s.see(1, "First answer.")
	s.prompt()
	s.keys("short\r")
	s.see(1, "Second answer.")
	s.prompt()

	s.keys("/pop\r")
	s.asked("] a prompt of more than forty characters i...")
	if text := s.text(); strings.Contains(text, "] short") {
		t.Errorf("the last turn is offered:\n%s", text)
	}
	s.esc() // none
	s.prompt()
	if n := len(m.asked()); n != 2 {
		t.Errorf("without a choice the model was asked %d times", n)
	}
	s.keys("/pop\r")
	s.answer("] a prompt of more than forty characters i...", "forty\r")
	s.see(1, "Popped to turn ")
	s.prompt()
	s.keys("go on\r")
	s.see(1, "Third answer.")
	asked := m.asked()
	sent := messagesOf(t, asked[len(asked)-1].body)
	if !strings.Contains(sent, "[Summary]") || strings.Contains(sent, "Second answer.") {
		t.Errorf("after the pop the model was told %s", sent)
	}
}
