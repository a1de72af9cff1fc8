//go:build unix

package process

import (
	"bufio"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// started runs a shell that starts a child in the background and says so; both hold
// the pipe that is returned.
func started(t *testing.T, prepare func(*exec.Cmd), script string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	prepare(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Kill(cmd); _ = cmd.Wait() })
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, r
}

func TestAWholeGroupIsEnded(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*exec.Cmd)
		script  string
		end     func(*exec.Cmd)
	}{
		"asked":                     {Group, "sleep 1000 & echo ready; wait", func(cmd *exec.Cmd) { _ = Terminate(cmd) }},
		"killed, in a session":      {Session, "trap '' TERM; sleep 1000 & echo ready; wait", Kill},
		"stopped":                   {Group, "sleep 1000 & echo ready; wait", func(cmd *exec.Cmd) { Stop(cmd.Process.Pid, time.Minute) }},
		"stopped, though it sleeps": {Group, "sleep 1000 & echo ready; kill -STOP 0; wait", func(cmd *exec.Cmd) { Stop(cmd.Process.Pid, time.Minute) }},
		"stopped against its will":  {Session, "trap '' TERM; sleep 1000 & echo ready; wait", func(cmd *exec.Cmd) { Stop(cmd.Process.Pid, time.Millisecond) }},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, out := started(t, test.prepare, test.script)
			if !Alive(cmd.Process.Pid) {
				t.Error("a group that was just started is not alive")
			}
			ended := make(chan struct{})
			go func() { defer close(ended); test.end(cmd) }()
			_, _ = io.Copy(io.Discard, out) // ends when nobody of the group holds the pipe
			_ = cmd.Wait()
			<-ended
		})
	}
}

func TestACommandDoesNotBelongToOurGroup(t *testing.T) {
	cmd, _ := started(t, Group, "echo ready; read line")
	own := Own()
	if slices.Contains(own, cmd.Process.Pid) || len(own) != 2 || !Alive(own[0]) {
		t.Errorf("command %d, ours %v", cmd.Process.Pid, own)
	}
}
