package terminal

import (
	"strings"

	"pi/internal/cells"
	"pi/internal/printable"
)

// Sequences that the keyboard of a terminal is set up with.
const (
	focusOn  = "\x1b[?1004h"
	focusOff = "\x1b[?1004l"

	kittyPush    = "\x1b[>5u" // keys that are the same elsewhere differ, with the characters of other layouts
	kittyPop     = "\x1b[<u"
	kittyPopAll  = "\x1b[<99u"
	kittyRelease = "\x1b[=7u" // the release of keys too
	kittyUsual   = "\x1b[=5u"

	otherKeysOn  = "\x1b[>4;1m" // the same in xterm, for keys that have no code of their own
	otherKeysOff = "\x1b[>4m"

	mouseOff     = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l"
	alternateOff = "\x1b7\x1b[?1049l" // the cursor stays where no alternate screen is shown
)

// sane undoes what a program that was killed may have done to the terminal: a sequence that
// it did not end, margins, insertion, another set of characters, the codes of the arrow keys,
// the mouse.
const sane = printable.EndSequence + styleEnd + "\x0f\x1b(B\x1b[4l\x1b[?1l\x1b>" + wrapOn + "\x1b7\x1b[r\x1b8" + mouseOff + showCursor

// Reset is what a program that ends by force writes, so that the terminal
// is as other programs want it: it undoes all that a [Terminal] or a program that had
// it may have set, whether it did or not.
const Reset = printable.EndSequence + alternateOff + pasteOff + focusOff + mouseOff + "\x1b7" + kittyPop + "\x1b8" + otherKeysOff + styleEnd + wrapOn + showCursor

// modes is what is asked of the terminal beside the mode of its line.
type modes struct {
	focus    bool // it tells when its window comes to the front
	kitty    bool // it speaks the keyboard protocol of kitty
	releases bool // the release of keys is wanted
	other    bool // it does not, but may know the protocol of xterm
}

// on returns the sequences that set the modes.
func (m modes) on() string {
	var s strings.Builder
	s.WriteString(pasteOn)
	if m.focus {
		s.WriteString(focusOn)
	}
	s.WriteString(m.keyboardOn())
	return s.String()
}

// keyboardOn returns those of them that are known only when the terminal has answered.
func (m modes) keyboardOn() string {
	switch {
	case m.kitty && m.releases:
		return kittyPush + kittyRelease
	case m.kitty:
		return kittyPush
	case m.other:
		return otherKeysOn
	}
	return ""
}

// off returns the sequences that undo what on has set.
func (m modes) off() string {
	var s strings.Builder
	s.WriteString(pasteOff)
	if m.focus {
		s.WriteString(focusOff)
	}
	switch {
	case m.kitty:
		s.WriteString(kittyPop)
	case m.other:
		s.WriteString(otherKeysOff)
	}
	return s.String()
}

// onMain is again behind what leaves the alternate screen: each screen may have a keyboard
// of its own.
func (m modes) onMain() string { return printable.EndSequence + alternateOff + m.again() }

// again returns what undoes the traces of another program that had the terminal, and sets
// the modes.
func (m modes) again() string {
	if m.kitty {
		return sane + kittyPopAll + m.on()
	}
	return sane + m.on()
}

// Notice returns the sequence that tells a person of something where they look at another
// window: for "bell" the bell, for "osc9" a notice of the desktop with the text, which may be
// anybody's; "" for any other way. Inside of tmux the notice is wrapped, so that the terminal
// around it gets it where tmux passes such on.
func Notice(way, text string, inTmux bool) string {
	const most = 100 // cells; longer ones are cut by those who show them
	// The text does not begin with a number, which is a command of some terminals.
	notice := "\x1b]9;pi: " + cells.Cut(printable.Line(text), most) + "\x07"
	switch {
	case way == "bell":
		return "\x07"
	case way != "osc9":
		return ""
	case inTmux:
		return "\x1bPtmux;" + strings.ReplaceAll(notice, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return notice
}
