//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent"
)

// git runs git in the stage's project, with no settings of anybody.
func (s *stage) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.cwd
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *stage) files() string {
	s.t.Helper()
	var files []string
	for _, pattern := range []string{"*.txt", "sub/*"} {
		found, err := filepath.Glob(filepath.Join(s.cwd, pattern))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, path := range found {
			files = append(files, filepath.Base(path)+"="+mustRead(s.t, path))
		}
	}
	return strings.Join(files, " ")
}

// checkpoints are the files of each snapshot that is kept, as name=text.
func (s *stage) checkpoints(name string) []string {
	s.t.Helper()
	var texts []string
	for _, ref := range strings.Fields(s.git("for-each-ref", "--format=%(objectname)", "refs/pi-checkpoints")) {
		texts = append(texts, s.git("show", ref+":"+name))
	}
	return texts
}

// branch is what the program does when a branch from a message is made.
func (s *stage) branch(text string) {
	s.t.Helper()
	i, e := s.entry(text)
	s.handle(&agent.SessionBeforeBranch{EntryID: e.ID, EntryIndex: i})
	s.handle(&agent.SessionBranch{})
}

func TestAGitCheckpointBringsTheFilesBackOnABranch(t *testing.T) {
	t.Parallel()
	for _, commits := range []bool{true, false} {
		s := newStage(t, "git_checkpoint.lua")
		s.git("init", "-q")
		s.write("kept.txt", "1")
		s.write(".gitignore", "ignored.txt\nforced.txt\n")
		s.write("ignored.txt", "1")
		if commits {
			s.write("forced.txt", "1")
			s.git("add", "-f", ".gitignore", "kept.txt", "forced.txt")
			s.git("commit", "-qm", "first")
			s.write("sub/staged", "1")
			s.git("add", ".")
		}
		before, files := s.git("status", "--short"), s.files()
		s.ask("one", "first answer")
		if now := s.git("status", "--short"); now != before || s.files() != files {
			t.Errorf("the checkpoint left traces: %q, was %q", now, before)
		}
		first := s.files()

		s.write("kept.txt", "2")
		s.write("new.txt", "2")
		if commits {
			s.write("forced.txt", "2")
		}
		s.ask("two", "second answer")
		second := s.files()

		s.write("kept.txt", "3")
		s.write("ignored.txt", "3")
		s.write("new.txt", "3")
		third := s.files()

		if s.branch("one"); s.files() != third || s.audience.questions() != 1 {
			t.Errorf("the answer was no, and the files are %s", s.files())
		}
		s.audience.yes = true
		for _, step := range []struct{ branch, want string }{{"two", second}, {"one", first}, {"first answer", second}} {
			s.branch(step.branch)
			if got, want := s.files(), strings.Replace(step.want, "ignored.txt=1", "ignored.txt=3", 1); got != want {
				t.Errorf("back at %s the files are %s, want %s; told %q", step.branch, got, want, s.audience.told)
			}
		}
		if s.branch("second answer"); s.audience.questions() != 4 {
			t.Error("asked though there is no checkpoint after it")
		}
		if commits && s.git("diff", "--cached", "--name-only") != "sub/staged" {
			t.Error("the index changed")
		}
		if kept := s.checkpoints("kept.txt"); !slices.Contains(kept, "3") {
			t.Errorf("what was there before the restore is lost: %q", kept)
		}
	}
}

func TestAGitCheckpointIsSilentWhereThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	s := newStage(t, "git_checkpoint.lua")
	s.ask("one", "no repository here")
	s.branch("one")
	if s.audience.questions() > 0 || len(s.audience.told) > 0 {
		t.Errorf("asked %q, told %q", s.audience.asked, s.audience.told)
	}

	s = newStage(t, "git_checkpoint.lua")
	s.git("init", "-q")
	s.write("a.txt", "1")
	s.write(".git/index.lock", "") // of somebody else; ours is another one
	s.ask("one", "first")
	s.write("a.txt", "2")
	s.audience.present = false
	s.branch("one")
	if got := s.files(); got != "a.txt=2" {
		t.Errorf("restored without a person: %s", got)
	}
}

func TestARestoreThatFailsChangesNothingAndIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t, "git_checkpoint.lua")
	s.git("init", "-q")
	s.write("a.txt", "1")
	s.ask("one", "first")
	s.write("a.txt", "2")
	s.write(".git/pi-checkpoint-index.lock", "")
	s.audience.yes = true
	s.branch("one")
	if got := s.files(); got != "a.txt=2" || !s.audience.heard("the files were not restored: ") {
		t.Errorf("the files are %s, told %q", got, s.audience.told)
	}
}

func TestACheckpointThatFailsIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, "git_checkpoint.lua")
	s.git("init", "-q")
	s.write("a.txt", "1")
	s.write(".git/pi-checkpoint-index.lock", "")
	s.ask("one", "first")
	s.ask("two", "second")
	told := 0
	for _, text := range s.audience.told {
		if strings.Contains(text, "no checkpoint: ") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %q", s.audience.told)
	}
}
