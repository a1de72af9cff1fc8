//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

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

// background starts the program and leaves it running.
func (w *world) background(args ...string) *running {
	w.t.Helper()
	r := &running{cmd: w.command(args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.output
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	return r
}

type running struct {
	cmd    *exec.Cmd
	output bytes.Buffer // when it has ended
}

// end sends a signal and returns the exit status; -1 if the signal itself ended
// the process.
func (r *running) end(sig syscall.Signal) int {
	_ = r.cmd.Process.Signal(sig)
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

func processExists(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err != nil || !errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}

func TestASignalEndsThePrintedRunAndWhatItStarted(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.agentFile("hooks/bye.lua"), `pi.on("session_shutdown", function(event) assert(pi.exec("touch", { "said-goodbye" })) end)`)
			started := w.mailbox("started")
			r := w.background("-p", "run `echo $$ > started; sleep 60`")
			pid := started()
			if got := r.end(sig); got != want {
				t.Errorf("exit status %d, want %d:\n%s", got, want, r.output.String())
			}
			if processExists(pid) {
				t.Error("the command is still there")
			}
			if _, err := os.Stat(filepath.Join(w.project, "said-goodbye")); err != nil {
				t.Errorf("the hook did not hear of the end: %v", err)
			}
			if got := w.pi("--continue", "-p", "read a.txt"); got != "a.txt has 2 lines:\n\n    alpha\n    beta\n" {
				t.Errorf("afterwards the answer is %q", got)
			}
		})
	}
}

func TestASecondSignalEndsThePrintedRunAtOnceWithTheStatusOfTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Whoever waits for this handler waits two seconds, and says so in the log.
	w.write(w.agentFile("hooks/slow.lua"), `pi.on("session_shutdown", function(event) pi.exec("sh", { "-c", "echo $$ > ending; exec sleep 60" }) end)`)
	started, ending := w.mailbox("started"), w.mailbox("ending")
	r := w.background("-p", "run `echo $$ > started; sleep 60`")
	started()
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	if pid, err := strconv.Atoi(strings.TrimSpace(ending())); err == nil {
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
	if got := r.end(syscall.SIGINT); got != statusTerminated {
		t.Errorf("exit status %d:\n%s", got, r.output.String())
	}
	if log, err := os.ReadFile(w.agentFile("hooks.log")); err == nil && strings.Contains(string(log), "session_shutdown") {
		t.Errorf("it waited for the hook:\n%s", log)
	}
}

func TestAKilledProgramLosesNothingAndTheModelIsToldOfTheCallThatDidNotEnd(t *testing.T) {
	t.Parallel()
	for api := range apiCases() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := newModelServer(api, "text I start it.\ncall bash {\"command\":\"echo $$ > started; exec sleep 60\"}\n---\ntext It was interrupted.", "")
			t.Cleanup(s.http.Close)
			w.write(w.agentFile("config.toml"), s.settings())
			started := w.mailbox("started")
			r := w.background("-p", "start the long thing")
			pid, err := strconv.Atoi(started())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
			r.end(syscall.SIGKILL)
			if got := w.pi("--continue", "-p", "how did it go?"); got != "It was interrupted.\n" {
				t.Errorf("the answer is %q", got)
			}
			inOrder(t, messagesOf(t, s.asked()[1].body), []string{"start the long thing", "I start it.", "sleep 60", "interrupted", "how did it go?"})
		})
	}
}

func TestASecondProgramIsKeptFromASessionThatIsInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.mailbox("started")
	file := filepath.Join(w.home, "s.jsonl")
	r := w.background("--session", file, "-p", "run `echo $$ > started; sleep 60`")
	started()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	second := w.command("--session", file, "-p", "write b.txt: x")
	out, err := second.CombinedOutput()
	if code := second.ProcessState.ExitCode(); code != 6 {
		t.Errorf("exit status %d (%v), want 6:\n%s", code, err, out)
	}
	if want := strconv.Itoa(r.cmd.Process.Pid); !strings.Contains(string(out), want) {
		t.Errorf("who has the session (%s) is not told:\n%s", want, out)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the session changed: %v", err)
	}
	r.end(syscall.SIGTERM)
	if got := w.pi("--session", file, "-p", "read a.txt"); !strings.HasPrefix(got, "a.txt has 2 lines:") {
		t.Errorf("afterwards the answer is %q", got)
	}
}

func TestASignalDuringACompactionLeavesTheContextAsItWas(t *testing.T) {
	for name, c := range map[string]struct {
		answers string
		prompts []string
	}{
		"asked for":     {"text Hello.\n---\nstall", []string{"hello", "/compact"}},
		"after the run": {"usage 95000 0 0 0\ntext Hello.\n---\nstall", []string{"hello", "never sent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := newModelServer("openai-completions", c.answers, "")
			t.Cleanup(s.http.Close)
			w.write(w.agentFile("config.toml"), "model = \"local/small\"\n"+s.settings())
			w.write(w.agentFile("hooks/tell.lua"), `
				pi.on("session_compacting", function() assert(pi.exec("sh", { "-c", "echo compacting > started" })) end)
				pi.on("session_compact_failed", function(event) assert(pi.exec("sh", { "-c", "echo aborted " .. tostring(event.aborted) .. " >> failed" })) end)`)
			started := w.mailbox("started")
			r := w.background(append([]string{"-p"}, c.prompts...)...)
			started()
			if got := r.end(syscall.SIGINT); got != 130 || !strings.Contains(r.output.String(), "Hello.\n") {
				t.Errorf("exit status %d:\n%s", got, r.output.String())
			}
			if failed, err := os.ReadFile(filepath.Join(w.project, "failed")); string(failed) != "aborted true\n" {
				t.Errorf("the hook was told %q, %v", failed, err)
			}
			if n := w.compactions(); n != 0 || len(s.asked()) > 2 {
				t.Errorf("%d compactions, %d requests", n, len(s.asked()))
			}
		})
	}
}

// waitUntil waits for what another goroutine or process does.
func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen in time")
		}
	}
}

// TestAHookThatIsSavedWhileAPrintedRunWaitsIsLive saves a hook within the first second, in which
// nobody watches, while the model thinks: it runs when the watch begins.
func TestAHookThatIsSavedWhileAPrintedRunWaitsIsLive(t *testing.T) {
	for name, args := range map[string][]string{"print": {"-p", "think"}, "json": {"--mode", "json", "think"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := newModelServer("openai-completions", "text I think.\nwait\ntext Done.", "")
			t.Cleanup(s.http.Close)
			w.write(w.agentFile("config.toml"), s.settings())
			says := func(word string) {
				w.write(w.agentFile("hooks/says.lua"), `pi.on("session_start", function() pi.exec("sh", { "-c", "echo `+word+` > said" }) end)`)
			}
			says("old")
			said := w.mailbox("said")
			r := w.background(args...)
			if got := said(); got != "old" {
				t.Errorf("the hook said %q", got)
			}
			says("new")
			if got := said(); got != "new" {
				t.Errorf("the saved hook said %q", got)
			}
			s.goOn <- struct{}{}
			if err := r.cmd.Wait(); err != nil || !strings.Contains(r.output.String(), "Done.") {
				t.Errorf("%v:\n%s", err, r.output.String())
			}
		})
	}
}
