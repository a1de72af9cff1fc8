package completion

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/internal/gitignore"
)

// age makes everything below dir look as if it had not been changed lately.
func age(t testing.TB, dir string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, past, past)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// walked is what a walk finds below dir: the oracle of what an index has.
func walked(t testing.TB, dir string) (paths []string) {
	t.Helper()
	for f := range gitignore.Walk(t.Context(), dir, gitignore.For(dir, dir)) {
		path := f.Rel
		if f.IsDir {
			path += "/"
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

func TestTheIndexFollowsTheProject(t *testing.T) {
	dir := project(t, "a/b/c.go", "a/x.log", ".git/HEAD", "build/o")
	steps := []struct {
		name    string
		change  func(path func(string) string)
		changed bool
	}{
		{"at first", func(func(string) string) {}, true},
		{"nothing", func(func(string) string) {}, false},
		{"a new file", func(path func(string) string) { write(t, path("a/b/new.go"), "") }, true},
		{"a new folder", func(path func(string) string) { write(t, path("d/e/f.go"), "") }, true},
		{"rules", func(path func(string) string) { write(t, path(".gitignore"), "*.log\nbuild\n") }, true},
		{"other rules", func(path func(string) string) { write(t, path(".gitignore"), "d\nbuild\n") }, true},
		{"rules below", func(path func(string) string) { write(t, path("a/.gitignore"), "*.go\n") }, true},
		{"rules of the repository", func(path func(string) string) { write(t, path(".git/info/exclude"), "a/x.log\n") }, true},
		{"content", func(path func(string) string) { write(t, path("a/b/c.go"), "package c") }, false},
		{"a file is gone", func(path func(string) string) { _ = os.Remove(path("a/.gitignore")) }, true},
		{"a folder is gone", func(path func(string) string) { _ = os.RemoveAll(path("a/b")) }, true},
		{"a folder is a file now", func(path func(string) string) { _ = os.RemoveAll(path("a")); write(t, path("a"), "") }, true},
		{"all is gone", func(path func(string) string) { _ = os.RemoveAll(dir) }, true},
	}
	tree := &tree{dir: dir}
	age(t, dir)
	for _, step := range steps {
		step.change(func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) })
		paths, changed := tree.refresh(t.Context())
		paths = slices.Clone(paths)
		slices.Sort(paths)
		if want := walked(t, dir); !slices.Equal(paths, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", step.name, paths, want)
		}
		if changed != step.changed {
			t.Errorf("%s: changed is %v", step.name, changed)
		}
	}
}

func TestOnlyFoldersThatChangedAreRead(t *testing.T) {
	dir := project(t, "a/one", "b/two")
	age(t, dir)
	tree := &tree{dir: dir}
	tree.refresh(t.Context())
	before := tree.root.folders["a"].names
	write(t, filepath.Join(dir, "b", "three"), "")
	paths, _ := tree.refresh(t.Context())
	if &before[0] != &tree.root.folders["a"].names[0] {
		t.Error("a was read again")
	}
	if !slices.Contains(paths, "b/three") {
		t.Errorf("the new file is not among %q", paths)
	}
}

func FuzzTheIndexIsWhatAWalkFinds(f *testing.F) {
	f.Add(uint64(1), uint8(10))
	f.Add(uint64(7), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		random := rand.New(rand.NewPCG(seed, 2))
		dir := project(t, "a/x", "b/y")
		age(t, dir)
		tree := &tree{dir: dir}
		for range steps % 50 {
			name := strings.Repeat([]string{"a/", "b/", "c/"}[random.IntN(3)], random.IntN(3)) + []string{"x", "y", "a", ".gitignore", ".h"}[random.IntN(5)]
			path := filepath.Join(dir, name)
			switch random.IntN(4) {
			case 0:
				_ = os.RemoveAll(path)
			case 1:
				age(t, dir)
				tree.refresh(t.Context())
			default:
				if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
					_ = os.WriteFile(path, []byte([]string{"x\n", "a/\n", "!y\n*\n"}[random.IntN(3)]), 0o600)
				}
			}
			if random.IntN(2) == 0 {
				continue
			}
			paths, _ := tree.refresh(t.Context())
			paths = slices.Sorted(slices.Values(paths))
			if want := walked(t, dir); !slices.Equal(paths, want) {
				t.Fatalf("got %q, want %q", paths, want)
			}
		}
	})
}

func TestFilesAreFound(t *testing.T) {
	dir := project(t, "repl/complete.go", "compat/x.go", ".hidden/complete.go", "docs/.draft.md")
	if err := os.Symlink(filepath.Join(dir, "docs"), filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	f := NewFiles(dir)
	defer f.Close()
	tests := []struct{ typed, want string }{
		{"comp", "compat/ compat/x.go repl/complete.go"},
		{"rcomp", "repl/complete.go"},
		{".h", ".hidden/ .hidden/complete.go"},
		{"docs/.", "docs/.draft.md"},
		{"draft", ""},
		{"link", "linked/"},
	}
	for _, tt := range tests {
		if got := strings.Join(f.Find(t.Context(), tt.typed, 10), " "); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.typed, got, tt.want)
		}
	}
}

func TestFilesWaitForTheFirstReadingOnlyAsLongAsTheyMay(t *testing.T) {
	f := NewFiles(project(t, "x"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f.Find(ended, "x", 1) // may find it, and returns
	if got := f.Find(t.Context(), "x", 1); !slices.Equal(got, []string{"x"}) {
		t.Errorf("then: %q", got)
	}
	f.Close()
	f.Close()
	if f.Refresh() != nil {
		t.Error("a closed index reads")
	}
}

func TestProgramsAreReadAgainWhenTheirFoldersChange(t *testing.T) {
	bin := project(t, "one", "two")
	if err := os.Chmod(filepath.Join(bin, "two"), 0o600); err != nil {
		t.Fatal(err)
	}
	age(t, bin)
	p := NewPrograms(bin + string(filepath.ListSeparator) + filepath.Join(bin, "none") + string(filepath.ListSeparator) + "relative")
	if names := p.Names(); !slices.Contains(names, "one") || slices.Contains(names, "two") || !slices.Contains(names, "cd") {
		t.Errorf("programs: %q", names)
	}
	write(t, filepath.Join(bin, "three"), "")
	if names := p.Names(); !slices.Contains(names, "three") {
		t.Errorf("programs after a new one: %q", names)
	}
}

// large makes a project of 50,000 files in 1,000 folders.
func large(b *testing.B) string {
	var names []string
	for i := range 50_000 {
		names = append(names, fmt.Sprintf("module_%d/part_%d/file_%d_test.go", i%50, i/50%20, i))
	}
	dir := project(b, names...)
	write(b, filepath.Join(dir, ".gitignore"), "*.log\nbuild/\n/dist\n*.o\nnode_modules/\n")
	age(b, dir)
	return dir
}

func BenchmarkFirstReadingOf50000Files(b *testing.B) {
	dir := large(b)
	for b.Loop() {
		f := NewFiles(dir)
		f.Find(b.Context(), "x", 1)
		f.Close()
	}
}

func BenchmarkRefreshOf50000Files(b *testing.B) {
	tree := &tree{dir: large(b)}
	tree.refresh(b.Context())
	for b.Loop() {
		if _, changed := tree.refresh(b.Context()); changed {
			b.Fatal("it has changed")
		}
	}
}

func BenchmarkKeyIn50000Files(b *testing.B) {
	c := newCompleter(b, large(b))
	c.Complete(b.Context(), "@x", 2)
	words := []string{"@m", "@mo", "@mop", "@mopf12", "@mopf", "@file_4999"}
	for i := 0; b.Loop(); i++ {
		word := words[i%len(words)]
		if r := c.Complete(b.Context(), word, len(word)); len(r.Items) == 0 {
			b.Fatalf("%s finds nothing", word)
		}
	}
}
