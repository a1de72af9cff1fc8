//go:build unix

package main

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestASignalEndsTheWaitInPrintMode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal os.Signal
		status int
	}{"Ctrl+C": {os.Interrupt, exitInterrupted}, "TERM": {syscall.SIGTERM, exitTerminated}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := newModelServer("openai-completions", "text Hello wor\ncut\n---\ntext Hello world.", "")
			t.Cleanup(m.http.Close)
			w.write(w.agentFile("config.toml"), "[retry]\nbase_delay = \"50s\"\n"+m.settings())
			cmd := w.command("-p", "remember the milk")
			var stdout strings.Builder
			cmd.Stdout = &stdout
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "retry 1/3 in ") {
				t.Logf("%s", lines.Text())
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				t.Logf("%s", lines.Text())
			}
			err = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.status || stdout.Len() > 0 {
				t.Errorf("ended with %v, want exit status %d; it answered %q", err, c.status, stdout.String())
			}
			if got := w.stopReasons(); got != "aborted" {
				t.Errorf("the session has answers that ended with %q", got)
			}
			if got := w.pi("--continue", "-p", "and now?"); got != "Hello world.\n" {
				t.Errorf("the answer is %q", got)
			}
			inOrder(t, messagesOf(t, m.asked()[1].body), []string{"remember the milk", "and now?"})
		})
	}
}
