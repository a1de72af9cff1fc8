// Package clipboard copies text to the clipboard of the user, wherever that is.
//
// The terminal is asked first (OSC 52): it has the clipboard of the machine that the
// user sits at, also over ssh. It does not answer, so terminals that are known to
// ignore it, and texts that are too large for it, go to a program of the system instead:
// wl-copy, xclip, xsel, pbcopy or clip.exe, whichever is there and has a screen to talk
// to. Inside of tmux that is asked first, since it drops the sequence as it comes. Where it
// is too old to be asked (before 3.2), and in screen, the sequence is also wrapped, so that
// it reaches the terminal around them where they pass such on.
//
//	clipboard.go  [Clipboard.Copy]: which way a text goes
//	osc52.go      the sequence, and where it is of no use
//	tmux.go       tmux, which has one and knows another
//	program.go    programs that own a clipboard
//
// Nothing is read from a clipboard here, and no text is kept.
package clipboard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// Clipboard is where texts are copied to. The zero value has no terminal, and looks for
// programs in the process's own environment.
type Clipboard struct {
	// Terminal writes a sequence to the terminal, whole, between what else is written
	// there; nil if there is none, or if it is to get no sequences.
	Terminal func(sequence string) error

	Getenv   func(name string) string                                               // nil: os.Getenv
	LookPath func(name string) (string, error)                                      // nil: exec.LookPath
	Run      func(ctx context.Context, name string, args []string, in []byte) error // nil: runs the program
	Output   func(ctx context.Context, name string, args ...string) (string, error) // nil: runs the program, and returns what it printed
	System   string                                                                 // "": runtime.GOOS
}

// ErrNoWay says that there is no clipboard to be found.
var ErrNoWay = errors.New("copy: this terminal takes no text for its clipboard, and there is none of wl-copy, xclip, xsel, pbcopy and clip.exe that could")

// Copy copies a text and returns the way that it went, for people: "OSC 52", "into tmux's
// buffer" or the name of a program. What the terminal does with the sequence is not known. Where a program fails,
// the next one is tried; the error is that of all of them, and does not have the text.
func (c Clipboard) Copy(ctx context.Context, text string) (way string, err error) {
	c = c.withDefaults()
	tooLarge := len(text) > MostForTerminal
	if c.Terminal != nil && !tooLarge {
		if way, err = c.tmux(ctx, text); err == nil {
			return way, nil
		}
		err = nil // the terminal around may take the sequence all the same
	}
	if c.Terminal != nil && c.terminalListens() && !tooLarge {
		if err = c.Terminal(c.sequence(text)); err == nil {
			return "OSC 52", nil
		}
	}
	for _, p := range c.programs() {
		failed := c.copyWith(ctx, p, text)
		if failed == nil {
			return p.name, nil
		}
		err = errors.Join(err, failed)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("copy: %w", err)
	case tooLarge && c.Terminal != nil:
		return "", fmt.Errorf("copy: %d bytes are too many for the terminal, which takes %d, and no other clipboard was found", len(text), MostForTerminal)
	}
	return "", ErrNoWay
}

func (c Clipboard) withDefaults() Clipboard {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.LookPath == nil {
		c.LookPath = exec.LookPath
	}
	if c.Run == nil {
		c.Run = runProgram
	}
	if c.Output == nil {
		c.Output = outputOf
	}
	if c.System == "" {
		c.System = runtime.GOOS
	}
	return c
}
