//go:build !unix

package child

import "syscall"

// handle is a file as package syscall names it.
func handle(fd uintptr) syscall.Handle { return syscall.Handle(fd) }
