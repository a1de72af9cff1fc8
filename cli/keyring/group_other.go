//go:build !unix

package keyring

import "os/exec"

// setOwnSession leaves it at what CommandContext does by itself: the command is
// ended, what it started is not.
func setOwnSession(*exec.Cmd) {}

func killGroup(int) {}
