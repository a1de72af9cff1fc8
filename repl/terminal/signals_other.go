//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import "os"

// keysNotSignals has nothing to do where the line editor reads the console.
func keysNotSignals(*os.File) error { return nil }

func unread(*os.File) int { return 0 }
