package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

// Editor has the person edit a text in the program that Options.Editor names,
// which gets the terminal meanwhile. There is no text if the editor fails or
// saves nothing.
func (r *REPL) Editor(ctx context.Context, title, prefill string) (string, bool, error) {
	if err := r.begin(); err != nil {
		return "", false, err
	}
	if !r.HasUI() || r.keyboard == nil {
		return "", false, nil
	}
	if r.opts.Editor == "" {
		r.Notify("no editor: set VISUAL or EDITOR", agent.LevelWarning)
		return "", false, nil
	}
	if err := r.floor.acquireDialog(ctx); err != nil {
		return "", false, err
	}
	defer r.floor.releaseDialog()
	for _, line := range paragraphs(title) {
		r.screen.Print(line)
	}
	text, saved, err := r.edit(ctx, prefill)
	if endedByInterrupt(err) {
		// The Ctrl+C that has ended the editor arrives here too: the terminal sends it to
		// all of its processes, in no order. It does not if somebody ended the editor alone.
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
	if ctx.Err() != nil {
		return "", false, ctx.Err()
	}
	if err != nil {
		r.Notify(err.Error(), agent.LevelWarning)
		return "", false, nil
	}
	return text, saved, nil
}

// edit has the person edit a text in a temporary file that nobody else can read. saved
// is false if the editor did not write the file.
func (r *REPL) edit(ctx context.Context, prefill string) (text string, saved bool, err error) {
	dir, err := os.MkdirTemp("", "pi-edit-")
	if err != nil {
		return "", false, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "text.md")
	if err := os.WriteFile(path, []byte(prefill), 0o600); err != nil {
		return "", false, fmt.Errorf("make a file to edit: %w", err)
	}
	// An editor that saves the file gives it another time than past, even with the same text.
	past := time.Unix(1e9, 0)
	if err := os.Chtimes(path, past, past); err != nil {
		return "", false, fmt.Errorf("make a file to edit: %w", err)
	}
	if err := r.runEditor(ctx, path); err != nil {
		return "", false, err
	}
	return editedText(path, past, prefill)
}

// editedText reads the text that was saved. A file that still has the time past was
// not. The line end that editors put at the end of a file is no part of the text.
func editedText(path string, past time.Time, prefill string) (text string, saved bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.ModTime().Equal(past) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read what was edited: %w", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", false, fmt.Errorf("read what was edited: %w", err)
	}
	text = strings.ToValidUTF8(string(b), "\uFFFD")
	if !strings.HasSuffix(prefill, "\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	return text, true, nil
}

// runEditor runs the editor on a file. The terminal is lent to it, and put in order
// when it ends.
func (r *REPL) runEditor(ctx context.Context, path string) error {
	r.prompter.Rest()
	defer r.keyboard.Lend()()
	defer r.screen.Lend()()
	defer r.prompter.Reset()
	cmd := editorCommand(ctx, r.opts.Editor, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.opts.In, r.opts.Out, r.opts.Out
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("edit with %s: %w", printable.Text(r.opts.Editor), err)
	}
	return nil
}
