// Package terminal is the terminal of a person: keys come in, lines go out. It
// knows no agent and no session.
//
// [Open] begins to read. One goroutine, the [Keyboard], reads at all times. While
// a prompt is open it feeds the [Editor]; while a panel has grabbed the keys they
// are taken one by one, by name ([Keyboard.Key]); otherwise it collects whole
// lines in the [Inbox]. The terminal is in raw mode only while a prompt or a
// panel is open. Where only whole lines can be read, there is a plain editor that
// shows the prompt and edits nothing.
//
// Everything is written through the [Screen], which is only ever added to, except
// for the region of a panel and the footer above the prompt. A [Palette] colours
// text, and [Palette.Painted] makes lines that others drew fit to be shown.
package terminal

import (
	"os"

	"golang.org/x/term"
)

// Setup is what [Open] makes the input of a terminal from.
type Setup struct {
	In     *os.File
	Screen *Screen
	Inbox  *Inbox

	// Edit says that lines can be edited: In and the screen are the process's own
	// standard input and output, and one terminal.
	Edit     bool
	History  []string // lines that can be called up again, oldest first
	Complete Completer

	// Shortcut is asked for each key of an open prompt that is no text, by its name,
	// and takes it if it reports true. Late is told of such keys in a line that came
	// while no prompt was open. Both are called with the keyboard locked, must not
	// wait, and may be nil.
	Shortcut func(key string) bool
	Late     func(key string)
}

// Open begins to read the terminal. The caller closes the editor later and then stops
// the keyboard, which is nil where the editor can only read the console by
// itself.
func Open(s Setup) (k *Keyboard, e Editor, err error) {
	if canWait || !s.Edit {
		if k, err = newKeyboard(s); err != nil {
			return nil, nil, err
		}
	}
	if !s.Edit {
		return k, &plainEditor{screen: s.Screen, quiet: !term.IsTerminal(int(s.In.Fd()))}, nil
	}
	line, err := newLineEditor(k, s.Screen, s.History, s.Complete)
	if err != nil {
		if k != nil {
			k.Stop()
		}
		return nil, nil, err
	}
	return k, line, nil
}
