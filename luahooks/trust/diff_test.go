package trust

import (
	"strings"
	"testing"
)

func TestADifferenceShowsEverything(t *testing.T) {
	got := Diff("a\u202e.lua", []byte("one\ntwo\n"), []byte("one\n2\u200b\n"))
	want := "--- a\\u{202e}.lua (in force)\n+++ a\\u{202e}.lua (on disk)\n@@ -1,2 +1,2 @@\n one\n-two\n+2\\u{200b}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff("a", nil, []byte("x")); !strings.Contains(got, "a (not there)") || !strings.Contains(got, "+x\n") {
		t.Errorf("got %s", got)
	}
	if got := Diff("a", []byte("x"), nil); !strings.Contains(got, "+++ a (not there)") || !strings.Contains(got, "-x\n") {
		t.Errorf("got %s", got)
	}
	if got := Diff("a", []byte{}, []byte{}); !strings.Contains(got, "nothing that can be shown") {
		t.Errorf("got %s", got)
	}
	if long := Diff("a", nil, []byte(strings.Repeat("x\n", 5000)+"last\n")); !strings.HasSuffix(long, "+x\n+last\n") {
		t.Error("a long one is cut off")
	}
}
