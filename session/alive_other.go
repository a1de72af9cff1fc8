//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package session

func alive(int) bool { return true }
