//go:build !unix

package process

import "os/exec"

// Watcher does nothing: there are no process groups here.
type Watcher struct {
	Instead func(groups []int)
}

// Start starts a command.
func (*Watcher) Start(cmd *exec.Cmd) error { return cmd.Start() }

// End does nothing.
func (*Watcher) End(int) {}

// Release does nothing.
func (*Watcher) Release(int) {}

// Look does nothing.
func (*Watcher) Look() {}

// Close does nothing.
func (*Watcher) Close() {}
