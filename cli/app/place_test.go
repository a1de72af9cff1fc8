package app

import (
	"path/filepath"
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
