//go:build unix

package terminal

import (
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
	t      *testing.T
	socket string
}

func (m tmux) run(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", m.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
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
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	const wide = 5
	m := tmux{t, filepath.Join(t.TempDir(), "s")}
	m.run("new-session", "-d", "-x", "60", "-y", "20", fmt.Sprintf("env %s=keys WIDE=%d GOCOVERDIR=%s %s; sleep 60", programEnv, wide, t.TempDir(), os.Args[0]))
	defer m.run("kill-server")
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
