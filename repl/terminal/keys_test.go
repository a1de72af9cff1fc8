package terminal

import (
	"strings"
	"testing"
)

// linerKeys is what the line editor reads for what a terminal sends.
type linerKeys struct {
	pastes pastes
	out    string
}

func (l *linerKeys) key(k Key)    { l.out += l.pastes.forLiner(k) }
func (l *linerKeys) focus(bool)   {}
func (l *linerKeys) reply(string) {}

func (l *linerKeys) types(sent string) string {
	d := decoder{handlers: l}
	d.feed([]byte(sent))
	for d.wait() > 0 {
		d.expire()
	}
	return l.out
}

func TestKeysReachTheEditorInItsTerms(t *testing.T) {
	for _, c := range []struct{ name, in, out string }{
		{"text passes", "héllo 日 X", "héllo 日 X"},
		{"enter and ctrl+c", "a\rb\x03", "a\rb\x03"},
		{"control characters", "\x01\x04\x12\x17\x7f\x08", "\x01\x04\x12\x17\x7f\x08"},
		{"ctrl+j is a new line", "a\nb", "a⏎b"},
		{"alt+enter is a new line", "a\x1b\rb", "a⏎b"},
		{"shift+enter is a new line", "a\x1b[13;2ub\x1b[27;2;13~c", "a⏎b⏎c"},
		{"arrows", "\x1b[A\x1bOB\x1b[1;5C\x1b[1;5D\x1bOH\x1b[4~\x1b[3~", "\x1b[A\x1b[B\x1b[1;5C\x1b[1;5D\x1b[H\x1b[F\x1b[3~"},
		{"alt and a letter", "\x1bb\x1b\x7f", "\x1bb\x1b\x7f"},
		{"a key that it does not know is dropped", "a\x1b[1;3D\x1b[5;7~\x1bxb", "ab"},
		{"a sequence that another key broke off is dropped", "\x1b\x03", "\x03"},
		{"and inside as well", "\x1b[1;\x1b[A\x1bO\r", "\x1b[A\r"},
		{"a bare esc is dropped", "a\x1b", "a"},
		{"tab is none of its keys", "a\tb", "ab"},
		{"a paste becomes one line", "\x1b[200~a\rb\r\nc\td\x1b[201~e", "a⏎b⏎c␉de"},
		{"a paste does not end the prompt", "\x1b[200~a\x03\x04\x1b[Ab\x1b[201~\rc", "a[Ab\rc"},
	} {
		if out := new(linerKeys).types(c.in); out != c.out {
			t.Errorf("%s: %q gives %q, want %q", c.name, c.in, out, c.out)
		}
	}
}

func TestLongPasteIsATokenThatStandsForItsBytes(t *testing.T) {
	pasted := strings.Repeat("line\twith [paste #1, 2 lines] in it\n", 30)
	l := new(linerKeys)
	line := l.types("a \x1b[200~" + strings.ReplaceAll(pasted, "\n", "\r") + "\x1b[201~ b\x1b[200~short\x1b[201~")
	if want := "a [paste #1, 30 lines] bshort"; line != want {
		t.Errorf("line %q, want %q", line, want)
	}
	if got, want := l.pastes.expand(line), "a "+pasted+" bshort"; got != want {
		t.Errorf("expands to %q, want %q", got, want)
	}
	if got := l.pastes.expand("[paste #2, 30 lines]"); got != "[paste #2, 30 lines]" {
		t.Errorf("a token of nothing became %q", got)
	}
}

// No key but Enter and Ctrl+C, which end a prompt, is one of the bytes that do.
func FuzzOnlyTwoKeysEndAPrompt(f *testing.F) {
	for _, seed := range []string{"abc\r", "\x1b[200~a\rb\x1b[201~c", "\x1b[13;2u", "\x1bOA\x1b[1;5D", "\x1b\r\x1b", "\x1b[200~\x1b[201", "\x1b[109;5u"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		d := decoder{handlers: keyFunc(func(k Key) {
			if k.Name == "enter" || k.Name == "ctrl+c" {
				return
			}
			if out := new(pastes).forLiner(k); strings.ContainsAny(out, "\n\r\x03") {
				t.Fatalf("%+v gives %q", k, out)
			}
		})}
		d.feed(in)
		for d.wait() > 0 {
			d.expire()
		}
	})
}

type keyFunc func(Key)

func (f keyFunc) key(k Key)    { f(k) }
func (f keyFunc) focus(bool)   {}
func (f keyFunc) reply(string) {}
