package keymap

import (
	"slices"
	"strings"
)

// Result is what a key that was pressed means.
type Result struct {
	State    State
	Action   string // of the table
	Shortcut string // the chord of a hook, as ParseChord writes it; then there is no Action
}

// State is how far a key is understood.
type State int

// The states of a key.
const (
	Unbound State = iota // the table has no use for it; it may type something
	Bound                // it is an action or a shortcut
	Waiting              // it begins a chord
	Refused              // it ends a chord that means nothing, or gives one up
)

// Reader understands keys as they are pressed.
type Reader struct {
	table     *Map
	shortcuts func() []string
	pending   string // the first key of a chord
	restedEsc bool   // the key before was an esc at rest, in an empty line
}

// NewReader returns a reader for a table and the shortcuts of hooks at each moment; nil: there
// are none. What the table has counts before them, but for "esc esc".
func NewReader(m *Map, shortcuts func() []string) *Reader {
	if shortcuts == nil {
		shortcuts = func() []string { return nil }
	}
	return &Reader{table: m, shortcuts: shortcuts}
}

// Next understands a key by its name. rests says that the line is empty and nothing is
// going on, so that two esc in a row are "esc esc"; the first of them is what esc is alone.
func (r *Reader) Next(key string, rests bool) Result {
	key = canonical(key)
	if r.pending != "" {
		chord := r.pending + " " + key
		r.pending, r.restedEsc = "", false
		return r.find(chord, Refused)
	}
	second := key == "esc" && rests && r.restedEsc
	r.restedEsc = key == "esc" && rests && !second
	if second {
		return r.twoEsc()
	}
	if result := r.find(key, Unbound); result.State == Bound {
		return result
	}
	if r.table.begins(key) || slices.ContainsFunc(r.hooks(), func(s string) bool { return s != escEsc && strings.HasPrefix(s, key+" ") }) {
		r.pending = key
		return Result{State: Waiting}
	}
	return Result{}
}

// find is the result of a whole chord, with a state for one that nobody has.
func (r *Reader) find(chord string, otherwise State) Result {
	if action := r.table.bound[chord]; action != "" {
		return Result{State: Bound, Action: action}
	}
	if slices.Contains(r.hooks(), chord) {
		return Result{State: Bound, Shortcut: chord}
	}
	return Result{State: otherwise}
}

// twoEsc is the result of "esc esc", which hooks may have instead of the table.
func (r *Reader) twoEsc() Result {
	if slices.Contains(r.hooks(), escEsc) {
		return Result{State: Bound, Shortcut: escEsc}
	}
	if result := r.find(escEsc, Unbound); result.State == Bound {
		return result
	}
	return r.find("esc", Unbound)
}

func (r *Reader) hooks() (chords []string) {
	for _, s := range r.shortcuts() {
		if chord, err := ParseChord(s); err == nil {
			chords = append(chords, chord)
		}
	}
	return chords
}

// Uses reports whether a key is a chord of the table or of a hook, or a part of one.
func (r *Reader) Uses(key string) bool {
	has := func(chord string) bool { return slices.Contains(strings.Fields(chord), key) }
	for chord := range r.table.bound {
		if has(chord) {
			return true
		}
	}
	return slices.ContainsFunc(r.hooks(), has)
}

// Pending is the first key of a chord that is being typed, as people write it; "" if
// there is none.
func (r *Reader) Pending() string { return Label(r.pending) }

// Forget gives up the keys of a chord that is being typed, because something else has the
// keys now.
func (r *Reader) Forget() { r.pending, r.restedEsc = "", false }
