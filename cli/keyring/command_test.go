//go:build unix

package keyring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pi/internal/process"
)

func TestAKeyCommandRunsOnceUntilItsKeyIsRefused(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	command := "echo x >>" + count + "; echo key-$(wc -l <" + count + " | tr -d ' ')"
	k := newCommands()
	ask := func(want string) {
		t.Helper()
		if key, err := k.key(t.Context(), command); key != want || err != nil {
			t.Fatalf("%q, %v; want %q", key, err, want)
		}
	}
	ask("key-1")
	ask("key-1")
	k.forgetKey("another key")
	ask("key-1")
	k.forgetKey("key-1")
	ask("key-2")
	k.forgetKey("key-1")
	ask("key-2")
}

func TestRequestsThatComeTogetherShareOneRun(t *testing.T) {
	dir := t.TempDir()
	gate, runs := filepath.Join(dir, "go"), filepath.Join(dir, "runs")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	k := newCommands()
	command := "echo x >>" + runs + "; cat " + gate
	const requests = 8
	keys := make(chan string, requests)
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			key, err := k.key(t.Context(), command)
			if err != nil {
				key = err.Error()
			}
			keys <- key
		})
	}
	waitFor(t, func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.runs[command] != nil && k.runs[command].waiting == requests
	})
	if err := os.WriteFile(gate, []byte("shared\n"), 0); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	for range requests {
		if key := <-keys; key != "shared" {
			t.Error(key)
		}
	}
	if b, _ := os.ReadFile(runs); string(b) != "x\n" {
		t.Errorf("it ran %d times", len(b)/2)
	}
}

func TestAFailureOfAKeyCommandIsNotKept(t *testing.T) {
	flag := filepath.Join(t.TempDir(), "unlocked")
	k := newCommands()
	command := "test -e " + flag + " || { echo the vault is locked >&2; exit 4; }; echo opened"
	_, err := k.key(t.Context(), command)
	if err == nil || !strings.Contains(err.Error(), "exit status 4: the vault is locked") {
		t.Fatal(err)
	}
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := k.key(t.Context(), command); key != "opened" || err != nil {
		t.Fatalf("%q, %v", key, err)
	}
}

func TestAKeyCommandThatGoesNoFurtherIsEndedWithAllItStarted(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	k := newCommands()
	k.limit = 300 * time.Millisecond
	_, err := k.key(t.Context(), "echo $$ >"+pid+"; sleep 1000 & wait")
	if err == nil || !strings.Contains(err.Error(), "no key within 300ms") {
		t.Fatal(err)
	}
	gone(t, pid)
}

func TestACancelledRequestEndsItsKeyCommand(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	k := newCommands()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := k.key(ctx, "echo $$ >"+pid+"; sleep 1000 & wait")
		ended <- err
	}()
	waitFor(t, func() bool { b, _ := os.ReadFile(pid); return strings.HasSuffix(string(b), "\n") })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	gone(t, pid)
}

func TestACancelledRequestLeavesTheRunToOthers(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	k := newCommands()
	command := "cat " + fifo
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan string)
	go func() { _, err := k.key(ctx, command); first <- err }()
	go func() { key, _ := k.key(t.Context(), command); second <- key }()
	waitFor(t, func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.runs[command] != nil && k.runs[command].waiting == 2
	})
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := os.WriteFile(fifo, []byte("kept\n"), 0); err != nil {
		t.Fatal(err)
	}
	if key := <-second; key != "kept" {
		t.Fatalf("%q", key)
	}
}

func TestAKeyCommandHasNoInputAndNoTerminal(t *testing.T) {
	k := newCommands()
	key, err := k.key(t.Context(), `if read x; then echo input; elif (: </dev/tty) 2>/dev/null; then echo terminal; else echo nothing-to-ask; fi`)
	if key != "nothing-to-ask" || err != nil {
		t.Fatalf("%q, %v", key, err)
	}
}

func TestAKeyCommandThatPrintsWithoutEndIsEnded(t *testing.T) {
	_, err := newCommands().key(t.Context(), "yes secret-words")
	if !errors.Is(err, errTooMuch) || strings.Contains(err.Error(), "secret-words") {
		t.Fatal(err)
	}
}

func TestAKeyCommandLeavesNoChildBehind(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	key, err := newCommands().key(t.Context(), "echo $$ >"+pid+"; sleep 1000 & echo the-key")
	if key != "the-key" || err != nil {
		t.Fatalf("%q, %v", key, err)
	}
	gone(t, pid)
}

// gone waits for the end of the process group whose number is in a file.
func gone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	group, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return !process.Alive(group) })
}

// waitFor waits for what another goroutine or process does.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen in time")
		}
	}
}
