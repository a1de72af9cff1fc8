package process

import (
	"os/exec"
	"syscall"
	"testing"

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
