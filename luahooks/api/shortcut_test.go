package api

import "testing"

func TestKeysHaveOneSpelling(t *testing.T) {
	for given, want := range map[string]string{"Ctrl+X": "ctrl+x", "shift+alt+ctrl+F5": "ctrl+alt+shift+f5", "escape": "esc", "Return": "enter",
		"alt+.": "alt+.", "f12": "f12", "f0": "", "f01": "", "ctrl+": "", "": "", "ctrl+ctrl+x": "ctrl+x", "meta+x": "", "word": "", "ü": ""} {
		if got, ok := normalKey(given); got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", given, got, ok, want)
		}
	}
}
