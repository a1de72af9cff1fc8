package screentest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// private are the sequences with a prefix, or with a byte before the last.
func (e *Emulator) private(kind string, a arguments, final byte) bool {
	switch kind + string(final) {
	case "?h", "?l":
		for i := range a {
			if !e.setMode(a.at(i, 0), final == 'h') {
				e.noteUnknown(fmt.Sprintf("mode %d", a.at(i, 0)))
			}
		}
	case "?$p":
		e.answer(fmt.Sprintf("\x1b[?%d;%d$y", a.at(0, 0), e.modeState(a.at(0, 0))))
	case "?u":
		if e.profile.Keyboard {
			e.answer(fmt.Sprintf("\x1b[?%du", min(e.modes.Keyboard, 1)))
		}
	case ">u", "<u":
		e.keyboard(kind, a)
	case "=u": // changes the level on top, which is not told apart here
	case ">m":
		if a.at(0, 0) == 4 {
			e.modes.OtherKeys = a.at(1, 0)
		}
	case ">c":
		e.answer(e.version())
	case ">q", "?n", "?m", " q", "!p", "?J", "?K", ">t":
	default:
		return false
	}
	return true
}

// version is the second answer to what the terminal is: one of those that lay lines out anew
// when the width changes, or one of those that do not.
func (e *Emulator) version() string {
	if e.reflow {
		return "\x1b[>65;7600;1c"
	}
	return "\x1b[>41;390;0c"
}

// keyboard pushes or pops a level of the keyboard protocol, where it is known.
func (e *Emulator) keyboard(kind string, a arguments) {
	switch {
	case !e.profile.Keyboard:
	case kind == ">":
		e.modes.Keyboard++
	default:
		e.modes.Keyboard = max(e.modes.Keyboard-a.count(), 0)
	}
}

// switches are the modes that only have to be remembered.
func (m *Modes) switches(mode int) *bool {
	switch mode {
	case 1:
		return &m.CursorKeys
	case 6:
		return &m.Origin
	case 1004:
		return &m.Focus
	case 2004:
		return &m.BracketedPaste
	case 2026:
		return &m.Synchronous
	case 9, 1000, 1002, 1003:
		return &m.Mouse
	}
	return nil
}

func (e *Emulator) setMode(mode int, on bool) bool {
	if s := e.modes.switches(mode); s != nil {
		*s = on
		if mode == 6 {
			e.move(e.origin(), 0)
		}
		return true
	}
	switch mode {
	case 7:
		e.modes.NoWrap = !on
	case 25:
		e.modes.HiddenCursor = !on
	case 47, 1047, 1049:
		e.alternate(on)
	case 1048, 3, 4, 5, 8, 12, 1005, 1006, 1007, 1015, 1016, 1034, 2027, 2031, 2048:
	default:
		return false
	}
	return true
}

// modeState is what DECRQM answers: 0 unknown, 1 on, 2 off.
func (e *Emulator) modeState(mode int) int {
	s := e.modes.switches(mode)
	switch {
	case s == nil, mode == 2004 && e.profile.NoPaste:
		return 0
	case *s:
		return 1
	}
	return 2
}

// alternate shows the alternate screen, or the main one again.
func (e *Emulator) alternate(on bool) {
	if on == e.modes.Alternate {
		return
	}
	e.modes.Alternate = on
	if on {
		e.other, e.main, e.mainSaved = e.lines, e.cursor, e.saved
		e.lines = e.blank(e.rows)
		return
	}
	e.lines, e.other = e.other, nil
	e.cursor, e.saved = e.main, e.mainSaved
	e.move(e.cursor.row, e.cursor.col)
}

// Modes returns what is switched on.
func (e *Emulator) Modes() Modes {
	m := e.modes
	m.Margins = e.top > 0 || e.last < e.rows-1
	m.Style = e.cursor.style.String()
	return m
}

func (e *Emulator) answer(text string) {
	if e.reply != nil && !e.profile.Silent {
		e.reply(text)
	}
}

// report answers DSR.
func (e *Emulator) report(what int) {
	switch what {
	case 5:
		e.answer("\x1b[0n")
	case 6:
		e.answer(fmt.Sprintf("\x1b[%d;%dR", e.cursor.row+1, e.cursor.col+1))
	}
}

// command does what OSC and this text say.
func (e *Emulator) command(text string) {
	number, rest, _ := strings.Cut(text, ";")
	switch number {
	case "0", "2":
		e.title = rest
	case "9", "777":
		e.notices = append(e.notices, rest)
	case "11":
		if rest == "?" {
			e.answer("\x1b]11;" + e.background() + "\x1b\\")
		}
	case "52":
		e.copied(rest)
	case "8", "10", "12", "1", "7", "133", "104", "110", "111", "112", "22":
	default:
		e.noteUnknown("OSC " + text)
	}
}

func (e *Emulator) background() string {
	if e.profile.Background == "" {
		return "rgb:0000/0000/0000"
	}
	return e.profile.Background
}

// copied notes what OSC 52 puts into the clipboard.
func (e *Emulator) copied(rest string) {
	_, data, _ := strings.Cut(rest, ";")
	if b, err := base64.StdEncoding.DecodeString(data); err == nil && data != "?" {
		e.clipboard = string(b)
	}
}
