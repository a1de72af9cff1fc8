package app

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestPathsAreTakenFromThePlace(t *testing.T) {
	cwd := t.TempDir()
	top := filepath.VolumeName(cwd) + string(filepath.Separator)
	for path, want := range map[string]string{
		"":                           cwd,
		"a/b":                        filepath.Join(cwd, "a", "b"),
		"../a":                       filepath.Join(filepath.Dir(cwd), "a"),
		"/a/b/":                      filepath.Join(top, "a", "b"), // on Windows of the drive of the place
		filepath.Join(top, "c", "d"): filepath.Join(top, "c", "d"),
	} {
		if got := absolute(cwd, path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

func TestModelsOfTheCommandLineReplaceThoseOfTheSettings(t *testing.T) {
	p := place(t, Options{}, nil)
	writePrompt(t, filepath.Join(p.AgentDir, "config.toml"), "models = [\"a/*\"]\nthinking = \"low\"\n")
	for flag, want := range map[string][]string{"": {"a/*"}, "b/*, c:high": {"b/*", "c:high"}} {
		p, err := New(Options{Models: flag}, p.Cwd)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Config.Models; !slices.Equal(got, want) || p.Config.Thinking != "low" {
			t.Errorf("--models %q: %q, and thinking is %s", flag, got, p.Config.Thinking)
		}
	}
}
