//go:build unix

package e2e

import (
	"bufio"
	"fmt"
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
	}{"Ctrl+C": {os.Interrupt, statusInterrupted}, "TERM": {syscall.SIGTERM, statusTerminated}} {
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

// failures are those of a first request, and whether another one follows. HTTP
// errors come in the words of each API.
func failures() map[string]bool {
	const quota = `"code":"insufficient_quota","message":"You exceeded your current quota"`
	all := map[string]bool{
		"status 429 {\"error\":{" + quota + "}}": false,
		"text Hello wor\ncut":                    true,
		"cut":                                    true,
		"raw data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\",\"code\":529}}":          true,
		"text Hello wor\nraw data: {\"type\":\"error\",\"error\":{\"code\":503,\"message\":\"no\",\"type\":\"api_error\"}}": true,
		"header Retry-After: 61\nstatus 429 {\"error\":{\"message\":\"no\"}}":                                               false,
		"header Retry-After: 0\nstatus 429 {\"error\":{\"message\":\"no\"}}":                                                true,
		"header Retry-After-Ms: 5\nstatus 429 {\"error\":{\"message\":\"no\"}}":                                             true,
		"header X-Should-Retry: false\nstatus 503 {\"error\":{\"message\":\"no\"}}":                                         false,
		"status 400 {\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}":                                 false,
	}
	for status, again := range map[int]bool{400: false, 401: false, 402: false, 403: false, 404: false, 408: true, 409: true,
		413: false, 422: false, 429: true, 500: true, 502: true, 503: true, 504: true, 529: true} {
		all[fmt.Sprintf("status %d {\"error\":{\"message\":\"no\"}}", status)] = again
	}
	return all
}

func TestOnlyFailuresThatMayPassAreTriedAgain(t *testing.T) {
	t.Parallel()
	for api := range apiPaths() {
		for failure, again := range failures() {
			t.Run(api+"/"+failure, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				m := newModelServer(api, failure+"\n---\ntext Hello world", "")
				t.Cleanup(m.http.Close)
				w.write(w.agentFile("config.toml"), atOnce+m.settings())
				if again {
					answer, told := w.piTells("-p", "go")
					if answer != "Hello world\n" || strings.Count(told, "retry 1/3 in 1 s: local: ") != 1 || w.stopReasons() != "stop" {
						t.Errorf("answer %q, answers in the session %s, told\n%s", answer, w.stopReasons(), told)
					}
					return
				}
				status := statusDenied
				if strings.Contains(failure, "Retry") { // the server says that now is not the time
					status = statusProvider
				}
				if told := w.fails(status, "-p", "go"); strings.Contains(told, "retry 1") || w.stopReasons() != "error" || len(m.asked()) != 1 {
					t.Errorf("asked %d times, answers in the session %s, told\n%s", len(m.asked()), w.stopReasons(), told)
				}
			})
		}
	}
}
