//go:build unix

package mcp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whoever harms a file of the cache gets neither what it says believed nor a tool that has changed
// taken for one that was always so.
func TestAFileOfTheCacheThatIsNotWhatWasWrittenCountsForNothing(t *testing.T) {
	harms := map[string]func(path string) error{
		"another description": func(path string) error {
			b, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, []byte(strings.ReplaceAll(string(b), "Says a text back", "Says what it likes")), 0o600))
		},
		"half":     func(path string) error { return os.Truncate(path, 100) },
		"gone":     os.Remove,
		"too long": func(path string) error { return os.Truncate(path, maxCached+1) },
		"a pipe":   func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a link": func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink(filepath.Join(filepath.Dir(path), indexName), path))
		},
	}
	for name, harm := range harms {
		t.Run(name, func(t *testing.T) {
			l := one(t, "good")
			if got := l.ask("echo", `{"text":"a"}`); got != "a" {
				t.Fatal(got)
			}
			l.Close()
			path := l.cache.path(l.servers()[0].hash)
			if err := harm(path); err != nil {
				t.Fatal(err)
			}
			again := open(t, Options{Entries: []Entry{entry("s", "good")}, Dir: l.o.Dir, OnChange: BlockChange})
			if tools := again.Known("s"); tools != nil {
				t.Errorf("it is known that it has %d tools", len(tools))
			}
			if got := again.ask("echo", `{"text":"a"}`); !strings.Contains(got, "how it was listed first is lost") {
				t.Errorf("got %q", got)
			}
			again.Close()
			next := open(t, Options{Entries: []Entry{entry("s", "good")}, Dir: l.o.Dir, OnChange: BlockChange})
			if got := next.ask("echo", `{"text":"a"}`); !strings.Contains(got, "is lost") {
				t.Errorf("another start: %q", got)
			}
			if err := next.Refresh(t.Context(), "s"); err != nil && name != "a folder" {
				t.Error(err)
			}
			if got := next.ask("echo", `{"text":"a"}`); got != "a" {
				t.Errorf("accepted: %q", got)
			}
		})
	}
}

func TestTheCacheIsWrittenOnlyIfSomethingIsNew(t *testing.T) {
	l := one(t, "good")
	_ = l.ask("echo", `{"text":"a"}`)
	l.Close()
	changes := 0
	o := Options{Entries: []Entry{entry("s", "good")}, Dir: l.o.Dir, ChangeIndex: func(string, func([]byte) ([]byte, error)) error { changes++; return nil }}
	again := open(t, o)
	if got := again.ask("echo", `{"text":"a"}`); got != "a" || changes != 0 {
		t.Errorf("%q, written %d times", got, changes)
	}
}

func TestWhatCannotBeKeptIsNotLost(t *testing.T) {
	busy := errors.New("others are at work")
	o := Options{Entries: []Entry{entry("s", "good")}, Dir: t.TempDir(), OnChange: BlockChange,
		ReadIndex:   func(string) []byte { return nil },
		ChangeIndex: func(string, func([]byte) ([]byte, error)) error { return busy }}
	l := open(t, o)
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Errorf("%q", got)
	}
	if st := l.List()[0]; !st.Known || st.Tools == 0 {
		t.Errorf("%+v", st)
	}
	if err := l.Refresh(t.Context(), "s"); !errors.Is(err, busy) {
		t.Errorf("that it was accepted in this session only is not told: %v", err)
	}
	l.Close()
	again := open(t, o)
	if got := again.ask("echo", `{"text":"a"}`); got != "a" {
		t.Errorf("another session: %q", got)
	}
}

// What is dropped from the index is gone whole, and no session takes it for lost.
func TestTheFilesOfADroppedRowAreRemoved(t *testing.T) {
	dir := t.TempDir()
	is := func() *definitions { return &definitions{Tools: []Tool{{Tool: "a", Hash: "1"}}} }
	c, oldest, newest := &cache{dir: dir}, strings.Repeat("00", 32), strings.Repeat("ff", 32)
	if err := c.keep(oldest, is()); err != nil {
		t.Fatal(err)
	}
	err := c.change(func(old []byte) ([]byte, error) {
		rows := parseIndex(old)
		r := rows[oldest]
		for i := range maxRows - 1 {
			rows[fmt.Sprintf("%064x", i+1)] = r
		}
		r.Seen -= 10
		rows[oldest] = r
		return encode(cacheIndex{cacheFormat, rows})
	})
	if err != nil {
		t.Fatal(err)
	}
	other := &cache{dir: dir}
	if d, _ := other.load(oldest); d == nil { // a session that began before
		t.Fatal("nothing is kept")
	}
	if err := (&cache{dir: dir}).keep(newest, is()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{c.path(oldest), c.wordsPath(oldest)} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	if d, isLost := other.load(oldest); d != nil || isLost {
		t.Errorf("dropped: %v, lost %v", d, isLost)
	}
	if d, isLost := other.load(newest); d != nil || isLost { // of which it had no row
		t.Errorf("new: %v, lost %v", d, isLost)
	}
	if d, _ := (&cache{dir: dir}).load(newest); d == nil {
		t.Error("the new one is not kept")
	}
}
