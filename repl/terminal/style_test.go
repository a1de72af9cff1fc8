package terminal

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"pi/agent"
	"pi/internal/printable"
)

func TestThemeHasEveryNameAndIsPlainWithoutColours(t *testing.T) {
	for _, name := range append(agent.ThemeColors(), agent.ThemeStyles()...) {
		plain, usual, rich := Palette{Rich: true}, Palette{On: true}, Palette{On: true, Rich: true}
		if got := plain.Paint(name, "x"); got != "x" {
			t.Errorf("%s without colours: %q", name, got)
		}
		for _, p := range []Palette{usual, rich} {
			got := p.Paint(name, "x")
			if !strings.HasPrefix(got, "\x1b[") || !strings.HasSuffix(got, "m") || printable.Text(got) != "x" {
				t.Errorf("%s: %q", name, got)
			}
			if lines := p.Painted([]string{got}, 10); !slices.Equal(lines, []string{got + "\x1b[0m"}) {
				t.Errorf("%s does not stay: %q", name, lines)
			}
		}
	}
	for _, name := range agent.ThemeColors() {
		for _, p := range []Palette{{On: true}, {On: true, Rich: true}, {On: true, Rich: true, Light: true}} {
			got := p.Background(name, "x")
			if lines := p.Painted([]string{got}, 10); got == "x" || printable.Text(got) != "x" || !slices.Equal(lines, []string{got + "\x1b[0m"}) {
				t.Errorf("%s as a background of %+v does not stay: %q from %q", name, p, lines, got)
			}
		}
		if got := (Palette{}).Background(name, "x"); got != "x" {
			t.Errorf("%s as a background without colours: %q", name, got)
		}
	}
	if got := (Palette{On: true}).Paint("nosuch", "x") + (Palette{On: true}).Background("nosuch", "y"); got != "xy" {
		t.Errorf("a name that there is not: %q", got)
	}
}

func TestAColourByItsPartsIsTheNearestThatTheTerminalHas(t *testing.T) {
	all, rich, few, light := Palette{On: true, Rich: true, True: true}, Palette{On: true, Rich: true}, Palette{On: true}, Palette{On: true, Rich: true, True: true, Light: true}
	for _, c := range []struct {
		p       Palette
		r, g, b uint8
		want    string
	}{
		{all, 1, 200, 3, "38;2;1;200;3"}, {rich, 255, 0, 0, "38;5;196"}, {rich, 128, 128, 128, "38;5;244"}, {few, 200, 10, 10, "31"}, {few, 255, 250, 250, "97"},
		{light, 0, 0, 0, "38;2;0;0;0"},
		{all, 0, 0, 0, ""}, {rich, 10, 10, 10, ""}, {few, 0, 0, 0, ""}, {light, 255, 255, 255, ""}, // nobody could read it
		{Palette{True: true}, 1, 200, 3, ""},
	} {
		want := "x"
		if c.want != "" {
			want = "\x1b[" + c.want + "mx\x1b[39m"
		}
		got := c.p.RGB(c.r, c.g, c.b, "x")
		if lines := c.p.Painted([]string{got}, 10); got != want || !strings.Contains(lines[0], want) {
			t.Errorf("%d %d %d for %+v: %q, want %q; of that %q stays", c.r, c.g, c.b, c.p, got, want, lines)
		}
	}
}

func TestOneStyleInsideAnotherLeavesItAlone(t *testing.T) {
	p := Palette{On: true}
	if got, want := p.Paint("error", "a"+p.Paint("bold", "b")+"c"), "\x1b[31ma\x1b[1mb\x1b[22mc\x1b[39m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOnlyColoursOfTheThemeStayInWhatHooksDraw(t *testing.T) {
	for _, c := range []struct {
		name, in string
		on       bool
		want     []string
	}{
		{"its colours", "\x1b[36ma\x1b[39m", true, []string{"\x1b[36ma\x1b[39m\x1b[0m"}},
		{"a colour that is left open is closed", "\x1b[1ma", true, []string{"\x1b[1ma\x1b[0m"}},
		{"none without colours", "\x1b[36ma\x1b[39m", false, []string{"a"}},
		{"none that hide text", "\x1b[8ma\x1b[30;40mb\x1b[38;2;0;0;0mc\x1b[38;5;16md\x1b[30me", true, []string{"abcde"}},
		{"no more than a number's range", "\x1b[38;2;256;0;0ma\x1b[38;2;0;255mb\x1b[48;2;1;2;300mc\x1b[38;2;0;0255;0md", true, []string{"abcd"}},
		{"no movement, no title, no query", "a\x1b[2J\x1b[5;1H\x1b]0;t\x07\x1b[cb\u009b6n", true, []string{"ab"}},
		{"nothing that looks like one", "a\x1b[?36mb\x1b[36;1mc", true, []string{"abc"}},
		{"lines are lines", "a\nb\rc", true, []string{"a", "b", "c"}},
		{"hidden characters are shown", "a\u202eb", true, []string{"a<U+202E>b"}},
		{"a long line is cut, colours apart", "\x1b[36m0123456\x1b[39m789012345", true, []string{"\x1b[36m0123456\x1b[39m78901…\x1b[0m"}},
		{"a wide character does not stand over the edge", "世界世界世界世界", true, []string{"世界世界世界…"}},
		{"a tab is a space", "a\tb", true, []string{"a b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Palette{On: c.on}).Painted([]string{c.in}, 13); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// isInk reports whether parameters are those of a colour.
func isInk(parameters string) bool {
	_, _, ok := colourOf(parameters)
	return ok
}

func TestABackgroundByItsPartsNeverHidesText(t *testing.T) {
	all, few, light := Palette{On: true, Rich: true, True: true}, Palette{On: true}, Palette{On: true, Rich: true, True: true, Light: true}
	for _, c := range []struct {
		p        Palette
		in, want string
	}{
		{all, all.OnRGB(0, 60, 120, "x"), "\x1b[48;2;0;60;120mx\x1b[49m"},
		{few, few.OnRGB(0, 0, 200, "x"), "\x1b[44mx\x1b[49m"},
		{light, light.OnRGB(250, 250, 0, "x"), "\x1b[48;2;250;250;0mx\x1b[49m"},
		{all, all.OnRGB(255, 255, 255, "x"), "x"}, {light, light.OnRGB(0, 0, 0, "x"), "x"}, {Palette{}, Palette{}.OnRGB(0, 60, 120, "x"), "x"},
		{all, all.OnRGB(0, 60, 120, all.RGB(200, 200, 0, "x")), "\x1b[48;2;0;60;120m\x1b[38;2;200;200;0mx\x1b[39m\x1b[49m"},
		{all, "\x1b[48;2;0;80;160m\x1b[38;2;0;80;160mx", "\x1b[48;2;0;80;160mx"},
		{all, "\x1b[38;2;0;80;160m\x1b[48;2;0;80;160mx", "\x1b[38;2;0;80;160mx"},
		{all, "\x1b[48;2;0;200;200m\x1b[36mx", "\x1b[48;2;0;200;200mx"},
		{all, "\x1b[48;2;256;0;0mx\x1b[40;1my", "xy"},
	} {
		got := strings.TrimSuffix(c.p.Painted([]string{c.in}, 10)[0], "\x1b[0m")
		if got != c.want {
			t.Errorf("%q for %+v: %q, want %q", c.in, c.p, got, c.want)
		}
	}
}

func FuzzWhatHooksDrawFitsAndIsHarmless(f *testing.F) {
	for _, seed := range []string{"\x1b[36ma\x1b[39m", "\x1b[2J", "a\x1b", "\x9b31m", "世\x1b[1m界\tx", "\x1b[38;5;80mlong text"} {
		f.Add(seed, 5)
	}
	f.Fuzz(func(t *testing.T, line string, columns int) {
		columns = 1 + max(columns, -columns, 0)%200
		for _, shown := range (Palette{On: true}).Painted([]string{line}, columns) {
			rest := shown
			rest = regexp.MustCompile("\x1b\\[([0-9;]*)m").ReplaceAllStringFunc(rest, func(s string) string {
				if ink := s[2 : len(s)-1]; inks()[ink] || isInk(ink) {
					return ""
				}
				return s
			})
			if strings.ContainsFunc(rest, func(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }) {
				t.Fatalf("control characters in %q", shown)
			}
			if w := runewidth.StringWidth(rest); w > columns {
				t.Fatalf("%d columns of %d: %q", w, columns, shown)
			}
		}
	})
}
