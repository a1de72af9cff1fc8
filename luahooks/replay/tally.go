package replay

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

// Tally is the sum of what hooks did in some sessions.
type Tally struct {
	Sessions int
	Events   map[string]int // how often the hook was asked, by event
	Effects  map[string]int // what it did, by the kind of effect
	Shut     int            // how many of the errors blocked a call or a command
	LeftOut  map[string]int // events that the hook was not asked about, as it is too slow at them
	Undone   map[string]int // calls of functions that do nothing in a replay, by name

	times histogram
}

// NewTally returns one in which nothing happened.
func NewTally() Tally {
	return Tally{Events: map[string]int{}, Effects: map[string]int{}, LeftOut: map[string]int{}, Undone: map[string]int{}}
}

// Add adds what happened in other sessions.
func (t *Tally) Add(more *Tally) {
	t.Sessions += more.Sessions
	addCounts(&t.Events, more.Events)
	addCounts(&t.Effects, more.Effects)
	addCounts(&t.Undone, more.Undone)
	addCounts(&t.LeftOut, more.LeftOut)
	t.Shut += more.Shut
	for i, n := range more.times {
		t.times[i] += n
	}
}

func addCounts(to *map[string]int, more map[string]int) {
	if *to == nil {
		*to = map[string]int{}
	}
	for name, n := range more {
		(*to)[name] += n
	}
}

// P99 is the time that 99 of 100 events took at most, from the event to its answer; exact to
// an eighth. 0 if there was none.
func (t *Tally) P99() time.Duration { return t.times.at(99) }

// Total is how many events the hook was asked about.
func (t *Tally) Total() (n int) {
	for _, count := range t.Events {
		n += count
	}
	return n
}

// Lines are the counts for a user: one line, and more about events that the hook was not asked
// about, and what it wanted to do that a replay does not do.
func (t *Tally) Lines() []string {
	var parts []string
	for _, k := range replayed() {
		thing := map[agent.Kind]string{agent.KindToolCall: "call", agent.KindToolResult: "result", agent.KindInput: "prompt",
			agent.KindContext: "context", agent.KindUserBash: "command"}[k]
		if n, asked := t.Events[k.String()]; asked {
			parts = append(parts, printable.Count(n, thing))
		}
	}
	for _, kind := range []string{Blocked, Changed, Added, Handled, Asked} {
		n := t.Effects[kind]
		switch {
		case kind == Blocked && t.Shut > 0:
			parts = append(parts, fmt.Sprintf("%d %s (%d by errors)", n+t.Shut, Blocked, t.Shut))
		case kind == Blocked || n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	parts = append(parts, printable.Count(t.Effects[Raised], "error"))
	if t.Total() > 0 {
		parts = append(parts, "p99 "+millis(t.P99()))
	}
	lines := []string{strings.Join(parts, ", ")}
	for _, name := range slices.Sorted(maps.Keys(t.LeftOut)) {
		lines = append(lines, fmt.Sprintf("%s: stopped for its time %d times, so the replay went on without it: not asked about %d more", name, mostLate, t.LeftOut[name]))
	}
	if len(t.Undone) > 0 {
		var undone []string
		for _, name := range slices.Sorted(maps.Keys(t.Undone)) {
			undone = append(undone, fmt.Sprintf("%s (%d)", name, t.Undone[name]))
		}
		lines = append(lines, "called and not done in a replay: "+strings.Join(undone, ", "))
	}
	return lines
}

// millis formats a duration in milliseconds, with as many digits as tell something.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	digits := 0
	for least := 10.0; digits < 3 && ms < least; least /= 10 {
		digits++
	}
	return fmt.Sprintf("%.*f ms", digits, ms)
}

// histogram counts durations in buckets, four to each power of two nanoseconds.
type histogram [4 * 42]uint32

func (h *histogram) add(d time.Duration) {
	n := uint64(max(d, 4))
	power := bits.Len64(n) - 1
	h[min(4*power+int(n>>(power-2))&3, len(h)-1)]++
}

// at returns the duration that percent of the counted ones do not exceed, as the middle of its
// bucket.
func (h *histogram) at(percent int) time.Duration {
	total := 0
	for _, n := range h {
		total += int(n)
	}
	left := (total*percent + 99) / 100
	for i, n := range h {
		if left -= int(n); left <= 0 && n > 0 {
			power, quarter := i/4, i%4
			return time.Duration((uint64(8+2*quarter) + 1) << power >> 3)
		}
	}
	return 0
}
