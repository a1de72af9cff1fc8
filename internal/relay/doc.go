// Package relay runs a command in a terminal of its own, a pseudo-terminal, and passes on
// what goes between that and the terminal of a user: keys as they are typed, output as
// it comes, each size of the window. So a command has all that it has at a shell, an
// editor or a question for a password among them, and its output is seen by the caller
// too.
//
//	end, err := relay.Run(cmd, relay.Options{In: tty, Out: tty, Output: record})
//
// The keys that make signals make them in the command's terminal, so that Ctrl+C ends the
// command and not this program. When the command is stopped, by Ctrl+Z or by itself, this
// program stops too, with the user's terminal as it was, and the command goes on when
// this program does. A command that reads its keys one by one gets Ctrl+Z as a key.
//
// The end of the command is the end of its first process. What that has left behind gets
// SIGHUP from the system, as when a window is closed.
//
// Where there are no pseudo-terminals, Possible is false and Run fails. The package knows
// nothing of the rest of the program.
package relay

import (
	"io"
	"os"
	"time"

	"pi/internal/process"
)

// Options say how a command is connected. In and Out are the user's terminal.
type Options struct {
	In, Out *os.File

	// Output gets what the command writes, as it is, after it was shown.
	Output io.Writer
	// Resized is told the size of the window at the start and when it changes; 0: it is not
	// known. It may be nil, as may the other functions. All of them, and Output, are used by
	// one goroutine.
	Resized func(columns, rows int)
	// Modes returns the sequences that undo what the command has made of the terminal, or
	// that do it again. They are written around a stop, and at the end.
	Modes func(on bool) string
	// AtRowStart reports whether the command has left the cursor at the start of a row. If it
	// has not, a row is begun around a stop, and at the end.
	AtRowStart func() bool
	// Started is told the process of the command, which leads its group.
	Started func(pid int)
	// Watcher ends the command if this program is killed; nil: the system may, as when a
	// window is closed.
	Watcher *process.Watcher

	// Stop ends the command when it is closed: all of its group gets TERM and, after
	// Grace, KILL.
	Stop  <-chan struct{}
	Grace time.Duration
}

// End is how a command ended.
type End struct {
	ExitCode int    // if no signal ended it
	Signal   string // "SIGINT"; "" if none did
	Ended    bool   // because Stop was closed
	Open     bool   // a process in the background still has its terminal
	Unread   []byte // was typed, and the command did not read it
}

func (o Options) withDefaults() Options {
	if o.Output == nil {
		o.Output = io.Discard
	}
	if o.Resized == nil {
		o.Resized = func(int, int) {}
	}
	if o.Modes == nil {
		o.Modes = func(bool) string { return "" }
	}
	if o.AtRowStart == nil {
		o.AtRowStart = func() bool { return true }
	}
	if o.Started == nil {
		o.Started = func(int) {}
	}
	return o
}
