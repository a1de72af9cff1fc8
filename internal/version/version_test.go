package version

import (
	"runtime/debug"
	"testing"
)

func TestABuildThatIsNoReleaseIsNamedByItsCommit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for want, settings := range map[string][]debug.BuildSetting{
		"devel":               {{Key: "GOOS", Value: "linux"}, {Key: "vcs.modified", Value: "true"}},
		"devel+0123456":       {{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: "false"}},
		"devel+0123456-dirty": {{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: "true"}},
		"devel+12":            {{Key: "vcs.revision", Value: "12"}},
	} {
		if got := fromSettings(settings); got != want {
			t.Errorf("%v: %s, want %s", settings, got, want)
		}
	}
}

// The tests of a package are built without a commit, wherever they are.
func TestTheTestsThemselvesAreNoRelease(t *testing.T) {
	if got := Program(); got != "devel" {
		t.Errorf("the version is %q", got)
	}
}
