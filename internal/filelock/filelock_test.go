package filelock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("FILELOCK_DIR"); dir != "" {
		other(New(dir), os.Getenv("FILELOCK_PATH"))
		return
	}
	goleak.VerifyTestMain(m)
}

// other is what another program does with a lock: it counts in the file, or keeps the lock until
// it is killed.
func other(l *Locks, path string) {
	if times, _ := strconv.Atoi(os.Getenv("FILELOCK_COUNTS")); times > 0 {
		count(l, path, times)
		return
	}
	if _, _, err := l.Lock(context.Background(), path); err != nil {
		panic(err)
	}
	fmt.Println("locked")
	_, _ = os.Stdin.Read(make([]byte, 1)) // it is killed before anybody writes there
}

func count(l *Locks, path string, times int) {
	for range times {
		_, release, err := l.Lock(context.Background(), path)
		if err != nil {
			panic(err)
		}
		text, _ := os.ReadFile(path)
		n, _ := strconv.Atoi(string(text))
		if err := os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
			panic(err)
		}
		release()
	}
}

// program is another one with the same locks.
func program(t *testing.T, dir, path string, counts int) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "FILELOCK_DIR="+dir, "FILELOCK_PATH="+path, "FILELOCK_COUNTS="+strconv.Itoa(counts))
	c.Stderr = os.Stderr
	return c
}

// holder is a program that has a lock when holder returns.
func holder(t *testing.T, dir, path string) *exec.Cmd {
	c := program(t, dir, path, 0)
	out, err := c.StdoutPipe()
	if err == nil {
		_, err = c.StdinPipe() // at which it waits
	}
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

// isFree reports whether a lock can be had at once.
func isFree(l *Locks, path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, release, err := l.Lock(ctx, path)
	if err != nil {
		return false
	}
	release()
	return true
}

func TestProgramsAndTheirCallsChangeAFileOneAfterTheOther(t *testing.T) {
	dir, path := filepath.Join(t.TempDir(), "locks"), filepath.Join(t.TempDir(), "n")
	const programs, times = 2, 40
	var all sync.WaitGroup
	for range programs {
		all.Go(func() {
			if err := program(t, dir, path, times).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	l := New(dir)
	for range 2 {
		all.Go(func() { count(l, path, times) })
	}
	all.Wait()
	if text, _ := os.ReadFile(path); string(text) != strconv.Itoa((programs+2)*times) {
		t.Errorf("counted to %s, want %d", text, (programs+2)*times)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 || len(l.byPath) > 0 {
		t.Errorf("left behind: %v, %d turns", left, len(l.byPath))
	}
}

func TestALockEndsWithItsProgram(t *testing.T) {
	dir, path := t.TempDir(), "/a"
	l := New(dir)
	c := holder(t, dir, path)
	if isFree(l, path) || !isFree(l, "/b") {
		t.Fatal("another program's lock keeps nobody out, or all paths are locked")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("a killed program leaves %v", left)
	}
	_, release, err := l.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAHeldLockCountsAsHeldInside(t *testing.T) {
	l := New(t.TempDir())
	within, release, err := l.Lock(t.Context(), "/A")
	if err != nil {
		t.Fatal(err)
	}
	other, releaseOther, err := l.Lock(within, "/b")
	if err != nil {
		t.Fatal(err)
	}
	again, releaseAgain, err := l.Lock(other, "/a") // the case of names is nothing
	if err != nil {
		t.Fatal(err)
	}
	if !isFree(l, "/c") {
		t.Error("paths that nobody has are locked")
	}
	_, releaseThird, err := l.Lock(again, "/b")
	if err != nil {
		t.Fatal(err)
	}
	releaseThird()
	ctx, cancel := context.WithTimeout(other, time.Millisecond)
	defer cancel()
	if _, _, err := l.Lock(ctx, "/a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two calls inside have it at a time: %v", err)
	}
	released := make(chan struct{})
	go func() { release(); close(released) }()
	select {
	case <-released:
		t.Error("it is given back while a call inside has it")
	case <-time.After(10 * time.Millisecond):
	}
	releaseAgain()
	<-released
	releaseOther()
	if !isFree(l, "/a") {
		t.Error("it is not given back")
	}
}

// Something that was started inside may go on when the lock was given back.
func TestAnEndedHoldIsNone(t *testing.T) {
	l := New(t.TempDir())
	within, release, err := l.Lock(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	release()
	_, releaseOther, err := l.Lock(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(within, time.Millisecond)
	defer cancel()
	if _, _, err := l.Lock(ctx, "/a"); err == nil {
		t.Error("what is left of an ended hold passes the lock")
	}
	releaseOther()
	_, release, err = l.Lock(within, "/a")
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestWhoWaitsStopsWithItsContextAndItsCause(t *testing.T) {
	l := New(t.TempDir())
	_, release, err := l.Lock(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, _, err := l.Lock(ctx, "/a"); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// Who may write to the folder can take a lock away, but not lead to another file, nor keep all
// from changing files for good.
func TestTheFileOfALockIsNoOtherFile(t *testing.T) {
	dir := t.TempDir()
	l := New(dir)
	_, release, err := l.Lock(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	release()
	name := filepath.Join(dir, entries[0].Name())
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	for what, put := range map[string]func() error{
		"a link":      func() error { return os.Symlink(elsewhere, name) },
		"a directory": func() error { return os.Mkdir(name, 0o700) },
		"an old lock": func() error { return os.WriteFile(name, []byte("1"), 0o600) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if !isFree(l, "/a") {
			t.Errorf("%s keeps all out", what)
		}
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s is left", what)
		}
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("a file was made where the link leads")
	}
	if err := os.MkdirAll(filepath.Join(name, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Lock(t.Context(), "/a"); err == nil {
		t.Error("there is a lock without a file")
	}
	_, release, err = l.LockHere(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, _, err := l.LockHere(ctx, "/a"); err == nil {
		t.Error("without a file two calls of one program have the lock")
	}
}

// Who removes the file of a lock takes it away; whoever had it does not remove the next one's.
func TestALockThatWasTakenAwayIsNotGivenBackTwice(t *testing.T) {
	dir := t.TempDir()
	mine, theirs, third := New(dir), New(dir), New(dir)
	_, release, err := mine.Lock(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if err := os.Remove(filepath.Join(dir, entries[0].Name())); err != nil {
		t.Skip("the file of a lock cannot be removed here: ", err)
	}
	_, releaseTheirs, err := theirs.Lock(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	release()
	if isFree(third, "/a") {
		t.Error("the lock of another one was given back")
	}
	releaseTheirs()
}
