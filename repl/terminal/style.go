package terminal

import (
	"fmt"
	"strings"

	"pi/internal/printable"
)

// Style is a way in which text is set off: the parameters of a colour sequence.
type Style string

// The styles of the program's own texts.
const (
	StyleDim     Style = "2"
	StyleError   Style = "31"
	StyleSuccess Style = "32"
	StyleWarning Style = "33"
	StyleTool    Style = "36"
	StyleBold    Style = "1"
)

// Palette colours text for a terminal, or leaves it as it is.
type Palette struct {
	On    bool // the terminal has colours, and they are wanted
	Rich  bool // it has 256 of them
	True  bool // it has all of them
	Light bool // its background is light
}

// Styled returns text in a style.
func (p Palette) Styled(s Style, text string) string {
	if !p.On || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Begin appends to dst the escape sequence that switches a style on, for text that is
// written in several parts; nothing if colours are off. End switches it off.
func (p Palette) Begin(dst []byte, s Style) []byte {
	if !p.On {
		return dst
	}
	return append(append(append(dst, "\x1b["...), s...), 'm')
}

// End appends to dst the escape sequence that switches styles off; nothing if colours
// are off.
func (p Palette) End(dst []byte) []byte {
	if !p.On {
		return dst
	}
	return append(dst, "\x1b[0m"...)
}

// ink is one name of the theme: how it begins, with 16 and with 256 colours, and
// its end. An end takes back no more than its beginning, so that one ink inside
// another does not end that.
type ink struct{ usual, rich, end string }

// theme has the inks by the names that hooks call them by.
func theme() map[string]ink {
	return map[string]ink{
		"accent": {"36", "38;5;80", "39"}, "success": {"32", "38;5;114", "39"}, "warning": {"33", "38;5;221", "39"},
		"error": {"31", "38;5;203", "39"}, "muted": {"90", "38;5;245", "39"}, "dim": {"2", "2", "22"},
		"border": {"90", "38;5;240", "39"}, "tool_title": {"36", "38;5;80", "39"}, "tool_output": {"90", "38;5;248", "39"},
		"thinking": {"90", "38;5;245", "39"}, "user": {"34", "38;5;111", "39"}, "code": {"35", "38;5;180", "39"},
		"link": {"94", "38;5;75", "39"},
		"bold": {"1", "1", "22"}, "italic": {"3", "3", "23"}, "underline": {"4", "4", "24"}, "strikethrough": {"9", "9", "29"},
		"inverse": {"7", "7", "27"},
	}
}

// Paint returns text in a colour or style of the theme, by the name that hooks
// call it by. A name that there is not leaves the text as it is.
func (p Palette) Paint(name, text string) string {
	i, ok := theme()[name]
	if !p.On || !ok || text == "" {
		return text
	}
	begin := i.usual
	if p.Rich {
		begin = i.rich
	}
	return fmt.Sprintf("\x1b[%sm%s\x1b[%sm", begin, text, i.end)
}

// inks returns the parameters of all colour sequences that the theme writes, but for RGB,
// and of the one that ends all colours. Text of hooks may have these and no others.
func inks() map[string]bool {
	all := map[string]bool{"": true, "0": true}
	for _, i := range theme() {
		all[i.usual], all[i.rich], all[i.end] = true, true, true
	}
	all[usualGroundEnd], all[richGroundEnd] = true, true
	for _, g := range grounds() {
		all[g.usual], all[g.dark], all[g.light] = true, true, true
	}
	return all
}

// Painted cleans lines that a hook made with the theme: they are cut to a number
// of columns, the colours of the theme stay and nothing else does.
func (p Palette) Painted(lines []string, columns int) (clean []string) {
	var allowed func(string) bool
	if p.On {
		exact := inks()
		allowed = func(parameters string) bool { return exact[parameters] || p.isRGB(parameters) }
	}
	for _, line := range lines {
		s := printable.Cleaner{Inks: allowed}
		for _, part := range strings.Split(strings.TrimRight(string(s.Finish(s.Append(nil, line))), "\n"), "\n") {
			clean = append(clean, cutPainted(part, columns))
		}
	}
	return clean
}
