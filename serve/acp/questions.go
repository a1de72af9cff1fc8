package acp

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"pi/agent"
	"pi/agent/mcp"
	"pi/internal/printable"
)

var _ mcp.Asker = (*user)(nil)

// OpensPages reports whether the client opens the pages that servers want to be seen.
func (p *user) OpensPages() bool { return p.session.server.capable().pages }

// AskQuestion asks the client what a server wants to know, in a form as the server made it. A
// client that shows no forms is asked for a permission where yes or no, or one of a few values, is
// an answer; else there is none.
func (p *user) AskQuestion(ctx context.Context, q mcp.Question) (mcp.Reply, error) {
	can := p.session.server.capable()
	switch {
	case q.URL != "" && can.pages:
		return p.sendTo(ctx, q)
	case q.URL != "":
		q.Message += "\nIt wants a page opened, where it may ask for more: " + printable.VisibleLine(q.URL)
		return p.askPermission(ctx, q, mcp.Accept, mcp.Decline)
	case can.forms:
		return p.elicit(ctx, q, func(r *formRequest) { r.Mode, r.Schema = "form", formOf(&q) })
	case len(q.Fields) == 0:
		return p.askPermission(ctx, q, mcp.Accept, mcp.Decline)
	case len(q.Fields) == 1 && q.Fields[0].Type == mcp.FieldYesNo:
		return p.askYesNo(ctx, q)
	case len(q.Fields) == 1 && q.Fields[0].Type == mcp.FieldChoose:
		return p.askChoice(ctx, q)
	}
	p.cannotAsk(titleOfServer(q), agent.DialogOptions{})
	return mcp.Reply{Action: mcp.Cancel}, ctx.Err()
}

// titleOfServer is the first row of a question.
func titleOfServer(q mcp.Question) string {
	return "MCP server " + q.Server + ": " + q.Message
}

// elicit asks in the protocol's own way; set says how.
func (p *user) elicit(ctx context.Context, q mcp.Question, set func(r *formRequest)) (mcp.Reply, error) {
	s := p.session
	cancelled := mcp.Reply{Action: mcp.Cancel}
	if !s.mayAsk(ctx) {
		return cancelled, ctx.Err()
	}
	r := formRequest{SessionID: s.id, CallID: s.calls.shownID(agent.CallID(ctx)), Message: questionText(titleOfServer(q), "", agent.DialogOptions{})}
	set(&r)
	raw, err := s.server.conn.call(ctx, "elicitation/create", r)
	if err != nil || ctx.Err() != nil {
		return cancelled, ctx.Err()
	}
	answer, err := parseFields(raw)
	if err != nil {
		return cancelled, nil
	}
	switch action, _ := answer.text("action"); action {
	case "accept":
		values := map[string]any{}
		for name, value := range answer.object("content") {
			var is any
			if json.Unmarshal(value, &is) == nil && is != nil {
				values[name] = is
			}
		}
		return mcp.Reply{Action: mcp.Accept, Values: values}, nil
	case "decline":
		return mcp.Reply{Action: mcp.Decline}, nil
	}
	return cancelled, nil
}

// sendTo has the client open a page, and tells it later when the user is done there.
func (p *user) sendTo(ctx context.Context, q mcp.Question) (mcp.Reply, error) {
	id, s := newID(), p.session
	r, err := p.elicit(ctx, q, func(r *formRequest) { r.Mode, r.URL, r.ElicitationID = "url", q.URL, id })
	if r.Action == mcp.Accept && q.Done != nil {
		go func() { // it ends with the session
			select {
			case <-q.Done:
				s.server.conn.notify("elicitation/complete", pageSeen{id})
			case <-s.ctx.Done():
			}
		}()
	}
	return r, err
}

// askPermission asks for a permission; yes and no are what the answers mean.
func (p *user) askPermission(ctx context.Context, q mcp.Question, yes, no mcp.Action) (mcp.Reply, error) {
	s := p.session
	if !s.mayAsk(ctx) {
		return mcp.Reply{Action: mcp.Cancel}, ctx.Err()
	}
	title := titleOfServer(q)
	about := s.beginDialog(title, questionText(title, "", agent.DialogOptions{}))
	raw, err := s.server.conn.call(ctx, "session/request_permission", permissionRequest{s.id, about, permissionOptions(agent.DialogOptions{})})
	r := mcp.Reply{Action: mcp.Cancel}
	if err == nil && ctx.Err() == nil {
		switch selectedOption(raw) {
		case answerAllow:
			r.Action = yes
		case answerReject:
			r.Action = no
		}
	}
	s.endDialog(about.ID, r.Action == yes)
	return r, ctx.Err()
}

// askYesNo asks for a permission that is the value of the only field: both answers are one.
func (p *user) askYesNo(ctx context.Context, q mcp.Question) (mcp.Reply, error) {
	f := &q.Fields[0]
	q.Message += "\n" + labelOf(f)
	r, err := p.askPermission(ctx, q, mcp.Accept, mcp.Decline)
	if r.Action == mcp.Cancel {
		return r, err
	}
	return mcp.Reply{Action: mcp.Accept, Values: map[string]any{f.Name: r.Action == mcp.Accept}}, err
}

// askChoice asks for the value of the only field.
func (p *user) askChoice(ctx context.Context, q mcp.Question) (mcp.Reply, error) {
	f := &q.Fields[0]
	chosen, ok, err := p.selectOption(ctx, titleOfServer(q)+"\n"+labelOf(f), choicesOf(f), agent.DialogOptions{})
	if err != nil || !ok {
		return mcp.Reply{Action: mcp.Cancel}, err
	}
	return mcp.Reply{Action: mcp.Accept, Values: map[string]any{f.Name: chosen[0]}}, nil
}

// labelOf is what a user reads of a field.
func labelOf(f *mcp.Field) string {
	label := f.Name
	if f.Title != "" {
		label = f.Title
	}
	if f.Description != "" {
		label += ": " + f.Description
	}
	return label
}

func choicesOf(f *mcp.Field) (choices []agent.Choice) {
	for _, c := range f.Choices {
		choices = append(choices, agent.Choice{Value: c.Value, Label: c.Label})
	}
	return choices
}

// formOf is the form of a question. What the protocol has no place for is left out: the answer is
// checked all the same.
func formOf(q *mcp.Question) *formSchema {
	form := &formSchema{"object", map[string]any{}, []string{}}
	for i := range q.Fields {
		f := &q.Fields[i]
		form.Properties[f.Name] = propertyOf(f)
		if f.Required {
			form.Required = append(form.Required, f.Name)
		}
	}
	return form
}

// propertyOf is a field in a form.
func propertyOf(f *mcp.Field) map[string]any {
	is := map[string]any{}
	for name, text := range map[string]string{"title": f.Title, "description": f.Description} {
		if text != "" {
			is[name] = printable.Line(text)
		}
	}
	switch f.Type {
	case mcp.FieldYesNo:
		is["type"] = "boolean"
		setDefault[bool](is, f)
	case mcp.FieldNumber:
		is["type"] = "number"
		setBounds(is, "minimum", "maximum", f, func(float64) bool { return true })
		setDefault[float64](is, f)
	case mcp.FieldInteger:
		is["type"] = "integer"
		setBounds(is, "minimum", "maximum", f, isWhole)
		setDefault[int64](is, f)
	case mcp.FieldChooseMany:
		is["type"], is["items"] = "array", map[string]any{"anyOf": offers(choicesOf(f))}
		setBounds(is, "minItems", "maxItems", f, isCount)
		setDefault[[]string](is, f)
	case mcp.FieldChoose:
		is["type"], is["oneOf"] = "string", offers(choicesOf(f))
		setDefault[string](is, f)
	default:
		is["type"] = "string"
		setBounds(is, "minLength", "maxLength", f, isCount)
		if f.Pattern != "" {
			is["pattern"] = f.Pattern
		}
		if slices.Contains([]string{"email", "uri", "date", "date-time"}, f.Format) {
			is["format"] = f.Format
		}
		setDefault[string](is, f)
	}
	return is
}

// setDefault sets what a field has at first, if it is of the type that it has to be.
func setDefault[T any](is map[string]any, f *mcp.Field) {
	var value *T
	if f.Default != nil && json.Unmarshal(f.Default, &value) == nil && value != nil {
		is["default"] = *value
	}
}

// setBounds sets the bounds of a field that may stand in a form.
func setBounds(is map[string]any, least, most string, f *mcp.Field, may func(float64) bool) {
	for name, bound := range map[string]*float64{least: f.Min, most: f.Max} {
		if bound != nil && may(*bound) {
			is[name] = *bound
		}
	}
}

// isWhole reports whether a number is one that JSON shows without a fraction or an exponent.
func isWhole(n float64) bool { return n == math.Trunc(n) && math.Abs(n) < 1e15 }

func isCount(n float64) bool { return isWhole(n) && n >= 0 && n <= math.MaxUint32 }

// nameOfCall returns the name and the arguments of the tool that a recorded call is one of.
func nameOfCall(name string, input json.RawMessage) (string, json.RawMessage) {
	if called, arguments, _, ok := mcp.Recorded(name, input); ok {
		return called, arguments
	}
	return name, input
}

// isForwarder reports whether the calls of a tool may be calls of others, which are shown as those.
func isForwarder(name string) bool { return name == mcp.ToolName }
