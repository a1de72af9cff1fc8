package process

import (
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
