package shown

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// textOf is what is kept of an output in a window of this size.
func textOf(columns, height int, pieces ...string) string {
	var out bytes.Buffer
	r := New(columns, height, &out)
	for _, piece := range pieces {
		_, _ = r.Write([]byte(piece))
	}
	r.Finish()
	return out.String()
}

func TestWhatIsKept(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"lines", "a\r\nb\r\n", "a\nb\n"},
		{"a line without an end", "a\r\nb", "a\nb"},
		{"empty lines", "a\r\n\r\nb\r\n", "a\n\nb\n"},
		{"nothing", "", ""},
		{"blanks at the end", "a  \r\n", "a  \n"},
		{"tabs", "a\tb\r\n\tc\r\n", "a\tb\n\tc\n"},
		{"a tab over text", "0123456789\r\tx\r\n", "01234567x9\n"},
		{"text over a tab", "\ta\rb\r\n", "b       a\n"},
		{"colours", "\x1b[1;31mred\x1b[0m and \x1b[38:2::1:2:3mtrue\x1b[m\r\n", "red and true\n"},
		{"a title and a link", "\x1b]0;title\aa\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n", "alink\n"},
		{"progress", " 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"},
		{"progress that becomes shorter", "downloading\rdone\x1b[K\r\n", "done\n"},
		{"progress of several rows", "a 1%\r\nb 1%\r\n\x1b[2Aa 9%\r\nb 9%\r\n\x1b[2A\x1b[Ja ok\r\nb ok\r\n", "a ok\nb ok\n"},
		{"backspace", "passs\bword\b \r\n", "passwor \n"},
		{"a spinner that is taken away", "|\b/\b-\b \bdone\r\n", "done\n"},
		{"an editor", "before\r\n\x1b[?1049h\x1b[2J\x1b[Htext\r\n~\r\n\x1b[24;1H:q\x1b[?1049l\x1b[?25hafter\r\n", "before\nafter\n"},
		{"an editor that was killed", "before\r\n\x1b[?1049h\x1b[Htext\r\n", "before\n"},
		{"a cleared screen", "old\r\n\x1b[H\x1b[2J\x1b[3Jnew\r\n", "new\n"},
		{"a line that is too wide", strings.Repeat("x", 25) + "\r\ny\r\n", strings.Repeat("x", 25) + "\ny\n"},
		{"a line as wide as the window", "0123456789\r\ny\r\n", "0123456789\ny\n"},
		{"wide characters", "日本語日本語\r\n", "日本語日本語\n"},
		{"half of one overwritten", "日本\rx\r\n", "x 本\n"},
		{"marks", "e\u0301\U0001f468\u200d\U0001f469\r\n", "e\u0301\U0001f468\u200d\U0001f469\n"},
		{"bytes that are no text", "a\xffb\r\n", "a\ufffdb\n"},
		{"a character that is cut off", "a\xe6\x97", "a\ufffd"},
		{"other controls", "a\x00\x07\x0e\x7fb\u009bc\r\n", "abc\n"},
		{"a sequence that is cut off", "a\x1b[12", "a"},
		{"columns", "\x1b[5Gx\x1b[1Gy\r\n", "y   x\n"},
		{"the bar of a package manager", "\x1b7\x1b[1;3r\x1b8\x1b[1A\x1b7\x1b[4;1Hbar 1%\x1b8a\r\nb\r\nc\r\nd\r\n\x1b7\x1b[4;1H\x1b[K\x1b8\x1b[1;4r\x1b[3;1H", "a\nb\nc\nd\n"},
		{"a character repeated", "a\x1b[3b\r\n", "aaaa\n"},
		{"characters inserted and removed", "abcdef\r\x1b[2@\x1b[3C\x1b[2P\r\n", "  adef\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			height := 8
			if strings.HasPrefix(c.name, "the bar") {
				height = 4
			}
			columns := 10
			if strings.Contains(c.name, "colours") || strings.Contains(c.name, "progress") {
				columns = 40
			}
			if got := textOf(columns, height, c.output); strings.TrimRight(got, "\n") != strings.TrimRight(c.want, "\n") ||
				height == 8 && got != c.want {
				t.Errorf("%q\nkept %q\nwant %q", c.output, got, c.want)
			}
		})
	}
}

func TestAnotherSizeOfTheWindow(t *testing.T) {
	var out bytes.Buffer
	r := New(10, 4, &out)
	_, _ = r.Write([]byte("1\r\n2\r\n3\r\n4"))
	r.Resize(5, 2)
	if out.String() != "1\n2\n" {
		t.Errorf("written %q", out.String())
	}
	_, _ = r.Write([]byte("\r\n12345678\r\n"))
	r.Resize(0, 0)
	_, _ = r.Write([]byte("end"))
	if r.AtRowStart() {
		t.Error("the row has begun")
	}
	r.Finish()
	if want := "1\n2\n3\n4\n12345678\nend"; out.String() != want {
		t.Errorf("kept %q, want %q", out.String(), want)
	}
}

func TestTheStartOfARow(t *testing.T) {
	for output, want := range map[string]bool{
		"": true, "a": false, "a\r\n": true, "a\r": true, "0123456789": false, "a\x1b[?1049hb\r\n": false,
		"a\r\n\x1b[?1049hb\x1b[?1049l": true, "\x1b[31m": true,
	} {
		r := New(10, 4, &bytes.Buffer{})
		_, _ = r.Write([]byte(output))
		if got := r.AtRowStart(); got != want {
			t.Errorf("%q: %v", output, got)
		}
	}
}

func TestTheModesThatACommandLeaves(t *testing.T) {
	for _, c := range []struct{ output, off, on string }{
		{"text", "", ""},
		{"\x1b[?1049h\x1b[?25l\x1b[?2004h", "\x1b[?2004l\x1b[?25h\x1b[?1049l", "\x1b[?1049h\x1b[?25l\x1b[?2004h"},
		{"\x1b[?1049h\x1b[?25l\x1b[?25h\x1b[?1049l", "", ""},
		{"\x1b[?1;7h\x1b[?7l\x1b=", "\x1b[?7h\x1b[?1l\x1b>", "\x1b[?1h\x1b[?7l\x1b="},
		{"\x1b[>5u\x1b[>1u\x1b[<u", "\x1b[<1u", ""},
		{"\x1b[?1049h\x1bc", "", ""},
	} {
		r := New(10, 4, &bytes.Buffer{})
		_, _ = r.Write([]byte(c.output))
		if off, on := r.Modes(false), r.Modes(true); off != c.off || on != c.on {
			t.Errorf("%q: off %q, want %q; on %q, want %q", c.output, off, c.off, on, c.on)
		}
	}
}

// written are pieces of what programs write.
func written() []string {
	return []string{"a", "bc", " ", "0123456", "日", "é", "\r\n", "\r\n", "\n", "\r", "\b", "\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[3C", "\x1b[D",
		"\x1b[E", "\x1b[F", "\x1b[4G", "\x1b[2d", "\x1b[H", "\x1b[3;5H", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[K", "\x1b[1K", "\x1b[2K",
		"\x1b[2X", "\x1b[L", "\x1b[M", "\x1b[3X", "\x1b[2S", "\t", "\x1b7", "\x1b8", "\x1b[31m", "\x1b[0m", "\x1b]0;t\a", "\x1bM", "\x1bD", "\x1bE", "\x1b[S", "\x1b[T", "\r\x1b[?1049h", "\x1b[?1049l\r", "\x1b[?25l"}
}

// What is kept is what another emulator shows, whatever a program writes: all text, and each
// row of the window with the place of the cursor.
func FuzzTheTextIsThatOfATerminal(f *testing.F) {
	f.Add([]byte{0, 6, 4, 10, 26})
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := make([]byte, 60)
		for i := range b {
			b[i] = byte(random.IntN(256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		const columns, height = 9, 5
		var output strings.Builder
		for _, c := range choices {
			output.WriteString(written()[int(c)%len(written())])
		}
		screen := screentest.NewEmulator(columns, height, false, screentest.Profile{})
		_, _ = screen.Write([]byte(output.String()))
		if got, want := trimmed(textOf(columns, height, output.String())), trimmed(screen.Transcript()); got != want {
			t.Errorf("%q\nkept  %q\nshown %q", output.String(), got, want)
		}
		r, s := New(columns, height, discard{}), screen.Screen()
		_, _ = r.Write([]byte(output.String()))
		if s.Modes.Alternate {
			return
		}
		for i, want := range s.Rows {
			if got := windowRow(r, i); got != want {
				t.Errorf("%q: row %d is %q, shown %q", output.String(), i, got, want)
			}
		}
		if r.at != (place{s.Row, s.Col}) {
			t.Errorf("%q: the cursor is at %+v, shown at %d, %d", output.String(), r.at, s.Row, s.Col)
		}
	})
}

// windowRow is a row of the window as a screen shows it: a tab is blanks.
func windowRow(r *Recorder, i int) string {
	var text strings.Builder
	inTab := false
	for column, c := range r.rowAt(i).cells {
		if c != tail {
			inTab = c == '\t'
		}
		switch {
		case inTab || c == blank:
			text.WriteByte(' ')
		case c != tail:
			text.WriteString(string(c) + r.rows[i].marks[column])
		}
	}
	return strings.TrimRight(text.String(), " ")
}

// trimmed is a text without blanks and tabs: how many there are where a row was broken depends on
// the terminal.
func trimmed(text string) string {
	return strings.TrimRight(strings.NewReplacer(" ", "", "\t", "").Replace(text), "\n")
}

// Anything may be written, in any pieces, and the pieces do not matter.
func FuzzPiecesDoNotMatter(f *testing.F) {
	f.Add([]byte("a\x1b[2J\x1b]0;x\x1b\\日本\r\n\tx"), 3, 9, 4)
	f.Add([]byte("\x1b[5r\x1b[2;3r\n\n\n\x1bM\x1b[99@\x1b[99P\x1b[99L\x1b[99M\x1b[9b"), 1, 1, 1)
	f.Fuzz(func(t *testing.T, output []byte, at, columns, height int) {
		columns, height = columns&31, height&31
		whole := textOf(columns, height, string(output))
		at = min(max(at, 0), len(output))
		if got := textOf(columns, height, string(output[:at]), string(output[at:])); got != whole {
			t.Errorf("%q cut at %d: %q, whole %q", output, at, got, whole)
		}
		if i := strings.IndexFunc(whole, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("%q: kept %q", output, whole)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	for name, line := range map[string]string{"text": "a line of a log, as long as they usually are, with a number 12345\r\n", "numbers": "1234567\r\n", "colours": "\x1b[32mok\x1b[0m  pi/internal/shown\t0.012s\r\n"} {
		b.Run(name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(line, 64<<10/len(line)))
			b.SetBytes(int64(len(chunk)))
			r := New(100, 40, discard{})
			for b.Loop() {
				_, _ = r.Write(chunk)
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
