//go:build linux || darwin || freebsd || netbsd || openbsd

package tool

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// inTerminal runs a command in a terminal that nobody looks at.
func inTerminal(t *testing.T, ctx context.Context, o Options, command string) BashOutcome {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, master)
	}()
	defer func() { tty.Close(); <-ended; master.Close() }()
	outcome, _, err := RunInTerminal(ctx, o, command, tty, tty)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestTheOutcomeInATerminal(t *testing.T) {
	dir := t.TempDir()
	o := Options{Cwd: dir, Env: func() []string { return []string{"OF_OURS=yes"} }, TempDir: t.TempDir()}
	for _, c := range []struct {
		command, output, signal string
		status                  int
	}{
		{"test -t 0 && test -t 1 && pwd && echo $OF_OURS", dir + "\nyes\n", "", 0},
		{`printf '\r1%%\r2%%\033[31m\r\033[Kdone\033[0m\n'; exit 3`, "done\n", "", 3},
		{"kill -SEGV $$", "", "SIGSEGV", 128 + 11},
	} {
		got := inTerminal(t, t.Context(), o, c.command)
		if got.Output != c.output || got.Signal != c.signal || got.Cancelled || got.Status() == nil || *got.Status() != c.status {
			t.Errorf("%s: %+v", c.command, got)
		}
	}
	got := inTerminal(t, t.Context(), o, "seq 1 5000")
	full, err := os.ReadFile(got.FullOutputPath)
	if err != nil || strings.Count(string(full), "\n") != 5000 || strings.Contains(string(full), "\r") {
		t.Errorf("the file has %d lines, %v", strings.Count(string(full), "\n"), err)
	}
	if !got.Truncation.Truncated || got.Truncation.TotalLines != 5000 || !strings.HasSuffix(got.Output, "\n5000\n") {
		t.Errorf("%+v", got.Truncation)
	}
}

func TestTheEndOfACommandInATerminal(t *testing.T) {
	// As in the program, which listens to it; what a shell starts in the background ignores it, and
	// so would the command.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	o := Options{Cwd: t.TempDir(), Grace: 50 * time.Millisecond}
	if got := inTerminal(t, t.Context(), o, "kill -INT $$"); !got.Cancelled || got.Status() != nil {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Starting = func() func(int) { return func(int) { cancel() } }
	if got := inTerminal(t, ctx, o, "trap '' TERM HUP; sleep 600; sleep 600"); !got.Cancelled || got.Signal != "" {
		t.Errorf("%+v", got)
	}
	if _, _, err := RunInTerminal(t.Context(), Options{Cwd: "/nowhere"}, "true", os.Stdin, os.Stdout); err == nil {
		t.Error("there is no such directory")
	}
}
