//go:build unix

package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmux breaks rows that are too wide, keeps a scrollback and brings it back, and it is there
// on many machines. Where it is not, the test is skipped.
type tmux struct {
	t              *testing.T
	socket, config string
}

// tmuxConfig keeps the server and what a pane showed, so that a program that ends too early can
// be read in the failure; and the shell is that of the system, whatever the environment says.
const tmuxConfig = `
set -g default-shell /bin/sh
set -g exit-empty off
set -g remain-on-exit on
`

// newTmux is a server of the test's own, in which a shell has been seen to work. Where none does,
// there is nothing to hold the terminal against, and the test is skipped with the reason.
func newTmux(t *testing.T) tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(tmuxConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	m := tmux{t, filepath.Join(dir, "s"), filepath.Join(dir, "conf")}
	t.Cleanup(func() { _, _ = m.try("kill-server") })
	out, err := m.try("new-session", "-d", "-s", "probe", "-x", "20", "-y", "5", "echo works; tmux -S "+m.socket+" wait-for -S seen; read line")
	if err == nil {
		out, err = m.try("wait-for", "seen")
	}
	if err != nil {
		t.Skipf("tmux does not work here: %v: %s", err, out)
	}
	return m
}

func (m tmux) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", m.socket, "-f", m.config}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (m tmux) run(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// text is the screen and all of the scrollback.
func (m tmux) text() string {
	return strings.TrimRight(m.run("capture-pane", "-p", "-S", "-"), "\n")
}

func (m tmux) see(what, want string) {
	m.t.Helper()
	for end := time.Now().Add(patience); m.text() != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			m.t.Fatalf("%s:\n%s\nwant\n%s", what, m.text(), want)
		}
	}
}

func TestATerminalThatBreaksRowsShowsTheZoneOnce(t *testing.T) {
	m := newTmux(t)
	const wide = 5
	m.run("new-session", "-d", "-s", "zone", "-x", "60", "-y", "20", fmt.Sprintf("env %s=keys WIDE=%d GOCOVERDIR=%s %s; sleep 60", programEnv, wide, t.TempDir(), os.Args[0]))
	m.run("kill-session", "-t", "probe")
	transcript := []string{"begins"}
	zone := func(columns int) string {
		rows := append([]string(nil), transcript...)
		for range wide {
			rows = append(rows, strings.Repeat("=", columns))
		}
		return strings.Join(append(rows, ">"), "\n")
	}
	m.see("at the start", zone(60))
	send := func(n int) {
		for range n {
			row := fmt.Sprint("row", len(transcript))
			m.run("send-keys", row, "Enter")
			transcript = append(transcript, "sent "+row)
		}
	}
	send(20)
	m.see("rows were sent", zone(60))
	for _, c := range []struct{ columns, rows int }{
		{30, 20}, {60, 20}, {59, 20}, {25, 20}, {100, 20}, {60, 12}, {60, 24}, {20, 24}, {70, 16}, {70, 8}, {60, 30},
	} {
		m.run("resize-window", "-x", fmt.Sprint(c.columns), "-y", fmt.Sprint(c.rows))
		m.see(fmt.Sprintf("%+v", c), zone(c.columns))
		send(20) // the zone is at the bottom of the window again
		m.see(fmt.Sprintf("rows after %+v", c), zone(c.columns))
	}
}
