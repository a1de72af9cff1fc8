// Package process starts commands in process groups or sessions of their own and ends
// them, so that nothing a command started is left behind.
//
//	Group, Session   before the start: the command leads a group, or a session
//	Environ          the environment of a command in a session of its own
//	Terminate, Kill  TERM and KILL for the group of a started command
//	Stop             both, with time between them, for whatever group
//	Signal           one of Signals for the group of a process that runs
//	SignalOf         which signal ended a process
//	Alive, Own       whether a group has a process; the group and session of this program
//	Running          whether there is a process of a number
//	CommandOf        what a group was started with
//	Watcher          ends what was started, should this program be killed
//
// A session has no terminal to ask at, and is named by the group of its leader. On Linux
// Alive, Stop and Signal count the groups that a command makes inside of its session with
// it, as `set -m` does. Where there are no groups they do what can be done for the command
// itself. The package knows nothing of the rest of the program.
package process

import (
	"os"
	"slices"
	"strings"
	"time"
)

// CommandID is a variable of the environment that only what a [Watcher] started has, and what
// that started in turn.
const CommandID = "PI_COMMAND_ID"

// Grace is the usual time between TERM and KILL.
const Grace = 2 * time.Second

// Environ is the environment of this program without what names its terminal to programs
// that would ask there: a command in a session of its own cannot.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GPG_TTY=") })
}
