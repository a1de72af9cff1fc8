package screentest

import (
	"fmt"
	"slices"
	"testing"
)

func TestTheScreenShowsWhatIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		written, want string
		row, col      int
	}{
		"rows":                     {"ab\r\ncd", "ab\ncd", 1, 2},
		"a newline alone":          {"ab\ncd", "ab\n  cd", 1, 4},
		"wrapped at the edge":      {"0123456789ab", "0123456789\nab", 1, 2},
		"at the edge":              {"0123456789", "0123456789", 0, 9},
		"an edge, then a row":      {"0123456789\r\nab", "0123456789\nab", 1, 2},
		"behind the edge":          {"\x1b[?7l0123456789ab", "012345678b", 0, 9},
		"wide, behind the edge":    {"\x1b[?7l0123456789日", "01234567日", 0, 9},
		"wide":                     {"日本", "日本", 0, 4},
		"wide at the edge":         {"012345678日", "012345678\n日", 1, 2},
		"half of a wide one":       {"日本\r x", " x本", 0, 2},
		"a combining accent":       {"e\u0301x", "e\u0301x", 0, 2},
		"a flag":                   {"🇩🇪x", "🇩🇪x", 0, 3},
		"a family":                 {"👩‍👩‍👧x", "👩‍👩‍👧x", 0, 3},
		"a heart as a picture":     {"❤️x", "❤️x", 0, 3},
		"no UTF-8":                 {"a\xffb", "a\ufffdb", 0, 3},
		"a tab":                    {"a\tb", "a       b", 0, 9},
		"up, and the rest erased":  {"ab\r\ncd\x1b[A\r\x1b[Jx", "x", 0, 1},
		"the rest of a row":        {"abc\x1b[2D\x1b[K", "a", 0, 1},
		"scrolled":                 {"1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5", 3, 1},
		"a title and a link":       {"\x1b]2;title\x07\x1b]8;;http://x\x1b\\a\x1b]8;;\x1b\\", "a", 0, 1},
		"the alternate screen":     {"ab\x1b[?1049hxyz\x1b[?1049l", "ab", 0, 2},
		"a character set":          {"\x1b(Bab", "ab", 0, 2},
		"rows put in and taken":    {"1\r\n2\r\n3\x1b[2;1H\x1b[L\x1b[3;1H\x1b[M", "1\n\n3", 2, 0},
		"a sequence in two pieces": {"a\x1b[\x1b[Cb", "a b", 0, 3},
	} {
		e := NewEmulator(10, 4, true, Profile{})
		for i := range len(c.written) { // byte by byte
			_, _ = e.Write([]byte{c.written[i]})
		}
		s := e.Screen()
		if s.Text() != c.want || s.Row != c.row || s.Col != c.col {
			t.Errorf("%s: %q at %d, %d; want %q at %d, %d", name, s.Text(), s.Row, s.Col, c.want, c.row, c.col)
		}
	}
}

func TestWhatScrollsAwayIsKept(t *testing.T) {
	e := NewEmulator(10, 2, true, Profile{})
	fmt.Fprint(e, "one\r\n0123456789abc\r\ntwo\r\nthree")
	if got := e.Transcript(); got != "one\n0123456789abc\ntwo\nthree" {
		t.Errorf("the transcript is %q", got)
	}
	if got := e.Scrollback(); !slices.Equal(got, []string{"one", "0123456789", "abc"}) {
		t.Errorf("above the screen is %q", got)
	}
}

func TestBothKindsOfTerminalsAreResized(t *testing.T) {
	const text = "first\r\n0123456789abcdef\r\nlast"
	for name, c := range map[string]struct {
		reflow     bool
		cols, rows int
		want       string
		above      int
	}{
		"narrower, reflowing": {true, 8, 6, "first\n01234567\n89abcdef\nlast", 0},
		"wider, reflowing":    {true, 20, 6, "first\n0123456789abcdef\nlast", 0},
		"narrower, clipping":  {false, 4, 6, "firs\n0123\nabcd\nlast", 0},
		"wider, clipping":     {false, 20, 6, "first\n0123456789\nabcdef\nlast", 0},
		"lower":               {true, 10, 2, "abcdef\nlast", 2},
		"lower, clipping":     {false, 10, 2, "abcdef\nlast", 2},
	} {
		e := NewEmulator(10, 6, c.reflow, Profile{})
		fmt.Fprint(e, text)
		e.Resize(c.cols, c.rows)
		s := e.Screen()
		if s.Text() != c.want || len(e.Scrollback()) != c.above || s.Before() != "last" && c.cols != 4 {
			t.Errorf("%s: %q below %q, cursor behind %q; want %q below %d rows", name, s.Text(), e.Scrollback(), s.Before(), c.want, c.above)
		}
	}
}

func TestAReflowingTerminalIsAsBeforeWhenItHasItsSizeAgain(t *testing.T) {
	for _, size := range [][2]int{{5, 8}, {3, 8}, {20, 3}, {7, 2}, {40, 20}} {
		e := NewEmulator(10, 8, true, Profile{})
		fmt.Fprint(e, "one\r\n日本語日本語 and words\r\n\r\n0123456789\r\nlast e\u0301 line\r\n> typed")
		before := e.Screen()
		transcript := e.Transcript()
		e.Resize(size[0], size[1])
		e.Resize(10, 8)
		after := e.Screen()
		if e.Transcript() != transcript || after.Before() != before.Before() {
			t.Errorf("through %v: %q\nwant %q\ncursor behind %q, want %q", size, e.Transcript(), transcript, after.Before(), before.Before())
		}
	}
}

func TestQuestionsAreAnsweredAsTheProfileSays(t *testing.T) {
	const asked = "\x1b[?2004$p\x1b[?u\x1b]11;?\x07\x1b[6n\x1b[c"
	for name, c := range map[string]struct {
		profile Profile
		want    string
	}{
		"the usual":     {Profile{}, "\x1b[?2004;2$y\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[1;1R\x1b[?62;22c"},
		"silent":        {Profile{Silent: true}, ""},
		"without paste": {Profile{NoPaste: true, Background: "rgb:ffff/ffff/ffff"}, "\x1b[?2004;0$y\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[1;1R\x1b[?62;22c"},
		"keyboard":      {Profile{Keyboard: true}, "\x1b[?2004;2$y\x1b[?0u\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[1;1R\x1b[?62;22c"},
	} {
		e, answers := NewEmulator(10, 4, true, c.profile), ""
		e.reply = func(text string) { answers += text }
		fmt.Fprint(e, asked)
		if answers != c.want {
			t.Errorf("%s: %q, want %q", name, answers, c.want)
		}
	}
}

func TestModesAndStylesAreTold(t *testing.T) {
	e := NewEmulator(10, 4, true, Profile{Keyboard: true})
	fmt.Fprint(e, "\x1b[?2004h\x1b[?25l\x1b[>1u\x1b[1;31ma\x1b[38;5;7mb\x1b[22;39;48;2;1;2;3mc\x1b[?1004h\x1b[?777h\x1bq")
	want := Modes{BracketedPaste: true, HiddenCursor: true, Keyboard: 1, Focus: true, Style: "48;2;1;2;3"}
	if got := e.Modes(); got != want {
		t.Errorf("modes %+v, want %+v", got, want)
	}
	for i, style := range []string{"1;31", "1;38;5;7", "48;2;1;2;3"} {
		if got := e.Screen().Cells[0][i].Style; got != style {
			t.Errorf("cell %d has style %q, want %q", i, got, style)
		}
	}
	if want := []string{"mode 777", "ESC q"}; !slices.Equal(e.unknown, want) {
		t.Errorf("unknown: %q, want %q", e.unknown, want)
	}
	fmt.Fprint(e, "\x1b[?2004l\x1b[?25h\x1b[<u\x1b[m\x1b[?1004l")
	if got := e.Modes(); got != (Modes{}) {
		t.Errorf("still switched on: %+v", got)
	}
}

func TestKeysAreSentAsTerminalsDo(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "enter": "\r", "esc": "\x1b", "ctrl+c": "\x03", "alt+x": "\x1bx", "up": "\x1b[A", "alt+up": "\x1b[1;3A",
		"ctrl+home": "\x1b[1;5H", "pgup": "\x1b[5~", "shift+tab": "\x1b[Z", "ctrl+_": "\x1f", "ctrl+alt+t": "\x1b\x14", "f5": "\x1b[15~", "日": "日", "+": "+",
	} {
		if got := KeyBytes(name, Modes{}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"a": "a", "enter": "\r", "esc": "\x1b[27u", "ctrl+c": "\x1b[99;5u", "shift+enter": "\x1b[13;2u", "alt+x": "\x1b[120;3u", "up": "\x1b[A"} {
		if got := KeyBytes(name, Modes{Keyboard: 1}); got != want {
			t.Errorf("with the keyboard protocol, %s: %q, want %q", name, got, want)
		}
	}
}
