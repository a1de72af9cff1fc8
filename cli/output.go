package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"pi/internal/printable"

	"golang.org/x/term"
)

// forPrograms returns standard output for JSON. On a terminal, characters that could
// control it are escaped as JSON allows; a file or pipe gets every byte as it is.
func forPrograms() io.Writer {
	if term.IsTerminal(int(os.Stdout.Fd())) {
		return &printable.JSONWriter{W: os.Stdout}
	}
	return os.Stdout
}

// printJSON writes a value for programs.
func printJSON(v any) error {
	e := json.NewEncoder(forPrograms())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// tell writes lines for the user, without what could command a terminal.
func tell(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, printable.Text(line))
	}
}
