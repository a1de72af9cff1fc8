package process

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasMember reports whether a group, or the session of that number, has a process that has
// not ended. exists says that the group has some process: without /proc that has to do.
func hasMember(group int, exists bool) bool {
	for range members(group) {
		return true
	}
	_, err := os.Stat("/proc/self")
	return exists && err != nil
}

// CommandOf is what the first process of a group, or of the session of that number, was
// started with; "" where nothing tells.
func CommandOf(group int) string {
	for pid := range members(group) {
		words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return strings.TrimSpace(strings.ReplaceAll(string(words), "\x00", " "))
	}
	return ""
}

// members are the processes of a group, and of the session of that number, that have not
// ended. The system is asked about each number in /proc, which costs less than reading what
// stands there; that is read of members alone.
func members(group int) iter.Seq[int] {
	return func(yield func(pid int) bool) {
		proc, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer proc.Close()
		names, _ := proc.Readdirnames(-1)
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err == nil && isIn(pid, group) && !isZombie(pid) && !yield(pid) {
				return
			}
		}
	}
}

// isIn reports whether a process is in a group, or the session of that number.
func isIn(pid, group int) bool {
	session, err := unix.Getsid(pid)
	if err == nil && session == group {
		return true
	}
	of, err := syscall.Getpgid(pid)
	return err == nil && of == group
}

// isZombie reports whether a process has ended and is only there until its parent asks
// how: "pid (name) state …", where the name may have anything in it.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 0 && (fields[0][0] == 'Z' || fields[0][0] == 'X')
}
