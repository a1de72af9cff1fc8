//go:build unix

package terminal

import (
	"testing"
	"time"
)

// What was typed waits from the moment at which it is there until a function has got it.
func TestATerminalTellsThatKeysWait(t *testing.T) {
	s := onStage(t, 20, 4)
	if s.term.KeysWait() {
		t.Error("keys wait before one was typed")
	}
	s.term.input.pause()
	if _, err := s.master.WriteString("a"); err != nil {
		t.Fatal(err)
	}
	s.becomes("a key waits", s.term.KeysWait)
	s.term.input.resume()
	s.becomes("it is handed on", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.keys) == 1 && s.keys[0].Name == "a"
	})
	s.becomes("no key waits", func() bool { return !s.term.KeysWait() })
}

// What another program may still give back waits, from the moment at which it has the terminal
// until a function has got it.
func TestWhatAnotherProgramMayGiveBackWaits(t *testing.T) {
	s := onStage(t, 20, 4)
	s.term.input.pause()
	if !s.term.KeysWait() {
		t.Error("no key waits while another program reads them")
	}
	s.term.Unread([]byte("a"))
	waited := make(chan bool, 1)
	s.term.input.onKey = func(Key) { waited <- s.term.KeysWait() }
	s.term.input.resume()
	if !<-waited {
		t.Error("the key that was given back does not wait before somebody got it")
	}
	s.becomes("no key waits", func() bool { return !s.term.KeysWait() })
}

// becomes waits until something is so that no event tells.
func (s *stage) becomes(what string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it does not come that %s", what)
		}
	}
}
