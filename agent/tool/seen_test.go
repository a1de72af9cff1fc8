package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWriteReplacesNoFileThatChangedMeanwhile(t *testing.T) {
	yesterday := time.Now().Add(-24 * time.Hour)
	for name, c := range map[string]struct {
		before  func(b *harness) // what the model does
		between func(b *harness) // what somebody else does
		refused string
	}{
		"never read":             {func(*harness) {}, func(b *harness) { b.file("a", "theirs") }, ""},
		"read":                   {func(b *harness) { b.run("read", args{"path": "a"}) }, func(*harness) {}, ""},
		"read, changed":          {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) { b.file("a", "theirs") }, "it has changed since you last read"},
		"read in part, changed":  {func(b *harness) { b.run("read", args{"path": "a", "limit": 1}) }, func(b *harness) { b.file("a", "1\n2\n4\n") }, "it has changed"},
		"read, touched":          {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) { os.Chtimes(filepath.Join(b.dir, "a"), yesterday, yesterday) }, ""},
		"read, gone":             {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) { os.Remove(filepath.Join(b.dir, "a")) }, ""},
		"read, changed and back": {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) { b.file("a", "theirs"); b.file("a", "1\n2\n3\n") }, ""},
		"read, the same size": {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) {
			os.Chtimes(b.file("a", "1\n2\n4\n"), yesterday, yesterday)
		}, "it has changed"},
		"written, the same size": {func(b *harness) { b.run("write", args{"path": "a", "content": "123"}) }, func(b *harness) { b.file("a", "124") }, "it has changed"},
		"written":                {func(b *harness) { b.run("write", args{"path": "a", "content": "123"}) }, func(*harness) {}, ""},
		"edited, changed":        {func(b *harness) { b.run("edit", args{"path": "a", "oldText": "1", "newText": "0"}) }, func(b *harness) { b.file("a", "theirs") }, "it has changed"},
		"edited":                 {func(b *harness) { b.run("edit", args{"path": "a", "oldText": "1", "newText": "0"}) }, func(*harness) {}, ""},
		"read by a link":         {func(b *harness) { b.run("read", args{"path": "link"}) }, func(b *harness) { b.file("a", "theirs") }, "it has changed"},
		"changed by bash":        {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) { b.run("bash", args{"command": "echo more >> a"}) }, "it has changed"},
		"refused, read again": {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) {
			b.file("a", "theirs")
			b.refused("write", args{"path": "a", "content": "mine"}, "Use read to see what is there now")
			b.run("read", args{"path": "a"})
		}, ""},
		"refused, again": {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) {
			b.file("a", "theirs")
			b.refused("write", args{"path": "a", "content": "mine"}, "it has changed")
		}, "it has changed"},
		"a read that failed": {func(b *harness) { b.run("read", args{"path": "a"}) }, func(b *harness) {
			b.file("a", "\x7FELF")
			b.refused("read", args{"path": "a"}, "binary")
		}, "it has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, Options{})
			b.file("a", "1\n2\n3\n")
			if err := os.Symlink("a", filepath.Join(b.dir, "link")); err != nil {
				t.Fatal(err)
			}
			c.before(b)
			c.between(b)
			if c.refused == "" {
				b.run("write", args{"path": "a", "content": "mine"})
				equal(t, b.content("a"), "mine")
				return
			}
			theirs := b.content("a")
			b.refused("write", args{"path": "a", "content": "mine"}, c.refused, "nothing was written")
			equal(t, b.content("a"), theirs)
		})
	}
}

func TestWriteReplacesNoOtherFileThroughALinkThatMoved(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("a", "a")
	b.file("b", "b")
	link := filepath.Join(b.dir, "link")
	os.Symlink("a", link)
	b.run("read", args{"path": "link"})
	os.Remove(link)
	os.Symlink("b", link)
	b.refused("write", args{"path": "link", "content": "mine"}, "it leads to another file", "(b)")
	equal(t, b.content("b"), "b")
	b.run("read", args{"path": "link"})
	b.run("write", args{"path": "link", "content": "mine"})
	equal(t, b.content("b"), "mine")
}

func TestEditSaysThatTheFileChangedMeanwhile(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("a", "one\ntwo\n")
	edit := func(old, new string) bool {
		return strings.Contains(b.text("edit", args{"path": "a", "oldText": old, "newText": new}), "[the file had changed since you last read, wrote or edited it")
	}
	if edit("one", "1") {
		t.Error("it says so of a file that was never read")
	}
	if edit("two", "2") {
		t.Error("it says so though nobody changed it")
	}
	b.file("a", "1\n2\n3\n")
	if !edit("1", "one") {
		t.Error("it does not say so")
	}
	if edit("2", "two") {
		t.Error("it says so twice")
	}
}

func TestWhatOneSessionSawIsNoMatterOfAnother(t *testing.T) {
	session := "1"
	b := newHarness(t, Options{Session: func() string { return session }})
	b.file("a", "a")
	b.run("read", args{"path": "a"})
	b.file("a", "theirs")
	session = "2"
	b.run("write", args{"path": "a", "content": "mine"})
	session = "1"
	b.refused("write", args{"path": "a", "content": "again"}, "it has changed")
}
