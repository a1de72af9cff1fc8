package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPathsAreResolved(t *testing.T) {
	b := newHarness(t, Options{})
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	b.file("sub/a.txt", "in sub")
	b.file("@types/b.txt", "in @types")
	b.file("plain.txt", "plain")
	if err := os.WriteFile(filepath.Join(home, "h.txt"), []byte("in home"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"sub/a.txt":                             "in sub",
		"./sub/../sub/a.txt":                    "in sub",
		filepath.Join(b.dir, "sub", "a.txt"):    "in sub",
		"@sub/a.txt":                            "in sub",
		"@" + filepath.Join(b.dir, "plain.txt"): "plain",
		"@types/b.txt":                          "in @types",
		"~/h.txt":                               "in home",
		"@~/h.txt":                              "in home",
	} {
		if got := b.text("read", args{"path": path}); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestNamesThatLookTheSameAreTheSame(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("Shot 9.41\u202FAM.txt", "narrow space")
	b.file("cafe\u0301.txt", "decomposed")
	b.file("it’s.txt", "curly")
	for path, want := range map[string]string{
		"Shot 9.41 AM.txt": "narrow space", "caf\u00e9.txt": "decomposed", "it's.txt": "curly",
	} {
		if got := b.text("read", args{"path": path}); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestMissingPathsSayWhatIsNear(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("Makefile", "")
	b.file("session_test.go", "")
	b.refused("read", args{"path": "makefile"}, "makefile does not exist", "did you mean Makefile?")
	b.refused("read", args{"path": "sesion_test.go"}, "did you mean session_test.go?")
	b.refused("read", args{"path": "zz"}, "zz does not exist; list what is there with ls or find")
	b.refused("read", args{"path": "no/such/x"}, "nor does its directory")
	b.refused("read", args{"path": ""}, "the path is empty")
	b.refused("read", args{"path": "Makefile/x"}, "not a directory")
}

func TestConfinementRefusesWithTheRealPath(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newHarness(t, Options{Confine: true})
	b.file("in/a.txt", "inside\n")
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, "out")
	link(secret, "file")
	link(filepath.Join(outside, "new"), "dangling")
	link("in", "within")
	link(filepath.Join(b.dir, "in"), "absolute")

	for tool, a := range map[string]args{
		"read": {}, "write": {"content": "x"}, "edit": {"oldText": "secret", "newText": "x"}, "grep": {"pattern": "s"},
	} {
		for path, real := range map[string]string{
			"out/secret.txt": secret, "file": secret, "../x": filepath.Join(filepath.Dir(b.dir), "x"),
			secret: secret, "dangling": filepath.Join(outside, "new"), "out/deep/new": filepath.Join(outside, "deep", "new"),
		} {
			a["path"] = path
			b.refused(tool, a, "is really "+real, "outside the working directory "+b.dir)
		}
	}
	b.refused("ls", args{"path": "out"}, outside)
	b.refused("find", args{"pattern": "*", "path": "out"}, outside)
	if got, _ := os.ReadFile(secret); string(got) != "secret" {
		t.Errorf("the file outside is now %q", got)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("something was made outside: %v", entries)
	}

	equal(t, b.text("read", args{"path": "within/a.txt"}), "inside\n")
	equal(t, b.text("read", args{"path": "absolute/a.txt"}), "inside\n")
	b.run("write", args{"path": "absolute/deep/b.txt", "content": "new"})
	equal(t, b.content("in/deep/b.txt"), "new")
	equal(t, b.text("grep", args{"pattern": "inside"}), "in/a.txt:1: inside")
}

func TestALinkMadeAfterTheCheckLeadsNowhere(t *testing.T) {
	b := newHarness(t, Options{Confine: true})
	outside := t.TempDir()
	b.file("d/a.txt", "inside")
	if err := os.WriteFile(filepath.Join(outside, "a.txt"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := newKit(Options{Cwd: b.dir, Confine: true})
	p, err := k.locate("d/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(b.dir, "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.dir, "d")); err != nil {
		t.Fatal(err)
	}
	if f, err := p.open(); err == nil {
		f.Close()
		t.Error("opened for reading")
	}
	if _, err := p.replace(t.Context(), []byte("x")); err == nil {
		t.Error("written")
	}
	if got, _ := os.ReadFile(filepath.Join(outside, "a.txt")); string(got) != "outside" {
		t.Errorf("the file outside is now %q", got)
	}
}

func TestRealPathEndsForLoops(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("b", filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if _, err := realPath(filepath.Join(dir, "a")); err == nil || !strings.Contains(err.Error(), "too many symbolic links") {
		t.Errorf("got %v", err)
	}
}
