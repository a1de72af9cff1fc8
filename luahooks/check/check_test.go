package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/luahooks/check"
)

func checker(t testing.TB) *check.Checker {
	t.Helper()
	c, err := check.New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func nothingBeside(string) (string, []byte, bool) { return "", nil, false }

// What runs is not called wrong: the examples, the hooks of the guide, and the specs of the
// modules.
func TestNothingIsWrongWithWhatWorks(t *testing.T) {
	t.Parallel()
	c := checker(t)
	try := func(name string, code []byte) {
		r, err := c.File(name, code, nothingBeside)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, p := range append(r.Problems, r.Warnings...) {
			t.Errorf("%s", p)
		}
	}
	seen := 0
	for _, pattern := range []string{"../../examples/*.lua", "../../examples/*/*.lua", "../../stdlib/demo/*.lua"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.lua") {
				continue
			}
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			try(filepath.Base(file), code)
		}
	}
	guide, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```lua\n(.*?)```").FindAllSubmatch(guide, -1) {
		seen++
		try("guide.lua", block[1])
	}
	if seen < 40 {
		t.Errorf("only %d hooks are looked at", seen)
	}
}

var mistakeHead = regexp.MustCompile(`^-- (\d+): (.+)\n(?:-- check (?:(\d+): (.+)|nothing)\n)?|^-- check (\d+): (.+)\n`)

// What a session says of usual mistakes, the check says before it runs, in the same words and
// at the line where it is written.
func TestMistakesAreFoundWithoutRunning(t *testing.T) {
	t.Parallel()
	c := checker(t)
	files, err := filepath.Glob("../testdata/mistakes/*.lua")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d mistakes, %v", len(files), err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		head := mistakeHead.FindStringSubmatch(string(code))
		if head == nil {
			t.Errorf("%s has no head", name)
			continue
		}
		line, message := head[1], head[2]
		switch {
		case strings.Contains(head[0], "\n-- check nothing\n"):
			line = ""
		case head[3] != "":
			line, message = head[3], head[4]
		case head[5] != "":
			line, message = head[5], head[6]
		}
		want := ""
		if line != "" {
			want = name + ":" + line + ": " + message
		}
		got := ""
		if r, err := c.File(name, code, nothingBeside); err != nil {
			got = err.Error()
		} else if len(r.Problems) > 0 {
			got = r.Problems[0].String()
		}
		if got != want {
			t.Errorf("%s: the check says\n%s\nwant\n%s", name, got, want)
		}
	}
}
