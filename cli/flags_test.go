package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/cli/app"

	"github.com/spf13/pflag"
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
	if len(lines) > 56 {
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

// docs/flags.md has a row for each flag, which begins with its names.
func TestTheDocumentsTellOfEveryFlag(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "flags.md"))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`-[^|]*) \\|").FindAllStringSubmatch(string(text), -1) {
		for _, name := range regexp.MustCompile("`(-[a-z-]+)").FindAllStringSubmatch(row[1], -1) {
			told = append(told, name[1])
		}
	}
	root := newRoot(&app.Options{})
	var have []string
	add := func(f *pflag.Flag) {
		have = append(have, "--"+f.Name)
		if f.Shorthand != "" {
			have = append(have, "-"+f.Shorthand)
		}
	}
	root.Flags().VisitAll(add)
	root.PersistentFlags().VisitAll(add)
	for _, name := range []string{"-na", "-ne", "-nt", "-nbt", "-xt", "-ns", "-np", "-nc"} {
		if shortFlag(name) == "" {
			t.Errorf("%s is no flag", name)
		}
		have = append(have, name)
	}
	have = append(have, "--extension", "--no-extensions", "--trust-project")
	slices.Sort(told)
	slices.Sort(have)
	if !slices.Equal(told, have) {
		t.Errorf("told of are\n%q\nthere are\n%q", told, have)
	}
}
