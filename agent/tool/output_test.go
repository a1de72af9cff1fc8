package tool

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestALongLineIsCutBetweenCharacters(t *testing.T) {
	for _, character := range []string{"é", "世", "🎉"} {
		for shift := range len(character) { // where the limits fall into a character
			line := strings.Repeat("x", shift) + strings.Repeat(character, maxBytes) + strings.Repeat("x", shift)
			first, h := head(line)
			last, e := tail(line)
			for _, kept := range []string{first, last} {
				if !utf8.ValidString(kept) || len(kept) > maxBytes || len(kept) <= maxBytes-len(character) {
					t.Errorf("of a line of %s %d bytes are kept, whole characters: %v", character, len(kept), utf8.ValidString(kept))
				}
			}
			if !h.partial || !e.partial {
				t.Errorf("of a line of %s the cut is not told: %+v, %+v", character, h, e)
			}
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("世界", 3000)
	for _, s := range []string{"", "\n", "a", "a\n", "a\nb", "é\nü\n\n", strings.Repeat("x", 300)} {
		f.Add(s, 1)
		f.Add(s, 700)
		f.Add(s, 2001)
	}
	f.Fuzz(func(t *testing.T, s string, times int) {
		if times < 0 || times > 3000 || len(s)*times > 1<<20 {
			t.Skip("too much, or too little, to try")
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
			t.Skip("too much, or too little, to try")
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

func TestTheFileOfAnOutputWithoutEndKeepsTheLastOfIt(t *testing.T) {
	o := newOutput(t.TempDir())
	line := func(n int) string { return fmt.Sprintf("%0127d\n", n) }
	const width, lines = 128, 5 << 18
	var chunk []byte
	for n := range lines {
		if chunk = append(chunk, line(n)...); len(chunk) < 32<<10-5 && n < lines-1 {
			continue
		}
		o.write(chunk)
		chunk = chunk[:0]
		if o.saved > keptOutput+spareOutput {
			t.Fatalf("the file has %d bytes", o.saved)
		}
	}
	_, got, path, err := o.finish()
	if err != nil || got.TotalLines != lines || o.bytes != lines*width || !o.cut {
		t.Fatalf("%d bytes, %+v, %v", o.bytes, got, err)
	}
	kept, err := os.ReadFile(path)
	if err != nil || len(kept) > keptOutput || len(kept) < keptOutput-width {
		t.Fatalf("the file has %d bytes, %v", len(kept), err)
	}
	first := lines - len(kept)/width
	for n := first; n < lines; n++ {
		if at := (n - first) * width; string(kept[at:at+width]) != line(n) {
			t.Fatalf("line %d is %q", n, kept[at:at+width])
		}
	}
}

func TestAnOutputThatJustFitsIsKeptWhole(t *testing.T) {
	for _, more := range []int{0, 1} {
		o := newOutput(t.TempDir())
		block := []byte(strings.Repeat("x", 4095) + "\n")
		for range keptOutput / 4096 {
			o.write(block)
		}
		o.write([]byte("yz")[:more])
		_, _, path, err := o.finish()
		info, e := os.Stat(path)
		want := int64(keptOutput - more*4095)
		if err != nil || e != nil || info.Size() != want || o.cut != (more > 0) {
			t.Errorf("%d more: %d bytes, want %d; cut %v; %v, %v", more, info.Size(), want, o.cut, err, e)
		}
	}
}
