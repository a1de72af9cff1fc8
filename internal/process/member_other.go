//go:build unix && !linux

package process

import "iter"

// hasMember, members and isZombie: nothing tells here which processes a group has.
func hasMember(_ int, exists bool) bool { return exists }

func members(int) iter.Seq[int] { return func(func(int) bool) {} }

// CommandOf is "": nothing tells here with what a process was started.
func CommandOf(int) string { return "" }

func isZombie(int) bool { return false }
