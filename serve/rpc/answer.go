package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/jsonlines"
	"pi/internal/printable"
	"pi/serve/record"
)

// output is what the client reads. All methods may be called from any goroutine.
type output struct {
	lines  *jsonlines.Writer
	inHand inHand // commands that were read and not answered

	mu         sync.Mutex // keeps the records of events, and what stands between them, in their order
	translator *record.Translator
}

func newOutput(w io.Writer) *output {
	o := &output{lines: jsonlines.NewWriter(w)}
	// That nobody reads is seen where all is ended.
	o.translator = record.NewTranslator(func(record []byte) { _ = o.lines.WriteJSON(record) })
	return o
}

// event writes the records that an event leads to.
func (o *output) event(e agent.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.translator.Handle(e)
}

// write writes a record that belongs between those of the events.
func (o *output) write(record []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.lines.WriteJSON(record)
}

// answer is the record that every command gets, without its id.
type answer struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`

	Data any `json:"-"` // put behind the rest; nil: none
}

// written is data that is JSON already. The encoder is spared it: it gives up on a tree that
// is nested as deep as a long conversation.
type written []byte

// null is the data of an answer that has none to give, where a client expects some.
var null = json.RawMessage("null")

// succeed answers that a command was done. data may be nil.
func (o *output) succeed(r *request, data any) {
	o.writeAnswer(r, answer{Success: true, Data: data})
}

// refuse answers that a command was not done.
func (o *output) refuse(r *request, text string) {
	o.writeAnswer(r, answer{Error: text})
}

// reply answers with data, or that the command failed.
func (o *output) reply(r *request, data any, err error) {
	if err != nil {
		o.refuse(r, errorText(err))
		return
	}
	o.succeed(r, data)
}

// errorText is what a client is told of an error: what it is, and on further lines what can
// be done about it.
func errorText(err error) string {
	text := err.Error()
	if hint := command.HintOf(err); hint != "" {
		text += "\n" + hint
	}
	return printable.Text(text)
}

// writeAnswer writes an answer with the id of its command, byte for byte and first.
func (o *output) writeAnswer(r *request, a answer) {
	defer o.inHand.done()
	a.Type, a.Command = "response", r.name
	data, err := a.encodeData()
	if err != nil {
		a.Success, a.Error = false, "the answer cannot be encoded: "+err.Error()
	}
	record, _ := encode(a) // texts and a truth value
	if len(data) > 0 {
		record = slices.Concat(record[:len(record)-1], []byte(`,"data":`), data, []byte("}"))
	}
	if r.id != nil {
		record = slices.Concat([]byte(`{"id":`), r.id, []byte(","), record[1:])
	}
	_ = o.lines.WriteJSON(record)
}

// encodeData returns the data of an answer as JSON; nothing if there is none.
func (a answer) encodeData() ([]byte, error) {
	if a.Data == nil {
		return nil, nil
	}
	if data, ok := a.Data.(written); ok {
		return data, nil
	}
	return encode(a.Data)
}

// encode writes v as JSON, with <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// noKeyText is how clients know that there is no key; what can be done follows.
func noKeyText(provider, more string) string {
	text := "No API key found"
	if provider != "" {
		text += " for " + provider
	}
	return strings.TrimRight(text+"\n"+more, "\n")
}

// lacksKey reports whether an error says that there is no key.
func lacksKey(err error) bool {
	var without interface {
		error
		NoKey() bool
	}
	return errors.As(err, &without) && without.NoKey()
}
