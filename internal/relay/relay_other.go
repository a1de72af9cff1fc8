//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package relay

import (
	"errors"
	"os/exec"
)

// Possible says whether there are pseudo-terminals.
const Possible = false

// Run fails.
func Run(*exec.Cmd, Options) (End, error) {
	return End{}, errors.New("there are no pseudo-terminals on this system")
}
