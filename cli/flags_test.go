package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/cli/app"
)

func TestTheHelpIsOneScreenAndNamesTheModes(t *testing.T) {
	var help strings.Builder
	root := newRoot(&app.Options{})
	addCommands(root, &app.Options{})
	root.SetOut(&help)
	if err := root.Help(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(help.String(), "\n"), "\n")
	if len(lines) > 66 {
		t.Errorf("the help has %d lines", len(lines))
	}
	for _, line := range lines {
		if len(line) > 130 {
			t.Errorf("too wide: %s", line)
		}
	}
	for _, mode := range app.Modes() {
		if !regexp.MustCompile(`--mode .*\b` + mode + `\b`).MatchString(help.String()) {
			t.Errorf("it does not name the mode %s", mode)
		}
	}
}

var update = flag.Bool("update", false, "write docs/flags.md")

// docs/flags.md is made of the table of flags.
func TestTheDocumentsTellOfEveryFlag(t *testing.T) {
	const begin, end = "<!-- flags -->\n", "<!-- /flags -->\n"
	path := filepath.Join("..", "docs", "flags.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("docs/flags.md has no place for the table")
	}
	want := before + begin + describeFlags(flagTable(new(app.Options), new(bool))) + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Error("docs/flags.md is not what the table of flags says; go test ./cli -update writes it")
	}
}

func TestAFurtherNameOfAFlagIsThatFlag(t *testing.T) {
	for given, want := range map[string]string{
		"-nt": "--no-tools", "-xt=bash": "--exclude-tools=bash", "--extension=a.lua": "--hook=a.lua", "--trust-project": "--approve", "-m -nt": "-m -nt", "-- -nt": "-- -nt",
	} {
		args, _ := prepareArgs(newRoot(new(app.Options)), strings.Fields(given))
		if got := strings.Join(args, " "); got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
	}
}
