package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/printable"
)

// Dialogs returns what asks the user of a front end what servers want to know, one field after
// the other; see [Options]. open shows a page to the user, who has agreed to that; nil: users
// open pages themselves. What is left is not answered.
func Dialogs(ui agent.UI, open func(ctx context.Context, url string) error) func(ctx context.Context, q Question) (Reply, error) {
	return func(ctx context.Context, q Question) (Reply, error) {
		if !ui.HasUI() {
			return Reply{Action: Cancel}, nil
		}
		d := dialog{ui: ui, title: "MCP server " + q.Server + ": " + printable.Cut(printable.Line(q.Message), 300)}
		switch {
		case q.URL != "":
			return d.page(ctx, q.URL, open)
		case len(q.Fields) == 0:
			return d.agree(ctx)
		}
		r := Reply{Action: Accept, Values: map[string]any{}}
		for i := range q.Fields {
			f := &q.Fields[i]
			value, given, ok, err := d.field(ctx, f)
			if err != nil || !ok {
				return Reply{Action: Cancel}, err
			}
			if given {
				r.Values[f.Name] = value
			}
		}
		return r, nil
	}
}

// dialog is a question on its way to the user.
type dialog struct {
	ui    agent.UI
	title string
}

const (
	chooseYes  = "yes"
	chooseNo   = "no"
	chooseNone = "\x00none" // no value of a server
)

// agree asks for a yes or a no to what the server says.
func (d dialog) agree(ctx context.Context) (Reply, error) {
	chosen, ok, err := d.ui.Select(ctx, d.title, agent.Choices(chooseYes, chooseNo), agent.DialogOptions{Default: []string{chooseNo}})
	switch {
	case err != nil || !ok || len(chosen) == 0:
		return Reply{Action: Cancel}, err
	case chosen[0] == chooseYes:
		return Reply{Action: Accept, Values: map[string]any{}}, nil
	}
	return Reply{Action: Decline}, nil
}

// page shows an address, and opens it if the user wants that.
func (d dialog) page(ctx context.Context, url string, open func(context.Context, string) error) (Reply, error) {
	d.title += "\nIt wants a page opened, where it may ask for more: " + printable.VisibleLine(url)
	r, err := d.agree(ctx)
	if err != nil || r.Action != Accept || open == nil {
		return r, err
	}
	return Reply{Action: Accept}, open(ctx, url)
}

// field asks for one value until it is one that the server accepts. given is false for an
// optional one that is left out; ok is false if the user left the dialog.
func (d dialog) field(ctx context.Context, f *Field) (value any, given, ok bool, err error) {
	title := d.title + "\n" + cmp.Or(f.Title, f.Name)
	if f.Description != "" {
		title += ": " + printable.Line(f.Description)
	}
	if !f.Required {
		title += " (optional)"
	}
	for wrong := ""; ; {
		value, given, ok, err = d.ask(ctx, f, strings.TrimSuffix(title+"\n"+wrong, "\n"))
		if err != nil || !ok || !given {
			return nil, false, ok, err
		}
		checked, bad := f.Check(value)
		if bad == nil {
			return checked, true, true, nil
		}
		wrong = strings.TrimPrefix(bad.Error(), "invalid arguments: /value: ")
	}
}

// ask asks once for one value.
func (d dialog) ask(ctx context.Context, f *Field, title string) (value any, given, ok bool, err error) {
	switch f.Type {
	case FieldYesNo, FieldChoose, FieldChooseMany:
		return d.choose(ctx, f, title)
	}
	usual := ""
	if f.Default != nil && json.Unmarshal(f.Default, &usual) != nil {
		usual = string(f.Default)
	}
	text, ok, err := d.ui.Input(ctx, title, usual, agent.DialogOptions{})
	if err != nil || !ok {
		return nil, false, ok, err
	}
	if text = cmp.Or(text, usual); text == "" && !f.Required {
		return nil, false, true, nil
	}
	return text, true, true, nil
}

// choose asks for one of some values, or several.
func (d dialog) choose(ctx context.Context, f *Field, title string) (value any, given, ok bool, err error) {
	choices := agent.Choices("true", "false")
	choices[0].Label, choices[1].Label = chooseYes, chooseNo
	if f.Type != FieldYesNo {
		choices = nil
		for _, c := range f.Choices {
			choices = append(choices, agent.Choice{Value: c.Value, Label: c.Label})
		}
	}
	many, marked := f.Type == FieldChooseMany, defaults(f, choices)
	if !f.Required && !many {
		choices = append(choices, agent.Choice{Value: chooseNone, Label: "leave it out"})
		if len(marked) == 0 {
			marked = []string{chooseNone}
		}
	}
	chosen, ok, err := d.ui.Select(ctx, title, choices, agent.DialogOptions{Multi: many, Default: marked})
	switch {
	case err != nil || !ok:
		return nil, false, ok, err
	case many:
		return chosen, f.Required || len(chosen) > 0, true, nil
	case len(chosen) == 0 || chosen[0] == chooseNone:
		return nil, false, true, nil
	}
	return chosen[0], true, true, nil
}

// defaults are the values that are marked at first: those of the server, as far as they can be
// chosen.
func defaults(f *Field, choices []agent.Choice) (marked []string) {
	var of any
	if json.Unmarshal(f.Default, &of) != nil {
		return nil
	}
	all, isList := of.([]any)
	if !isList {
		all = []any{of}
	}
	for _, value := range all {
		text := fmt.Sprint(value)
		if slices.ContainsFunc(choices, func(c agent.Choice) bool { return c.Value == text }) {
			marked = append(marked, text)
		}
	}
	return marked
}
