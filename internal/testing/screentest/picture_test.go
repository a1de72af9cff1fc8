package screentest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// cellsOf are the rows that a program paints on a screen of 12 columns.
func cellsOf(output string) [][]Cell {
	e := NewEmulator(12, 3, true, Profile{})
	_, _ = e.Write([]byte(output))
	return e.Screen().Cells
}

func TestAPictureHasTheTextAndBothColours(t *testing.T) {
	t.Parallel()
	const rows = "\r\n  \x1b[%smmin <a>\x1b[0m\r\n\x1b[7m \x1b[0m 界\x1b[1;3;44mx"
	b, err := Picture("two < three", cellsOf(strings.Replace(rows, "%s", "38;5;25", 1)), cellsOf(strings.Replace(rows, "%s", "38;2;1;2;255", 1)))
	if err != nil {
		t.Fatal(err)
	}
	light, dark, ok := strings.Cut(string(b), "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("it has no colours for the dark")
	}
	for _, want := range []string{"<title>two &lt; three</title>", ".c1 { fill: #005faf }", ".b2 { fill: #1f2328 }", ".c3 { fill: #1f2328; font-weight: bold; font-style: italic }", ".b3 { fill: #0000ee }"} {
		if !strings.Contains(light, want) {
			t.Errorf("no %s in\n%s", want, light)
		}
	}
	for _, want := range []string{
		".c1 { fill: #0102ff }", ".b2 { fill: #e6edf3 }",
		`<text class="c1" x="32.8" y="49" textLength="58.8">min &lt;a&gt;</text>`,
		`<rect class="b2" x="16" y="54" width="8.4" height="19"/>`,
		`<text x="32.8" y="68" textLength="16.8">界</text>`,
		`<rect class="b3" x="49.6" y="54" width="8.4" height="19"/>`,
	} {
		if !strings.Contains(dark, want) {
			t.Errorf("no %s in\n%s", want, dark)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(string(b))); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestScreensOfWhichNoPictureIsMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		light, dark [][]Cell
		want        string
	}{
		"other texts":     {cellsOf("one"), cellsOf("ore"), `row 0: column 1 is "n" on a light background and "r" on a dark one`},
		"other rows":      {cellsOf("one"), cellsOf("one")[1:], "3 light rows and 2 dark ones"},
		"other columns":   {cellsOf("one"), [][]Cell{nil, nil, nil}, "12 light cells and 0 dark ones"},
		"a blinking text": {cellsOf("\x1b[5mone"), cellsOf("one"), "no picture has the style 5"},
		"half a colour":   {[][]Cell{{{Text: "a", Style: "38;5"}}}, [][]Cell{{{Text: "a"}}}, "no colour: 5"},
		"a large colour":  {[][]Cell{{{Text: "a", Style: "38;5;256"}}}, [][]Cell{{{Text: "a"}}}, "no colour: 5;256"},
	} {
		if _, err := Picture("", c.light, c.dark); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheColoursOfThePalette(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "#cd0000", 15: "#ffffff", 16: "#000000", 111: "#87afff", 231: "#ffffff", 232: "#080808", 255: "#eeeeee"} {
		if got := paletteColor(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
