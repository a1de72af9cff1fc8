package screentest

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The measures of a picture, in pixels: those of most monospaced letters of 14.
const (
	cellWidth  = 8.4
	cellHeight = 19
	padding    = 16
)

// Picture draws rows of a screen as SVG. Its letters are text in whatever monospaced font a
// browser has, stretched to the cells that they took; it needs no script and no other file. light
// and dark are the same rows as the program colours them for either background, and who looks at
// it sees those that fit: rows whose texts differ are an error. Widths and colours are the only
// things that an attribute or a rule of style says, so the bytes depend on the cells alone.
func Picture(title string, light, dark [][]Cell) ([]byte, error) {
	if len(light) != len(dark) {
		return nil, fmt.Errorf("draw a screen: %d light rows and %d dark ones", len(light), len(dark))
	}
	p := picture{}
	for row := range light {
		if err := p.row(row, light[row], dark[row]); err != nil {
			return nil, fmt.Errorf("draw a screen, row %d: %w", row, err)
		}
	}
	return p.svg(escaped(title), len(light)), nil
}

// looks are the styles of one cell on both backgrounds.
type looks struct{ light, dark string }

// picture is what was drawn of it so far.
type picture struct {
	columns int
	classes []looks // their index is the name of the class
	body    strings.Builder
}

// row draws one row: what is alike side by side is one piece.
func (p *picture) row(row int, light, dark []Cell) error {
	if len(light) != len(dark) {
		return fmt.Errorf("%d light cells and %d dark ones", len(light), len(dark))
	}
	p.columns = max(p.columns, len(light))
	for col := 0; col < len(light); {
		look, text, end := looks{light[col].Style, dark[col].Style}, "", col
		for ; end < len(light) && (light[end].tail || looks{light[end].Style, dark[end].Style} == look); end++ {
			if light[end].Text != dark[end].Text {
				return fmt.Errorf("column %d is %q on a light background and %q on a dark one", end, light[end].Text, dark[end].Text)
			}
			text += shownAs(light[end])
		}
		if err := p.piece(row, col, end, text, look); err != nil {
			return err
		}
		col = end
	}
	return nil
}

// shownAs is the text of a cell, of which only the second half of a wide one has none.
func shownAs(c Cell) string {
	if c.Text == "" && !c.tail {
		return " "
	}
	return c.Text
}

// piece draws cells of one look. Blanks at their ends move nothing, so only what is
// between them is drawn, unless the cells have a background.
func (p *picture) piece(row, from, to int, text string, look looks) error {
	class, err := p.class(look)
	if err != nil {
		return err
	}
	if filled(look.light) || filled(look.dark) {
		fmt.Fprintf(&p.body, "<rect class=\"b%d\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"/>\n",
			class, across(from), padding+row*cellHeight, pixels(float64(to-from)*cellWidth), cellHeight)
	}
	begin := len(text) - len(strings.TrimLeft(text, " "))
	end := len(text) - len(strings.TrimRight(text, " "))
	if begin == len(text) {
		return nil
	}
	attribute := ""
	if class > 0 {
		attribute = fmt.Sprintf(" class=\"c%d\"", class)
	}
	fmt.Fprintf(&p.body, "<text%s x=\"%s\" y=\"%d\" textLength=\"%s\">%s</text>\n",
		attribute, across(from+begin), padding+row*cellHeight+14, pixels(float64(to-from-begin-end)*cellWidth), escaped(text[begin:len(text)-end]))
	return nil
}

// class is the number of a look, from 0 for the plain one, in the order in which they are met.
func (p *picture) class(look looks) (int, error) {
	if len(p.classes) == 0 {
		p.classes = []looks{{}}
	}
	if i := slices.Index(p.classes, look); i >= 0 {
		return i, nil
	}
	for _, style := range []string{look.light, look.dark} {
		if _, err := paintOf(style); err != nil {
			return 0, err
		}
	}
	p.classes = append(p.classes, look)
	return len(p.classes) - 1, nil
}

// svg puts the picture together.
func (p *picture) svg(title string, rows int) []byte {
	var b strings.Builder
	width, height := pixels(float64(p.columns)*cellWidth+2*padding), rows*cellHeight+2*padding
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%d\" viewBox=\"0 0 %[1]s %[2]d\" role=\"img\" xml:space=\"preserve\">\n<title>%s</title>\n<style>\n", width, height, title)
	b.WriteString("text { font: 14px ui-monospace, Menlo, Consolas, monospace }\n")
	p.rules(&b, func(l looks) string { return l.light }, colors{"#1f2328", "#f6f8fa"})
	b.WriteString("@media (prefers-color-scheme: dark) {\n")
	p.rules(&b, func(l looks) string { return l.dark }, colors{"#e6edf3", "#161b22"})
	fmt.Fprintf(&b, "}\n</style>\n<rect class=\"screen\" width=\"100%%\" height=\"100%%\" rx=\"8\"/>\n%s</svg>\n", p.body.String())
	return []byte(b.String())
}

// colors are those of a terminal where a program names none.
type colors struct{ foreground, background string }

// rules write the style of each class on one background.
func (p *picture) rules(b *strings.Builder, style func(looks) string, screen colors) {
	fmt.Fprintf(b, ".screen { fill: %s }\ntext { fill: %s }\n", screen.background, screen.foreground)
	for class, look := range p.classes {
		if class == 0 {
			continue
		}
		paint, _ := paintOf(style(look)) // class has looked at it
		foreground, background := orElse(paint.foreground, screen.foreground), orElse(paint.background, screen.background)
		if paint.inverse {
			foreground, background = background, foreground
		}
		fmt.Fprintf(b, ".c%d { fill: %s%s }\n", class, foreground, paint.more)
		if filled(look.light) || filled(look.dark) {
			fmt.Fprintf(b, ".b%d { fill: %s }\n", class, background)
		}
	}
}

func orElse(color, other string) string {
	if color == "" {
		return other
	}
	return color
}

// filled reports whether cells of a style cover the background of the screen.
func filled(style string) bool {
	paint, _ := paintOf(style)
	return paint.inverse || paint.background != ""
}

// paint is a style in the words of SVG.
type paint struct {
	foreground, background string // "" where the program names none
	inverse                bool
	more                   string // further declarations
}

// paintOf reads the parameters of a Cell.
func paintOf(sgr string) (p paint, err error) {
	declarations := map[string]string{"1": "; font-weight: bold", "2": "; fill-opacity: 0.6", "3": "; font-style: italic", "4": "; text-decoration: underline", "9": "; text-decoration: line-through"}
	params := strings.Split(sgr, ";")
	for len(params) > 0 {
		n, used := params[0], 1
		switch code, _ := strconv.Atoi(n); {
		case n == "":
		case n == "7":
			p.inverse = true
		case declarations[n] != "":
			p.more += declarations[n]
		case n == "38" || n == "48":
			var color string
			if color, used, err = colorOf(params[1:]); err != nil {
				return paint{}, err
			}
			if n == "38" {
				p.foreground = color
			} else {
				p.background = color
			}
		case code >= 30 && code < 38:
			p.foreground = paletteColor(code - 30)
		case code >= 90 && code < 98:
			p.foreground = paletteColor(code - 90 + 8)
		case code >= 40 && code < 48:
			p.background = paletteColor(code - 40)
		case code >= 100 && code < 108:
			p.background = paletteColor(code - 100 + 8)
		default:
			return paint{}, fmt.Errorf("no picture has the style %s", sgr)
		}
		params = params[used:]
	}
	return p, nil
}

// colorOf reads a colour behind 38 or 48, and how many parameters that were with it.
func colorOf(params []string) (color string, used int, err error) {
	var n [4]int
	for i := range min(len(params), len(n)) {
		if n[i], err = strconv.Atoi(params[i]); err != nil || n[i] < 0 || n[i] > 255 {
			return "", 0, fmt.Errorf("no colour: %s", strings.Join(params, ";"))
		}
	}
	switch {
	case len(params) >= 2 && n[0] == 5:
		return paletteColor(n[1]), 3, nil
	case len(params) >= 4 && n[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", n[1], n[2], n[3]), 5, nil
	}
	return "", 0, fmt.Errorf("no colour: %s", strings.Join(params, ";"))
}

// paletteColor is a colour of the palette of 256: the sixteen that have names as xterm shows
// them, a cube of six steps, and greys.
func paletteColor(n int) string {
	named := []string{
		"#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
		"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
	}
	switch {
	case n < len(named):
		return named[n]
	case n < 232:
		step := func(n int) int { return map[bool]int{true: 55 + 40*n}[n > 0] }
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6%6), step(n%6))
	}
	return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", 8+10*(n-232))
}

func across(col int) string { return pixels(padding + float64(col)*cellWidth) }

// pixels is a length with at most one digit behind the point.
func pixels(length float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(length, 'f', 1, 64), ".0")
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // which a Builder never refuses
	return b.String()
}
