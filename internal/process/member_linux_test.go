package process

import (
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAGroupOfWhichNobodyLivesIsNotAlive(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read line")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	Group(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid
	if !Alive(group) || !Running(group) {
		t.Error("it lives")
	}
	in.Close()
	// Until somebody waits for it, it is there and has ended.
	if err := unix.Waitid(unix.P_PID, group, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-group, 0); err != nil {
		t.Fatalf("it is gone: %v", err)
	}
	if Alive(group) || Running(group) {
		t.Error("it has ended")
	}
	_ = cmd.Wait()
	if Alive(group) || Running(group) || Running(0) {
		t.Error("it is gone")
	}
}

func TestAGroupOfZombiesIsStopped(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	Group(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Nobody asks how it ended before Stop is over, so it stays in its group.
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		Stop(cmd.Process.Pid, time.Hour)
	}()
	select {
	case <-stopped:
	case <-time.After(30 * time.Second):
		t.Error("Stop waits for a process that has ended")
	}
	_ = cmd.Wait()
}

// inOtherGroups is a shell that has ended, and left a process in a group of its own that the
// shell made inside of its session. out ends when that process does.
func inOtherGroups(t *testing.T) (session int, out io.Reader) {
	t.Helper()
	cmd, r := started(t, Session, "set -m; sleep 1000 & echo ready; exec 2>&-")
	t.Cleanup(func() { Stop(cmd.Process.Pid, 0) })
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, r
}

func TestASessionIsAliveWithWhateverGroupsItHas(t *testing.T) {
	for name, end := range map[string]func(session int){
		"stopped":   func(session int) { Stop(session, time.Minute) },
		"killed":    func(session int) { Stop(session, 0) },
		"signalled": func(session int) { _ = signalAll(session, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			session, out := inOtherGroups(t)
			if !Alive(session) {
				t.Error("a process of the session lives")
			}
			end(session)
			_, _ = io.Copy(io.Discard, out)
		})
	}
}
