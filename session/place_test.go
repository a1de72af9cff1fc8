package session

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFolderNames(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/u/my proj:x": "--home-u-my proj-x--", "/": "----", "": "----", `C:\Users\u`: "--C--Users-u--", "/a-b": "--a-b--", "/a/b": "--a-b--",
	} {
		if got := FolderName(cwd); got != want {
			t.Errorf("%q: %q, want %q", cwd, got, want)
		}
	}
}

func TestFolderNamesFitIntoAFileSystem(t *testing.T) {
	fits := "/" + strings.Repeat("a", 251)
	if got := FolderName(fits); got != "--"+fits[1:]+"--" {
		t.Errorf("a name that fits became %q", got)
	}
	deep := strings.Repeat("/ü", 200)
	names := map[string]bool{}
	for _, cwd := range []string{deep, deep + "/x", deep + "/y", fits + "b", fits + "/"} {
		name := FolderName(cwd)
		names[name] = true
		if len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\:") || !strings.HasPrefix(name, "--") || !strings.HasSuffix(name, "--") {
			t.Errorf("%q of %d bytes", name, len(name))
		}
	}
	if len(names) != 5 {
		t.Errorf("five directories have %d names", len(names))
	}
}
