package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzTruncate(f *testing.F) {
	for _, s := range []string{"", "\n", "a", "a\n", "a\nb", "é\nü\n\n", strings.Repeat("x", 300)} {
		f.Add(s, 1)
		f.Add(s, 700)
		f.Add(s, 2001)
	}
	f.Fuzz(func(t *testing.T, s string, times int) {
		if times < 0 || times > 3000 || len(s)*times > 1<<20 {
			t.Skip()
		}
		s = strings.Repeat(s, times)
		first, h := head(s)
		last, e := tail(s)
		if !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
			t.Fatal("not a part of the text")
		}
		for _, c := range []struct {
			kept string
			t    Truncation
		}{{first, h}, {last, e}} {
			text := strings.TrimSuffix(c.kept, "\n")
			switch {
			case len(text) > maxBytes, c.t.OutputLines > maxLines:
				t.Fatalf("%d bytes, %+v", len(text), c.t)
			case c.t.TotalLines != countLines(s), c.t.OutputLines != countLines(c.kept):
				t.Fatalf("counts of %d and %d lines: %+v", countLines(s), countLines(c.kept), c.t)
			case c.t.Truncated != (len(c.kept) < len(s)):
				t.Fatalf("%d of %d bytes: %+v", len(c.kept), len(s), c.t)
			case utf8.ValidString(s) && !utf8.ValidString(c.kept):
				t.Fatal("a character was cut")
			}
		}
		if h.Truncated && !h.partial {
			if !strings.HasSuffix(first, "\n") {
				t.Fatal("head ends within a line")
			}
			next := s[len(first):][:lineLength(s[len(first):])]
			if h.OutputLines < maxLines && len(first)+len(strings.TrimSuffix(next, "\n")) <= maxBytes {
				t.Fatal("head could have kept more")
			}
		}
		if e.Truncated && !e.partial && s[len(s)-len(last)-1] != '\n' {
			t.Fatal("tail starts within a line")
		}
	})
}

func FuzzOutputKeepsWhatTailKeeps(f *testing.F) {
	f.Add("line\n", 3000, 7)
	f.Add("no end", 9000, 1000)
	f.Add("ab\n\ncd", 60000, 4096)
	f.Add("x", maxBytes, 1)
	f.Add("x\n", maxBytes/2+1, 333)
	f.Fuzz(func(t *testing.T, s string, times, step int) {
		if times < 0 || times > 1<<17 || len(s)*times > 1<<19 || step < 1 || !utf8.ValidString(s) || cleanText(s) != s {
			t.Skip()
		}
		s = strings.Repeat(s, times)
		o := newOutput(t.TempDir())
		for rest := s; rest != ""; {
			n := min(step*97, len(rest))
			o.write([]byte(rest[:n]))
			rest = rest[n:]
		}
		text, got, path, err := o.finish()
		want, truncation := tail(s)
		if err != nil || text != cleanText(want) || got != truncation || (path != "") != got.Truncated {
			t.Fatalf("%d bytes: %+v, want %+v; path %q, %v", len(s), got, truncation, path, err)
		}
	})
}
