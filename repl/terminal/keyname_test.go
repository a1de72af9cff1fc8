package terminal

import (
	"strings"
	"testing"
)

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

func TestTheKeysOfALineHaveNames(t *testing.T) {
	if got, want := strings.Join(KeysOf("aB \x1b[A\x1b"), " "), "a shift+b space up esc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
