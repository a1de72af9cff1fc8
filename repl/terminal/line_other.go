//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import "os"

// lineMode is nothing where the console is read as lines only.
type lineMode struct{}

func readLineMode(*os.File) (lineMode, error) { return lineMode{}, nil }

func (m lineMode) set(*os.File) error { return nil }

func (m lineMode) keys() lineMode { return m }

func (m lineMode) silent() lineMode { return m }

func (m lineMode) is(*os.File) bool { return true }
