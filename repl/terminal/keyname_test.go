package terminal

import (
	"slices"
	"strings"
	"testing"
)

func namesOf(p []byte, final bool) (names []string, rest []byte) {
	for len(p) > 0 {
		name, n := nameKey(p, final)
		if n == 0 {
			break
		}
		names, p = append(names, name), p[n:]
	}
	return names, p
}

func TestKeysHaveNames(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"aÄ+~", "a Ä + ~"},
		{" \r\t\x7f", "space enter tab backspace"},
		{"\x00\x01\x1a\n\x08\x1d", "ctrl+space ctrl+a ctrl+z ctrl+j ctrl+h ctrl+]"},
		{"\x1b[A\x1bOB\x1b[C\x1bOD", "up down right left"},
		{"\x1b[H\x1b[4~\x1b[3~\x1b[5~\x1b[6~\x1b[2~", "home end delete pageup pagedown insert"},
		{"\x1bOP\x1b[12~\x1b[15~\x1b[24~", "f1 f2 f5 f12"},
		{"\x1b[1;5A\x1b[1;2B\x1b[1;3C\x1b[3;7~", "ctrl+up shift+down alt+right ctrl+alt+delete"},
		{"\x1ba\x1bé\x1b\r\x1b\x7f\x1b ", "alt+a alt+é alt+enter alt+backspace alt+space"},
		{"\x1b[Z\x1b[13;2u\x1b[27;5;13~\x1b[97;5u", "shift+tab shift+enter ctrl+enter ctrl+a"},
		{"\x1b\x1b[A", "esc up"},
		{"\x1b\x01", "esc ctrl+a"},
	} {
		got, rest := namesOf([]byte(c.keys), false)
		if strings.Join(got, " ") != c.want || len(rest) > 0 {
			t.Errorf("%q is %q and %q, want %q", c.keys, got, rest, c.want)
		}
	}
}

func TestKeyThatIsNotCompleteIsWaitedFor(t *testing.T) {
	for _, c := range []struct{ keys, final string }{{"\x1b", "esc"}, {"\x1b[1;", ""}, {"\x1bO", ""}, {"\xc3", ""}, {"\x1b\xc3", ""}} {
		if got, rest := namesOf([]byte(c.keys), false); len(got) > 0 || string(rest) != c.keys {
			t.Errorf("%q is %q at once", c.keys, got)
		}
		if got, rest := namesOf([]byte(c.keys), true); strings.Join(got, " ") != c.final || len(rest) > 0 {
			t.Errorf("%q is %q and %q in the end, want %q", c.keys, got, rest, c.final)
		}
	}
}

func TestKeysAreTheSameHoweverAHookWritesThem(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"Ctrl+X", "ctrl+x"}, {"shift+CTRL+alt+f5", "ctrl+alt+shift+f5"}, {"Escape", "esc"}, {"meta+Return", "alt+enter"},
		{"ctrl++", "ctrl++"}, {" a ", "a"}, {"PgUp", "pageup"},
	} {
		if got := KeyName(c.given); got != c.want {
			t.Errorf("%q is %q, want %q", c.given, got, c.want)
		}
	}
}

func FuzzKeysHaveTheSameNamesHoweverTheyArrive(f *testing.F) {
	for _, seed := range []string{"abc\r", "\x1b[1;5A\x1b", "\x1bé", "é世", "\x1b[27;2;13~", "\x1b[99999999999999999999u", "\xff\xfe"} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, keys []byte, cut int) {
		whole, rest := namesOf(keys, false)
		cut = min(max(cut, 0), len(keys))
		first, kept := namesOf(keys[:cut], false)
		second, last := namesOf(slices.Concat(kept, keys[cut:]), false)
		if !slices.Equal(whole, append(first, second...)) || string(rest) != string(last) {
			t.Fatalf("cut at %d: %q and %q, whole %q", cut, first, second, whole)
		}
		if final, left := namesOf(keys, true); len(left) > 0 || len(final) < len(whole) {
			t.Fatalf("in the end %q of %q is left, named %q", left, keys, final)
		}
	})
}
