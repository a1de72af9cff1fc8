package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/internal/gitignore"
)

func TestFind(t *testing.T) {
	b := newHarness(t, Options{})
	for _, name := range []string{
		"a.go", "a/b.go", "a/deep/c.go", "a/deep/c.txt", "a.d/x", ".dot/y.go", "build/out.go", "a/kept.log", "a/lost.log",
		".git/z.go", "[x]/q.go",
	} {
		b.file(name, "")
	}
	b.file(".gitignore", "build/\n*.log\n!kept.log\n")
	for name, c := range map[string]struct {
		a    args
		want string
	}{
		"names at any depth":    {args{"pattern": "*.go"}, ".dot/y.go [x]/q.go a.go a/b.go a/deep/c.go"},
		"sorted as bytes":       {args{"pattern": "a*"}, "a.d/ a.go a/"},
		"paths":                 {args{"pattern": "a/*.go"}, "a/b.go"},
		"any directories":       {args{"pattern": "a/**/*.go"}, "a/b.go a/deep/c.go"},
		"leading any":           {args{"pattern": "**/c.*"}, "a/deep/c.go a/deep/c.txt"},
		"only at the top":       {args{"pattern": "./*.go"}, "a.go"},
		"absolute":              {args{"pattern": b.dir + "/*.go"}, "a.go"},
		"alternatives":          {args{"pattern": "c.{go,txt}"}, "a/deep/c.go a/deep/c.txt"},
		"directories":           {args{"pattern": "**/"}, ".dot/ [x]/ a.d/ a/ a/deep/"},
		"ignored, but kept":     {args{"pattern": "*.log"}, "a/kept.log"},
		"below a path":          {args{"pattern": "deep/*.go", "path": "a"}, "a/deep/c.go"},
		"an ignored path":       {args{"pattern": "*.go", "path": "build"}, "build/out.go"},
		"the working directory": {args{"pattern": "b.go", "path": "./a/.."}, "a/b.go"},
		"brackets":              {args{"pattern": `\[x\]/*`}, "[x]/q.go"},
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, strings.ReplaceAll(b.text("find", c.a), "\n", " "), c.want)
		})
	}
	equal(t, b.text("find", args{"pattern": "none"}), "(nothing matches none in .; what .gitignore and .ignore name is left out)")
	equal(t, b.text("find", args{"pattern": "*.go", "limit": 2}), ".dot/y.go\n[x]/q.go\n\n[the first 2 results; there are more: narrow the pattern or path, or set limit]")
	b.refused("find", args{"pattern": "[a"}, "not a valid glob")
	many := strings.Repeat("{a,a,a,a,a,a,a,a,a,a}", 10) + "x"
	b.refused("find", args{"pattern": many}, "more than 1024 combinations")
	b.refused("grep", args{"pattern": "x", "glob": many}, "more than 1024 combinations")
	b.refused("find", args{"pattern": "x", "path": "a.go"}, "find a.go: it is not a directory")
	b.refused("find", args{"pattern": "x", "path": "b.go"}, "b.go does not exist; list what is there")
}

func TestLs(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("b.txt", "")
	b.file("a/x", "")
	b.file(".dot", "")
	b.file("new\nline", "")
	for name, target := range map[string]string{"dirlink": "a", "filelink": "b.txt", "lost": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := b.run("ls", args{})
	equal(t, textOf(r), ".dot\na/\nb.txt\ndirlink/\nfilelink\nlost\nnew\\nline")
	equal(t, string(r.Details), "{}")
	equal(t, b.text("ls", args{"path": "dirlink"}), "x")
	equal(t, b.text("ls", args{"limit": 2}), ".dot\na/\n\n[2 of 7 entries; all with limit=7]")
	b.refused("ls", args{"path": "b.txt"}, "ls b.txt: it is not a directory but a file of 0 bytes; use read")
	if err := os.Mkdir(filepath.Join(b.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	equal(t, b.text("ls", args{"path": "empty"}), "(the directory is empty)")
	for i := range 600 {
		b.file(fmt.Sprintf("many/%0200d", i), "")
	}
	if text := b.text("ls", args{"path": "many"}); !strings.Contains(text, "[254 of 500 lines shown, 50.0 KiB at most; narrow it with find]") || !strings.Contains(text, "[500 of 600 entries; all with limit=600]") {
		t.Errorf("ends %q", text[len(text)-160:])
	}
}

// What git lists as neither ignored nor its own is what a walk comes by.
func TestIgnoreRulesAreGits(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is the oracle and is not installed")
	}
	for _, rules := range []string{
		"*.log\n!keep.log\n", "/top\n", "dir/\n", "a/b\n", "**/deep\n", "a/**\n!a/keep.log\n", "a/**/c.txt\n", "**/b/c.txt\n",
		"file[!0-9].txt\n", "file[^0-9].txt\n", "file[0-9].txt\n", "{x,y}.txt\n", "\\#hash\n#comment\n", "\\!bang\n", "trail  \n", "space\\ \n",
		"*\n!*/\n!*.txt\n", "a/*\n!a/b/\n", "\r\n*.txt\r\n", "a*/\n", "?.txt\n", "**\n!keep.log\n", "/*\n!/a/\n", "a/b/\n!a/b/keep.log\n", "[\n", "b/c.txt\n", "a/**/\n", "d**p\n",
	} {
		t.Run(rules, func(t *testing.T) {
			b := newHarness(t, Options{})
			for _, f := range []string{
				"a/b/c.txt", "a/keep.log", "a/x.log", "a/b/keep.log", "top", "sub/top", "dir/f", "sub/dir/g", "sub/a/b/c.txt", "x/deep/1", "deep", "file1.txt",
				"fileA.txt", "x.txt", "{x,y}.txt", "#hash", "!bang", "trail", "space ", "a/dp", "#comment",
			} {
				b.file(f, "")
			}
			b.file(".gitignore", rules)
			b.file("sub/.gitignore", "!top\n*.txt\n!/a/b/c.txt\n")
			run := func(arg ...string) string {
				cmd := exec.Command(git, arg...)
				cmd.Dir = b.dir
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git: %v: %s", err, out)
				}
				return string(out)
			}
			run("init", "-q")
			b.file(".git/info/exclude", "deep\n")
			want := strings.FieldsFunc(run("ls-files", "-z", "-co", "--exclude-standard"), func(r rune) bool { return r == 0 })
			slices.Sort(want)
			var got []string
			for f := range gitignore.Walk(t.Context(), b.dir, gitignore.For(b.dir, b.dir)) {
				if !f.IsDir {
					got = append(got, f.Rel)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestRulesOfTheRepositoryHoldBelow(t *testing.T) {
	b := newHarness(t, Options{})
	b.file(".gitignore", "*.log\n/sub/x\n")
	b.file(".git/HEAD", "")
	b.file("sub/a.log", "")
	b.file("sub/x", "")
	b.file("sub/y", "")
	b.file("sub/inner/.git/HEAD", "")
	b.file("sub/inner/b.log", "")
	below := newHarness(t, Options{Cwd: filepath.Join(b.dir, "sub")})
	equal(t, below.text("find", args{"pattern": "*"}), "inner/\ny")
	equal(t, b.text("find", args{"pattern": "*", "path": "sub/inner"}), "sub/inner/b.log")
}
