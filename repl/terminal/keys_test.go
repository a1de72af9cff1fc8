package terminal

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func newDecoder() *keyDecoder { return &keyDecoder{pastes: &pastes{}} }

func decodeKeys(d *keyDecoder, p []byte, final bool) (out string, rest []byte, ended bool) {
	for len(p) > 0 && !ended {
		var b []byte
		var n int
		b, n, ended = d.next(p, final)
		if n == 0 {
			break
		}
		out += string(b)
		p = p[n:]
	}
	return out, p, ended
}

func TestKeysReachTheEditorInItsTerms(t *testing.T) {
	for _, c := range []struct{ name, in, out, rest string }{
		{"text passes", "héllo", "héllo", ""},
		{"enter ends the prompt, the rest waits", "a\rb", "a\r", "b"},
		{"ctrl+c ends the prompt", "a\x03b", "a\x03", "b"},
		{"ctrl+j is a new line", "a\nb", "a⏎b", ""},
		{"alt+enter is a new line", "a\x1b\rb", "a⏎b", ""},
		{"shift+enter is a new line", "a\x1b[13;2ub\x1b[27;2;13~c", "a⏎b⏎c", ""},
		{"arrows pass whole", "\x1b[A\x1b[1;5C\x1bOH", "\x1b[A\x1b[1;5C\x1bOH", ""},
		{"alt and a letter pass", "\x1bb", "\x1bb", ""},
		{"a sequence that another key broke off is dropped", "\x1b\x03", "\x03", ""},
		{"and inside as well", "\x1b[1;\x1b[A\x1bO\r", "\x1b[A\r", ""},
		{"a sequence that is not complete waits", "a\x1b[1;", "a", "\x1b[1;"},
		{"a paste becomes one line", "\x1b[200~a\rb\r\nc\td\x1b[201~e", "a⏎b⏎c␉de", ""},
		{"a paste does not end the prompt", "\x1b[200~a\x03\x04\x1b[Ab\x1b[201~\rc", "a[Ab\r", "c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, rest, _ := decodeKeys(newDecoder(), []byte(c.in), false)
			if out != c.out || string(rest) != c.rest {
				t.Errorf("%q gives %q and keeps %q, want %q and %q", c.in, out, rest, c.out, c.rest)
			}
		})
	}
}

func TestLongPasteIsATokenThatStandsForItsBytes(t *testing.T) {
	pasted := strings.Repeat("line\twith [paste #1, 2 lines] in it\n", 30)
	d := newDecoder()
	keys := "a \x1b[200~" + strings.ReplaceAll(pasted, "\n", "\r") + "\x1b[201~ b\x1b[200~short\x1b[201~"
	line, _, _ := decodeKeys(d, []byte(keys), false)
	if want := "a [paste #1, 30 lines] bshort"; line != want {
		t.Errorf("line %q, want %q", line, want)
	}
	if got, want := d.pastes.expand(line), "a "+pasted+" bshort"; got != want {
		t.Errorf("expands to %q, want %q", got, want)
	}
	if got := d.pastes.expand("[paste #2, 30 lines]"); got != "[paste #2, 30 lines]" {
		t.Errorf("a token of nothing became %q", got)
	}
}

func TestBareEscapeIsDropped(t *testing.T) {
	out, rest, _ := decodeKeys(newDecoder(), []byte("a\x1b"), true)
	if out != "a" || len(rest) != 0 {
		t.Errorf("gives %q and keeps %q", out, rest)
	}
}

func FuzzKeysMeanTheSameHoweverTheyArrive(f *testing.F) {
	for _, seed := range []string{"abc\r", "\x1b[200~a\rb\x1b[201~c", "\x1b[13;2u", "\x1bOA\x1b[1;5D", "\x1b\r\x1b", "\x1b[200~\x1b[201"} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		whole, rest, ended := decodeKeys(newDecoder(), in, false)
		cut = min(max(cut, 0), len(in))
		d := newDecoder()
		first, kept, done := decodeKeys(d, in[:cut], false)
		if done {
			return
		}
		second, keptToo, alsoEnded := decodeKeys(d, slices.Concat(kept, in[cut:]), false)
		if first+second != whole || alsoEnded != ended || !bytes.Equal(rest, keptToo) {
			t.Fatalf("cut at %d: %q + %q, whole %q", cut, first, second, whole)
		}
		if i := strings.IndexAny(whole, "\n\r\x03"); i >= 0 && (whole[i] == '\n' || i != len(whole)-1) {
			t.Fatalf("an end of the prompt inside %q", whole)
		}
	})
}
