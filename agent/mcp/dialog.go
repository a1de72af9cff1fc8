package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/printable"
)

// Asker is a front end that shows its user whole questions of servers.
type Asker interface {
	// AskQuestion returns what became of a question.
	AskQuestion(ctx context.Context, q Question) (Reply, error)
	// OpensPages reports whether the page of a question was opened when the user has accepted it.
	OpensPages() bool
}

// maxTries is how often a user, or the program that answers, is asked for what a server accepts.
const maxTries = 8

// Dialogs returns what asks the user of a front end what servers want to know, one field after
// the other unless it is an [Asker]; see [Options]. open shows a page to the user, who has agreed
// to that; nil: users open pages themselves. What is left is not answered.
func Dialogs(ui agent.UI, open func(ctx context.Context, url string) error) func(ctx context.Context, q Question) (Reply, error) {
	return func(ctx context.Context, q Question) (r Reply, err error) {
		asker, asksWhole := ui.(Asker)
		switch {
		case !ui.HasUI():
			return Reply{Action: Cancel}, nil
		case asksWhole:
			r, err = askWhole(ctx, asker, q)
		default:
			r, err = newDialog(ui, &q).ask(ctx, &q)
		}
		if err == nil && r.Action == Accept && q.URL != "" && !(asksWhole && asker.OpensPages()) {
			openPage(ctx, ui, open, q.URL)
		}
		return r, err
	}
}

// openPage opens a page that the user wants, or says that they have to.
func openPage(ctx context.Context, ui agent.UI, open func(context.Context, string) error, page string) {
	why := ""
	if open != nil {
		err := open(ctx, page)
		if err == nil {
			return
		}
		why = " (" + err.Error() + ")"
	}
	ui.Notify("open this page: "+printable.VisibleLine(page)+why, agent.LevelInfo)
}

// askWhole has a front end ask a question until the answer is one that the server accepts.
func askWhole(ctx context.Context, asker Asker, q Question) (Reply, error) {
	again := q
	for range maxTries {
		r, err := asker.AskQuestion(ctx, again)
		if err != nil || r.Action != Accept {
			return r, err
		}
		values, wrong := q.check(r.Values)
		if wrong == nil {
			return Reply{Action: Accept, Values: values}, nil
		}
		again.Message = q.Message + "\n" + wrong.Error()
	}
	return Reply{Action: Cancel}, nil
}

// dialog is a question on its way to the user, field by field.
type dialog struct {
	ui       agent.UI
	title    string
	isClient bool // a program answers
	isWhole  bool // the one choice is all that is asked for: to decline is one, too
}

func newDialog(ui agent.UI, q *Question) dialog {
	client, ok := ui.(agent.Client)
	return dialog{ui: ui, title: "MCP server " + q.Server + ": " + printable.Cut(printable.Line(q.Message), 300), isClient: ok && client.IsClient()}
}

const (
	chooseYes     = "yes"
	chooseNo      = "no"
	chooseAnswer  = "answer"
	chooseDecline = "decline"
	chooseNone    = "\x00none" // no value of a server
)

// errDeclined says that the user does not want to answer.
var errDeclined = errors.New("declined")

// ask asks a question. Of a form the user first sees all that it wants to know, and may decline; one
// choice is seen at once.
func (d dialog) ask(ctx context.Context, q *Question) (Reply, error) {
	switch {
	case q.URL != "":
		d.title += "\nIt wants a page opened, where it may ask for more: " + printable.VisibleLine(q.URL)
		return d.agree(ctx, chooseYes, chooseNo, chooseNo)
	case len(q.Fields) == 0:
		return d.agree(ctx, chooseYes, chooseNo, chooseNo)
	}
	if d.isWhole = len(q.Fields) == 1 && (q.Fields[0].Type == FieldYesNo || q.Fields[0].Type == FieldChoose); !d.isWhole {
		wants := d
		wants.title += "\nIt wants to know: " + q.names()
		if r, err := wants.agree(ctx, chooseAnswer, chooseDecline, chooseAnswer); err != nil || r.Action != Accept {
			return r, err
		}
	}
	r := Reply{Action: Accept, Values: map[string]any{}}
	for i := range q.Fields {
		f := &q.Fields[i]
		value, given, ok, err := d.field(ctx, f)
		if errors.Is(err, errDeclined) {
			return Reply{Action: Decline}, nil
		}
		if err != nil || !ok {
			return Reply{Action: Cancel}, err
		}
		if given {
			r.Values[f.Name] = value
		}
	}
	return r, nil
}

// names are what a question asks for, in a row.
func (q *Question) names() string {
	var names []string
	for i := range q.Fields {
		name := printable.Line(q.Fields[i].shown())
		if !q.Fields[i].Required {
			name += " (optional)"
		}
		names = append(names, name)
	}
	return printable.Cut(strings.Join(names, ", "), 500)
}

// agree asks for a yes or a no to what the title says; usual is the one that is marked at first.
func (d dialog) agree(ctx context.Context, yes, no, usual string) (Reply, error) {
	chosen, ok, err := d.ui.Select(ctx, d.title, agent.Choices(yes, no), agent.DialogOptions{Default: []string{usual}})
	switch {
	case err != nil || !ok || len(chosen) == 0:
		return Reply{Action: Cancel}, err
	case chosen[0] == yes:
		return Reply{Action: Accept, Values: map[string]any{}}, nil
	}
	return Reply{Action: Decline}, nil
}

// field asks for one value until it is one that the server accepts. given is false for an
// optional one that is left out; ok is false if the user left the dialog, or nothing comes of it.
func (d dialog) field(ctx context.Context, f *Field) (value any, given, ok bool, err error) {
	title := d.title + "\n" + f.shown()
	if f.Description != "" {
		title += ": " + printable.Line(f.Description)
	}
	if !f.Required {
		title += " (optional)"
	}
	wrong := ""
	for range maxTries {
		value, given, ok, err = d.askOnce(ctx, f, strings.TrimSuffix(title+"\n"+wrong, "\n"))
		switch {
		case err != nil || !ok || !given && !f.Required:
			return nil, false, ok, err
		case !given:
			wrong = wantsValue
			continue
		}
		checked, bad := f.Check(value)
		if bad == nil {
			return checked, true, true, nil
		}
		wrong = bad.Error()
	}
	return nil, false, false, nil
}

// askOnce asks once for one value; given is false if there is none.
func (d dialog) askOnce(ctx context.Context, f *Field, title string) (value any, given, ok bool, err error) {
	switch {
	case f.Type == FieldChooseMany && d.isClient: // which has one answer for a choice
		return d.chooseInWords(ctx, f, title)
	case f.Type == FieldYesNo || f.Type == FieldChoose || f.Type == FieldChooseMany:
		return d.choose(ctx, f, title)
	}
	usual := ""
	if f.Default != nil && json.Unmarshal(f.Default, &usual) != nil {
		usual = string(f.Default)
	}
	text, ok, err := d.ui.Input(ctx, title, usual, agent.DialogOptions{Empty: true})
	if err != nil || !ok {
		return nil, false, ok, err
	}
	text = cmp.Or(text, usual)
	return text, text != "", true, nil
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
	if d.isWhole {
		choices = append(choices, agent.Choice{Value: "\x00" + chooseDecline, Label: chooseDecline})
	}
	chosen, ok, err := d.ui.Select(ctx, title, choices, agent.DialogOptions{Multi: many, Empty: many, Default: marked})
	switch {
	case err != nil || !ok:
		return nil, false, ok, err
	case many:
		return chosen, f.Required || len(chosen) > 0, true, nil
	case len(chosen) == 0 || chosen[0] == chooseNone:
		return nil, false, true, nil
	case d.isWhole && chosen[0] == "\x00"+chooseDecline:
		return nil, false, false, errDeclined
	}
	return chosen[0], true, true, nil
}

// chooseInWords asks for several of some values in one line.
func (d dialog) chooseInWords(ctx context.Context, f *Field, title string) (value any, given, ok bool, err error) {
	names := make([]string, len(f.Choices))
	for i, c := range f.Choices {
		names[i] = c.Value
	}
	usual := strings.Join(defaults(f, agent.Choices(names...)), ", ")
	line, ok, err := d.ui.Input(ctx, title+"\nwith commas between them: "+strings.Join(names, ", "), usual, agent.DialogOptions{Empty: true})
	if err != nil || !ok {
		return nil, false, ok, err
	}
	chosen := []string{}
	for word := range strings.SplitSeq(cmp.Or(line, usual), ",") {
		if word = strings.TrimSpace(word); word != "" {
			chosen = append(chosen, word)
		}
	}
	return chosen, f.Required || len(chosen) > 0, true, nil
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
