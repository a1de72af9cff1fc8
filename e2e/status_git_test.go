//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// The branch of the status line has a star while files were changed since they were
// committed; to look for that, no program runs that the repository names.
func TestTheBranchHasAStarWhileThereAreChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	env := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	w.env = append(w.env, env...)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = w.project, append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	ran := filepath.Join(w.home, "ran")
	git("init", "-q", "-b", "trunk")
	w.write(filepath.Join(w.project, ".gitattributes"), "a.txt filter=evil\n")
	w.write(filepath.Join(w.project, "a.txt"), "one\n")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	w.write(filepath.Join(w.project, "a.txt"), "two\n")
	git("config", "core.fsmonitor", "touch '"+ran+"'")
	git("config", "filter.evil.clean", "touch '"+ran+"'; cat")

	s := w.inTerminal()
	s.see(1, "· trunk*")
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program ran that the settings of the repository name")
	}
	git("config", "--unset", "core.fsmonitor")
	git("config", "--unset", "filter.evil.clean")
	s.enter("!git commit -q -a -m two")
	s.Until("the branch has no star", func(now screentest.Screen) bool {
		return now.Shows("· trunk") && !strings.Contains(now.Text(), "trunk*")
	})
	s.enter("!touch new.txt")
	s.see(1, "· trunk*")
	s.enter("/quit")
	s.leave(statusDone)
}
