// Package diff writes the difference of two texts as a unified diff: what pi.diff makes for
// hooks, what the tool edit shows of its changes, and what a user sees of a hook's file before
// approving it.
package diff

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Unified says how a difference is written.
type Unified struct {
	From, To string // what the two texts are called
	Context  int    // how many lines around a change are shown
	// Look, if there is one, is called from time to time with how many bytes are taken next, and
	// may end the work by a panic. It is not called while lines are compared.
	Look func(bytes int)
}

// Change is a place where texts differ: the lines of the old one from Start up to End, and those
// of the new one from ReplStart up to ReplEnd.
type Change = lcs.Diff

// Lines are the lines of a text with their ends.
func (u Unified) Lines(text string) []string {
	n := strings.Count(text, "\n") + 1
	u.look(n * lineSlot)
	lines := make([]string, 0, n)
	for line := range strings.Lines(text) {
		if len(lines)%looksApart == 0 {
			u.look(0)
		}
		lines = append(lines, line)
	}
	return lines
}

const (
	lineSlot   = 16      // bytes that a list takes for a line
	looksApart = 1 << 10 // lines between two looks
)

func (u Unified) look(bytes int) {
	if u.Look != nil {
		u.Look(bytes)
	}
}

// Text is the difference between two texts. It is empty if they are equal.
func (u Unified) Text(before, after string) string {
	old, now := u.Lines(before), u.Lines(after)
	return u.Within(old, now, []Change{{End: len(old), ReplEnd: len(now)}})
}

// Within is the difference between two texts of which is known that they differ only within
// these places, which are in the order of the lines and do not overlap. Other lines are not
// compared.
func (u Unified) Within(before, after []string, places []Change) string {
	var changes []Change
	for _, p := range places {
		u.look(0)
		for _, c := range lcs.DiffLines(before[p.Start:p.End], after[p.ReplStart:p.ReplEnd]) {
			changes = append(changes, Change{Start: p.Start + c.Start, End: p.Start + c.End, ReplStart: p.ReplStart + c.ReplStart, ReplEnd: p.ReplStart + c.ReplEnd})
		}
	}
	if len(changes) == 0 {
		return ""
	}
	context := min(u.Context, len(before)) // so that twice as many can be counted
	w := writer{before: before, after: after, look: u.look}
	w.write("--- ", u.From+"\n")
	w.write("+++ ", u.To+"\n")
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Start-changes[n-1].End <= 2*context {
			n++
		}
		w.hunk(changes[:n], context)
		changes = changes[n:]
	}
	return w.b.String()
}

// writer writes each line as it finds it, and looks up meanwhile.
type writer struct {
	before, after []string
	look          func(bytes int)
	b             strings.Builder
	lines         int // written
}

// hunk writes changes that are near each other, and the lines around them.
func (w *writer) hunk(changes []Change, context int) {
	first, last := changes[0], changes[len(changes)-1]
	from, end := max(first.Start-context, 0), min(last.End+context, len(w.before))
	to := first.ReplStart - (first.Start - from)
	added := last.ReplEnd - first.ReplStart - (last.End - first.Start)
	w.write("@@", " -"+span(from, end-from)+" +"+span(to, end-from+added)+" @@\n")
	for _, c := range changes {
		w.each(" ", w.before[from:c.Start])
		w.each("-", w.before[c.Start:c.End])
		w.each("+", w.after[c.ReplStart:c.ReplEnd])
		from = c.End
	}
	w.each(" ", w.before[from:end])
}

// span says where n lines from a position on are. None in an empty text are at 0, as diff
// says it.
func span(at, n int) string {
	switch {
	case n > 1:
		return fmt.Sprintf("%d,%d", at+1, n)
	case n == 0 && at == 0:
		return "0,0"
	}
	return fmt.Sprint(at + 1)
}

// each writes lines with a sign before them.
func (w *writer) each(sign string, lines []string) {
	for _, line := range lines {
		w.write(sign, line)
		if !strings.HasSuffix(line, "\n") {
			w.write("\n", "\\ No newline at end of file\n")
		}
	}
}

// write writes a line in two parts. What is written is counted, and copied when it grows.
func (w *writer) write(sign, line string) {
	if w.lines++; w.lines%looksApart == 0 || len(line) > looksApart {
		w.look(0)
	}
	if size := w.b.Len() + len(sign) + len(line); size > w.b.Cap() {
		w.look(2 * size)
	}
	w.b.WriteString(sign)
	w.b.WriteString(line)
}
