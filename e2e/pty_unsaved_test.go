//go:build unix

package e2e

import (
	"os"
	"testing"
)

// lost is a terminal with a conversation whose file is gone.
func lost(t *testing.T) *screen {
	t.Helper()
	w := newWorld(t)
	s, _ := talk(t, w, "text One.\n---\ntext Two.")
	s.enter("first")
	s.see(1, "One.")
	s.prompt()
	if err := os.Remove(w.sessionFile()); err != nil {
		t.Fatal(err)
	}
	s.enter("second")
	s.see(1, "the conversation goes on in memory")
	return s
}

const leaveUnsaved = "Quit, and lose that?"

func TestWhoQuitsWithoutASavedSessionIsAsked(t *testing.T) {
	t.Parallel()
	s := lost(t)
	s.enter("/quit")
	s.answer(leaveUnsaved, "n")
	s.answered()
	s.enter("/export jsonl all.jsonl")
	s.see(1, "all.jsonl")
	s.enter("/quit")
	s.answer(leaveUnsaved, "y")
	s.leave(statusFailed)
}

func TestWhoWantsToQuitTwiceIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := lost(t)
	s.prompt()
	s.keys("\x04")
	s.answer(leaveUnsaved, "\r")
	s.prompt()
	s.keys("\x04")
	s.leave(statusFailed)
}

func TestACommandThatWasNotSavedSaysWhatItDidAndThatItIsNotSaved(t *testing.T) {
	t.Parallel()
	s := lost(t)
	s.enter("/undo")
	s.see(1, "undone (/redo takes it back): the conversation (2 messages) ends with assistant: One.")
}
