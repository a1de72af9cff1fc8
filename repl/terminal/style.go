package terminal

import (
	"strings"

	"pi/internal/cells"
	"pi/internal/printable"
)

// Palette colours text for a terminal, or leaves it as it is.
type Palette struct {
	On    bool // the terminal has colours, and they are wanted
	Rich  bool // it has 256 of them
	True  bool // it has all of them
	Light bool // its background is light
}

// ink is one name of the theme: how it begins, with 16 colours and with 256, on a dark
// and on a light background, and its end. An end takes back no more than its beginning,
// so that one ink inside another does not end that.
type ink struct {
	usual, usualLight string
	rich, richLight   string
	end               string
}

// begin is how the ink begins on a terminal.
func (i ink) begin(p Palette) string {
	switch {
	case p.Rich && p.Light:
		return i.richLight
	case p.Rich:
		return i.rich
	case p.Light:
		return i.usualLight
	}
	return i.usual
}

// names are those that inkOf knows.
func names() []string {
	return []string{"accent", "success", "warning", "error", "muted", "dim", "border", "tool_title", "tool_output", "thinking", "user", "code",
		"link", "bold", "italic", "underline", "strikethrough", "inverse"}
}

// inkOf is the ink of a name that hooks call it by. With 256 colours text in it has a
// contrast of 4.5 and more to a black and to a white background, lines aside. With 16 the
// terminal decides what they look like; those that are usually pale are not used on a
// light background.
func inkOf(name string) (ink, bool) {
	const end = "39"
	switch name {
	case "accent", "tool_title":
		return ink{"36", "34", "38;5;80", "38;5;23", end}, true
	case "success":
		return ink{"32", "34", "38;5;114", "38;5;22", end}, true
	case "warning":
		return ink{"33", "35", "38;5;221", "38;5;94", end}, true
	case "error":
		return ink{"31", "31", "38;5;203", "38;5;124", end}, true
	case "muted", "dim", "thinking":
		return ink{"90", "90", "38;5;245", "38;5;241", end}, true
	case "border":
		return ink{"90", "90", "38;5;240", "38;5;246", end}, true
	case "tool_output":
		return ink{"90", "90", "38;5;248", "38;5;239", end}, true
	case "user":
		return ink{"94", "34", "38;5;111", "38;5;19", end}, true
	case "code":
		return ink{"35", "35", "38;5;180", "38;5;90", end}, true
	case "link":
		return ink{"94", "34", "38;5;75", "38;5;25", end}, true
	case "bold":
		return styled("1", "22"), true
	case "italic":
		return styled("3", "23"), true
	case "underline":
		return styled("4", "24"), true
	case "strikethrough":
		return styled("9", "29"), true
	case "inverse":
		return styled("7", "27"), true
	}
	return ink{}, false
}

// styled is the ink of a style, which all terminals have alike.
func styled(begin, end string) ink { return ink{begin, begin, begin, begin, end} }

// Paint returns text in a colour or style of the theme, by the name that hooks
// call it by. A name that there is not leaves the text as it is.
func (p Palette) Paint(name, text string) string {
	i, ok := inkOf(name)
	if !p.On || !ok || text == "" {
		return text
	}
	return "\x1b[" + i.begin(p) + "m" + text + "\x1b[" + i.end + "m"
}

// inks returns the parameters of all colour sequences that the theme writes, but for RGB,
// and of the one that ends all colours. Text of hooks may have these and no others.
func inks() map[string]bool {
	all := map[string]bool{"": true, "0": true}
	for _, name := range names() {
		i, _ := inkOf(name)
		all[i.usual], all[i.usualLight], all[i.rich], all[i.richLight], all[i.end] = true, true, true, true, true
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

// cutPainted shortens a line that has colours to a number of columns, and ends its colours. A
// tab takes the place of one blank, for its width depends on where it is.
func cutPainted(line string, columns int) string {
	if cells.Width(line) > columns || strings.Contains(line, "\t") {
		line = cells.Cut(line, columns)
	}
	if strings.Contains(line, "\x1b") {
		line += styleEnd
	}
	return line
}
