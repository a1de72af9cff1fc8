package agent

import (
	"errors"
	"fmt"

	"pi/agent/llm"
)

// A model that repeats itself, or a server that means harm, must not fill the
// memory: an answer longer than max_answer_bytes ends with an error.

const limitOfAnswer = "max_answer_bytes"

// answerTooLong is the error of an answer that is longer than r allows.
func answerTooLong(r *llm.Request) error {
	return &LimitError{limitOfAnswer, fmt.Sprintf("stopped: the answer of %s is longer than %d bytes (max_answer_bytes in config.toml; 0: no limit)",
		r.Model.Ref(), r.MaxAnswer)}
}

func isTooLong(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit) && limit.Limit == limitOfAnswer
}

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

// exceeds adds d and reports whether the answer is longer than limit, 0 being none.
func (s *answerSize) exceeds(limit int, d llm.Delta) bool {
	if limit > 0 {
		s.add(d)
	}
	return limit > 0 && s.bytes > limit
}

func (s *answerSize) add(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaPing, llm.DeltaUsage, llm.DeltaStop:
		s.bytes += len(d.Stop.Message)
		return
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
	case llm.DeltaSignature, llm.DeltaRedacted: // kept beside the text
		s.blocks[d.Index] = before
	case llm.DeltaWhole: // takes the place of what came before
		s.bytes -= before
		s.blocks[d.Index] = len(d.Text)
	default:
		s.blocks[d.Index] = before + len(d.Text)
	}
}
