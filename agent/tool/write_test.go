package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestWriteMakesParentsAndReportsBytes(t *testing.T) {
	b := newHarness(t, Options{})
	r := b.run("write", args{"path": "a/b/c.txt", "content": "héllo\n"})
	equal(t, b.content("a/b/c.txt"), "héllo\n")
	equal(t, textOf(r), "Created a/b/c.txt: 7 bytes, 1 line")
	equal(t, string(r.Details), `{"bytes":7}`)
	equal(t, b.text("write", args{"path": "a/b/c.txt", "content": ""}), "Replaced a/b/c.txt: 0 bytes, 0 lines")
	equal(t, b.content("a/b/c.txt"), "")
}

func TestWriteKeepsModeAndSymlink(t *testing.T) {
	b := newHarness(t, Options{})
	target := b.file("bin/tool.sh", "old")
	if err := os.Chmod(target, 0o750); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(b.dir, "link")
	if err := os.Symlink("bin/tool.sh", link); err != nil {
		t.Fatal(err)
	}
	b.run("write", args{"path": "link", "content": "new"})
	if got, err := os.Readlink(link); err != nil || got != "bin/tool.sh" {
		t.Errorf("the link is now %q, %v", got, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, b.content("bin/tool.sh"), "new")
	equal(t, info.Mode().String(), "-rwxr-x---")

	if err := os.Symlink("bin/later", filepath.Join(b.dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	b.run("write", args{"path": "dangling", "content": "made"})
	equal(t, b.content("bin/later"), "made")
}

func TestWriteReplacesAtOnce(t *testing.T) {
	b := newHarness(t, Options{})
	path := b.file("a.txt", "old content")
	f, err := os.Open(path) // who has the old file open keeps it whole
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b.run("write", args{"path": "a.txt", "content": "new"})
	old := make([]byte, 20)
	n, _ := f.Read(old)
	equal(t, string(old[:n]), "old content")
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestWriteRefuses(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("dir/x", "")
	b.refused("write", args{"path": "dir", "content": ""}, "it is a directory")
	b.refused("write", args{"path": "new/", "content": ""}, "ends in a slash")
	b.refused("write", args{"path": "dir/x/y", "content": ""}, "not a directory")
	if os.Getuid() > 0 {
		path := b.file("readonly", "old")
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
		b.refused("write", args{"path": "readonly", "content": "new"}, "permission denied")
	}
}

func TestParallelEditsOfAFileAreAllKept(t *testing.T) {
	b := newHarness(t, Options{})
	const n = 40
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %02d old", i))
	}
	b.file("a.txt", strings.Join(lines, "\n"))
	if err := os.Symlink("a.txt", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			path := []string{"a.txt", "link"}[i%2]
			if _, err := b.try("edit", args{"path": path, "oldText": fmt.Sprintf("%02d old", i), "newText": fmt.Sprintf("%02d new", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	equal(t, b.content("a.txt"), strings.ReplaceAll(strings.Join(lines, "\n"), "old", "new"))
}
