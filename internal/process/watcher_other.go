//go:build !unix

package process

import (
	"crypto/rand"
	"os/exec"
)

// Watcher does nothing: there are no process groups here.
type Watcher struct {
	Instead func(groups []int)
}

// Start starts a command, which has the variable [CommandID].
func (*Watcher) Start(cmd *exec.Cmd) error {
	cmd.Env = append(cmd.Environ(), CommandID+"="+rand.Text())
	return cmd.Start()
}

// End does nothing.
func (*Watcher) End(int) {}

// Release does nothing.
func (*Watcher) Release(int) {}

// Look does nothing.
func (*Watcher) Look() {}

// Close does nothing.
func (*Watcher) Close() {}
