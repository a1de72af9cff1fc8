//go:build unix

package luahooks

// handle is a file as package syscall names it.
func handle(fd uintptr) int { return int(fd) }
