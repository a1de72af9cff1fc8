package terminal

import (
	"strings"
	"testing"
)

func TestTheKeysOfALineHaveNames(t *testing.T) {
	if got, want := strings.Join(KeysOf("aB \x1b[A\x1b"), " "), "a shift+b space up esc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
