package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/internal/process"
)

// editor is a front end with files of its own, by path. What it has not got it refuses; what it
// is to write it saves.
type editor struct {
	mu    sync.Mutex
	texts map[string]string
	asked []string
	err   error
	save  func(path, text string) error // nil: as it is
}

func (e *editor) read(_ context.Context, path string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, "read "+filepath.Base(path))
	text, ok := e.texts[path]
	if e.err == nil && !ok {
		return "", errors.New("no such buffer")
	}
	return text, e.err
}

func (e *editor) write(_ context.Context, path, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, "write "+filepath.Base(path))
	if e.err != nil {
		return e.err
	}
	e.texts[path] = text
	if e.save != nil {
		return e.save(path, text)
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// newEditorHarness is a harness with an editor that reads or writes or both.
func newEditorHarness(t *testing.T, o Options, reads, writes bool) (*harness, *editor) {
	t.Helper()
	e := &editor{texts: map[string]string{}}
	if reads {
		o.Files.Read = e.read
	}
	if writes {
		o.Files.Write = e.write
	}
	return newHarness(t, o), e
}

func TestTextGoesThroughAnEditorThatHasIt(t *testing.T) {
	b, e := newEditorHarness(t, Options{}, true, true)
	path := b.file("a", "saved\n")
	e.texts[path] = "\uFEFFone\r\nunsaved\r\n"
	equal(t, b.text("read", args{"path": "a"}), "one\r\nunsaved\r\n")
	r := b.run("edit", args{"path": "a", "oldText": "unsaved", "newText": "edited"})
	equal(t, e.texts[path], "\uFEFFone\r\nedited\r\n")
	if strings.Contains(textOf(r), "had changed") {
		t.Errorf("edit says %q", textOf(r))
	}
	equal(t, textOf(b.run("write", args{"path": "a", "content": "mine"})), "Replaced a: 4 bytes, 1 line")
	equal(t, e.texts[path], "mine")
	equal(t, textOf(b.run("write", args{"path": "new/b", "content": "b\n"})), "Created new/b: 2 bytes, 1 line")
	equal(t, e.texts[filepath.Join(b.dir, "new", "b")], "b\n")
	equal(t, b.content("a"), "mine")
	equal(t, b.content("new/b"), "b\n")
}

// An editor that loses or changes the ends of lines does no harm; one that does anything else
// fails the call.
func TestWhatAnEditorHasWrittenIsCompared(t *testing.T) {
	const crlf = "one\r\ntwo\r\n"
	lf := func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
	for _, c := range []struct {
		name, file, held, wrote string // "": no file
		saved                   func(text string) string
		disk, note, fails       string
	}{
		{"as it is", crlf, crlf, "one\r\n2\r\n", nil, "one\r\n2\r\n", "", ""},
		{"it knows LF alone", crlf, lf(crlf), "one\r\n2\r\n", lf, "one\r\n2\r\n", "put right", ""},
		{"changes that are not saved, in LF alone", crlf, "zero\none\ntwo\n", "zero\r\none\r\n2\r\n", nil, "zero\r\none\r\n2\r\n", "", ""},
		{"no newline at the end", "one\ntwo\n", "one\ntwo", "one\n2\n", func(text string) string { return strings.TrimRight(text, "\n") }, "one\n2\n", "put right", ""},
		{"one more row", "one\ntwo", "one\ntwo\n", "one\n2", func(text string) string { return text + "\n\n" }, "one\n2", "put right", ""},
		{"formatted", "one\ntwo\n", "one\ntwo\n", "one\n2\n", func(text string) string { return "\t" + text }, "\tone\n2\n", "", "was to write 6 bytes, but the file on the disk has 7 bytes of another text"},
		{"not saved", "one\ntwo\n", "one\ntwo\n", "one\n2\n", func(string) string { return "one\ntwo\n" }, "one\ntwo\n", "", "was to write 6 bytes, but the file on the disk has 8 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, e := newEditorHarness(t, Options{}, true, true)
			path := b.file("a", c.file)
			e.texts[path] = c.held
			var sent string
			e.save = func(path, text string) error {
				if sent = text; c.saved != nil {
					text = c.saved(text)
				}
				return os.WriteFile(path, []byte(text), 0o644)
			}
			edit := args{"path": "a", "oldText": "two", "newText": "2"}
			if c.fails != "" {
				b.refused("edit", edit, c.fails)
			} else if text := b.text("edit", edit); c.note == "" && strings.Contains(text, "[") || !strings.Contains(text, c.note) {
				t.Error(text)
			}
			equal(t, b.content("a"), c.disk)
			equal(t, sent, c.wrote)
		})
	}
	b, e := newEditorHarness(t, Options{}, true, true)
	e.save = func(string, string) error { return nil }
	b.refused("write", args{"path": "new", "content": "x"}, "the disk has no such file")
}

func TestABufferWithoutAFileIsRead(t *testing.T) {
	b, e := newEditorHarness(t, Options{}, true, true)
	e.texts[filepath.Join(b.dir, "new")] = "not saved"
	e.texts[filepath.Join(b.dir, "empty")] = ""
	equal(t, b.text("read", args{"path": "new"}), "not saved")
	b.refused("read", args{"path": "empty"}, "does not exist")
	b.refused("read", args{"path": "none"}, "does not exist")
	e.texts[filepath.Join(b.dir, "new")] = "typed meanwhile"
	b.refused("write", args{"path": "new", "content": "mine"}, "it has changed since")
	equal(t, textOf(b.run("write", args{"path": "empty", "content": "mine"})), "Created empty: 4 bytes, 1 line")
}

func TestWhatIsNoTextBelowTheWorkingDirectoryIsTheDisks(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x02"
	outside := filepath.Join(t.TempDir(), "out")
	os.WriteFile(outside, []byte("outside"), 0o644)
	own := filepath.Join(t.TempDir(), "work")
	b, e := newEditorHarness(t, Options{Cwd: own, Files: Files{Except: []string{filepath.Join(own, "agent")}}}, true, true)
	b.file("image", png)
	b.file("program", "\x7FELF")
	b.file("agent/skill", "skill")
	os.Symlink(outside, filepath.Join(own, "link"))
	if r := b.run("read", args{"path": "image"}); len(r.Content) != 2 {
		t.Errorf("%+v", r)
	}
	b.refused("read", args{"path": "program"}, "binary file")
	equal(t, b.text("read", args{"path": outside}), "outside")
	equal(t, b.text("read", args{"path": "link"}), "outside")
	equal(t, b.text("read", args{"path": "agent/skill"}), "skill")
	b.run("write", args{"path": "link", "content": "written"})
	b.run("edit", args{"path": "agent/skill", "oldText": "skill", "newText": "craft"})
	equal(t, b.content("link"), "written")
	equal(t, b.content("agent/skill"), "craft")
	if len(e.asked) > 0 {
		t.Errorf("the editor was asked to %q", e.asked)
	}
}

func TestAnEditorIsNotAskedAboutWhatIsRefused(t *testing.T) {
	dir := t.TempDir()
	b, e := newEditorHarness(t, Options{Cwd: dir, Confine: true, Protect: []string{filepath.Join(dir, "trust")}}, true, true)
	b.file("trust/store", "x")
	os.Mkdir(filepath.Join(dir, "d"), 0o755)
	b.refused("write", args{"path": "trust/store", "content": "y"}, "decides which hooks may run")
	b.refused("write", args{"path": "trust/new", "content": "y"}, "decides which hooks may run")
	b.refused("edit", args{"path": "trust/store", "oldText": "x", "newText": "y"}, "decides which hooks may run")
	b.refused("write", args{"path": "../x", "content": "y"}, "confined")
	b.refused("read", args{"path": "../x"}, "confined")
	b.refused("write", args{"path": "d", "content": "y"}, "a directory")
	if len(e.asked) > 0 {
		t.Errorf("the editor was asked to %q", e.asked)
	}
}

func TestAFailingEditorFailsTheCallAndSparesTheDisk(t *testing.T) {
	b, e := newEditorHarness(t, Options{}, true, true)
	b.file("a", "saved")
	e.err = errors.New("the buffer is locked")
	b.refused("read", args{"path": "a"}, "read a:", "the client could not read it", "the buffer is locked")
	b.refused("edit", args{"path": "a", "oldText": "saved", "newText": "x"}, "the buffer is locked")
	b.refused("write", args{"path": "a", "content": "x"}, "the buffer is locked")
	b.refused("write", args{"path": "new", "content": "x"}, "the client could not write it", "the buffer is locked", "nothing was written to the disk")
	equal(t, b.content("a"), "saved")
	if _, err := os.Stat(filepath.Join(b.dir, "new")); err == nil {
		t.Error("the disk was written")
	}
}

func TestAnEditorWithOneOfTheTwoDoesOnlyThat(t *testing.T) {
	t.Run("read", func(t *testing.T) {
		b, e := newEditorHarness(t, Options{}, true, false)
		path := b.file("a", "saved")
		e.texts[path] = "unsaved"
		equal(t, b.text("read", args{"path": "a"}), "unsaved")
		b.refused("edit", args{"path": "a", "oldText": "unsaved", "newText": "x"}, "edit a:")
		b.run("write", args{"path": "a", "content": "written"})
		equal(t, b.content("a"), "written")
		equal(t, e.texts[path], "unsaved")
		equal(t, strings.Join(e.asked, " "), "read a read a")
	})
	t.Run("write", func(t *testing.T) {
		b, e := newEditorHarness(t, Options{}, false, true)
		path := b.file("a", "saved")
		equal(t, b.text("read", args{"path": "a"}), "saved")
		b.run("edit", args{"path": "a", "oldText": "saved", "newText": "edited"})
		equal(t, b.content("a"), "edited")
		b.run("write", args{"path": "a", "content": "written"})
		equal(t, b.content("a"), "written")
		equal(t, e.texts[path], "written")
		equal(t, strings.Join(e.asked, " "), "write a")
	})
}

func TestWriteReplacesNoTextThatChangedInTheEditor(t *testing.T) {
	for name, c := range map[string]struct {
		before  func(b *harness)
		now     string
		refused bool
	}{
		"never read":      {func(*harness) {}, "theirs", false},
		"read":            {func(b *harness) { b.run("read", args{"path": "a"}) }, "1\n2\n", false},
		"read, changed":   {func(b *harness) { b.run("read", args{"path": "a"}) }, "1\n3\n", true},
		"read in part":    {func(b *harness) { b.run("read", args{"path": "a", "limit": 1}) }, "1\n3\n", true},
		"edited":          {func(b *harness) { b.run("edit", args{"path": "a", "oldText": "2", "newText": "3"}) }, "1\n3\n", false},
		"edited, changed": {func(b *harness) { b.run("edit", args{"path": "a", "oldText": "2", "newText": "3"}) }, "1\n2\n", true},
		"written":         {func(b *harness) { b.run("write", args{"path": "a", "content": "w"}) }, "v", true},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := newEditorHarness(t, Options{}, true, true)
			path := b.file("a", "1\n2\n")
			e.texts[path] = "1\n2\n"
			c.before(b)
			e.texts[path] = c.now
			if c.refused {
				b.refused("write", args{"path": "a", "content": "mine"}, "it has changed since you last read", "nothing was written")
				equal(t, e.texts[path], c.now)
				b.run("read", args{"path": "a"})
			}
			b.run("write", args{"path": "a", "content": "mine"})
			equal(t, e.texts[path], "mine")
		})
	}
}

func TestEditSaysThatTheTextInTheEditorHadChanged(t *testing.T) {
	b, e := newEditorHarness(t, Options{}, true, true)
	path := b.file("a", "1\n2\n")
	e.texts[path] = "1\n2\n"
	b.run("read", args{"path": "a"})
	e.texts[path] = "0\n1\n2\n"
	if text := b.text("edit", args{"path": "a", "oldText": "2", "newText": "3"}); !strings.Contains(text, "the file had changed") {
		t.Error(text)
	}
}

// An editor knows files by the working directory as it spelled it.
func TestAnEditorIsAskedForPathsAsItSpelledThem(t *testing.T) {
	real, dir := t.TempDir(), t.TempDir()
	cwd := filepath.Join(dir, "link")
	if err := os.Symlink(real, cwd); err != nil {
		t.Fatal(err)
	}
	b, e := newEditorHarness(t, Options{Cwd: cwd}, true, true)
	b.file("a", "saved")
	e.texts[filepath.Join(cwd, "a")] = "unsaved"
	for _, path := range []string{"a", filepath.Join(real, "a"), filepath.Join(cwd, "a")} {
		equal(t, b.text("read", args{"path": path}), "unsaved")
	}
}

func TestResultsNameTheFileAndWhatChanged(t *testing.T) {
	for _, through := range []bool{false, true} {
		b, e := newEditorHarness(t, Options{}, through, through)
		path := b.file("a", "1\n2\n3\n")
		e.texts[path] = "1\n2\n3\n"
		want := func(r agent.Result, path string, line int) *agent.FileChange {
			t.Helper()
			if r.Touched == nil || r.Touched.Path != path || r.Touched.Line != line {
				t.Errorf("touched %+v, want %s:%d", r.Touched, path, line)
				return nil
			}
			return r.Touched.Change
		}
		if c := want(b.run("read", args{"path": "a", "offset": 2}), path, 2); c != nil {
			t.Errorf("read changed %+v", c)
		}
		if c := want(b.run("edit", args{"path": "a", "oldText": "2", "newText": "two"}), path, 2); c.Created || *c.Before != "1\n2\n3\n" || c.After != "1\ntwo\n3\n" {
			t.Errorf("%+v", c)
		}
		if c := want(b.run("write", args{"path": "a", "content": "w"}), path, 0); c.Created || *c.Before != "1\ntwo\n3\n" || c.After != "w" {
			t.Errorf("%+v", c)
		}
		if c := want(b.run("write", args{"path": "new", "content": "n"}), filepath.Join(b.dir, "new"), 0); !c.Created || c.Before != nil || c.After != "n" {
			t.Errorf("%+v", c)
		}
	}
	b := newHarness(t, Options{})
	b.file("big", strings.Repeat("x", maxShown+1))
	b.file("binary", "\x00")
	for _, name := range []string{"big", "binary"} {
		if c := b.run("write", args{"path": name, "content": "w"}).Touched.Change; c.Created || c.Before != nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestAbsolutePathsOfArguments(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	for argument, want := range map[string]string{"a": "/work/a", "./a/../b": "/work/b", "/x": "/x", "~/x": "/home/someone/x", "@a": "/work/a"} {
		if got, err := Absolute("/work", argument); err != nil || got != want {
			t.Errorf("%s is %s, %v", argument, got, err)
		}
	}
	for _, argument := range []string{"", "a\x00b"} {
		if got, err := Absolute("/work", argument); err == nil {
			t.Errorf("%q is %s", argument, got)
		}
	}
}

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

func TestFileToolsDoNotTouchWhatIsProtected(t *testing.T) {
	dir := t.TempDir()
	b := newHarness(t, Options{Protect: []string{filepath.Join(dir, "store.json"), filepath.Join(dir, "store"), filepath.Join(dir, "missing")}})
	write := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("store.json")
	write("store/kept/x")
	write("store.json.mine")
	for _, link := range []struct{ name, to string }{{"link", "store.json"}, {"dirlink", "store"}} {
		if err := os.Symlink(filepath.Join(dir, link.to), filepath.Join(b.dir, link.name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "store.json"), filepath.Join(b.dir, "hard")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "store.json"), filepath.Join(dir, "store", "new"), filepath.Join(dir, "missing"),
		filepath.Join(dir, "x", "..", "store.json"), "link", "dirlink/kept/x", "hard"} {
		b.refused("write", args{"path": path, "content": "new"}, "decides which hooks may run")
	}
	for _, path := range []string{filepath.Join(dir, "store.json"), filepath.Join(dir, "store", "kept", "x"), "link", "hard"} {
		b.refused("edit", args{"path": path, "oldText": "old", "newText": "new"}, "decides which hooks may run")
	}
	b.text("write", args{"path": filepath.Join(dir, "store.json.mine"), "content": "new"})
	if text, err := os.ReadFile(filepath.Join(dir, "store.json")); err != nil || string(text) != "old" {
		t.Errorf("the store is %q, %v", text, err)
	}
}

func TestTheGroupOfACommandIsKnownUntilItsLastProcessEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process groups")
	}
	var mu sync.Mutex
	var groups []int
	b := newHarness(t, Options{Starting: func() func(int) {
		return func(group int) {
			mu.Lock()
			defer mu.Unlock()
			groups = append(groups, group)
		}
	}})
	b.text("bash", args{"command": "mkfifo go; read x < go > log 2>&1 &"})
	b.text("bash", args{"command": "true"})
	if len(groups) != 2 || !process.Alive(groups[0]) || process.Alive(groups[1]) {
		t.Fatalf("groups are %v", groups)
	}
	b.text("bash", args{"command": "echo > go"})
	if process.Alive(0) || process.Alive(1) || process.Alive(-1) {
		t.Error("what is no group is alive")
	}
}

// TestACommandIsAnnouncedBeforeItRuns holds that nothing of a command runs before Starting was
// called, and that what that returns is told of each command that was announced.
func TestACommandIsAnnouncedBeforeItRuns(t *testing.T) {
	t.Parallel()
	var told []bool
	o := Options{Cwd: t.TempDir()}
	o.Starting = func() func(int) {
		if err := os.WriteFile(filepath.Join(o.Cwd, "announced"), []byte("before"), 0o600); err != nil {
			t.Error(err)
		}
		return func(group int) { told = append(told, group > 1) }
	}
	if got, err := RunShell(t.Context(), o, "cat announced", nil); err != nil || got.Output != "before" {
		t.Errorf("%+v, %v", got, err)
	}
	o.Wrap = func(context.Context, string) ([]string, error) { return []string{"/nowhere/sh"}, nil }
	if _, err := RunShell(t.Context(), o, "true", nil); err == nil {
		t.Error("there is no such shell")
	}
	if !slices.Equal(told, []bool{true, false}) {
		t.Errorf("told of groups: %v", told)
	}
}

func TestNoFileToolTouchesLogins(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "logins.json")
	b := newHarness(t, Options{Secret: []string{secret}})
	b.refused("write", args{"path": secret, "content": "new"}, "has logins")
	if err := os.WriteFile(secret, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.refused("read", args{"path": secret}, "has logins")
	b.refused("edit", args{"path": secret, "oldText": "token", "newText": "y"}, "has logins")
	b.refused("grep", args{"path": secret, "pattern": "t"}, "has logins")
	if err := os.WriteFile(filepath.Join(dir, "other"), []byte("a token too"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.text("grep", args{"path": dir, "pattern": "token"}); strings.Contains(got, "logins.json") || !strings.Contains(got, "a token too") {
		t.Errorf("a search below its directory gives %q", got)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Skip(err)
	}
	b.refused("read", args{"path": link}, "has logins")
}
