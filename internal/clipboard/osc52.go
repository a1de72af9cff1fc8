package clipboard

import (
	"encoding/base64"
	"strings"
)

// MostForTerminal is how many bytes are sent to a terminal. Several cut a sequence off, or
// drop it, beyond 100,000 characters, and three bytes become four of them.
const MostForTerminal = 74_000

// sequence returns the text as OSC 52, and inside of tmux or screen a second time in the
// wrapping that they take off. Which of the two reaches the terminal around them is a
// matter of their settings; both say the same.
func (c Clipboard) sequence(text string) string {
	plain := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07"
	switch {
	case c.Getenv("TMUX") != "":
		return plain + "\x1bPtmux;" + strings.ReplaceAll(plain, "\x1b", "\x1b\x1b") + "\x1b\\"
	case c.Getenv("STY") != "":
		return plain + wrappedForScreen(plain)
	}
	return plain
}

// wrappedForScreen returns a sequence in pieces that GNU screen passes on: it drops one
// that is longer than its buffer.
func wrappedForScreen(sequence string) string {
	const most = 240
	var b strings.Builder
	for len(sequence) > 0 {
		n := min(most, len(sequence))
		b.WriteString("\x1bP" + sequence[:n] + "\x1b\\")
		sequence = sequence[n:]
	}
	return b.String()
}

// terminalListens reports whether the terminal may know OSC 52: it is not known to ignore
// it.
func (c Clipboard) terminalListens() bool {
	if c.Getenv("TMUX") != "" || c.Getenv("STY") != "" { // TERM is that of tmux or screen
		return true
	}
	switch term := c.Getenv("TERM"); {
	case term == "", term == "dumb", term == "linux", strings.HasPrefix(term, "vt1"), strings.HasPrefix(term, "vt2"):
		return false
	case c.Getenv("TERM_PROGRAM") == "Apple_Terminal":
		return false
	}
	return true
}
