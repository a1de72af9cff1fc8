//go:build !unix

package process

import (
	"fmt"
	"os"
)

// Signals lists the names of the signals that there are here: both end the process.
func Signals() []string { return []string{"TERM", "KILL"} }

// Signal ends a process, whichever signal it is.
func Signal(leader *os.Process, name string) error {
	if name != "TERM" && name != "KILL" {
		return fmt.Errorf("signal %s cannot be sent on this system", name)
	}
	return leader.Kill()
}

// SignalOf is the name of the signal that ended a process: here none does.
func SignalOf(*os.ProcessState) string { return "" }
