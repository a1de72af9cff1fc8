//go:build unix

package e2e

import (
	"slices"
	"testing"
)

// A command that ends the work is carried out once the person has agreed.
func TestACommandThatEndsTheWorkRunsAfterIt(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	first := s.ask("the first session")
	first.Text("A long answer ")
	s.See("A long answer")
	s.Type("/new\r")
	s.See("ends what runs. Interrupt it?")
	s.Type("y")
	s.SeeAnywhere("new session")
	second := s.ask("the second session")
	second.Answer("Yes.")
	s.rests("")
	if got := second.Request.Prompts(); !slices.Equal(got, []string{"the second session"}) {
		t.Errorf("the model was told %q", got)
	}
	s.quits()
}
