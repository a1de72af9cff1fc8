package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"pi/agent/llm"
)

// A model that repeats itself, or a server that means harm, must not fill the
// memory: an answer longer than max_answer_bytes ends with an error.

const limitOfAnswer = "max_answer_bytes"

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

// A model that is stuck makes the same call again and again. A call is the same if
// tool, arguments and result are: a model that polls until the result is another one
// repeats nothing.

// repeatCounter counts how often the same call came in a row.
type repeatCounter struct {
	last  [sha256.Size]byte
	count int
}

// note counts a call with its result and returns how many times in a row it has been the
// same. The order of keys and the space in its arguments make no difference.
func (c *repeatCounter) note(s *step) int {
	key := sha256.Sum256([]byte(strings.Join([]string{s.call.Name, canonical(s.call.Arguments), s.broken, outcomeKey(s.result)}, "\x00")))
	if key != c.last {
		c.last, c.count = key, 0
	}
	c.count++
	return c.count
}

// outcomeKey returns a text that is equal for equal results. The name of the file with the
// whole of a long output is left out, because it differs each time.
func outcomeKey(r Result) string {
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
