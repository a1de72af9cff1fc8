package repl

import (
	"os"

	"golang.org/x/term"
)

// inputSetup is what openInput makes the input of a terminal from.
type inputSetup struct {
	In     *os.File
	Screen *screen
	Inbox  *inbox

	// Edit says that lines can be edited: In and the screen are the process's own
	// standard input and output, and one terminal.
	Edit     bool
	History  []string // what can be called up again, oldest first
	Complete completer

	// Shortcut is asked for each key of an open prompt that is no text, by its name,
	// and takes it if it reports true. Late is told of such keys in a line that came
	// while no prompt was open. Both are called with the keyboard locked, must not
	// wait, and may be nil.
	Shortcut func(key string) bool
	Late     func(key string)
}

// openInput begins to read the terminal. The keyboard is nil where the editor can
// only read the console by itself.
func openInput(s inputSetup) (k *keyboard, p prompter, err error) {
	if canWait || !s.Edit {
		if k, err = newKeyboard(s); err != nil {
			return nil, nil, err
		}
	}
	if !s.Edit {
		return k, &plainPrompter{screen: s.Screen, quiet: !term.IsTerminal(int(s.In.Fd()))}, nil
	}
	e, err := newLineEditor(k, s.Screen, s.History, s.Complete)
	if err != nil {
		if k != nil {
			k.stop()
		}
		return nil, nil, err
	}
	return k, e, nil
}
