package repl

import "testing"

func TestNothingThatWasPastedRunsUnaskedBeforeThereAreCommands(t *testing.T) {
	k := New(Options{}).keyboard
	for text, want := range map[string]bool{"!rm x": true, "/new": true, "rm x": false} {
		if literal, asks := k.pastedCommand(text, true); literal != want || asks {
			t.Errorf("%s: literal %v, asks %v", text, literal, asks)
		}
		if literal, asks := k.pastedCommand(text, false); literal || asks {
			t.Errorf("%s, typed: literal %v, asks %v", text, literal, asks)
		}
	}
}
