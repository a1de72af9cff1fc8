package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// changesTold is what a journal told about its file.
type changesTold struct {
	written int
	foreign string
	newFile []byte // what a file of an older version becomes
}

func (l *changesTold) addWritten(lines int)    { l.written += lines }
func (l *changesTold) addForeign(lines []byte) { l.foreign += string(lines) }
func (l *changesTold) rewrite(replace func([]byte, int) error) error {
	return replace(l.newFile, 1)
}

func newJournal(t *testing.T) (*journal, *changesTold) {
	t.Helper()
	j, l := &journal{store: newStore(filepath.Join(t.TempDir(), "s.jsonl"), "", seams{}), problems: &problems{}}, &changesTold{}
	j.changes = l
	t.Cleanup(func() { j.store.close() })
	return j, l
}

func TestAJournalWritesWhatIsPendingOnceTheFileIsWanted(t *testing.T) {
	j, l := newJournal(t)
	j.add([]byte("one"))
	if err := j.save(true); err != nil || j.store.f != nil {
		t.Fatalf("there is a file already, %v", err)
	}
	j.wanted = true
	j.add([]byte("two"))
	if err := j.save(false); err != nil || contents(t, j.store.path) != "one\ntwo\n" || l.written != 2 || len(j.pending) != 0 {
		t.Errorf("%q with %d lines, %v", contents(t, j.store.path), l.written, err)
	}
}

func TestAJournalReadsWhatAnotherProgramWrote(t *testing.T) {
	j, l := newJournal(t)
	j.wanted = true
	j.add([]byte("one"))
	appendTo := func(text string) {
		f, err := os.OpenFile(j.store.path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprint(f, text)
	}
	if err := j.save(false); err != nil {
		t.Fatal(err)
	}
	appendTo("foreign\nhal")
	j.readForeign()
	if l.foreign != "foreign\n" || string(j.partial) != "hal" {
		t.Errorf("foreign %q, partial %q", l.foreign, j.partial)
	}
	appendTo("f\n")
	j.add([]byte("two"))
	if err := j.save(false); err != nil || l.foreign != "foreign\nhalf\n" || l.written != 2 {
		t.Errorf("foreign %q, %d written, %v", l.foreign, l.written, err)
	}
	if got := contents(t, j.store.path); got != "one\nforeign\nhalf\ntwo\n" {
		t.Errorf("the file is %q", got)
	}
}

func TestAJournalTriesAgainWhatCouldNotBeWritten(t *testing.T) {
	j, l := newJournal(t)
	j.wanted = true
	j.store.testOnlyWrite = func(f *os.File, b []byte) (int, error) {
		n, _ := f.Write(b[:5])
		return n, io.ErrShortWrite
	}
	j.add([]byte("one"))
	j.add([]byte("two"))
	var unsaved *SaveError
	if err := j.save(false); !errors.As(err, &unsaved) || j.err() == nil || l.written != 1 {
		t.Fatalf("%v, %d written", err, l.written)
	}
	j.store.testOnlyWrite = nil
	if err := j.save(false); err != nil || j.err() != nil || l.written != 2 || contents(t, j.store.path) != "one\ntwo\n" {
		t.Errorf("%q, %v", contents(t, j.store.path), err)
	}
}

func TestAJournalPutsANewFileInThePlaceOfAnOutdatedOne(t *testing.T) {
	j, l := newJournal(t)
	j.wanted = true
	j.add([]byte("old"))
	if err := j.save(true); err != nil {
		t.Fatal(err)
	}
	j.outdated, l.newFile = true, []byte("new\nmore\n")
	j.add([]byte("more"))
	if err := j.save(true); err != nil || j.outdated || len(j.pending) != 0 {
		t.Errorf("%v", err)
	}
	if now, was := contents(t, j.store.path), contents(t, j.store.path+".v1.bak"); now != "new\nmore\n" || was != "old\n" {
		t.Errorf("the file is %q, beside it %q", now, was)
	}
}
