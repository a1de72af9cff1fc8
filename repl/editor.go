package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

// Editor has the user edit a text in the program that Options.Editor names,
// which gets the terminal meanwhile. There is no text if the editor fails or
// saves nothing.
func (p *user) Editor(ctx context.Context, title, prefill string, o agent.DialogOptions) (string, bool, error) {
	if err := p.begin(); err != nil {
		return "", false, err
	}
	if !p.HasUI() {
		return "", false, nil
	}
	if p.opts.Editor == "" {
		p.Notify("no editor: set VISUAL or EDITOR", agent.LevelWarning)
		return "", false, nil
	}
	if lines := paragraphs(asked(o.From, title)); title != "" {
		p.screen.printNow(lines...)
	}
	text, saved, err := p.editText(ctx, prefill)
	if ctx.Err() != nil {
		return "", false, ctx.Err()
	}
	if err != nil {
		p.Notify(err.Error(), agent.LevelWarning)
		return "", false, nil
	}
	return text, saved, nil
}

// editText has the user edit a text in a temporary file that nobody else can read. saved
// is false if the editor did not write the file.
func (p *user) editText(ctx context.Context, prefill string) (text string, saved bool, err error) {
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
	if err := p.runEditor(ctx, path); err != nil {
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

// runEditor runs the editor on a file. The terminal is lent to it.
func (p *user) runEditor(ctx context.Context, path string) error {
	return p.lend(func() error {
		cmd := editorCommand(ctx, p.opts.Editor, path)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.opts.In, p.opts.Out, p.opts.Out
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		if exit := exitOf(cmd); exit.Signal != "" || exit.Code > 128 { // of a shell, for what a signal ended
			p.term.Killed()
		}
		if err != nil {
			return fmt.Errorf("edit with %s: %w", printable.Text(p.opts.Editor), err)
		}
		return nil
	})
}

// Lend gives the terminal to a program and waits for its end.
func (p *user) Lend(ctx context.Context, program agent.Program) (agent.Exit, error) {
	if err := p.begin(); err != nil {
		return agent.Exit{}, err
	}
	if !p.HasUI() || !isTerminal(p.opts.Out) {
		return agent.Exit{}, agent.ErrNoTerminal
	}
	var exit agent.Exit
	err := p.lend(func() error {
		cmd := exec.CommandContext(ctx, program.Name, program.Args...)
		cmd.Dir, cmd.Env = program.Dir, append(os.Environ(), program.Env...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.opts.In, p.opts.Out, p.opts.Out
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		exit = exitOf(cmd)
		if exit.Signal != "" { // codes above 128 may be the program's own, as git's 129
			p.term.Killed()
		}
		if _, ended := errors.AsType[*exec.ExitError](err); ended {
			return nil
		}
		return err
	})
	if ctx.Err() != nil {
		return exit, ctx.Err()
	}
	return exit, err
}
