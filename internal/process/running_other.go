//go:build !unix && !windows

package process

// Running reports whether there is a process with this id: here nobody can tell.
func Running(int) bool { return true }
