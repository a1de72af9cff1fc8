package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"pi/agent"
)

// input is what a run without a user is to do.
type input struct {
	texts []string // never none
	piped string   // what of the first came from standard input, at its end
}

// readInput returns the prompts of the command line, with the text from standard input
// behind the first. It is a usage error if there is nothing to send.
func (o Options) readInput(ctx context.Context, stdin *os.File) (input, error) {
	piped, err := readPiped(ctx, stdin)
	if err != nil {
		return input{}, err
	}
	texts := o.Prompts
	switch {
	case piped == "":
	case len(texts) == 0:
		return input{[]string{piped}, piped}, nil
	default:
		texts = append([]string{texts[0] + "\n\n" + piped}, texts[1:]...)
	}
	if strings.TrimSpace(strings.Join(texts, "")) == "" {
		return input{}, UsageError{Err: errors.New(`no prompt: pi -p "what to do", or pipe it in`)}
	}
	return input{texts, piped}, nil
}

func (in input) prompts() (all []agent.Prompt) {
	for _, text := range in.texts {
		all = append(all, agent.Prompt{Text: text})
	}
	return all
}

// typed returns what a user typed of a text of in. What was piped in may be from
// anywhere, and names no files.
func (in input) typed(text string) string { return strings.TrimSuffix(text, in.piped) }

const maxPiped = 64 << 20

// readPiped returns all of standard input if it is a file or a pipe; "" if it is a terminal.
// The end of ctx ends the waiting, not the reading, which ends with the program.
func readPiped(ctx context.Context, f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return "", nil
	}
	type outcome struct {
		text []byte
		err  error
	}
	read := make(chan outcome, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(f, maxPiped+1))
		read <- outcome{b, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-read:
		switch {
		case got.err != nil:
			return "", fmt.Errorf("read standard input: %w", got.err)
		case len(got.text) > maxPiped:
			return "", fmt.Errorf("read standard input: more than %d MiB", maxPiped>>20)
		}
		return strings.TrimRight(strings.ToValidUTF8(string(got.text), "\uFFFD"), "\n"), nil
	}
}
