package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"pi/internal/printable"

	"golang.org/x/term"
)

// forPrograms is standard output for JSON. A terminal gets escapes for what could
// command it; a file or a program gets every byte.
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

// tell writes lines for the person, without what could command a terminal.
func tell(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, printable.Text(line))
	}
}
