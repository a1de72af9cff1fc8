//go:build unix

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// leaderOfTerminal makes a program the leader of a session whose terminal is its
// standard input.
func leaderOfTerminal() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// mailbox makes a named pipe in the project and returns what waits for the next
// line that is written into it.
func (w *world) mailbox(name string) (next func() string) {
	w.t.Helper()
	path := filepath.Join(w.project, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // for writing too, so that it never ends
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() })
	lines := bufio.NewReader(f)
	return func() string {
		w.t.Helper()
		if err := f.SetReadDeadline(time.Now().Add(patience)); err != nil {
			w.t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			w.t.Fatalf("nothing was written to %s: %v", name, err)
		}
		return strings.TrimSpace(line)
	}
}
