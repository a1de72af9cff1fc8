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

// Where a hunk begins in the new version is told rightly behind one that has several changes
// with lines between them.
func TestHunksBehindSeveralChangesTellTheirNewLines(t *testing.T) {
	old := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"
	now := "one\n2\n3\nfour\n4.5\n5\n6\n7\n8\n9\n10\n11\n12\n13\nfourteen\n"
	if got := Diff("a", []byte(old), []byte(now)); !strings.Contains(got, "\n@@ -1,7 +1,8 @@\n") || !strings.Contains(got, "\n@@ -11,4 +12,4 @@\n") {
		t.Errorf("got\n%s", got)
	}
}
