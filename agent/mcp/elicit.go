package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
	"pi/agent/schema"
	"pi/internal/printable"
)

// Question is what a server wants to know from the user while it works on a call. Its texts
// are cleaned.
type Question struct {
	Server  string
	Message string  // why it asks
	Fields  []Field // of a form, those that are required first
	URL     string  // a page to be opened instead; "": there are fields
}

// Field is one value that a Question asks for.
type Field struct {
	Name        string // in the answer
	Title       string // shown; "" is Name
	Description string
	Type        FieldType
	Required    bool
	Default     json.RawMessage // nil: none
	Choices     []FieldChoice   // of FieldChoose and FieldChooseMany
	Format      string          // of a text: email, uri, date, date-time; "": any

	schema json.RawMessage // of this field alone
}

// FieldType says how a Field is asked for.
type FieldType string

const (
	FieldText       FieldType = "text"
	FieldNumber     FieldType = "number"
	FieldInteger    FieldType = "integer"
	FieldYesNo      FieldType = "yesno"
	FieldChoose     FieldType = "choose"
	FieldChooseMany FieldType = "choosemany"
)

// FieldChoice is one of the values of a Field.
type FieldChoice struct{ Value, Label string }

// Reply is what became of a Question.
type Reply struct {
	Action Action
	Values map[string]any // by the names of fields, with Accept
}

// Action is how a user dealt with a Question.
type Action string

const (
	Accept  Action = "accept"
	Decline Action = "decline" // the user does not want to answer
	Cancel  Action = "cancel"  // nobody answered
)

// Check returns an error if a value cannot be that of the field: it says what is wrong with
// it. What is written as text is taken for what it means.
func (f *Field) Check(value any) (any, error) {
	checker, err := schema.Compile(json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"value":%s}}`, f.schema)))
	if err != nil {
		return nil, err
	}
	given, err := json.Marshal(map[string]any{"value": value})
	if err != nil {
		return nil, err
	}
	checked, err := checker.Check(given)
	if err != nil {
		return nil, err
	}
	var is struct{ Value any }
	err = json.Unmarshal(checked, &is)
	return is.Value, err
}

// asks answers what the server of a connection asks: one question at a time, while few others
// wait. What is more than that is cancelled, for whoever asks in a loop is not answered.
type asks struct {
	connection *connection
	roots      sdk.ListRootsResult
	ask        func(ctx context.Context, q Question) (Reply, error) // nil: there is nobody
	turn       chan struct{}                                        // has one element while nobody asks
	waiting    chan struct{}                                        // has an element for each question that waits or is asked
}

// maxAsks is how many questions of a server wait or are open.
const maxAsks = 5

func newAsks(c *connection, cwd string, ask func(context.Context, Question) (Reply, error)) *asks {
	a := &asks{connection: c, ask: ask, turn: make(chan struct{}, 1), waiting: make(chan struct{}, maxAsks)}
	a.roots.Roots = []*sdk.Root{{URI: fileURL(cwd)}}
	a.turn <- struct{}{}
	return a
}

// answer has the user answer a question, if there is one.
func (a *asks) answer(ctx context.Context, p *sdk.ElicitParams) *sdk.ElicitResult {
	cancelled := &sdk.ElicitResult{Action: string(Cancel)}
	q, err := newQuestion(a.connection.name, p)
	if err != nil {
		a.note("the server asked the user something that cannot be understood: %v", err)
		return cancelled
	}
	select {
	case a.waiting <- struct{}{}:
		defer func() { <-a.waiting }()
	default:
		return cancelled
	}
	calls := a.connection.calls.now()
	if len(calls) == 0 { // a server asks for what it works on; else it would take what the user is typing
		return cancelled
	}
	for _, p := range calls {
		defer p.clock.stand()()
		defer agent.AwaitUser(p.ctx)()
	}
	ctx, stop := a.context(ctx, calls)
	defer stop()
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return cancelled
	}
	if a.ask == nil {
		a.note("the server asked the user: %s; nobody was there to answer", q.words())
		return cancelled
	}
	r, err := a.ask(ctx, q)
	if err != nil || r.Action == Cancel || r.Action == "" {
		a.note("the server asked the user: %s; there was no answer", q.words())
		return cancelled
	}
	if r.Action != Accept {
		return &sdk.ElicitResult{Action: string(Decline)}
	}
	return &sdk.ElicitResult{Action: string(Accept), Content: r.Values}
}

// context is that of a question: it belongs to the call that is on its way, if that is one
// alone, and ends with the last of those to which it may belong, and with the connection.
func (a *asks) context(ctx context.Context, calls []*pending) (context.Context, context.CancelFunc) {
	if len(calls) == 1 {
		ctx = calls[0].ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	stops := []func() bool{context.AfterFunc(a.connection.ctx, cancel)}
	var left atomic.Int64
	left.Store(int64(len(calls)))
	for _, p := range calls {
		stops = append(stops, context.AfterFunc(p.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// note has the model told of a question, behind the results of the calls on their way.
func (a *asks) note(format string, args ...any) {
	text := "[" + fmt.Sprintf(format, args...) + "]"
	for _, p := range a.connection.calls.now() {
		p.note(text)
	}
}

// all answers what a server wants to know before it gives a result.
func (a *asks) all(ctx context.Context, questions sdk.InputRequestMap) sdk.InputResponseMap {
	answers := sdk.InputResponseMap{}
	for _, id := range slices.Sorted(maps.Keys(questions)) {
		switch q := questions[id].(type) {
		case *sdk.ElicitParams:
			answers[id] = a.answer(ctx, q)
		case *sdk.ListRootsParams:
			answers[id] = &a.roots
		}
	}
	return answers
}

// words is a question in a row.
func (q *Question) words() string {
	text := fmt.Sprintf("%q", printable.Cut(printable.Line(q.Message), 300))
	if q.URL != "" {
		return text + " (to open " + printable.URL(q.URL) + ")"
	}
	for i, f := range q.Fields {
		if i == 0 {
			text += " (" + f.Name
			continue
		}
		text += ", " + f.Name
	}
	if len(q.Fields) > 0 {
		text += ")"
	}
	return text
}

// maxFields is how many values a question may ask for.
const maxFields = 30

// newQuestion reads what a server asks.
func newQuestion(server string, p *sdk.ElicitParams) (Question, error) {
	q := Question{Server: server, Message: cleanText(p.Message, 4<<10)}
	if p.Mode == "url" || p.Mode == "" && p.URL != "" {
		q.URL = p.URL
		return q, nil
	}
	b, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return q, err
	}
	var form struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(b, &form); err != nil {
		return q, fmt.Errorf("its form is no schema of an object: %w", err)
	}
	if len(form.Properties) > maxFields {
		return q, fmt.Errorf("its form has %d fields, %d at most", len(form.Properties), maxFields)
	}
	for _, required := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
			if slices.Contains(form.Required, name) != required {
				continue
			}
			f, err := newField(name, form.Properties[name])
			if err != nil {
				return q, err
			}
			f.Required = required
			q.Fields = append(q.Fields, f)
		}
	}
	return q, nil
}

// fieldSchema is what a schema of a form may have for a value.
type fieldSchema struct {
	Type, Title, Description, Format string
	Default                          json.RawMessage
	Enum, EnumNames                  []string
	OneOf                            []titled
	Items                            *struct {
		Enum  []string
		AnyOf []titled
	}
}

type titled struct {
	Const string
	Title string
}

// newField reads the schema of one value.
func newField(name string, text json.RawMessage) (Field, error) {
	var s fieldSchema
	if err := json.Unmarshal(text, &s); err != nil {
		return Field{}, fmt.Errorf("its form has a field %q that is none: %w", printable.Short(name), err)
	}
	if !isPlain(name) {
		return Field{}, fmt.Errorf("its form has a field %q with characters that nobody sees", printable.Short(name))
	}
	f := Field{Name: name, Title: cleanText(s.Title, 200), Description: cleanText(s.Description, 1000), Format: s.Format, Default: s.Default, schema: text}
	switch s.Type {
	case "boolean":
		f.Type = FieldYesNo
	case "number":
		f.Type = FieldNumber
	case "integer":
		f.Type = FieldInteger
	case "array":
		f.Type = FieldChooseMany
		if s.Items != nil {
			f.Choices = choices(s.Items.Enum, nil, s.Items.AnyOf)
		}
	case "string", "":
		f.Type = FieldText
		if f.Choices = choices(s.Enum, s.EnumNames, s.OneOf); len(f.Choices) > 0 {
			f.Type = FieldChoose
		}
	default:
		return Field{}, fmt.Errorf("its form has a field %q of the type %q, which is none of a form", printable.Short(name), printable.Short(s.Type))
	}
	return f, nil
}

// choices are the values of an enumeration, in either way in which they are written.
func choices(values, labels []string, titles []titled) (all []FieldChoice) {
	for i, value := range values {
		c := FieldChoice{Value: value, Label: cleanText(value, 200)}
		if i < len(labels) {
			c.Label = cleanText(labels[i], 200)
		}
		all = append(all, c)
	}
	for _, t := range titles {
		all = append(all, FieldChoice{Value: t.Const, Label: cleanText(t.Title, 200)})
	}
	return all
}
