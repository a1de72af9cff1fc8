package terminal

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// spelled notes what a decoder finds, in words.
type spelled struct{ words []string }

func (s *spelled) key(k Key) {
	word := k.Name
	if k.Text != "" && k.Text != k.Name {
		word += fmt.Sprintf("%q", k.Text)
	}
	if k.Release {
		word += "^"
	}
	s.words = append(s.words, word)
}

func (s *spelled) focus(in bool)         { s.words = append(s.words, fmt.Sprintf("<focus %v>", in)) }
func (s *spelled) reply(sequence string) { s.words = append(s.words, fmt.Sprintf("<%q>", sequence)) }

// decodeAll decodes parts, between which nothing comes for as long as a time-out, "…" in
// place of a part being another one.
func decodeAll(slow bool, parts ...string) string {
	found := &spelled{}
	d := &decoder{slow: slow, handlers: found}
	for _, part := range parts {
		if part == "…" {
			d.expire()
			continue
		}
		d.feed([]byte(part))
	}
	for d.wait() > 0 {
		d.expire()
	}
	return strings.Join(found.words, " ")
}

func TestKeysHaveNamesHoweverTheyAreSent(t *testing.T) {
	for _, c := range []struct{ sent, want string }{
		{"ab", "a b"},
		{"é日", "é 日"},
		{"Aé", `shift+a"A" é`},
		{"1! ", `1 ! space" "`},
		{"\r\t\n\x7f\x08", "enter tab ctrl+j backspace ctrl+h"},
		{"\x01\x1f\x00\x1c\x1d", `ctrl+a ctrl+_ ctrl+space ctrl+\ ctrl+]`},
		{"\xff\xc3(", "\uFFFD \uFFFD ("},
		{"\u0085a", "a"},
		{"\x1b", "esc"},
		{"\x1b\x1b", "esc esc"},
		{"\x1b\x1b\x1b", "esc esc esc"},
		{"\x1bx\x1bX\x1b\x14", "alt+x alt+shift+x ctrl+alt+t"},
		{"\x1b\r\x1b\n", "alt+enter alt+enter"},
		{"\x1b\x03", "esc ctrl+c"},
		{"\x1b\x7f\x1b \x1b\t\x1b\x00", "alt+backspace alt+space alt+tab ctrl+alt+space"},
		{"\x1bé", "alt+é"},
		{"\x1b[A\x1bOA\x1b[1;5C\x1b[1;2H", "up up ctrl+right shift+home"},
		{"\x1b[3~\x1b[5~\x1b[6;5~\x1b[Z\x1b[1;2Z", "delete pageup ctrl+pagedown shift+tab shift+tab"},
		{"\x1bOP\x1b[15~\x1b[24~\x1b[25~\x1b[1;2R\x1b[[A", "f1 f5 f12 f13 shift+f3 f1"},
		{"\x1b[1~\x1b[7~\x1b[4~\x1b[8~\x1b[2~", "home home end end insert"},
		{"\x1b\x1b[A\x1b\x1bOB", "alt+up alt+down"},
		{"\x1b[a\x1bOa\x1b[3$\x1b[3^\x1b[3@", "shift+up ctrl+up shift+delete ctrl+delete ctrl+shift+delete"},
		{"\x1bOM\x1bOp\x1bOk", "enter 0 +"},
		{"\x1b[97u\x1b[97;5u\x1b[97;2u\x1b[97;3u", `a ctrl+a shift+a"A" alt+a`},
		{"\x1b[97:65;2u\x1b[49:33;2u\x1b[45:95;6u\x1b[47;5u", `shift+a"A" ! ctrl+_ ctrl+_`},
		{"\x1b[1089::99;5u\x1b[1089::99u", "ctrl+c с"},
		{"\x1b[97;1:3u\x1b[97;1:2u\x1b[1;1:3A\x1b[13;2u\x1b[27u", `a^ a up^ shift+enter esc`},
		{"\x1b[97;;229u\x1b[57400u\x1b[57376u\x1b[57441;2u\x1b[57420u", `a"å" 1 f13 down`},
		{"a\x1b[57358u\x1b[5u\x1b[1114112u\x1b[57442ub", "a b"}, // keys without a character or a name
		{"\x1b[112;6u\x1b[80;6u\x1b[99;9u\x1b[97;65u", "ctrl+shift+p ctrl+shift+p super+c a"},
		{"\x1b[27;2;13~\x1b[27;5;9~\x1b[27;6;112~\x1b[27;7;116~", "shift+enter ctrl+tab ctrl+shift+p ctrl+alt+t"},
		{"\x1b[9;5u\x1b[9u\x1b[127;3u\x1b[32;2u", `ctrl+tab tab alt+backspace shift+space" "`},
		{"\x1b[I\x1b[O\x1b[<0;10;10M\x1b[<0;10;10m\x1b[Mabcx\x1b[32;10;10M", "<focus true> <focus false> x"},
		{"\x1b]11;rgb:0/0/0\x07a\x1b]11;rgb:0/0/0\x1b\\b", `<"\x1b]11;rgb:0/0/0"> a <"\x1b]11;rgb:0/0/0"> b`},
		{"\x1b[?2004;2$y\x1b[?62;c\x1b[?1u\x1bP>|XTerm(390)\x1b\\\x1b[12;1R", `<"\x1b[?2004;2$y"> <"\x1b[?62;c"> <"\x1b[?1u"> <"\x1bP>|XTerm(390)">`},
		{"\x1b]x\x1bPx", "alt+] x alt+shift+p x"},
		{"\x1b[1;\x1b[A\x1bO\rx", "up enter x"},
		{"\x1b[200~a\rb\x1b[A\x00\xffc\x1b[201~d", `paste"a\rb\x1b[A\x00\xffc" d`},
		{"\x1b[200~\x1b[200~x\x1b[201\x1b[201~\x1b[201~y", `paste"\x1b[200~x\x1b[201" y`},
		{"\x1b[200~\x1b[201~", "paste"},
	} {
		if got := decodeAll(false, c.sent); got != c.want {
			t.Errorf("%q is %s, want %s", c.sent, got, c.want)
		}
	}
}

// Esc and a key that does nothing with Alt are two keys, however close to each other.
func TestEscIsNotLostWhereAltDoesNothing(t *testing.T) {
	for _, c := range []struct{ sent, want string }{
		{"\x1b\x15", "esc ctrl+u"},
		{"\x1bhi", "esc h i"},
		{"\x1b日", "esc 日"},
		{"\x1b\x15\x1bt", "esc ctrl+u alt+t"},
		{"\x1b\r", "alt+enter"},
		{"\x1b\x1bt", "esc alt+t"},
		{"\x1b[A", "up"},
	} {
		var found spelled
		d := decoder{handlers: &found, usesAlt: func(name string) bool { return name == "alt+t" || name == "alt+enter" }}
		d.feed([]byte(c.sent))
		for d.wait() > 0 {
			d.expire()
		}
		if got := strings.Join(found.words, " "); got != c.want {
			t.Errorf("%q is %s, want %s", c.sent, got, c.want)
		}
	}
}

func TestEscAndWhatComesAfterAPause(t *testing.T) {
	for _, c := range []struct {
		slow  bool
		parts []string
		want  string
	}{
		{false, []string{"\x1b", "…", "x"}, "esc x"},
		{false, []string{"\x1b", "…", "[A"}, "up"},                // within 75 ms
		{false, []string{"\x1b", "…", "…", "[A"}, "esc"},          // the rest of an arrow is no text
		{false, []string{"\x1b", "…", "…", "[A\x1b[A"}, "esc up"}, // and what follows it is a key
		{false, []string{"\x1b", "…", "…", "[1;5C"}, "esc"},
		{false, []string{"\x1b", "…", "…", "[", "…"}, "esc ["},
		{false, []string{"\x1b", "…", "…", "[", "A"}, "esc"},
		{false, []string{"\x1b", "…", "…", "[Ab"}, `esc [ shift+a"A" b`},
		{false, []string{"\x1b", "…", "…", "OA"}, "esc"},
		{false, []string{"\x1b", "…", "…", "OK"}, `esc shift+o"O" shift+k"K"`},
		{false, []string{"\x1b", "…", "…", "x", "[A"}, `esc x [ shift+a"A"`},
		{false, []string{"\x1b", "…", "\x1b", "…", "…"}, "esc esc"},
		{true, []string{"\x1b", "x"}, "alt+x"},
		{true, []string{"\x1b", "…", "x"}, "esc x"},
		{true, []string{"\x1b", "…", "[A"}, "esc"},
		{false, []string{"\x1b[", "…"}, "alt+["},
		{false, []string{"\x1bO", "…"}, "alt+shift+o"},
		{false, []string{"\x1b[1;", "…", "5C"}, ""},
		{false, []string{"\x1b[1;", "…", "x"}, "x"},
		{false, []string{"\xe6\x97", "…"}, "\uFFFD \uFFFD"},
	} {
		if got := decodeAll(c.slow, c.parts...); got != c.want {
			t.Errorf("%q (slow: %v) is %s, want %s", c.parts, c.slow, got, c.want)
		}
	}
}

func TestAPasteWithoutItsEndIsNotLost(t *testing.T) {
	long := strings.Repeat("and on\r", 10)
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{"\x1b[200~abc", "…", "x"}, `paste"abc" x`},
		{[]string{"\x1b[200~abc\x1b[20", "…", "x\r"}, `paste"abc\x1b[20" x enter`},
		{[]string{"\x1b[200~abc", "…", "def\x1b[201~g"}, `paste"abc" paste"def" g`},
		{[]string{"\x1b[200~abc", "…", long, long, "\x1b[201~g"}, fmt.Sprintf(`paste"abc" paste%q g`, long+long)},
	} {
		if got := decodeAll(false, c.parts...); got != c.want {
			t.Errorf("%q is %s, want %s", c.parts, got, c.want)
		}
	}
}

func FuzzKeysAreTheSameHoweverTheirBytesAreCut(f *testing.F) {
	for _, seed := range []string{"abc\r", "\x1b[200~a\rb\x1b[201~c", "\x1b[13;2u\x1b\x1b[A", "\x1bOA\x1b[1;5D\x1b[Mabc", "\x1b\r\x1b", "日本\x1b[<1;2;3M",
		"\x1b]11;rgb:1/2/3\x1b\\x\x1bP>|a\x07", "\x1b[[A\x1b[3$\x1bO5P"} {
		f.Add([]byte(seed), uint64(0xa5))
	}
	f.Fuzz(func(t *testing.T, sent []byte, cuts uint64) {
		whole := &spelled{}
		d := &decoder{handlers: whole}
		d.feed(sent)
		cut := &spelled{}
		d = &decoder{handlers: cut}
		for from, i := 0, 1; i <= len(sent); i++ {
			if cuts>>(i%64)&1 == 1 || i == len(sent) {
				d.feed(sent[from:i])
				from = i
			}
		}
		if !reflect.DeepEqual(whole.words, cut.words) {
			t.Errorf("%q, cut %x:\n%q\nwhole:\n%q", sent, cuts, cut.words, whole.words)
		}
		for range 8 { // whatever is left is given up in the end
			d.expire()
		}
		if d.wait() != 0 || d.pasting {
			t.Errorf("%q: %q is still waited for", sent, d.pending)
		}
	})
}

func TestABurstIsAPasteWhereTheTerminalKnowsNone(t *testing.T) {
	for _, c := range []struct {
		what  string
		on    bool
		parts []string // typed slowly, one after the other; "+" before one: at once
		want  string
	}{
		{"with bracketed paste keys are keys", false, []string{"ab\r"}, "a b enter"},
		{"one key is a key", true, []string{"a", "b", "\r"}, "a b enter"},
		{"several are a paste that does not send", true, []string{"ab\rcd\r"}, `paste"ab\rcd\r"`},
		{"in parts too", true, []string{"ab\r", "+c\td\r"}, `paste"ab\rc\td\r"`},
		{"the first key alone", true, []string{"a", "+b", "+\r", "x"}, `a paste"b\r" x`},
		{"arrows that repeat are keys", true, []string{"\x1b[A\x1b[A"}, "up up"},
		{"and keys that type nothing", true, []string{"a\x03"}, "a ctrl+c"},
	} {
		found := &spelled{}
		b := &burst{on: c.on, key: found.key}
		d := &decoder{handlers: bursting{b}}
		now := time.Unix(1e9, 0)
		for _, part := range c.parts {
			part, fast := strings.CutPrefix(part, "+")
			if !fast {
				b.end()
				now = now.Add(time.Second)
			}
			now = now.Add(time.Millisecond)
			b.begin(now, []byte(part))
			d.feed([]byte(part))
			b.finish()
		}
		b.end()
		if got := strings.Join(found.words, " "); got != c.want {
			t.Errorf("%s: %q is %s, want %s", c.what, c.parts, got, c.want)
		}
	}
}

type bursting struct{ *burst }

func (b bursting) key(k Key)    { b.add(k) }
func (b bursting) focus(bool)   {}
func (b bursting) reply(string) {}
