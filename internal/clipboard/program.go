package clipboard

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os/exec"
	"time"
	"unicode/utf16"
)

// program is one that owns a clipboard, or hands a text to who does.
type program struct {
	name  string
	args  []string
	utf16 bool // it reads UTF-16 with a mark of the order of bytes
}

// programs returns those that are there and have what they need, the best first.
func (c Clipboard) programs() (found []program) {
	all := []struct {
		program
		fits bool
	}{
		{program{name: "wl-copy"}, c.Getenv("WAYLAND_DISPLAY") != ""},
		{program{name: "xclip", args: []string{"-selection", "clipboard", "-in"}}, c.Getenv("DISPLAY") != ""},
		{program{name: "xsel", args: []string{"--clipboard", "--input"}}, c.Getenv("DISPLAY") != ""},
		{program{name: "pbcopy"}, c.System == "darwin"},
		{program{name: "clip.exe", utf16: true}, c.System == "windows" || c.Getenv("WSL_DISTRO_NAME") != ""},
	}
	for _, p := range all {
		if _, err := c.LookPath(p.name); p.fits && err == nil {
			found = append(found, p.program)
		}
	}
	return found
}

// patience is how long a program may take for a text.
const patience = 5 * time.Second

// copyWith gives a text to a program.
func (c Clipboard) copyWith(ctx context.Context, p program, text string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	in := []byte(text)
	if p.utf16 {
		in = toUTF16(text)
	}
	if err := c.Run(ctx, p.name, p.args, in); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// runProgram runs a program with that input. Its output goes nowhere: some stay in the
// background to serve the text, and what they have of a pipe would be waited for.
func runProgram(ctx context.Context, name string, args []string, in []byte) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = bytes.NewReader(in)
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// toUTF16 encodes a text as Windows does.
func toUTF16(text string) []byte {
	units := utf16.Encode([]rune("\ufeff" + text))
	out := make([]byte, 0, 2*len(units))
	for _, u := range units {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}
