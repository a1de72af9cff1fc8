package app

import (
	"context"
	"os"
	"strings"

	"golang.org/x/term"

	"pi/agent"
	"pi/repl"
)

// startDialogs asks what has to be answered before there is a front end, in dialogs like
// all others. Each question has the terminal for itself and gives it back: in between, what
// is written to it goes where it always went, and Ctrl+C ends the program.
type startDialogs struct {
	agent.NoUI
	options func() repl.Options
	typed   *repl.Typed // while a question had the terminal, but not for it
}

// hasDialogs reports whether there is a terminal in which a dialog can be shown.
func (p *Place) hasDialogs() bool {
	return !p.isPlain() && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// startUser is the user before there is a front end.
func (r *run) startUser() User {
	user := Terminal()
	if p := r.place; p.hasDialogs() {
		user.dialogs = startDialogs{options: p.look, typed: &r.typed}
	}
	return user
}

// hooksUser is the user as hooks meet them before there is a front end.
func (r *run) hooksUser() agent.UI {
	user := r.startUser()
	if user.dialogs != nil {
		return told{user.dialogs, user}
	}
	return early{user: user}
}

// told is the user of hooks in a terminal that has dialogs. What they are told is written
// between the questions.
type told struct {
	agent.UI
	user User
}

func (t told) Notify(text string, level agent.Level) { t.user.notify(text, level) }

func (startDialogs) HasUI() bool { return true }

// with lends the terminal to a question.
func (d startDialogs) with(ask func(agent.UI)) {
	f := repl.New(d.options())
	defer func() {
		f.Close() // what is typed until then counts
		*d.typed = f.Typed()
	}()
	f.Type(*d.typed)
	ask(f.UI())
}

func (d startDialogs) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (answer agent.Answer, err error) {
	d.with(func(ui agent.UI) { answer, err = ui.Confirm(ctx, title, message, o) })
	return answer, err
}

func (d startDialogs) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) (values []string, ok bool, err error) {
	d.with(func(ui agent.UI) { values, ok, err = ui.Select(ctx, title, choices, o) })
	return values, ok, err
}

func (d startDialogs) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (text string, ok bool, err error) {
	d.with(func(ui agent.UI) { text, ok, err = ui.Input(ctx, title, placeholder, o) })
	return text, ok, err
}

// choose asks for one of some words, each with what it means. It returns the first if the
// user leaves.
func (p User) choose(ctx context.Context, title string, o agent.DialogOptions, words ...string) (string, error) {
	choices := make([]agent.Choice, len(words))
	for i, w := range words {
		choices[i].Value, choices[i].Description, _ = strings.Cut(w, ": ")
	}
	values, ok, err := p.dialogs.Select(ctx, title, choices, o)
	if !ok || err != nil {
		return choices[0].Value, err
	}
	return values[0], nil
}
