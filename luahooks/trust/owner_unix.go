//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OthersMayChange returns why somebody else may change a file, or what is in a
// folder; "" if only this user and root may. In a folder like /tmp everybody may
// add files, but not touch those of others.
func OthersMayChange(info fs.FileInfo) string {
	if why := ofOther(info); why != "" {
		return why
	}
	if info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Sprintf("may be written by everyone (mode %04o)", info.Mode().Perm())
	}
	return ""
}

// groupMayChange is OthersMayChange for a file that only this program writes: its group
// may not write it either.
func groupMayChange(info fs.FileInfo) string {
	if why := ofOther(info); why != "" {
		return why
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Sprintf("others may write to it (mode %04o)", info.Mode().Perm())
	}
	return ""
}

// ofOther returns why a file is of another user; "" if it is not.
func ofOther(info fs.FileInfo) string {
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
		return fmt.Sprintf("belongs to another user (uid %d)", owner.Uid)
	}
	return ""
}
