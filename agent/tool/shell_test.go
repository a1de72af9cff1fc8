package tool

import (
	"os/exec"
	"slices"
	"testing"
)

func TestTheLocaleOfCommandsIsOneThatIsInstalled(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash to ask")
	}
	const missing = "tlh_TLH.UTF-8"
	for _, c := range []struct {
		environ []string
		mended  bool
	}{
		{nil, false},
		{[]string{"LANG=C", "LC_ALL=POSIX", "LC_TIME="}, false},
		{[]string{"PATH=" + missing, "LANGUAGE=" + missing}, false},
		{[]string{"LC_ALL=" + missing}, true},
		{[]string{"LANG=" + missing}, true},
		{[]string{"LANG=C", "LC_CTYPE=" + missing}, true},
		{[]string{"LANG=$(exit 1)"}, true},
	} {
		got := NewLocale(c.environ)()
		if !c.mended && len(got) > 0 || c.mended && !slices.Contains([]string{"LC_ALL=C", "LC_ALL=C.UTF-8"}, firstOf(got)) {
			t.Errorf("%q: %q", c.environ, got)
		}
	}
}

func firstOf(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return list[0]
}

func TestACommandInALocaleThatIsNotInstalledSaysOnlyWhatItSays(t *testing.T) {
	t.Setenv("LC_ALL", "tlh_TLH.UTF-8")
	out, err := RunShell(t.Context(), Options{Cwd: t.TempDir()}, "echo said", nil)
	if err != nil || out.Output != "said\n" {
		t.Errorf("%q, %v", out.Output, err)
	}
}
