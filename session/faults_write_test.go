package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pi/session/message"
)

var writeErrors = []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EFBIG, syscall.EINTR, nil}

// A broken write leaves some of its bytes in the file and says, truly or not,
// how many.
type brokenWrite struct {
	at    int // which write of the session, from 0
	parts int // how many sixths of it arrive
	lies  bool
	err   error
}

func (w *brokenWrite) String() string {
	return fmt.Sprintf("write %d leaves %d/6, says so: %v, and fails with %v", w.at, w.parts, !w.lies, w.err)
}

func (w *brokenWrite) seams() seams {
	writes := -1
	return seams{testOnlyWrite: func(f *os.File, b []byte) (int, error) {
		if writes++; writes != w.at {
			return f.Write(b)
		}
		n, err := f.Write(b[:len(b)*w.parts/6])
		if err != nil {
			return n, err
		}
		if w.lies {
			n = 0
		}
		return n, w.err
	}}
}

func TestFaultAWriteThatFailsLosesNothingOnceTheNextSucceeds(t *testing.T) {
	for _, err := range writeErrors {
		for at := range 6 {
			for parts := range 7 {
				for _, lies := range []bool{false, true} {
					w := &brokenWrite{at, parts, lies, err}
					if parts == 6 && err == nil && !lies {
						continue // that is no failure
					}
					survives(t, w)
					if t.Failed() {
						t.Fatal(w)
					}
				}
			}
		}
	}
}

// survives appends seven entries with six writes.
func survives(t *testing.T, w *brokenWrite) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s := open(t, path, Options{Cwd: "/w", seams: w.seams()})
	for i := range 6 {
		var err error
		if i == 3 {
			_, err = s.AppendAll([]Draft{{TypeCustomMessage, CustomMessage{CustomType: "x", Content: []message.Block{message.TextBlock("3")}}}, {"own", nil}})
		} else {
			_, err = s.AppendMessage(user(fmt.Sprint(i)))
		}
		var unsaved *SaveError
		if failed := errors.As(err, &unsaved); failed != (i == w.at) || failed != (s.Unsaved() != nil) {
			t.Errorf("entry %d: %v, unsaved %v", i, err, s.Unsaved())
		}
	}
	want := treeOf(s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again := read(t, path)
	if got := treeOf(again); got != want {
		t.Errorf("in the file\n%s\nin memory\n%s", got, want)
	}
	if p := again.Problems(); p != nil {
		t.Errorf("a piece is left: %q", p)
	}
}

func TestFaultADiskThatStaysFullLeavesTheRestInMemory(t *testing.T) {
	for _, err := range writeErrors[:4] {
		for from := range 4 {
			path, writes := write(t, story("u1")...), 0
			s := open(t, path, Options{seams: seams{testOnlyWrite: func(f *os.File, b []byte) (int, error) {
				if writes++; writes > from {
					n, _ := f.Write(b[:40]) // less than a line
					return n, err
				}
				return f.Write(b)
			}}})
			for i := range 5 {
				s.AppendMessage(user(fmt.Sprint(i + 2)))
			}
			var unsaved *SaveError
			if got := gist(s.Context()); got != "1 2 3 4 5 6" || !errors.Is(s.Unsaved(), err) || !errors.As(s.Sync(), &unsaved) {
				t.Errorf("context %q, unsaved %v", got, s.Unsaved())
			}
			if err := s.Close(); !errors.As(err, &unsaved) {
				t.Errorf("closed with %v", err)
			}
			r := read(t, path)
			if got := len(r.Entries()); got != from+1 || r.Problems() != nil {
				t.Errorf("%v from write %d on: %d entries in the file\n%s", err, from, got, contents(t, path))
			}
			goesOn(t, path)
		}
	}
}

func TestFaultWhereNothingCanBeWrittenTheSessionIsInMemory(t *testing.T) {
	file := writeRaw(t, "a file\n")
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	dirs := []string{filepath.Join(file, "sessions")}
	if os.Getuid() != 0 {
		dirs = append(dirs, closed, filepath.Join(closed, "sessions"))
	}
	for _, dir := range dirs {
		s := New(Options{Dir: dir, Cwd: "/w", LockDir: filepath.Join(dir, "locks")})
		for i := range 3 {
			var unsaved *SaveError
			if e, err := s.AppendMessage(user(fmt.Sprint(i))); !errors.As(err, &unsaved) || e == nil || !strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), file) {
				t.Errorf("%v, %v", e, err)
			}
		}
		if gist(s.Context()) != "0 1 2" || s.Unsaved() == nil || s.Close() == nil {
			t.Error("it is not in memory, or not said to be only there")
		}
	}
}

func TestASessionThatCanOnlyBeReadSaysSo(t *testing.T) {
	path := write(t, story("u1")...)
	for _, cause := range []error{syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		err := unwritable(path, fmt.Errorf("open session: %w", &os.PathError{Op: "open", Path: path, Err: cause}))
		var only *UnwritableError
		if !errors.As(err, &only) || only.Path != path || !errors.Is(err, cause) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%v: %v", cause, err)
		}
	}
	for where, cause := range map[string]error{path: syscall.EMFILE, path + ".none": syscall.EACCES} {
		if err := unwritable(where, cause); err != cause {
			t.Errorf("%v of %s: %v", cause, where, err)
		}
	}
	if os.Getuid() == 0 {
		return // who may write anywhere
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	var only *UnwritableError
	if _, err := Open(path, Options{}); !errors.As(err, &only) {
		t.Errorf("a file without the permission to write: %v", err)
	}
}

func TestFaultASessionIsWrittenOnceItsFolderCanBe(t *testing.T) {
	file := writeRaw(t, "in the way\n")
	s := New(Options{Dir: file, Cwd: "/w"})
	if _, err := s.AppendMessage(user("1")); err == nil {
		t.Fatal("it was written below a file")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	say(t, s, "2")
	if got := gist(read(t, s.File()).Context()); got != "1 2" || s.Unsaved() != nil {
		t.Errorf("context %q, unsaved %v", got, s.Unsaved())
	}
	goesOnAfterClose(t, s)
}

func goesOnAfterClose(t *testing.T, s *Session) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	goesOn(t, s.File())
}

func TestFaultAFileThatIsTakenAwayIsNotWrittenElsewhere(t *testing.T) {
	type harm = func(t *testing.T, path string) error
	for name, c := range map[string]struct {
		harm harm
		want error
	}{
		"deleted":  {func(_ *testing.T, path string) error { return os.Remove(path) }, errGone},
		"moved":    {func(_ *testing.T, path string) error { return os.Rename(path, path+".moved") }, errGone},
		"folder":   {func(_ *testing.T, path string) error { return os.RemoveAll(filepath.Dir(path)) }, errGone},
		"replaced": {func(t *testing.T, path string) error { return os.Rename(write(t, story("u7 u8")...), path) }, errGone},
		"a folder": {func(_ *testing.T, path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, errGone},
		"emptied":  {func(_ *testing.T, path string) error { return os.Truncate(path, 0) }, errTruncated},
		"shorter":  {func(_ *testing.T, path string) error { return os.Truncate(path, int64(len(headerLine)+5)) }, errTruncated},
		"rewritten": {func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(strings.Join(story("u7 u8 u9 u10 u11 u12"), "\n")+"\n"), 0o600)
		}, errRewritten},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, story("u1")...)
			s := open(t, path, Options{})
			say(t, s, "2")
			if err := c.harm(t, path); err != nil {
				t.Fatal(err)
			}
			there, _ := os.ReadFile(path)
			for i := range 3 {
				var unsaved *SaveError
				if e, err := s.AppendMessage(user(fmt.Sprint(i + 3))); e == nil || !errors.As(err, &unsaved) || !errors.Is(err, c.want) {
					t.Fatalf("%v, %v", e, err)
				}
			}
			if got := gist(s.Context()); got != "1 2 3 4 5" {
				t.Errorf("context %q", got)
			}
			if now, _ := os.ReadFile(path); string(now) != string(there) {
				t.Errorf("what is there now was written to:\n%s", now)
			}
			if s.Close() == nil {
				t.Error("closed as if all were well")
			}
		})
	}
}

func TestFaultASyncThatFailedIsNeverMadeGood(t *testing.T) {
	for _, each := range []bool{false, true} {
		syncs := 0
		s := open(t, write(t, story("u1")...), Options{SyncEach: each, seams: seams{testOnlySync: func(f *os.File) error {
			if syncs++; syncs == 2 {
				return syscall.EIO
			}
			return f.Sync()
		}}})
		var errs []error
		for i := range 4 {
			_, err := s.AppendMessage(user(fmt.Sprint(i + 2)))
			if !each {
				err = errors.Join(err, s.Sync())
			}
			errs = append(errs, err)
		}
		for i, err := range errs {
			var unsaved *SaveError
			if failed := errors.As(err, &unsaved) && errors.Is(err, syscall.EIO); failed != (i >= 1) {
				t.Errorf("each %v, entry %d: %v", each, i, err)
			}
		}
		if !errors.Is(s.Unsaved(), syscall.EIO) || !errors.Is(s.Close(), syscall.EIO) {
			t.Error("the session is said to be saved")
		}
		if got := gist(read(t, s.File()).Context()); got != "1 2 3 4 5" {
			t.Errorf("context %q", got)
		}
	}
}

func TestWhatTheConversationStandsOnIsSynced(t *testing.T) {
	syncs := 0
	s := open(t, write(t, story("u1 a2")...), Options{seams: seams{testOnlySync: func(f *os.File) error { syncs++; return f.Sync() }}})
	for _, c := range []struct {
		name string
		want int
		act  func() error
	}{
		{"a message", 0, func() error { _, err := s.AppendMessage(user("3")); return err }},
		{"a move", 1, func() error { _, err := moveLeaf(s, "1"); return err }},
		{"a summary of a branch", 1, func() error {
			_, err := s.MoveTo("2", Draft{TypeBranchSummary, BranchSummary{FromID: "1", Summary: "s"}})
			return err
		}},
		{"a compaction", 1, func() error { _, err := s.Append(TypeCompaction, Compaction{Summary: "s"}); return err }},
		{"drafts", 0, func() error { _, err := s.AppendAll([]Draft{{"own", nil}, {"own", nil}}); return err }},
		{"drafts with a compaction", 1, func() error {
			_, err := s.AppendAll([]Draft{{TypeCompaction, Compaction{Summary: "s"}}, {"own", nil}})
			return err
		}},
		{"nothing", 0, s.Sync},
		{"a message and Sync", 1, func() error { return errors.Join(s.Sync(), errOf(s.AppendMessage(user("4"))), s.Sync()) }},
		{"a message and the end", 1, func() error { return errors.Join(errOf(s.AppendMessage(user("5"))), s.Close()) }},
	} {
		syncs = 0
		if err := c.act(); err != nil || syncs != c.want {
			t.Errorf("%s: %d syncs, want %d: %v", c.name, syncs, c.want, err)
		}
	}
	syncs = 0
	each := open(t, write(t, story("u1")...), Options{SyncEach: true, seams: seams{testOnlySync: func(f *os.File) error { syncs++; return f.Sync() }}})
	say(t, each, "2")
	say(t, each, "3")
	if syncs != 2 {
		t.Errorf("%d syncs of two entries", syncs)
	}
}

func errOf(_ *Entry, err error) error { return err }

func TestEachEntryIsOneWrite(t *testing.T) {
	var writes []string
	s := New(Options{Dir: t.TempDir(), Cwd: "/w", seams: seams{testOnlyWrite: func(f *os.File, b []byte) (int, error) {
		writes = append(writes, string(b))
		return f.Write(b)
	}}})
	s.Append("own", nil) // kept back
	for i := range 4 {
		say(t, s, strings.Repeat("long ", i*100_000))
	}
	if len(writes) != 4 || strings.Count(writes[0], "\n") != 3 {
		t.Fatalf("%d writes, the first of %d lines", len(writes), strings.Count(writes[0], "\n"))
	}
	for _, w := range writes[1:] {
		if strings.Count(w, "\n") != 1 || !strings.HasSuffix(w, "}\n") {
			t.Errorf("a write that is not one line: %.80q", w)
		}
	}
	goesOnAfterClose(t, s)
}

func TestFaultAMigrationThatFailsLeavesTheOriginalAndIsTriedAgain(t *testing.T) {
	for _, err := range writeErrors {
		for at := range 2 { // the backup, the new file
			path := write(t, versionOne...)
			original := contents(t, path)
			s := open(t, path, Options{seams: (&brokenWrite{at: at, parts: 3, err: err}).seams()})
			var unsaved *SaveError
			if _, failed := s.AppendMessage(user("6")); !errors.As(failed, &unsaved) || contents(t, path) != original {
				t.Errorf("%v in write %d: %v", err, at, failed)
			}
			say(t, s, "7")
			if got := gist(read(t, path).Context()); got != "sum 3 5 6 7" {
				t.Errorf("%v in write %d: context %q once there is space", err, at, got)
			}
			s.Close()
			files, _ := filepath.Glob(path + "*")
			if len(files) != 2 || !hasBackup(t, path, original) {
				t.Errorf("%v in write %d: %q", err, at, files)
			}
		}
	}
}

func TestTheFoldersAreSyncedOnceWhenTheFileIsMade(t *testing.T) {
	s := New(Options{Dir: filepath.Join(t.TempDir(), "a", "sessions"), Cwd: "/w"})
	say(t, s, "1")
	if got := len(s.journal.store.folders); got != 4 { // that of the file, and three in which one was made
		t.Errorf("%d folders wait for a sync: %q", got, s.journal.store.folders)
	}
	if err := s.Sync(); err != nil || len(s.journal.store.folders) != 0 {
		t.Errorf("%v, %q", err, s.journal.store.folders)
	}
	goesOnAfterClose(t, s)
}

func TestFaultTimeMayJump(t *testing.T) {
	jumps := []time.Time{
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), {}, time.Date(2026, 1, 2, 3, 4, 4, 0, time.UTC),
	}
	root, seen := t.TempDir(), map[string]bool{}
	for first := range jumps {
		i := first - 1
		s := New(Options{Dir: root, Cwd: "/w", Now: func() time.Time { i++; return jumps[i%len(jumps)] }})
		var want []string
		for n := range 20 {
			e := say(t, s, fmt.Sprint(n))
			want = append(want, fmt.Sprint(n))
			if seen[e.ID] {
				t.Errorf("id %s is there twice", e.ID)
			}
			seen[e.ID] = true
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := gist(read(t, s.File()).Context()); got != strings.Join(want, " ") {
			t.Errorf("order %q", got)
		}
		goesOn(t, s.File())
	}
}
