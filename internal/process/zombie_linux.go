package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// onlyZombies reports whether a group has processes and all of them have ended, with no
// parent that has asked how.
func onlyZombies(group int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	ended := false
	for _, path := range stats {
		zombie, of, ok := readStat(path)
		if !ok || of != strconv.Itoa(group) {
			continue
		}
		if !zombie {
			return false
		}
		ended = true
	}
	return ended
}

// isZombie reports whether a process has ended and is only there until its parent asks
// how.
func isZombie(pid int) bool {
	zombie, _, _ := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return zombie
}

// readStat reads from /proc/PID/stat whether a process has ended, and its group: "pid
// (name) state parent group …", where the name may have anything in it. ok is false if
// the process is gone.
func readStat(path string) (zombie bool, group string, ok bool) {
	stat, err := os.ReadFile(path)
	if err != nil {
		return false, "", false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return false, "", false
	}
	return fields[0][0] == 'Z' || fields[0][0] == 'X', string(fields[2]), true
}
