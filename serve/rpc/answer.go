package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"sync"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/jsonlines"
	"pi/internal/printable"
	"pi/serve/record"
)

// output is what the client reads. All methods may be called from any goroutine.
type output struct {
	lines *jsonlines.Writer

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

// noCompaction writes the records of a compaction that failed before it began.
func (o *output) noCompaction(e *agent.CompactionEnd) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.translator.NoCompaction(e)
}

// write writes a record that belongs between those of the events.
func (o *output) write(record []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.lines.WriteJSON(record)
}

// answer is the record that every command gets, between its id and its data.
type answer struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
}

// written is data that is JSON already. The encoder is spared it: it gives up on a tree that
// is nested as deep as a long conversation.
type written []byte

// succeed answers that a command was done. data may be nil: there is none then.
func (s *Server) succeed(r *request, data any) {
	text, isWritten := data.(written)
	if data != nil && !isWritten {
		var err error
		if text, err = encode(data); err != nil {
			s.refuse(r, "the answer cannot be encoded: "+err.Error())
			return
		}
	}
	s.answer(r, answer{Success: true}, text)
}

// refuse answers that a command was not done.
func (s *Server) refuse(r *request, text string) { s.answer(r, answer{Error: text}, nil) }

// answer writes an answer with the id of its command, byte for byte and first.
func (s *Server) answer(r *request, a answer, data []byte) {
	defer s.countInHand(-1)
	a.Type, a.Command = "response", r.name
	record, _ := encode(a) // texts and a truth value
	if len(data) > 0 {
		record = slices.Concat(record[:len(record)-1], []byte(`,"data":`), data, []byte("}"))
	}
	if r.id != nil {
		record = slices.Concat([]byte(`{"id":`), r.id, []byte(","), record[1:])
	}
	_ = s.out.lines.WriteJSON(record)
}

// errorText is what a client is told of an error: what it is, and on further lines what can
// be done about it. Words of the protocol are told as they are.
func errorText(err error) string {
	if known, is := err.(wording); is {
		return string(known)
	}
	text := err.Error()
	if hint := command.HintOf(err); hint != "" {
		text += "\n" + hint
	}
	return printable.Text(text)
}

// wording is an error in the words of the protocol, by which clients know it.
type wording string

func (w wording) Error() string { return string(w) }

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
