package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// onlyZombies reports whether all processes of a group have ended.
func onlyZombies(group int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	ended := false
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		// "pid (name) state parent group …", where the name may hold anything
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			return false
		}
		ended = true
	}
	return ended
}
