//lint:file-ignore SA1019 servers of the older era of the protocol ask for roots and send log messages

package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
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

	// Done is closed when the server says that the user is done with the page; nil: it does not.
	Done <-chan struct{}

	over <-chan struct{} // closed when there is nothing to be asked any more; may be nil
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
	Pattern     string          // that a text has to fit
	Min, Max    *float64        // of a number; of a text its length; of FieldChooseMany how many; nil: any

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

// check returns the values of an answer that the question asks for, as the server wants them. The
// error says which cannot be.
func (q *Question) check(given map[string]any) (map[string]any, error) {
	values := map[string]any{}
	for i := range q.Fields {
		f := &q.Fields[i]
		value, there := given[f.Name]
		switch {
		case !there && f.Required:
			return nil, fmt.Errorf("%s: %s", f.shown(), wantsValue)
		case !there:
			continue
		}
		checked, err := f.Check(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.shown(), err)
		}
		values[f.Name] = checked
	}
	return values, nil
}

// wantsValue says what is wrong where nothing was given for a field.
const wantsValue = "a value is wanted"

// shown is what a user knows the field by.
func (f *Field) shown() string { return cmp.Or(f.Title, f.Name) }

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
		return nil, errors.New(strings.TrimPrefix(err.Error(), "invalid arguments: /value: "))
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

	mu    sync.Mutex
	pages map[string]chan struct{} // by id; closed when the user is done with one
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
	q, err := newQuestion(a.connection.name, p)
	if err != nil {
		a.note("the server asked the user something that cannot be understood: %v", err)
		return &sdk.ElicitResult{Action: string(Cancel)}
	}
	if q.URL != "" {
		q.Done = a.page(p.ElicitationID)
	}
	return a.put(ctx, q)
}

// put puts a question to the user.
func (a *asks) put(ctx context.Context, q Question) *sdk.ElicitResult {
	cancelled := &sdk.ElicitResult{Action: string(Cancel)}
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
	ctx, cancel := endsWith(ctx, q.over)
	defer cancel()
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
	if isClosed(q.over) {
		return &sdk.ElicitResult{Action: string(Accept)}
	}
	if err != nil || r.Action == Cancel || r.Action == "" {
		a.note("the server asked the user: %s; there was no answer", q.words())
		return cancelled
	}
	if r.Action != Accept {
		return &sdk.ElicitResult{Action: string(Decline)}
	}
	return &sdk.ElicitResult{Action: string(Accept), Content: r.Values}
}

// visit sends the user to a page that a server wants to be seen before it does anything, and waits
// until they are done there: the server says so, or they do. It reports whether they are.
func (a *asks) visit(ctx context.Context, p *sdk.ElicitParams) bool {
	if a.answer(ctx, p).Action != string(Accept) {
		return false
	}
	done := a.page(p.ElicitationID)
	if isClosed(done) {
		return true
	}
	q := Question{Server: a.connection.name, Message: "Are you done with the page? It goes on then: " + printable.URL(p.URL), over: done}
	return a.put(ctx, q).Action == string(Accept)
}

// maxKnownPages is of how many pages a connection remembers whether users are done with them.
const maxKnownPages = 100

// page is what is closed when the user is done with the page of an id; nil if that will not be known.
func (a *asks) page(id string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pages[id] == nil && id != "" && len(a.pages) < maxKnownPages {
		if a.pages == nil {
			a.pages = map[string]chan struct{}{}
		}
		a.pages[id] = make(chan struct{})
	}
	return a.pages[id]
}

// complete notes that the user is done with a page, which may not have been asked about yet.
func (a *asks) complete(id string) {
	page := a.page(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	if page != nil && !isClosed(page) {
		close(page)
	}
}

// isClosed reports whether a channel that nobody sends to is closed; nil is not.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// endsWith returns a context that ends with over, too, which may be nil.
func endsWith(ctx context.Context, over <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if over != nil {
		go func() {
			select {
			case <-over:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
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

// maxFields is how many values a question may ask for, and maxChoices from how many one is chosen.
const (
	maxFields  = 30
	maxChoices = 1000
)

// newQuestion reads what a server asks.
func newQuestion(server string, p *sdk.ElicitParams) (Question, error) {
	q := Question{Server: server, Message: cleanText(p.Message, 4<<10)}
	if p.Mode == "url" || p.Mode == "" && p.URL != "" {
		q.URL = p.URL
		return q, checkPage(p.URL)
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

// checkPage returns an error for an address that is none of a page: some that systems open start
// programs.
func checkPage(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("the address %s is none of a page", printable.URL(address))
	}
	return nil
}

// fieldSchema is what a schema of a form may have for a value.
type fieldSchema struct {
	Type, Title, Description, Format, Pattern string

	Minimum, Maximum, MinLength, MaxLength, MinItems, MaxItems *float64

	Default         json.RawMessage
	Enum, EnumNames []string
	OneOf           []titled
	Items           *struct {
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
	f := Field{Name: name, Title: cleanText(s.Title, 200), Description: cleanText(s.Description, 1000), Format: s.Format, Pattern: s.Pattern, Default: s.Default, schema: text}
	switch s.Type {
	case "boolean":
		f.Type = FieldYesNo
	case "number":
		f.Type, f.Min, f.Max = FieldNumber, s.Minimum, s.Maximum
	case "integer":
		f.Type, f.Min, f.Max = FieldInteger, s.Minimum, s.Maximum
	case "array":
		f.Type, f.Min, f.Max = FieldChooseMany, s.MinItems, s.MaxItems
		if s.Items != nil {
			f.Choices = choices(s.Items.Enum, nil, s.Items.AnyOf)
		}
	case "string", "":
		f.Type, f.Min, f.Max = FieldText, s.MinLength, s.MaxLength
		if f.Choices = choices(s.Enum, s.EnumNames, s.OneOf); len(f.Choices) > 0 {
			f.Type = FieldChoose
		}
	default:
		return Field{}, fmt.Errorf("its form has a field %q of the type %q, which is none of a form", printable.Short(name), printable.Short(s.Type))
	}
	if len(f.Choices) > maxChoices {
		return Field{}, fmt.Errorf("its form has %d values to choose from for %q, %d at most", len(f.Choices), name, maxChoices)
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
		all = append(all, FieldChoice{Value: t.Const, Label: cleanText(cmp.Or(t.Title, t.Const), 200)})
	}
	return all
}
