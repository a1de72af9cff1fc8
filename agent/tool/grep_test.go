package tool

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/internal/gitignore"
)

func TestGrep(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("a.go", "package a\n\nfunc Foo() {}\nfunc foo() {}\n// end\r\n")
	b.file("b/c.txt", "foo.bar\nfooXbar\n")
	b.file("b/.hidden", "foo hidden\n")
	b.file("bin", "foo\x00\n")
	b.file("bom", "\uFEFFbom foo\n")
	b.file("latin", "foo \xe9\n")
	b.file("ignored.log", "foo\n")
	b.file("b/other.tmp", "foo\n")
	b.file(".gitignore", "*.log\n")
	b.file("b/.ignore", "*.tmp\n")
	b.file(".git/config", "foo\n")
	if err := os.Symlink("a.go", filepath.Join(b.dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		a    args
		want string
	}{
		"all files in order":   {args{"pattern": "foo"}, "a.go:4: func foo() {}\nb/.hidden:1: foo hidden\nb/c.txt:1: foo.bar\nb/c.txt:2: fooXbar\nbom:1: bom foo\nlatin:1: foo \uFFFD"},
		"regular expression":   {args{"pattern": `foo\.\w+`}, "b/c.txt:1: foo.bar"},
		"literal":              {args{"pattern": "o.b", "literal": true}, "b/c.txt:1: foo.bar"},
		"literal brackets":     {args{"pattern": "o() {", "literal": true, "ignoreCase": true}, "a.go:3: func Foo() {}\na.go:4: func foo() {}"},
		"ignore case":          {args{"pattern": "FUNC foo", "ignoreCase": true}, "a.go:3: func Foo() {}\na.go:4: func foo() {}"},
		"anchors are of lines": {args{"pattern": "^// end$"}, "a.go:5: // end"},
		"BOM is no text":       {args{"pattern": "^bom"}, "bom:1: bom foo"},
		"empty lines":          {args{"pattern": "^$", "path": "a.go"}, "a.go:2: "},
		"glob, any depth":      {args{"pattern": "foo", "glob": "*.txt"}, "b/c.txt:1: foo.bar\nb/c.txt:2: fooXbar"},
		"glob, path":           {args{"pattern": "foo", "glob": "b/**", "limit": 1}, "b/.hidden:1: foo hidden\n\n[the first 1 matches; there are more: narrow the pattern, path or glob, or set limit]"},
		"glob, others":         {args{"pattern": "func", "glob": "!*.go"}, "(no line matches in .; what .gitignore names and binary files are left out)"},
		"in a directory":       {args{"pattern": "foo", "path": "b", "glob": "c.*"}, "b/c.txt:1: foo.bar\nb/c.txt:2: fooXbar"},
		"a file that is named": {args{"pattern": "foo", "path": "ignored.log"}, "ignored.log:1: foo"},
		"a link that is named": {args{"pattern": "foo", "path": "link.go"}, "link.go:4: func foo() {}"},
		"context":              {args{"pattern": "Foo", "context": 1}, "a.go-2- \na.go:3: func Foo() {}\na.go-4- func foo() {}"},
		"context at the edges": {args{"pattern": "package|end", "context": 1, "path": "a.go"}, "a.go:1: package a\na.go-2- \n--\na.go-4- func foo() {}\na.go:5: // end"},
		"context that meets":   {args{"pattern": "package|foo", "context": 2, "path": "a.go"}, "a.go:1: package a\na.go-2- \na.go-3- func Foo() {}\na.go:4: func foo() {}\na.go-5- // end"},
		"context of files":     {args{"pattern": "package|foo.bar", "context": 1, "glob": "*.{go,txt}"}, "a.go:1: package a\na.go-2- \n--\nb/c.txt:1: foo.bar\nb/c.txt:2: fooXbar"},
	} {
		t.Run(name, func(t *testing.T) { equal(t, b.text("grep", c.a), c.want) })
	}
	b.refused("grep", args{"pattern": "(?=x)"}, "not a regular expression of RE2", "set literal")
	b.refused("grep", args{"pattern": ""}, "the pattern is empty")
	b.refused("grep", args{"pattern": "a\nb", "literal": true}, "lines are matched one by one")
	b.refused("grep", args{"pattern": "a", "glob": "[a"}, "not a valid glob")
	b.refused("grep", args{"pattern": "a", "path": "none"}, "none does not exist")
}

func TestGrepBoundsItsAnswer(t *testing.T) {
	b := newHarness(t, Options{})
	for i := range 30 {
		b.file(fmt.Sprintf("f%02d", i), strings.Repeat("match\n", 10))
	}
	text := b.text("grep", args{"pattern": "match"})
	if n := strings.Count(text, ": match"); n != 100 || !strings.HasPrefix(text, "f00:1: match\n") || !strings.Contains(text, "f09:10: match\n\n[the first 100 matches;") {
		t.Errorf("%d matches: …%q", n, text[len(text)-120:])
	}
	if text := b.text("grep", args{"pattern": "match", "limit": 300}); strings.Contains(text, "[") {
		t.Errorf("a notice although all is shown: %q", text[len(text)-120:])
	}
	b.file("wide", strings.Repeat("é", 300)+"needle\n")
	equal(t, b.text("grep", args{"pattern": "needle"}), "wide:1: "+strings.Repeat("é", 250)+"…\n\n[lines longer than 500 bytes end in …; read shows them whole]")

	b.file("wide", strings.Repeat(strings.Repeat("x", 400)+"\n", 200))
	r := b.run("grep", args{"pattern": "x", "limit": 200})
	d := details[listDetails](t, r)
	if d.Truncation == nil || d.Truncation.TotalLines != 200 || len(textOf(r)) > maxBytes+200 || !strings.Contains(textOf(r), "lines shown, 50.0 KiB at most; narrow the pattern") {
		t.Errorf("details %s", r.Details)
	}
}

// The literal that a regular expression needs only saves work.
func FuzzGrepLiteralChangesNothing(f *testing.F) {
	for _, s := range [][2]string{
		{"foo(bar)+", "x\nfoobar\r\n\nfoobarbar"}, {"a|b", "a\nb"}, {"(?i)ab", "AB\nab"}, {"(?i)ask", "x\nA\u017Fk\naS\u212A"}, {"a(?i:BC)+d", "abcBCd"}, {"(?i)é", "É\ne\u0301"}, {"^x*yz$", "yz\r\nxyz"}, {"\uFFFD", "\xff\n"}, {"a\nb", "a\nb"}, {"(ab){2}c?", "abab\nab"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, expr, data string) {
		re, err := (&grepArgs{Pattern: expr}).compile()
		if err != nil || len(expr) > 50 {
			t.Skip("no pattern that is searched for")
		}
		var want []int
		if data != "" {
			for i, line := range strings.Split(strings.TrimSuffix(data, "\n"), "\n") {
				if re.MatchString(strings.TrimSuffix(line, "\r")) {
					want = append(want, i+1)
				}
			}
		}
		var got []int
		for _, l := range newPattern(re).lines(t.Context(), []byte(data), 1<<30, &buffers{}) {
			got = append(got, l.number)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("lines %v, want %v", got, want)
		}
	})
}

// Where ripgrep is installed it has to find the same lines.
func TestGrepShowsTheContextThatAPlainReadingShows(t *testing.T) {
	b := newHarness(t, Options{})
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		lines := make([]string, 1+random.IntN(60))
		for i := range lines {
			lines[i] = []string{"", "x", "hit", "long hit " + strings.Repeat("é", 300)}[random.IntN(4)*random.IntN(2)]
		}
		ending := strings.Repeat("\n", random.IntN(2))
		b.file("f", strings.Join(lines, "\n")+ending)
		if ending == "" && lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1] // it has no line of its own
		}
		for _, context := range []int{0, 1, 2, 7, 100} {
			got := b.text("grep", args{"pattern": "hit", "context": context})
			if want := plainContext(lines, context); want != "" && got != want || want == "" && !strings.HasPrefix(got, "(no line") {
				t.Fatalf("%q, context %d: got\n%s\nwant\n%s", lines, context, got, want)
			}
		}
	}
}

func plainContext(lines []string, context int) string {
	var out []string
	last, cut := -1, false
	for i, line := range lines {
		near := slices.ContainsFunc(lines[max(0, i-context):min(len(lines), i+context+1)], func(l string) bool { return strings.Contains(l, "hit") })
		if !near {
			continue
		}
		if context > 0 && last >= 0 && last < i-1 {
			out = append(out, "--")
		}
		mark := "-"
		if strings.Contains(line, "hit") {
			mark = ":"
		}
		if len(line) > grepWidth {
			line, cut = line[:cutBefore(line, grepWidth)]+"…", true
		}
		out, last = append(out, fmt.Sprintf("f%s%d%s %s", mark, i+1, mark, line)), i
	}
	if cut {
		out = append(out, "", fmt.Sprintf("[lines longer than %d bytes end in …; read shows them whole]", grepWidth))
	}
	return strings.Join(out, "\n")
}

// endless is a file that has more each time it is read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, bytes.Repeat([]byte("a\n"), len(p)/2+1)), nil
}

func TestAFileThatGrowsWhileItIsReadIsGivenUp(t *testing.T) {
	var b buffers
	e := &endless{}
	if _, err := b.read(e, 5); !errors.Is(err, errGrows) || e.read > 4*maxGrowth {
		t.Errorf("%d bytes were read: %v", e.read, err)
	}
	if data, err := b.read(strings.NewReader("as it is"), 0); err != nil || string(data) != "as it is" { // as in /proc
		t.Errorf("of an unknown size: %q, %v", data, err)
	}
}

func TestGrepAndFindLeaveOutIgnoreFilesWithoutEnd(t *testing.T) {
	for name, content := range map[string]string{
		"rules": strings.Repeat("*.a\n", gitignore.MaxRules+1), "bytes": "a.txt\n#" + strings.Repeat("x", gitignore.MaxFile),
	} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, Options{})
			b.file(".gitignore", content)
			b.file("a.txt", "foo\n")
			b.file("sub/.gitignore", "b.txt\n")
			b.file("sub/b.txt", "foo\n")
			note := "[ignore files larger than 256.0 KiB or 5000 rules are left out, so more is shown: "
			equal(t, b.text("grep", args{"pattern": "foo"}), "a.txt:1: foo\n\n"+note+b.dir+"/.gitignore]")
			equal(t, b.text("find", args{"pattern": "*.txt"}), "a.txt\n\n"+note+b.dir+"/.gitignore]")
			equal(t, b.text("find", args{"pattern": "nothing", "path": "sub"}), "(nothing matches nothing in sub; what .gitignore and .ignore name is left out)\n\n"+note+b.dir+"/.gitignore]")
		})
	}
	b := newHarness(t, Options{})
	b.file(".gitignore", strings.Repeat("*.a\n", gitignore.MaxRules-1)+strings.Repeat("x", gitignore.MaxRule+1)+"\n*.txt\n")
	b.file("a.txt", "foo\n")
	equal(t, b.text("find", args{"pattern": "*"}), ".gitignore")
}

func TestGrepFindsWhatRipgrepFinds(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is the oracle and is not installed")
	}
	b := newHarness(t, Options{})
	for name, content := range map[string]string{
		".git/HEAD": "foo\n", ".gitignore": "*.log\n/out/\n!keep.log\n", "sub/.ignore": "*.tmp\n", ".env": "FOO=bar\n",
		"a.go": "package a\n\nfunc Foo(bar int) {}\n\tfoo(1)\n", "sub/b.txt": "foo\r\nbar\r\n", "sub/c.tmp": "foo\n", "x.log": "foo\n",
		"keep.log": "foo kept\n", "out/o.txt": "foo\n", "bin": "foo\x00\n", "sub/deep/né.txt": "Foo é foo", "sub/out/p.txt": "foo bar\n",
	} {
		b.file(name, content)
	}
	for _, pattern := range []string{"foo", "(?i)foo", `^\s*f\w+\(`, "o$", "bar|kept", "é", "fo{2}", "[^a-z]oo", "nothing"} {
		cmd := exec.Command(rg, "--no-config", "--hidden", "--crlf", "--glob=!.git", "--no-heading", "--line-number", "--regexp="+pattern, ".")
		cmd.Dir = b.dir
		out, _ := cmd.Output() // its exit status tells whether anything matched
		var want, got []string
		for line := range strings.Lines(string(out)) {
			want = append(want, strings.TrimPrefix(strings.TrimRight(line, "\r\n"), "./"))
		}
		if text := b.text("grep", args{"pattern": pattern}); !strings.HasPrefix(text, "(no line matches") {
			got = strings.Split(text, "\n")
		}
		for i, line := range got { // file:1: text, where the other has file:1:text
			file, rest, _ := strings.Cut(line, ":")
			got[i] = file + ":" + strings.Replace(rest, ": ", ":", 1)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%q\nwant\n%q", pattern, got, want)
		}
	}
}
