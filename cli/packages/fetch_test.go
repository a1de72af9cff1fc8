package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repo is a repository of a test, with its work tree.
type repo struct {
	t    testing.TB
	dir  string // the work tree
	bare string
}

// newRepo makes a repository without a commit.
func newRepo(t testing.TB) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "work"), bare: filepath.Join(t.TempDir(), "hooks.git")}
	r.command("", "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	r.command("", "init", "--quiet", "--initial-branch=main", r.dir)
	return r
}

// command runs git for a test, untouched by the settings of the machine.
func (r *repo) command(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = filepath.Dir(r.dir)
	if _, err := os.Stat(r.dir); err == nil {
		cmd.Dir = r.dir
	}
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s\n%.200q", strings.Join(args, " "), err, out, stdin)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, commits them, and pushes the branch main.
func (r *repo) commit(files map[string]string) string {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		must(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(r.t, os.WriteFile(path, []byte(text), 0o600))
	}
	r.command("", "add", "-A")
	r.command("", "commit", "--quiet", "-m", "x")
	r.command("", "push", "--quiet", "--force", r.bare, "HEAD:refs/heads/main")
	return r.command("", "rev-parse", "HEAD")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, text string) Source {
	t.Helper()
	s, err := ParseSource(text, t.TempDir(), LookAt)
	must(t, err)
	return s
}

func TestFetchGetsTheCommitThatAReferenceNames(t *testing.T) {
	r := newRepo(t)
	first := r.commit(map[string]string{"hooks/a.lua": "-- 1\n"})
	r.command("", "tag", "v1")
	r.command("", "tag", "-a", "-m", "x", "v1-annotated")
	r.command("", "push", "--quiet", r.bare, "v1", "v1-annotated")
	second := r.commit(map[string]string{"hooks/a.lua": "-- 2\n"})
	r.command("", "push", "--quiet", r.bare, "HEAD:refs/heads/team/x")
	for _, tt := range []struct{ ref, named, commit, text string }{
		{"", "", second, "-- 2\n"},
		{"@main", NamesBranch, second, "-- 2\n"},
		{"@team/x", NamesBranch, second, "-- 2\n"},
		{"@v1", NamesTag, first, "-- 1\n"},
		{"@v1-annotated", NamesTag, first, "-- 1\n"},
		{"@" + first, NamesCommit, first, "-- 1\n"},
	} {
		got, err := Fetcher{}.Fetch(t.Context(), parse(t, r.bare+tt.ref))
		if err != nil {
			t.Errorf("%q: %v", tt.ref, err)
			continue
		}
		f, _ := got.Files.Find("hooks/a.lua")
		if got.Named != tt.named || got.Commit != tt.commit || string(f.Code) != tt.text {
			t.Errorf("%q: %s %s %q, want %+v", tt.ref, got.Named, got.Commit, f.Code, tt)
		}
	}
	for ref, want := range map[string]string{"@v9": "no tag or branch", "@" + strings.Repeat("a", 40): "git: "} {
		if _, err := (Fetcher{}).Fetch(t.Context(), parse(t, r.bare+ref)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", ref, err)
		}
	}
}
