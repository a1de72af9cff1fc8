package gitignore

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// spelled makes text of any bytes from few characters, so that most of it means
// something.
func spelled(raw []byte, characters string) string {
	var b strings.Builder
	for _, c := range raw {
		b.WriteByte(characters[int(c)%len(characters)])
	}
	return b.String()
}

// FuzzIgnoreRulesAreGits asks git about a path for which one ignore file counts.
func FuzzIgnoreRulesAreGits(f *testing.F) {
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("git is the oracle and is not installed")
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	environment := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	run := func(arg ...string) error {
		cmd := exec.Command(git, arg...)
		cmd.Dir, cmd.Env = dir, environment
		return cmd.Run()
	}
	if err := run("init", "-q"); err != nil {
		f.Fatal(err)
	}
	const rules, names = "ab.*?/!#\n a*\n/[]-", "ab./#! -[]/"
	for _, seed := range [][2]string{{"*.b\n!a.b\n", "a.b"}, {"a/\n", "a/b"}, {"/a\n", "b/a"}, {"a/**\n!a/b\n", "a/b"}, {"**/a\n", "b/a"}, {"[ab]\n", "a"}, {"a \n", "a"}, {"#a\n", "#a"}} {
		f.Add(unspelled(seed[0], rules), unspelled(seed[1], names))
	}
	f.Fuzz(func(t *testing.T, rawRules, rawPath []byte) {
		if len(rawRules) > 40 || len(rawPath) > 12 {
			return
		}
		text, name := spelled(rawRules, rules), path.Clean("/" + spelled(rawPath, names))[1:]
		if name == "" || strings.HasSuffix(name, " ") || strings.Contains("/"+name+"/", "/./") {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := run("check-ignore", "-q", "--no-index", "--", "./"+name) == nil
		r := None().With(dir)
		got := false
		for i, c := range name {
			got = got || c == '/' && r.Ignores(filepath.Join(dir, name[:i]), true)
		}
		if got = got || r.Ignores(filepath.Join(dir, name), false); got != want {
			t.Errorf("%q is ignored by %q: %v, git says %v", name, text, got, want)
		}
	})
}

// unspelled is what spelled makes text of.
func unspelled(text, characters string) []byte {
	raw := make([]byte, len(text))
	for i := range text {
		raw[i] = byte(strings.IndexByte(characters, text[i]))
	}
	return raw
}

// A backslash protects a blank behind it, and git gives up on a pattern that ends in one.
func TestABackslashAtTheEndProtectsABlankOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{`a\ `, "a ", true}, {`a\`, "a ", false}, {`a\`, "a", false}, {`a `, "a ", false}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(c.pattern+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := None().With(dir).Ignores(filepath.Join(dir, c.name), false); got != c.want {
			t.Errorf("%q ignores %q: %v", c.pattern, c.name, got)
		}
	}
}
