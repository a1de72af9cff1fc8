package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"pi/internal/process"
	"pi/session/message"
)

// Clipboard reads the clipboard of the system through the programs that are there for it:
// wl-paste under Wayland, xclip under X11, pngpaste on macOS.
type Clipboard struct {
	Getenv func(name string) string
	Has    func(program string) bool // whether it can be run
	// Run runs a program and returns what it wrote, at most so many bytes. An error says
	// that it failed, wrote more, or that ctx ended.
	Run func(ctx context.Context, most int, program string, args ...string) ([]byte, error)
}

// SystemClipboard returns the clipboard of this process's environment.
func SystemClipboard() Clipboard {
	has := func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	}
	return Clipboard{Getenv: os.Getenv, Has: has, Run: runProgram}
}

// What the clipboard says if it has no image to give.
var (
	ErrNoImage   = errors.New("the clipboard has no image")
	errNoProgram = errors.New("no program reads images from the clipboard: wl-paste (of wl-clipboard), xclip or pngpaste does, where it is installed and there is a display")
	errTooMuch   = errors.New("it gave too much")
)

// clipboardTime is how long the programs may take together.
const clipboardTime = 3 * time.Second

// reader is a program that reads the clipboard.
type reader struct {
	program string
	display string   // the environment variable without which it has no clipboard; "" for none
	types   []string // arguments that have it list the types that are there; nil: it knows one
	image   []string // arguments that have it write an image; TYPE is the type
}

func readers() []reader {
	return []reader{
		{"wl-paste", "WAYLAND_DISPLAY", []string{"--list-types"}, []string{"--no-newline", "--type", "TYPE"}},
		{"xclip", "DISPLAY", []string{"-selection", "clipboard", "-t", "TARGETS", "-o"}, []string{"-selection", "clipboard", "-t", "TYPE", "-o"}},
		{"pngpaste", "", nil, []string{"-"}},
	}
}

// Image returns the image that is in the clipboard, within three seconds. The error is
// [ErrNoImage], or says what is missing or too large.
func (c Clipboard) Image(ctx context.Context) (Attachment, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, clipboardTime, fmt.Errorf("no answer within %v", clipboardTime))
	defer cancel()
	err := errNoProgram
	for _, r := range readers() {
		if r.display != "" && c.Getenv(r.display) == "" || !c.Has(r.program) {
			continue
		}
		data, failed := c.read(ctx, r)
		if failed == nil {
			return asIs("clipboard", data), nil
		}
		if err == errNoProgram || err == ErrNoImage { // the first failure says more than the want of an image elsewhere
			err = failed
		}
	}
	return Attachment{}, err
}

// read has one program write the image of the clipboard.
func (c Clipboard) read(ctx context.Context, r reader) ([]byte, error) {
	kind := "image/png"
	if r.types != nil {
		listed, err := c.Run(ctx, 64<<10, r.program, r.types...)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w", r.program, context.Cause(ctx))
		}
		if kind = imageType(string(listed)); err != nil || kind == "" {
			return nil, ErrNoImage // an empty clipboard is a failure to these programs
		}
	}
	args := make([]string, len(r.image))
	for i, arg := range r.image {
		args[i] = strings.Replace(arg, "TYPE", kind, 1)
	}
	data, err := c.Run(ctx, mostTogether, r.program, args...)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", r.program, context.Cause(ctx))
	case errors.Is(err, errTooMuch):
		return nil, tooLarge(mostTogether)
	case err != nil && r.types == nil, err == nil && message.ImageType(data) == "":
		return nil, ErrNoImage
	case err != nil:
		return nil, fmt.Errorf("%s: %w", r.program, err)
	}
	return data, nil
}

// imageType returns the first type of image in a list that models can see; "" if it has
// none.
func imageType(listed string) string {
	for _, kind := range []string{"image/png", "image/jpeg", "image/webp", "image/gif"} {
		for line := range strings.Lines(listed) {
			if strings.TrimSpace(line) == kind {
				return kind
			}
		}
	}
	return ""
}

// runProgram is Run of the system's clipboard. What the program started ends with it.
func runProgram(ctx context.Context, most int, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	out := &limited{most: most}
	cmd.Stdout, cmd.WaitDelay = out, 100*time.Millisecond
	process.Group(cmd)
	cmd.Cancel = func() error { process.Kill(cmd); return nil }
	out.full = func() { process.Kill(cmd) }
	err := cmd.Run()
	if out.isFull {
		err = errTooMuch
	}
	return out.kept.Bytes(), err
}

// limited is a buffer that takes most bytes, and calls full for more.
type limited struct {
	kept   bytes.Buffer // not embedded: its ReadFrom would pass by Write
	most   int
	full   func()
	isFull bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.kept.Len()+len(p) > l.most {
		if !l.isFull {
			l.isFull = true
			l.full()
		}
		return len(p), nil
	}
	return l.kept.Write(p)
}
