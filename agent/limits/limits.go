// Package limits notices a model that does too much of the same: answers that are too
// long, calls that repeat.
package limits

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/session/message"
)

// A model that repeats itself, or a server that means harm, must not fill the
// memory: an answer longer than max_answer_bytes ends with an error.

// KeptOfLong is how much is kept of an answer that is too long: enough to see what
// it was.
const KeptOfLong = 64 << 10

// BlockSize is what a block counts beside its text: many small ones are much too.
const BlockSize = 1 << 10

// AnswerSize counts what an answer takes, whatever it is made of.
type AnswerSize struct {
	bytes  int
	blocks map[int]int // the text of each
}

// Exceeds adds the size of d and reports whether the answer has become longer than limit
// bytes; a limit of 0 is none.
func (s *AnswerSize) Exceeds(limit int, d llm.Delta) bool {
	if limit <= 0 {
		return false
	}
	switch d.Kind {
	case llm.DeltaPing, llm.DeltaUsage, llm.DeltaStop:
		s.bytes += len(d.Stop.Message)
		return s.bytes > limit
	}
	before, known := s.blocks[d.Index]
	if !known {
		s.bytes += BlockSize
	}
	if s.blocks == nil {
		s.blocks = map[int]int{}
	}
	s.bytes += len(d.Text) + len(d.ID) + len(d.Name)
	switch d.Kind {
	case llm.DeltaSignature, llm.DeltaRedacted: // stored beside the text
		s.blocks[d.Index] = before
	case llm.DeltaWhole: // replaces what came before
		s.bytes -= before
		s.blocks[d.Index] = len(d.Text)
	default:
		s.blocks[d.Index] = before + len(d.Text)
	}
	return s.bytes > limit
}

// A model that is stuck makes the same calls again and again. A call is the same if
// tool, arguments and result are: a model that polls until the result is another one
// repeats nothing. One that does something new between two calls, as to edit a file before
// it runs the tests again, begins anew.

// seenWithin is among how many calls, the last ones, a call is nothing new. It bounds what
// is compared; turns that make more calls than that are found as whole turns.
const seenWithin = 20

// Repeats counts how often the same call came, and the same turn, without anything new in
// between. The zero value is ready.
type Repeats struct {
	calls, turns counter
	turn         []key // the calls of this turn
}

// key stands for a call or a turn.
type key [sha256.Size]byte

// Note counts a call with its result and returns how many times it has come, and whether
// that was in a row, with no call in between. The order of keys and the space in its
// arguments make no difference.
func (c *Repeats) Note(call Call) (times int, inRow bool) {
	k := key(sha256.Sum256([]byte(strings.Join([]string{call.Name, canonical(call.Arguments), call.Broken, call.outcome()}, "\x00"))))
	c.turn = append(c.turn, k)
	times = c.calls.note(k)
	return times, times == c.calls.row
}

// EndTurn counts the calls that were noted since it was called last as one turn, whatever
// their order. It returns how many they are and how many times that turn has come.
func (c *Repeats) EndTurn() (calls, times int) {
	calls = len(c.turn)
	slices.SortFunc(c.turn, func(a, b key) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, k := range c.turn {
		h.Write(k[:])
	}
	c.turn = c.turn[:0]
	return calls, c.turns.note(key(h.Sum(nil)))
}

// counter counts what comes since something new came.
type counter struct {
	recent []key       // the last ones, the newest last
	counts map[key]int // since something new came
	row    int         // how often the newest came in a row
}

// note counts k and returns how many times it has come. What is new sets all others back.
func (c *counter) note(k key) int {
	if !slices.Contains(c.recent, k) {
		c.counts = map[key]int{}
	}
	c.counts[k]++
	if n := len(c.recent); n == 0 || c.recent[n-1] != k {
		c.row = 0
	}
	c.row++
	if c.recent = append(c.recent, k); len(c.recent) > seenWithin {
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	return c.counts[k]
}

// Call is a call with its result.
type Call struct {
	Name      string
	Arguments json.RawMessage
	Broken    string // what it had instead of readable arguments
	Content   []message.Block
	Details   json.RawMessage
	IsError   bool
}

// outcome returns a text that is equal for equal results. The name of the file with the
// whole of a long output is left out, because it differs each time.
func (r Call) outcome() string {
	b, _ := json.Marshal(r.Content) // blocks of texts and numbers
	key := fmt.Sprint(r.IsError, " ", string(b))
	var details struct {
		Path string `json:"fullOutputPath"`
	}
	if json.Unmarshal(r.Details, &details) == nil && details.Path != "" {
		key = strings.ReplaceAll(key, details.Path, "")
	}
	return key
}

// canonical returns JSON with its keys in order and without space; other text as it is.
func canonical(args json.RawMessage) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if !json.Valid(args) || d.Decode(&v) != nil {
		return string(args)
	}
	b, _ := json.Marshal(v) // made of JSON
	return string(b)
}
