//go:build unix

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Two thousand pieces a second are shown without loss while one types, with less than
// half of a processor.
func TestAFloodOfPiecesIsShownWhileOneTypes(t *testing.T) {
	atWidths(t, []int{40, 80}, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		turn := s.ask("go")
		const pieces, perStep = 4000, 20
		before := s.CPU()
		began := time.Now()
		typed := ""
		for i := range pieces {
			turn.Text(fmt.Sprintf("w%04d ", i))
			if i%200 == 100 {
				key := string(rune('a' + i/200))
				s.Type(key)
				typed += key
				s.steers(typed)
			}
			if i%perStep == perStep-1 {
				if ahead := time.Duration(i) * time.Second / 2000; time.Since(began) < ahead {
					time.Sleep(ahead - time.Since(began)) // the model's pace, nothing is waited for
				}
			}
		}
		turn.End()
		s.rests(typed)
		used, took := s.CPU()-before, time.Since(began)
		if !raceEnabled && used > took/2 {
			t.Errorf("%v of processor time in %v", used, took)
		}
		words := strings.Fields(s.Transcript())
		next := 0
		for _, word := range words {
			if word == fmt.Sprintf("w%04d", next) {
				next++
			}
		}
		if next != pieces {
			t.Errorf("of %d pieces the first that is missing is %d", pieces, next)
		}
		s.Press("ctrl+c")
		s.quits()
	})
}

// At rest nothing is written, and next to nothing is done.
func TestAtRestNothingIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.home, w.project = filepath.Join(w.home, "its", "home"), filepath.Join(w.project, "its", "project") // other tests change what is beside theirs
	w.write(filepath.Join(w.project, "a.txt"), "alpha\n")
	s := newDesk(t, scenery{world: w})
	s.answered("hello", "Hello yourself.")
	s.Type("half a line")
	s.rests("half a line")
	s.Quiet(2 * time.Second) // what the last key began is over
	before := s.CPU()
	if got := s.BytesDuring(10 * time.Second); got != 0 {
		t.Errorf("%d bytes were written in 10 s", got)
	}
	if used := s.CPU() - before; used > 10*time.Millisecond && !raceEnabled {
		t.Errorf("%v of processor time in 10 s", used)
	}
}
