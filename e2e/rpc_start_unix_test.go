//go:build unix

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// served is a program that serves a client, the test.
type served struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	errors strings.Builder // when it has ended
}

// serves starts pi --mode rpc.
func (w *world) serves(args ...string) *served {
	w.t.Helper()
	s := &served{t: w.t, cmd: w.command(append([]string{"--mode", "rpc"}, args...)...)}
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.in, err = s.cmd.StdinPipe()
	}
	s.cmd.Stderr = &s.errors
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<20)
	return s
}

func (s *served) sends(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// record reads up to the next record of a type.
func (s *served) record(kind string) (fields map[string]any) {
	s.t.Helper()
	for s.out.Scan() {
		fields = nil
		if err := json.Unmarshal(s.out.Bytes(), &fields); err != nil {
			s.t.Fatalf("no record: %s", s.out.Bytes())
		}
		if fields["type"] == kind {
			return fields
		}
	}
	s.t.Fatalf("no record of type %s came; on standard error:\n%s", kind, s.errors.String())
	return nil
}

// ends reads the rest of what is written and wants an exit status.
func (s *served) ends(status int) {
	s.t.Helper()
	for s.out.Scan() {
	}
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("exit status %d, want %d:\n%s", got, status, s.errors.String())
	}
}

const asksAtTheStart = `pi.on("session_start", function(event, ctx) print("it is " .. tostring(ctx.ui.input("Who is there?"))) end)`

func TestADialogOfTheStartIsAnsweredByTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/asks.lua"), asksAtTheStart)
	s := w.serves("--model", "demo/tour")
	question := s.record("extension_ui_request")
	s.sends(`{"id":1,"type":"get_state"}`)
	s.record("response") // reads do not wait for the start
	s.sends(`{"type":"extension_ui_response","id":"` + question["id"].(string) + `","value":"Anna"}`)
	s.sends(`{"id":2,"type":"set_session_name","name":"x"}`)
	if answer := s.record("response"); answer["success"] != true {
		t.Errorf("%v", answer)
	}
	s.in.Close()
	s.ends(statusDone)
	if !strings.Contains(s.errors.String(), "it is Anna") {
		t.Errorf("the hook was told something else:\n%s", s.errors.String())
	}
}

// Neither a client that is gone nor a signal leaves the start at its question.
func TestAQuestionOfTheStartDoesNotOutliveItsClient(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(s *served)
		status int
		told   string // the hook, whose handler a signal interrupts
	}{
		"end of input": {func(s *served) { s.in.Close() }, statusDone, "it is nil"},
		"TERM":         {func(s *served) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, statusTerminated, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.agentFile("hooks/asks.lua"), asksAtTheStart)
			s := w.serves("--model", "demo/tour")
			s.record("extension_ui_request")
			c.end(s)
			s.ends(c.status)
			if !strings.Contains(s.errors.String(), c.told) {
				t.Errorf("the hook was told something else:\n%s", s.errors.String())
			}
		})
	}
}

func TestASignalEndsTheServedRunInOrder(t *testing.T) {
	t.Parallel()
	for sig, status := range map[syscall.Signal]int{syscall.SIGINT: statusInterrupted, syscall.SIGTERM: statusTerminated, syscall.SIGHUP: statusHungUp} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.agentFile("hooks/bye.lua"), `pi.on("session_shutdown", function(event) assert(pi.exec("touch", { "said-goodbye" })) end)`)
			started := w.mailbox("started")
			s := w.serves("--model", "demo/tour")
			s.sends(`{"id":1,"type":"prompt","message":"run ` + "`echo $$ > started; sleep 60`" + `"}`)
			pid := started()
			_ = s.cmd.Process.Signal(sig)
			s.record("agent_settled")
			s.ends(status)
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

func TestAClientThatDoesNotReadDoesNotKeepTheServedRunFromItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("--mode", "rpc", "--no-session")
	out, err := cmd.StdoutPipe() // of which nothing is read
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdin = strings.NewReader(strings.Repeat(`{"type":"get_commands"}`+"\n", 2000))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	state, err := cmd.Process.Wait()
	if err != nil || state.ExitCode() != statusDone {
		t.Errorf("%v, %v", state, err)
	}
}
