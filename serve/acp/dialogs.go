package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

// The answers that a client can give to a question of yes or no.
const (
	answerAllow  = "allow"
	answerAlways = "allow_always"
	answerReject = "reject"
)

// Confirm asks the client for a permission. A question of a gate is one about its call;
// other questions are shown as a call of their own.
func (p *user) Confirm(ctx context.Context, title, text string, o agent.DialogOptions) (agent.Answer, error) {
	s := p.session
	if !s.mayAsk(ctx) {
		return agent.No, ctx.Err()
	}
	asking, cancel := p.begin(ctx, o)
	defer cancel()
	question := questionText(title, text, o)
	about, atGate := s.calls.ask(agent.CallID(ctx), title, question)
	if !atGate {
		about = s.beginDialog(title, question)
	}
	raw, err := s.server.conn.call(asking, "session/request_permission", permissionRequest{s.id, fitCall(about), permissionOptions(o)})
	answer := agent.No
	if err == nil && ctx.Err() == nil {
		answer = readPermission(raw, o)
	}
	if !atGate {
		s.endDialog(about.ID, answer != agent.No)
	}
	return answer, ctx.Err()
}

// begin returns the context of a question, which ends with its time.
func (p *user) begin(ctx context.Context, o agent.DialogOptions) (context.Context, context.CancelFunc) {
	if o.TimeoutMS > 0 {
		return context.WithTimeout(ctx, time.Duration(o.TimeoutMS)*time.Millisecond)
	}
	return context.WithCancel(ctx)
}

// questionText is all that a user is to read of a question.
func questionText(title, text string, o agent.DialogOptions) string {
	lines := []string{printable.Text(title)}
	if strings.TrimSpace(text) != "" {
		lines = append(lines, printable.Text(text))
	}
	if o.From != "" {
		lines = append(lines, fmt.Sprintf("(hook %s asks)", printable.Line(o.From)))
	}
	return cut(strings.TrimSpace(strings.Join(lines, "\n")), mostText)
}

// permissionOptions returns what the client can answer.
func permissionOptions(o agent.DialogOptions) []permissionOption {
	options := []permissionOption{{answerAllow, "Allow", "allow_once"}}
	if o.Always != "" {
		what := printable.Cut(printable.Line(o.Always), titleOfCall)
		options = append(options, permissionOption{answerAlways, "Always allow in this session: " + what, "allow_always"})
	}
	return append(options, permissionOption{answerReject, "Reject", "reject_once"})
}

// readPermission reads the answer of the client. Whatever is not one of the offered yeses
// is a no.
func readPermission(raw json.RawMessage, o agent.DialogOptions) agent.Answer {
	switch option := selectedOption(raw); {
	case option == answerAllow:
		return agent.Yes
	case option == answerAlways && o.Always != "":
		return agent.Always
	}
	return agent.No
}

// selectedOption is the id of the option that a user has taken; "" if none was.
func selectedOption(raw json.RawMessage) string {
	all, err := parseFields(raw)
	if err != nil {
		return ""
	}
	outcome := all.object("outcome")
	if kind, _ := outcome.text("outcome"); kind != "selected" {
		return ""
	}
	option, _ := outcome.text("optionId")
	return option
}

// beginDialog shows a question that is about no call.
func (s *session) beginDialog(title, question string) toolCall {
	content := []any{contentOf(textOf(question))}
	c := toolCall{ID: "dialog-" + newID(), Title: titleOfQuestion(title), Kind: "other", Status: callPending, Content: &content}
	first := c
	first.SessionUpdate = "tool_call"
	s.out.send(first)
	return c
}

// titleOfQuestion is the title of a call that a question is about.
func titleOfQuestion(title string) string {
	return cmp.Or(printable.Cut(printable.Line(title), titleOfCall), "question")
}

// endDialog shows how it was answered.
func (s *session) endDialog(id string, answered bool) {
	u := toolCall{SessionUpdate: "tool_call_update", ID: id, Status: callCompleted}
	if !answered {
		u.Status = callFailed
	}
	s.out.send(u)
}

// field is the name of the only field of a form.
const field = "value"

// ask shows a form with one field and returns what was filled in; nil if the client has no
// forms, or the user gave no answer.
func (p *user) ask(ctx context.Context, title string, property map[string]any, o agent.DialogOptions) (json.RawMessage, error) {
	s := p.session
	if !s.server.capable().forms || o.Secret {
		p.cannotAsk(title, o)
		return nil, ctx.Err()
	}
	if !s.mayAsk(ctx) {
		return nil, ctx.Err()
	}
	asking, cancel := p.begin(ctx, o)
	defer cancel()
	raw, err := s.server.conn.call(asking, "elicitation/create", formRequest{
		SessionID: s.id, CallID: s.calls.shownID(agent.CallID(ctx)), Mode: "form", Message: questionText(title, "", o),
		Schema: &formSchema{"object", map[string]any{field: property}, []string{field}},
	})
	if err != nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all, err := parseFields(raw)
	if err != nil {
		return nil, nil
	}
	if action, _ := all.text("action"); action != "accept" {
		return nil, nil
	}
	return all.object("content")[field], nil
}

// cannotAsk tells that a question got no answer because this client cannot show it.
func (p *user) cannotAsk(title string, o agent.DialogOptions) {
	who := "the question"
	if o.From != "" {
		who = "hook " + o.From + " asks"
	}
	p.session.notify(fmt.Sprintf("%s %q, which this client cannot show: it has no answer", who, printable.Line(title)), agent.LevelWarning)
}

// Select shows a form with a choice. Where the client has no forms, it is asked for a
// permission that has the choices as its options.
func (p *user) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	if len(choices) == 0 {
		return nil, false, ctx.Err()
	}
	if !p.session.server.capable().forms {
		return p.selectOption(ctx, title, choices, o)
	}
	offered := offers(choices)
	property := map[string]any{"type": "string", "oneOf": offered}
	if o.Multi {
		property = map[string]any{"type": "array", "items": map[string]any{"anyOf": offered}}
	}
	preset(property, choices, o)
	raw, err := p.ask(ctx, title, property, o)
	if err != nil || raw == nil {
		return nil, false, err
	}
	var values []string
	if o.Multi {
		if json.Unmarshal(raw, &values) != nil {
			return nil, false, nil
		}
	} else if value, ok := (fields{field: raw}).text(field); ok {
		values = []string{value}
	} else {
		return nil, false, nil
	}
	for _, value := range values {
		if !slices.ContainsFunc(choices, func(c agent.Choice) bool { return c.Value == value }) {
			return nil, false, nil
		}
	}
	return values, true, nil
}

// mostOptions is how many choices a permission has at most.
const mostOptions = 8

// selectOption asks for a permission with an option for each choice, and one for none of
// them. A gate gets no answer: a client that allows everything takes the first option.
func (p *user) selectOption(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	if o.Multi || len(choices) > mostOptions || agent.IsAtGate(ctx) {
		p.cannotAsk(title, o)
		return nil, false, ctx.Err()
	}
	s := p.session
	if !s.mayAsk(ctx) {
		return nil, false, ctx.Err()
	}
	asking, cancel := p.begin(ctx, o)
	defer cancel()
	var options []permissionOption
	var described []string
	for i, name := range namesOf(choices) {
		options = append(options, permissionOption{fmt.Sprint("choice-", i+1), name, "allow_once"})
		if text := choices[i].Description; text != "" {
			described = append(described, name+": "+printable.Line(text))
		}
	}
	options = append(options, permissionOption{answerReject, "None of these", "reject_once"})
	about := s.beginDialog(title, questionText(title, strings.Join(described, "\n"), o))
	raw, err := s.server.conn.call(asking, "session/request_permission", permissionRequest{s.id, about, options})
	chosen := -1
	if err == nil && ctx.Err() == nil {
		taken := selectedOption(raw)
		chosen = slices.IndexFunc(options[:len(choices)], func(o permissionOption) bool { return o.ID == taken })
	}
	s.endDialog(about.ID, chosen >= 0)
	if chosen < 0 {
		return nil, false, ctx.Err()
	}
	return []string{choices[chosen].Value}, true, nil
}

// offers returns choices as a form has them.
func offers(choices []agent.Choice) (offered []map[string]any) {
	for i, name := range namesOf(choices) {
		offer := map[string]any{"const": choices[i].Value, "title": name}
		if text := choices[i].Description; text != "" {
			offer["description"] = printable.Line(text)
		}
		offered = append(offered, offer)
	}
	return offered
}

// namesOf is what choices look like to a user. No two look the same.
func namesOf(choices []agent.Choice) (names []string) {
	seen := map[string]int{}
	for _, c := range choices {
		name := printable.Line(c.Text())
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
		names = append(names, name)
	}
	return names
}

// preset sets what is chosen at first.
func preset(property map[string]any, choices []agent.Choice, o agent.DialogOptions) {
	var values []string
	for _, value := range o.Default {
		if slices.ContainsFunc(choices, func(c agent.Choice) bool { return c.Value == value }) {
			values = append(values, value)
		}
	}
	switch {
	case len(values) == 0:
	case o.Multi:
		property["default"] = values
	default:
		property["default"] = values[0]
	}
}

// Input shows a form with a field for a text.
func (p *user) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	property := map[string]any{"type": "string"}
	if placeholder != "" {
		property["description"] = printable.Line(placeholder)
	}
	return p.askText(ctx, title, property, o)
}

// Editor shows a form with a text to change.
func (p *user) Editor(ctx context.Context, title, prefill string, o agent.DialogOptions) (string, bool, error) {
	if len(prefill) > mostText { // it would be cut, and what comes back would lack the rest
		return "", false, ctx.Err()
	}
	property := map[string]any{"type": "string"}
	if prefill != "" {
		property["default"] = prefill
	}
	return p.askText(ctx, title, property, o)
}

// askText asks for a text.
func (p *user) askText(ctx context.Context, title string, property map[string]any, o agent.DialogOptions) (string, bool, error) {
	raw, err := p.ask(ctx, title, property, o)
	if err != nil || raw == nil {
		return "", false, err
	}
	text, ok := (fields{field: raw}).text(field)
	return text, ok, nil
}

// user is the user interface of the hooks of a session: what they ask and show goes to
// the client. What has no place there is ignored.
type user struct {
	agent.NoUI
	session *session
}

var _ agent.UI = (*user)(nil)

// HasUI is true: the client asks the user.
func (p *user) HasUI() bool { return true }

// IsClient is true: some clients answer yes to everything.
func (p *user) IsClient() bool { return true }

// Notify shows a notice.
func (p *user) Notify(text string, level agent.Level) { p.session.notify(text, level) }

// SetPlan shows what is done and what is open. A plan of nothing is not shown: some clients
// cannot.
func (p *user) SetPlan(items []agent.PlanItem) {
	if len(items) == 0 {
		return
	}
	u := plan{SessionUpdate: "plan", Entries: []planEntry{}}
	for _, item := range items {
		e := planEntry{Content: printable.Text(item.Content), Status: item.Status, Priority: item.Priority}
		if !slices.Contains(agent.PlanStatuses(), e.Status) {
			e.Status = "pending"
		}
		if !slices.Contains(agent.PlanPriorities(), e.Priority) {
			e.Priority = "medium"
		}
		u.Entries = append(u.Entries, e)
	}
	p.session.out.send(u)
}
