//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const asksAtTheStart = `pi.on("session_start", function(event, ctx) print("it is " .. tostring(ctx.ui.input("Who is there?"))) end)`

func TestADialogOfTheStartIsAnsweredByTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/asks.lua"), asksAtTheStart)
	c := w.client("--model", "demo/tour")
	question := c.event(0, "extension_ui_request")
	c.state() // reads do not wait for the start
	c.write(`{"type":"extension_ui_response","id":` + string(question.ID) + `,"value":"Anna"}` + "\n")
	c.call("set_session_name", object{"name": "x"}, nil)
	if status := c.end(); status != statusDone || !strings.Contains(c.stderr.String(), "it is Anna") {
		t.Errorf("status %d, or the hook was told something else:\n%s", status, c.stderr.String())
	}
}

// Neither a client that is gone nor a signal leaves the start at its question.
func TestAQuestionOfTheStartDoesNotOutliveItsClient(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		end    func(c *rpcClient)
		status int
		told   string // the hook, whose handler a signal interrupts
	}{
		"end of input": {func(c *rpcClient) { _ = c.in.Close() }, statusDone, "it is nil"},
		"TERM":         {func(c *rpcClient) { _ = c.cmd.Process.Signal(syscall.SIGTERM) }, statusTerminated, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.agentFile("hooks/asks.lua"), asksAtTheStart)
			c := w.client("--model", "demo/tour")
			c.event(0, "extension_ui_request")
			way.end(c)
			if status := c.status(); status != way.status || !strings.Contains(c.stderr.String(), way.told) {
				t.Errorf("status %d, or the hook was told something else:\n%s", status, c.stderr.String())
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
			c := w.client("--model", "demo/tour")
			c.start("prompt", says("run `echo $$ > started; sleep 60`"))
			pid := started()
			_ = c.cmd.Process.Signal(sig)
			c.event(0, "agent_settled")
			if got := c.status(); got != status {
				t.Errorf("exit status %d, want %d:\n%s", got, status, c.stderr.String())
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
