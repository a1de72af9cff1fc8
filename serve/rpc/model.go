package rpc

import (
	"context"
	"encoding/json"
	"slices"

	"pi/agent/llm"
	"pi/serve/record"
)

// models are the commands about models and thinking levels.
type models struct{ *parts }

// openSet is the command set_model.
func (s *models) openSet(f *fields, r *request) work {
	provider, id := f.text("provider"), f.text("modelId")
	return func(ctx context.Context, _ func()) {
		m := s.findModel(provider, id)
		if m == nil {
			s.out.refuse(r, "Model not found: "+provider+"/"+id)
			return
		}
		s.state.noteChosen()
		s.agent.SetModel(ctx, m, "set")
		s.out.succeed(r, record.Model(m))
	}
}

// findModel returns the model with exactly this provider and id, of those that can be used;
// nil: there is none. A provider would take any id, but a client means one of the list.
func (s *models) findModel(provider, id string) *llm.Model {
	is := func(m *llm.Model) bool { return m.Provider == provider && m.ID == id }
	if now := s.agent.Model(); is(now) && s.agent.Models().KeyMissing(provider) == "" {
		return now
	}
	available := s.agent.Models().Available()
	if i := slices.IndexFunc(available, is); i >= 0 {
		return available[i]
	}
	return nil
}

// cycled is the data of cycle_model.
type cycled struct {
	Model    json.RawMessage `json:"model"`
	Level    string          `json:"thinkingLevel"`
	IsScoped bool            `json:"isScoped"`
}

// openCycle is the command cycle_model: the next of the models that are gone through.
func (s *models) openCycle(_ *fields, r *request) work {
	return func(ctx context.Context, _ func()) {
		choices, _ := s.agent.Models().Scope(s.Cycle)
		if len(choices) < 2 {
			s.out.succeed(r, null)
			return
		}
		next := choices[(slices.IndexFunc(choices, s.isCurrent)+1)%len(choices)]
		if err := s.agent.Select(ctx, next.Model, next.Level, "cycle"); err != nil {
			s.out.reply(r, nil, err)
			return
		}
		s.state.noteChosen()
		s.out.succeed(r, cycled{record.Model(next.Model), s.agent.Thinking(), len(s.Cycle) > 0})
	}
}

// isCurrent reports whether a choice is the present one.
func (s *models) isCurrent(c llm.Choice) bool {
	return c.Model.Ref() == s.agent.Model().Ref() && (c.Level == "" || c.Level == s.agent.ThinkingWish())
}

// openSetLevel is the command set_thinking_level. A level that the model does not offer
// becomes the nearest.
func (s *models) openSetLevel(f *fields, r *request) work {
	level := f.word("level", llm.ThinkingLevels()...)
	return func(ctx context.Context, _ func()) { s.out.reply(r, nil, s.agent.SetThinking(ctx, level)) }
}

// openCycleLevel is the command cycle_thinking_level.
func (s *models) openCycleLevel(_ *fields, r *request) work {
	return func(ctx context.Context, _ func()) {
		if !s.agent.Model().Reasoning {
			s.out.succeed(r, null)
			return
		}
		if _, err := s.agent.CycleThinking(ctx); err != nil {
			s.out.reply(r, nil, err)
			return
		}
		s.out.succeed(r, struct {
			Level string `json:"level"`
		}{s.agent.Thinking()})
	}
}
