package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pi/agent"
	"pi/internal/printable"
)

// early is the user at the terminal as hooks meet them before there is a front end:
// they are asked and told line by line, and what else would be shown has nowhere to go yet.
// Dialogs have no countdown here.
type early struct {
	agent.NoUI
	user User
}

func (early) HasUI() bool { return true }

// Confirm asks for yes or no, and for always where that may be the answer; anything else
// is no, also if nobody answers.
func (e early) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	e.show(asker(o), title, message)
	prompt := "y, or Enter for No: "
	if o.Always != "" {
		prompt = "y, a for always in this session, or Enter for No: "
	}
	line, err := e.user.Ask(ctx, prompt)
	switch line = strings.ToLower(line); {
	case err != nil:
		return agent.No, ctx.Err()
	case line == "y" || line == "yes":
		return agent.Yes, ctx.Err()
	case o.Always != "" && (line == "a" || line == "always"):
		return agent.Always, ctx.Err()
	}
	return agent.No, ctx.Err()
}

// Select lets the user choose by number or text, with Multi several with commas between
// them. It reports false for any other answer.
func (e early) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	line, err := e.askChoice(ctx, title, "Enter for none", choices, o)
	if err != nil || line == "" {
		return nil, err == nil && o.Multi && o.Empty, ctx.Err()
	}
	values, ok := chosenIn(choices, line, o.Multi)
	return values, ok, nil
}

// askChoice shows what there is to choose from and returns the line that is typed; enter says what
// an empty one means.
func (e early) askChoice(ctx context.Context, title, enter string, choices []agent.Choice, o agent.DialogOptions) (line string, err error) {
	e.show(asker(o), title)
	for i, c := range choices {
		fmt.Fprintf(e.user.Out, "%3d  %s\n", i+1, printable.VisibleLine(strings.TrimSpace(c.Text()+"  "+c.Description)))
	}
	prompt := "number, or " + enter + ": "
	if o.Multi {
		prompt = "numbers with commas between them, or " + enter + ": "
	}
	return e.user.Ask(ctx, prompt)
}

// chosenIn are the values that a line names by number or text, with multi several with commas between
// them; false if it names something else.
func chosenIn(choices []agent.Choice, line string, multi bool) (values []string, ok bool) {
	words := []string{line}
	if multi {
		words = strings.Split(line, ",")
	}
	for _, word := range words {
		i := numbered(choices, strings.TrimSpace(word))
		if i < 0 {
			return nil, false
		}
		values = append(values, choices[i].Value)
	}
	return values, true
}

// numbered returns the position of the choice that a user named by its number or its
// text; -1: none.
func numbered(choices []agent.Choice, word string) int {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(choices) {
		return n - 1
	}
	return slices.IndexFunc(choices, func(c agent.Choice) bool { return c.Text() == word })
}

// Input asks for a line of text. It reports false if nobody answers, and for an empty line unless
// that may be an answer.
func (e early) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	e.show(asker(o), title, placeholder)
	ask := e.user.Ask
	if o.Secret {
		ask = e.user.AskSecret
	}
	line, err := ask(ctx, "> ")
	return line, err == nil && (line != "" || o.Empty), ctx.Err()
}

func (e early) Notify(text string, level agent.Level) { e.user.notify(text, level) }

// asker names the hook that asks.
func asker(o agent.DialogOptions) string {
	if o.From == "" {
		return ""
	}
	return "hook " + o.From + " asks:"
}

func (e early) show(texts ...string) {
	for _, text := range texts {
		if text != "" {
			fmt.Fprintln(e.user.Out, printable.Visible(text))
		}
	}
}
