//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inTmux is a desk inside of a tmux of its own, which has these settings. Where there is no
// tmux that works, the test is skipped with the reason.
func inTmux(t *testing.T, settings string) (s *desk, tmux func(args ...string) string) {
	t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("there is no tmux")
	}
	dir, err := os.MkdirTemp("", "pi-tmux-") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, conf := filepath.Join(dir, "s"), filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, []byte("set -g status off\nset -s escape-time 0\nset -g default-shell /bin/sh\n"+settings), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	pi, link := w.command(), filepath.Join(dir, "pi") // its name says which program it is
	if err := os.Symlink(pi.Path, link); err != nil {
		t.Fatal(err)
	}
	try := func(args ...string) (string, error) {
		cmd := exec.Command("tmux", append([]string{"-S", socket, "-f", conf}, args...)...)
		cmd.Env = append(pi.Env, "TMUX=", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := try("new-session", "-d", "-s", "probe", "exec sleep 600"); err != nil {
		t.Skipf("tmux does not work here: %v: %s", err, out)
	}
	t.Cleanup(func() { _, _ = try("kill-server") })
	tmux = func(args ...string) string {
		t.Helper()
		out, err := try(args...)
		if err != nil {
			t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	command := []string{program, "-u", "-S", socket, "-f", conf, "new-session", "-c", pi.Dir, link}
	return newDesk(t, scenery{world: w, command: command}), tmux
}

// As it comes tmux drops what programs send for the clipboard.
func TestACopyReachesTheClipboardThroughTmux(t *testing.T) {
	for _, c := range []struct{ settings, way, clipboard string }{
		{"", "(tmux)", "To be copied."},
		{"set -s set-clipboard off\n", "(into tmux's buffer)", ""},
	} {
		t.Run(c.way, func(t *testing.T) {
			t.Parallel()
			s, tmux := inTmux(t, c.settings)
			s.answered("say it", "To be copied.")
			s.Type("/copy\r")
			s.See("copied the last answer: 1 line, 13 B " + c.way)
			s.rests("")
			if got := strings.TrimSpace(tmux("show-buffer")); got != "To be copied." {
				t.Errorf("the buffer of tmux is %q", got)
			}
			if got := s.Clipboard(); got != c.clipboard {
				t.Errorf("the clipboard is %q, want %q", got, c.clipboard)
			}
		})
	}
}

// What programs that have the terminal leave of it, tmux keeps until it is told otherwise: it
// ends a string of DCS at nothing but ST, and does not say which screen it shows.
func TestTmuxIsPutRightBehindOtherPrograms(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	editor := filepath.Join(dir, "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nprintf '\\033[?1049h\\033[2J\\033[Hfull screen\\033P1half'\nkill -9 $$\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, tmux := inTmux(t, "set-environment -g VISUAL "+editor+"\n")
	s.answered("hello", "Hello yourself.")
	s.Type("!printf 'printed\\n\\033P1half'\r")
	s.rests("")
	s.Type("dear line")
	s.rests("dear line")
	s.Press("ctrl+g")
	s.See("warning: edit with")
	s.Type(" goes on")
	s.rests("dear line goes on")
	if got := strings.TrimSpace(tmux("display-message", "-p", "-t", "1", "#{alternate_on}")); got != "0" {
		t.Errorf("alternate_on is %q", got)
	}
}
