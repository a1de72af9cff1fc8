package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/repl/terminal"

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

// paletteOf colours a list on standard output, or leaves it as it is.
func paletteOf(p *app.Place) terminal.Palette { return terminal.Palette{On: p.Colours(os.Stdout)} }

// paintState is the state of something in a list, in a column of this width.
func paintState(colours terminal.Palette, state string, width int) string {
	ink := "warning" // something is to be done
	switch state {
	case "runs", "ready", "added", "ok":
		ink = "success"
	case "failed", "broken":
		ink = "error"
	case "disabled", "off":
		ink = "dim"
	}
	return colours.Paint(ink, fmt.Sprintf("%-*s", width, state))
}

// tell writes lines for the user, without what could command a terminal.
func tell(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, printable.Text(line))
	}
}
