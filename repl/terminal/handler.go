package terminal

import "os"

// Zone is the live zone as it is at one moment: the rows below the transcript that may
// change, and where among them the cursor is, both counted from 0.
type Zone struct {
	Rows     []string // none wider than the window; colour sequences are no part of the width
	Row      int      // of the cursor
	Column   int      // of the cursor, in cells
	NoCursor bool     // no cursor is shown
}

// Handler has the functions that a [Terminal] calls. Any of them may be nil, and none may
// wait for something that the terminal has to do first.
type Handler struct {
	// Key is given each key. It is called by one goroutine, one key at a time.
	Key func(Key)
	// UsesAlt reports whether a key with Alt does something. Terminals send such a key as Esc and
	// the key without it, and so does a person who presses the two one after the other; of a key
	// that does nothing it is the latter. Nil: each may do something.
	UsesAlt func(name string) bool
	// Zone returns the live zone for a window of this size. It is called by the goroutine that
	// paints, once or a few times for a frame.
	Zone func(columns, rows int) Zone
	// Line is given each whole line that was typed in plain mode.
	Line func(text string)
	// Interrupt is called for Ctrl+C in plain mode, and for SIGINT, which is no key.
	Interrupt func()
	// End is called once, when there will be no more input; and in plain mode for each Ctrl+D
	// in an empty line.
	End func()
	// Resized is called before the zone is painted at another size.
	Resized func()
	// Focus is told that the window came to the front or left it, where the terminal tells.
	Focus func(in bool)
	// Resumed is called after the process was stopped and runs again.
	Resumed func()
	// Panicked is given the value and the stack of a panic in one of the other functions,
	// after which nothing more is read or painted; the terminal is still to be closed. If it is
	// nil the terminal is closed and the panic goes on.
	Panicked func(value any, stack []byte)
}

// Config is what [Start] makes a terminal from.
type Config struct {
	In, Out *os.File // nil: the process's own
	Handler Handler
	Palette Palette

	Plain bool // lines instead of keys, no live zone
	Dumb  bool // the same, and not one escape sequence is written

	Background string                   // "light" or "dark"; "" asks the terminal
	Getenv     func(name string) string // nil: os.Getenv

	focus bool // somebody wants to know whether the window is in front
}
