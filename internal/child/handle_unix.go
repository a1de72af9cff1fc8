//go:build unix

package child

// handle is a file as package syscall names it.
func handle(fd uintptr) int { return int(fd) }
