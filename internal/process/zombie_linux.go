package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// onlyZombies reports whether all processes of a group have ended.
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

// isZombie reports a process that is only there until its parent asks how it ended.
func isZombie(pid int) bool {
	zombie, _, _ := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return zombie
}

// readStat reads whether a process has ended, and its group: "pid (name) state parent
// group …", where the name may hold anything. It is false of one that is gone.
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
