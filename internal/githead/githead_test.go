package githead

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheBranchIsReadWithoutGit(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"repo/.git/HEAD": "ref: refs/heads/topic/x\u202e\n", "repo/sub/deep/file": "", "tree/.git": "gitdir: ../real/wt\n",
		"real/wt/HEAD": "0123456789abcdef\n", "odd/.git": "gitdir: nowhere\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for where, want := range map[string]string{"repo": "topic/x<U+202E>", "repo/sub/deep": "topic/x<U+202E>", "tree": "01234567", "odd": ""} {
		if got := Branch(filepath.Join(dir, filepath.FromSlash(where))); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}
