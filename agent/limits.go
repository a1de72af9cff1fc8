package agent

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

// keptOfLong is how much is kept of an answer that is too long: enough to see what
// it was.
const keptOfLong = 64 << 10

// blockSize is what a block counts beside its text: many small ones are much too.
const blockSize = 1 << 10

// answerSize counts what an answer takes, whatever it is made of.
type answerSize struct {
	bytes  int
	blocks map[int]int // the text of each
}

// exceeds adds the size of d and reports whether the answer has become longer than limit
// bytes; a limit of 0 is none.
func (s *answerSize) exceeds(limit int, d llm.Delta) bool {
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
		s.bytes += blockSize
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

// repeats counts how often the same call came, and the same turn, without anything new in
// between. The zero value is ready.
type repeats struct {
	calls, turns repeatCounter
	turn         []callSum // the calls of this turn
}

// callSum stands for a call or a turn.
type callSum [sha256.Size]byte

// note counts a call with its result and returns how many times it has come, and whether
// that was in a row, with no call in between. The order of keys and the space in its
// arguments make no difference.
func (c *repeats) note(call repeatable) (times int, inRow bool) {
	k := callSum(sha256.Sum256([]byte(strings.Join([]string{call.Name, canonical(call.Arguments), call.Broken, call.outcome()}, "\x00"))))
	c.turn = append(c.turn, k)
	times = c.calls.note(k)
	return times, times == c.calls.row
}

// endTurn counts the calls that were noted since it was called last as one turn, whatever
// their order. It returns how many they are and how many times that turn has come.
func (c *repeats) endTurn() (calls, times int) {
	calls = len(c.turn)
	slices.SortFunc(c.turn, func(a, b callSum) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, k := range c.turn {
		h.Write(k[:])
	}
	c.turn = c.turn[:0]
	return calls, c.turns.note(callSum(h.Sum(nil)))
}

// repeatCounter counts what comes since something new came.
type repeatCounter struct {
	recent []callSum       // the last ones, the newest last
	counts map[callSum]int // since something new came
	row    int             // how often the newest came in a row
}

// note counts k and returns how many times it has come. What is new sets all others back.
func (c *repeatCounter) note(k callSum) int {
	if !slices.Contains(c.recent, k) {
		c.counts = map[callSum]int{}
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

// repeatable is a call with its result.
type repeatable struct {
	Name      string
	Arguments json.RawMessage
	Broken    string // what it had instead of readable arguments
	Content   []message.Block
	Details   json.RawMessage
	IsError   bool
}

// outcome returns a text that is equal for equal results. The name of the file with the
// whole of a long output is left out, because it differs each time.
func (r repeatable) outcome() string {
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
