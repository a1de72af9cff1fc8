package app

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pi/agent"
	"pi/internal/printable"
)

// early is the person at the terminal as hooks meet them before there is a front end:
// they are asked line by line, and what would be shown has nowhere to go yet. Dialogs
// have no countdown here.
type early struct {
	agent.NoUI
	person Person
}

func (early) HasUI() bool { return true }

// Confirm asks for yes or no; anything but y or yes is no, also if nobody answers.
func (e early) Confirm(ctx context.Context, title, message string, _ agent.DialogOptions) (bool, error) {
	e.show(title, message)
	line, err := e.person.Ask(ctx, "y, or Enter for No: ")
	return err == nil && (strings.EqualFold(line, "y") || strings.EqualFold(line, "yes")), ctx.Err()
}

// Select lets the person choose an option by its number or its text. It reports false for
// any other answer.
func (e early) Select(ctx context.Context, title string, options []string, _ agent.DialogOptions) (string, bool, error) {
	e.show(title)
	for i, o := range options {
		fmt.Fprintf(e.person.Out, "%3d  %s\n", i+1, printable.VisibleLine(o))
	}
	line, err := e.person.Ask(ctx, "number, or Enter for none: ")
	if err != nil {
		return "", false, ctx.Err()
	}
	for i, o := range options {
		if line == strconv.Itoa(i+1) || line != "" && line == o {
			return o, true, nil
		}
	}
	return "", false, nil
}

// Input asks for a line of text. It reports false for an empty one, or if nobody answers.
func (e early) Input(ctx context.Context, title, placeholder string, _ agent.DialogOptions) (string, bool, error) {
	e.show(title, placeholder)
	line, err := e.person.Ask(ctx, "> ")
	return line, err == nil && line != "", ctx.Err()
}

func (e early) show(texts ...string) {
	for _, text := range texts {
		if text != "" {
			fmt.Fprintln(e.person.Out, printable.Visible(text))
		}
	}
}
