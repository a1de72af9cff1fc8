package terminal

import (
	"fmt"
	"math"
	"strconv"
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
		w := &inkWatch{palette: p, exact: inks()}
		allowed = w.allows
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

// Backgrounds, and colours that are no part of the theme.

// ground is the background that a name of the theme has: with 16 colours, where it sets
// the colour of the text as well, and with 256, for a dark and for a light terminal.
type ground struct{ usual, dark, light string }

// The ends of backgrounds: one that has set the colour of the text, and the others.
const (
	usualGroundEnd = "39;49"
	richGroundEnd  = "49"
)

// grounds has the backgrounds by the names that hooks call them by. On those of 256
// colours the usual colour of text can be read.
func grounds() map[string]ground {
	grey := func(dark, light string) ground { return ground{"97;100", "48;5;" + dark, "48;5;" + light} }
	return map[string]ground{
		"accent": {"30;46", "48;5;23", "48;5;195"}, "success": {"30;42", "48;5;22", "48;5;194"}, "warning": {"30;43", "48;5;58", "48;5;230"},
		"error": {"30;41", "48;5;52", "48;5;224"}, "user": {"30;44", "48;5;17", "48;5;189"}, "code": {"30;45", "48;5;53", "48;5;225"},
		"link": {"30;104", "48;5;18", "48;5;153"}, "tool_title": {"30;46", "48;5;23", "48;5;195"},
		"muted": grey("237", "253"), "dim": grey("235", "255"), "border": grey("238", "252"),
		"tool_output": grey("236", "254"), "thinking": grey("236", "254"),
	}
}

// Background returns text on a background of the theme, by the name that hooks call it by.
// A name that there is not leaves the text as it is.
func (p Palette) Background(name, text string) string {
	g, ok := grounds()[name]
	if !p.On || !ok || text == "" {
		return text
	}
	begin, end := g.usual, usualGroundEnd
	if p.Rich {
		begin, end = g.dark, richGroundEnd
		if p.Light {
			begin = g.light
		}
	}
	return fmt.Sprintf("\x1b[%sm%s\x1b[%sm", begin, text, end)
}

// RGB returns text in a colour, or in the nearest that the terminal has. A colour that
// can hardly be told from the terminal's background leaves the text as it is.
func (p Palette) RGB(r, g, b uint8, text string) string {
	begin, c := p.colour(shade{r, g, b}, 30)
	if !p.On || text == "" || !p.isSeen(c) {
		return text
	}
	return "\x1b[" + begin + "m" + text + "\x1b[39m"
}

// OnRGB returns text on a background of a colour, or of the nearest that the terminal has. One
// from which the usual text can hardly be told leaves it as it is.
func (p Palette) OnRGB(r, g, b uint8, text string) string {
	begin, c := p.colour(shade{r, g, b}, 40)
	if !p.On || text == "" || !isTold(p.plain(), c) {
		return text
	}
	return "\x1b[" + begin + "m" + text + "\x1b[49m"
}

// colour returns the parameters that begin a colour, or the nearest that the terminal has, and
// which that is; first is 30 for that of characters, and 40 for that behind them.
func (p Palette) colour(c shade, first int) (begin string, is shade) {
	switch {
	case p.True:
		return fmt.Sprintf("%d;2;%d;%d;%d", first+8, c[0], c[1], c[2]), c
	case p.Rich:
		return fmt.Sprintf("%d;5;%d", first+8, nearest(c, 16, 256)), c
	}
	n := nearest(c, 0, 16)
	if n >= 8 {
		return strconv.Itoa(first + 60 + n - 8), numbered(n)
	}
	return strconv.Itoa(first + n), numbered(n)
}

// shade is a colour: red, green, blue.
type shade [3]uint8

// numbered is the colour that a terminal usually has under one of its 256 numbers.
func numbered(n int) shade {
	level := func(i int) uint8 { return uint8(min(i, 1)*55 + 40*i) }
	switch {
	case n == 7:
		return shade{229, 229, 229}
	case n == 8:
		return shade{127, 127, 127}
	case n < 16:
		bright := uint8(205 + 50*(n/8))
		return shade{uint8(n&1) * bright, uint8(n>>1&1) * bright, uint8(n>>2&1) * bright}
	case n < 232:
		n -= 16
		return shade{level(n / 36), level(n / 6 % 6), level(n % 6)}
	}
	grey := uint8(8 + 10*(n-232))
	return shade{grey, grey, grey}
}

// nearest is the number, from first and below end, of the colour that is most like c.
func nearest(c shade, first, end int) (best int) {
	least := math.MaxInt
	for n := first; n < end; n++ {
		distance := 0
		for i, v := range numbered(n) {
			d := int(v) - int(c[i])
			distance += d * d
		}
		if distance < least {
			best, least = n, distance
		}
	}
	return best
}

// leastContrast is the contrast with the background under which text counts as hidden.
const leastContrast = 1.4

// isTold reports whether one colour can be told from another.
func isTold(a, b shade) bool {
	high, low := a.luminance(), b.luminance()
	if high < low {
		high, low = low, high
	}
	return (high+0.05)/(low+0.05) >= leastContrast
}

// luminance is how bright a colour is, from 0 to 1.
func (c shade) luminance() (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		sum += weight * math.Pow(float64(c[i])/255, 2.2)
	}
	return sum
}

// plain is about the colour of text that nobody paints, and ground the one behind it.
func (p Palette) plain() shade {
	if p.Light {
		return shade{}
	}
	return numbered(7)
}

func (p Palette) ground() shade {
	if p.Light {
		return shade{255, 255, 255}
	}
	return shade{}
}

// isSeen reports whether text in a colour can be told from the terminal's background.
func (p Palette) isSeen(c shade) bool { return isTold(c, p.ground()) }

// inkWatch decides which colours of what a hook draws stay: none in which text is hidden. It is
// asked about one after the other.
type inkWatch struct {
	palette   Palette
	exact     map[string]bool // those of the theme
	ink, back *shade          // in force, by their parts; nil: those of the terminal or the theme
}

// allows reports whether a sequence with these parameters stays.
func (w *inkWatch) allows(parameters string) bool {
	c, first, isColour := colourOf(parameters)
	switch {
	case isColour && first == 40 && w.exact[parameters]:
		w.back = nil
	case isColour && first == 40:
		text := w.palette.plain()
		if w.ink != nil {
			text = *w.ink
		}
		if !isTold(text, c) || !isTold(w.palette.plain(), c) {
			return false
		}
		w.back = &c
	case isColour:
		if w.back != nil && !isTold(c, *w.back) || !w.exact[parameters] && !w.palette.isSeen(c) {
			return false
		}
		w.ink = &c
	case !w.exact[parameters]:
		return false
	case parameters == "" || parameters == "0":
		w.ink, w.back = nil, nil
	case parameters == "39":
		w.ink = nil
	case parameters == "49":
		w.back = nil
	}
	return true
}

// colourOf reads the parameters of a sequence that begins a colour: of characters, where first is
// 30, or behind them, where it is 40.
func colourOf(parameters string) (c shade, first int, ok bool) {
	var numbers []int
	for word := range strings.SplitSeq(parameters, ";") {
		n, err := strconv.Atoi(word)
		if err != nil || n > 255 || strconv.Itoa(n) != word {
			return c, 0, false
		}
		numbers = append(numbers, n)
	}
	n := numbers[0]
	switch {
	case len(numbers) == 5 && (n == 38 || n == 48) && numbers[1] == 2:
		return shade{uint8(numbers[2]), uint8(numbers[3]), uint8(numbers[4])}, n - 8, true
	case len(numbers) == 3 && (n == 38 || n == 48) && numbers[1] == 5:
		return numbered(numbers[2]), n - 8, true
	case len(numbers) == 1 && (n >= 30 && n <= 37 || n >= 40 && n <= 47):
		return numbered(n % 10), n - n%10, true
	case len(numbers) == 1 && (n >= 90 && n <= 97 || n >= 100 && n <= 107):
		return numbered(n%10 + 8), n - n%10 - 60, true
	}
	return c, 0, false
}
