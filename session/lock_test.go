package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/internal/process"
	"pi/internal/safefile"
)

func TestFaultOfManyStartersOneWritesAndTheOthersAreToldWhoItIs(t *testing.T) {
	path, locks := write(t, story("u1")...), filepath.Join(t.TempDir(), "locks")
	const starters = 100
	answers := make(chan string)
	var release []func() error
	for range starters {
		c, in, out := startChild(t, "start", path, locks)
		release = append(release, in.Close)
		if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		go func() {
			line, _ := out.ReadString('\n')
			answers <- line
		}()
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	}
	for _, start := range release {
		start()
	}
	writer, named := 0, map[string]int{}
	for range starters {
		a := <-answers
		if pid, ok := strings.CutPrefix(a, "writer "); ok {
			if writer != 0 {
				t.Error("a second writer")
			}
			writer, _ = strconv.Atoi(strings.TrimSpace(pid))
			continue
		}
		_, by, _ := strings.Cut(a, "in use by process ")
		named[strings.Fields(by + " ?")[0]]++
	}
	if writer == 0 || named[fmt.Sprint(writer)] != starters-1 {
		t.Errorf("%d writes, and those turned away name %v", writer, named)
	}
	if got := gist(read(t, path).Context()); got != "1 mine" {
		t.Errorf("context %q", got)
	}
}

func TestFaultALockEndsWithItsHolderAlsoIfAChildOfItLives(t *testing.T) {
	path := write(t, story("u1")...)
	for range times(1, 20) {
		holder, _, out := startChild(t, "hold", path)
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var busy *BusyError
		if _, err := Open(path, Options{}); !errors.As(err, &busy) {
			t.Fatalf("while it is held: %v", err)
		}
		holder.Process.Kill()
		holder.Process.Wait() // not c.Wait: the child has its output
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("after its holder was killed: %v", err)
		}
		say(t, s, "free")
		s.Close()
		pid, _ := strconv.Atoi(strings.Fields(line)[1])
		if !process.Running(pid) {
			t.Error("the child of the holder did not outlive it")
		}
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill()
		}
	}
}

func TestTheHintOfAKilledHolderIsReplacedAndNamesTheNext(t *testing.T) {
	path, locks := write(t, story("u1")...), filepath.Join(t.TempDir(), "locks")
	o := Options{LockDir: locks}
	dead := newStore(path, o.LockDir, o.seams)
	if _, err := safefile.MakeDirs(locks); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	stale := fmt.Sprintf(`{"path":%q,"pid":%d,"host":%q,"since":"2020-01-02T03:04:05Z"}`, path, 1<<30, host)
	if err := os.WriteFile(dead.hintPath(), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, path, o)
	var busy *BusyError
	if _, err := Open(path, o); !errors.As(err, &busy) || busy.PID != os.Getpid() || time.Since(busy.Since) > time.Hour {
		t.Errorf("%v", err)
	}
}

func TestAHintThatIsOnItsWayIsWaitedFor(t *testing.T) {
	host, _ := os.Hostname()
	for name, was := range map[string]string{
		"none":             "",
		"of a dead holder": fmt.Sprintf(`{"pid":%d,"host":%q,"since":"2020-01-02T03:04:05Z"}`, 1<<30, host),
		"half a hint":      `{"pid":`,
	} {
		path, locks := write(t, story("u1")...), t.TempDir()
		holder := open(t, path, Options{})
		if was != "" {
			if err := os.WriteFile(newStore(path, locks, seams{}).hintPath(), []byte(was), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tries := 0
		_, err := Open(path, Options{LockDir: locks, seams: seams{testOnlyStep: func(step string) {
			if step != "no hint yet" {
				return
			}
			if tries++; tries == 3 {
				holder.journal.store.lockDir = locks
				holder.journal.store.writeHint()
			}
		}}})
		var busy *BusyError
		if !errors.As(err, &busy) || busy.PID != os.Getpid() || tries != 3 {
			t.Errorf("%s: after %d tries: %v", name, tries, err)
		}
	}
}

func TestFaultALockIsFreeRightAfterItsHolderWasKilled(t *testing.T) {
	path, locks := write(t, story("u1")...), filepath.Join(t.TempDir(), "locks")
	for i := range times(25, 1000) {
		holder, _, out := startChild(t, "hold", path, locks)
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		holder.Process.Kill() // and nobody has waited for its end
		s, err := Open(path, Options{LockDir: locks})
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		s.Close()
		holder.Process.Wait()
		if pid, err := strconv.Atoi(strings.Fields(line)[1]); err == nil {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
	}
}

// The system may let go of a lock later than its holder is gone.
func TestALockIsTriedAgainForAMomentAndWhoIsGoneIsNotNamed(t *testing.T) {
	host, _ := os.Hostname()
	hint := func(pid int, host string) string {
		return fmt.Sprintf(`{"pid":%d,"host":%q,"since":"2020-01-02T03:04:05Z"}`, pid, host)
	}
	for name, c := range map[string]struct {
		hint string
		free int // the lock is free at this try; 0: never
		most int // tries
		pid  int // who is named in the end
	}{
		"of a dead holder, free at last": {hint: hint(1<<30, host), free: 50},
		"of nobody, free at last":        {free: 50},
		"of one that is dying":           {hint: hint(os.Getpid(), host), free: 5},
		"of a dead holder":               {hint: hint(1<<30, host), most: triesOfAGone + 1},
		"of nobody":                      {most: triesOfAGone + 1},
		"of a living holder":             {hint: hint(os.Getpid(), host), most: triesOfALive + 1, pid: os.Getpid()},
		"of another host":                {hint: hint(1<<30, "elsewhere.invalid"), most: 1, pid: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, locks := write(t, story("u1")...), t.TempDir()
			if c.hint != "" {
				if err := os.WriteFile(newStore(path, locks, seams{}).hintPath(), []byte(c.hint), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			tries := 0
			s, err := Open(path, Options{LockDir: locks, seams: seams{testOnlyLock: func(*os.File) error {
				if tries++; tries == c.free {
					return nil
				}
				return safefile.ErrLocked
			}}})
			if c.free > 0 {
				if err != nil || tries != c.free {
					t.Fatalf("after %d tries: %v", tries, err)
				}
				s.Close()
				return
			}
			var busy *BusyError
			if !errors.As(err, &busy) || busy.PID != c.pid || tries != c.most {
				t.Errorf("after %d tries: %v", tries, err)
			}
		})
	}
}

func TestAHintThatIsNotOursIsLeft(t *testing.T) {
	path, locks := write(t, story("u1")...), filepath.Join(t.TempDir(), "locks")
	o := Options{LockDir: locks}
	was := open(t, path, o)
	os.Remove(path)
	if err := os.WriteFile(path, []byte(headerLine+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	is := open(t, path, o)
	was.Close()
	var busy *BusyError
	if _, err := Open(path, o); !errors.As(err, &busy) || busy.PID == 0 {
		t.Errorf("who has the new file is not known any more: %v", err)
	}
	is.Close()
	if left, _ := os.ReadDir(locks); len(left) != 0 {
		t.Errorf("%d hints are left", len(left))
	}
}

func TestAHolderThatLeavesNoHintIsAnotherProcess(t *testing.T) {
	path, locks := write(t, story("u1")...), filepath.Join(t.TempDir(), "locks")
	open(t, path, Options{})
	var busy *BusyError
	if _, err := Open(path, Options{LockDir: locks}); !errors.As(err, &busy) || busy.PID != 0 || !strings.HasSuffix(err.Error(), "in use by another process") {
		t.Errorf("%v", err)
	}
}

func TestAFileSystemWithoutLocksIsToldOfOnce(t *testing.T) {
	none := seams{testOnlyLock: func(*os.File) error { return safefile.ErrNoLock }}
	warns := func(s *Session) bool {
		p := s.Problems()
		return len(p) == 1 && strings.Contains(p[0], "has no locks")
	}
	s := open(t, write(t, story("u1")...), Options{seams: none})
	if !warns(s) {
		t.Error("no word about it when a file is opened")
	}
	say(t, s, "2")
	if p := s.Problems(); p != nil {
		t.Errorf("told again: %q", p)
	}
	fresh := New(Options{Dir: t.TempDir(), Cwd: "/w", seams: none})
	if p := fresh.Problems(); p != nil {
		t.Errorf("told before there is a file: %q", p)
	}
	say(t, fresh, "1")
	if !warns(fresh) {
		t.Error("no word about it when a file is made")
	}
	say(t, fresh, "2")
	if fresh.Problems() != nil || gist(read(t, fresh.File()).Context()) != "1 2" {
		t.Error("it is told again, or not written")
	}
}

func TestWithoutALockAFileIsNeverCutBack(t *testing.T) {
	path := write(t, story("u1")...)
	s := open(t, path, Options{seams: seams{testOnlyLock: func(*os.File) error { return safefile.ErrNoLock }}})
	s.journal.store.testOnlyWrite = func(f *os.File, b []byte) (int, error) { return f.Write(b[:20]) }
	s.AppendMessage(user("2"))
	s.journal.store.testOnlyWrite = nil
	say(t, s, "3")
	if !strings.Contains(contents(t, path), "\n"+`{"type":"message","i`+"\n{") {
		t.Errorf("the piece is gone, or merged:\n%s", contents(t, path))
	}
	if got := gist(read(t, path).Context()); got != "1 2 3" {
		t.Errorf("context %q", got)
	}
}

func TestALockThatFailsIsNoLock(t *testing.T) {
	failed := errors.New("input/output error")
	path := write(t, story("u1")...)
	broken := seams{testOnlyLock: func(*os.File) error { return failed }}
	if _, err := Open(path, Options{seams: broken}); !errors.Is(err, failed) {
		t.Errorf("open: %v", err)
	}
	s := New(Options{Dir: t.TempDir(), Cwd: "/w", seams: broken})
	var unsaved *SaveError
	if _, err := s.AppendMessage(user("1")); !errors.As(err, &unsaved) || contents(t, s.File()) != "" {
		t.Errorf("a new file: %v", err)
	}
	s.journal.store.testOnlyLock = nil
	say(t, s, "2")
	if got := gist(read(t, s.File()).Context()); got != "1 2" {
		t.Errorf("context %q once locks work", got)
	}
}

// While somebody waits for the lock of a file, its holder may put a new one in
// its place: the lock of the old one must not count then.
func TestALockOfAFileThatWasReplacedMeanwhileDoesNotCount(t *testing.T) {
	path := write(t, versionOne...)
	holder := open(t, path, Options{})
	opened := 0
	second, err := Open(path, Options{seams: seams{testOnlyStep: func(step string) {
		if step != "opened" {
			return
		}
		if opened++; opened == 1 {
			say(t, holder, "6") // migrates
			holder.Close()
		}
	}}})
	if err != nil || opened != 2 {
		t.Fatalf("opened %d times: %v", opened, err)
	}
	defer second.Close()
	say(t, second, "7")
	if got := gist(read(t, path).Context()); got != "sum 3 5 6 7" {
		t.Errorf("context %q", got)
	}
}

func TestAMigrationKeepsTheLockAllTheTime(t *testing.T) {
	path, locks := write(t, versionOne...), filepath.Join(t.TempDir(), "locks")
	s := open(t, path, Options{LockDir: locks})
	steps := 0
	s.journal.store.testOnlyStep = func(step string) {
		steps++
		var busy *BusyError
		if other, err := Open(path, Options{}); !errors.As(err, &busy) {
			t.Errorf("%s: %v, %v", step, other, err)
		}
	}
	say(t, s, "6")
	if steps < 5 {
		t.Errorf("only %d steps", steps)
	}
	s.journal.store.testOnlyStep = nil
	var busy *BusyError
	if _, err := Open(path, Options{LockDir: locks}); !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("afterwards: %v", err)
	}
	s.Close()
	if left, _ := os.ReadDir(locks); len(left) != 0 {
		t.Errorf("%d hints are left", len(left))
	}
}

// A process that is being started has copies of all descriptors for a moment.
func TestALockIsFreeWhenTheSessionIsClosedAlsoWhileAProcessStarts(t *testing.T) {
	path := write(t, story("u1")...)
	stop, starter := make(chan struct{}), sync.WaitGroup{}
	starter.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				exec.Command(filepath.Join(filepath.Dir(path), "none")).Run()
				c := exec.Command(os.Args[0], "-test.run=^$")
				if c.Start() == nil {
					c.Wait()
				}
			}
		}
	})
	for range times(500, 5000) {
		s, err := Open(path, Options{})
		if err != nil {
			t.Errorf("right after closing: %v", err)
			break
		}
		s.Close()
	}
	close(stop)
	starter.Wait()
}
