package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"pi/agent/llm"
)

// send sends r and yields what comes. It is an error if the server is silent for too
// long (see idle.go), or if the answer is longer than max_answer_bytes: a model
// that repeats itself, or a server that means harm, must not fill the memory.
func (a *Agent) send(ctx context.Context, client llm.Provider, r *llm.Request) iter.Seq2[llm.Delta, error] {
	r.MaxAnswer = a.settings.MaxAnswerBytes
	deltas := a.lively(ctx, client, r)
	if r.MaxAnswer <= 0 {
		return deltas
	}
	return func(yield func(llm.Delta, error) bool) {
		size := answerSize{}
		for d, err := range deltas {
			if size.add(d); errors.Is(err, llm.ErrAnswerTooLong) || err == nil && size.bytes > r.MaxAnswer {
				yield(llm.Delta{}, answerTooLong(r))
				return
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

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
