package keymap

import "testing"

func TestKeysAreTheSameHoweverTheyAreWritten(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"Ctrl+X", "ctrl+x"}, {"shift+CTRL+alt+f5", "ctrl+alt+shift+f5"}, {"Escape", "esc"}, {"meta+Return", "alt+enter"},
		{"ctrl++", "ctrl++"}, {"a", "a"}, {"A", "A"}, {"+", "+"}, {"PgUp", "pageup"}, {"shift+control+Up", "ctrl+shift+up"}, {"paste", "paste"}, {"F5", "f5"},
	} {
		if got := KeyName(c.given); got != c.want {
			t.Errorf("%q is %q, want %q", c.given, got, c.want)
		}
	}
}
