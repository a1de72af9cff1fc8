package rpc

import (
	"context"
	"encoding/json"
	"slices"

	"pi/agent"
	"pi/agent/llm"
	"pi/serve/record"
)

// setting is a command that changes the settings of this process to what one of its fields
// says. They stay when the session changes, and are written nowhere.
func (s *Server) setting(read func(*request) bool, change func(now *agent.Settings, f *facts, on bool)) known {
	return known{ordered, func(r *request) work {
		on := read(r)
		return func(context.Context, func()) (any, error) {
			s.note(func(f *facts) {
				settings := s.agent.Settings()
				change(&settings, f, on)
				s.agent.SetSettings(settings)
			})
			return nil, nil
		}
	}}
}

// isAll reads how many messages of a queue are delivered at a time: all, or one.
func (r *request) isAll() bool { return r.word("mode", "all", "one-at-a-time") == "all" }

// isEnabled reads whether something is turned on.
func (r *request) isEnabled() bool { return r.flag("enabled") }

// usualAttempts are made where the settings had none when they were turned on.
const usualAttempts = 3

// retryAgain turns the attempts on that follow a call that failed, or off.
func retryAgain(now *agent.Settings, f *facts, on bool) {
	attempts := &now.Retry.MaxAttempts
	switch {
	case !on && *attempts > 0:
		f.attempts, *attempts = *attempts, 0
	case on && *attempts == 0 && f.attempts > 0:
		*attempts = f.attempts
	case on && *attempts == 0:
		*attempts = usualAttempts
	}
}

// openSetModel is the command set_model.
func (s *Server) openSetModel(r *request) work {
	provider, id := r.text("provider"), r.text("modelId")
	return func(ctx context.Context, _ func()) (any, error) {
		m := s.findModel(provider, id)
		if m == nil {
			return nil, wording("Model not found: " + provider + "/" + id)
		}
		s.note(func(f *facts) { f.chosen = true })
		s.agent.SetModel(ctx, m, "set")
		return record.Model(m), nil
	}
}

// findModel returns the model with exactly this provider and id, of those that can be used;
// nil: there is none. A provider would take any id, but a client means one of the list.
func (s *Server) findModel(provider, id string) *llm.Model {
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

// openCycleModel is the command cycle_model: the next of the models that are gone through.
func (s *Server) openCycleModel(*request) work {
	return func(ctx context.Context, _ func()) (any, error) {
		choices, _ := s.agent.Models().Scope(s.Cycle)
		if len(choices) < 2 {
			return written("null"), nil
		}
		now, wish := s.agent.Model().Ref(), s.agent.ThinkingWish()
		at := slices.IndexFunc(choices, func(c llm.Choice) bool { return c.Model.Ref() == now && (c.Level == "" || c.Level == wish) })
		next := choices[(at+1)%len(choices)]
		if err := s.agent.Select(ctx, next.Model, next.Level, "cycle"); err != nil {
			return nil, err
		}
		s.note(func(f *facts) { f.chosen = true })
		return cycled{record.Model(next.Model), s.agent.Thinking(), len(s.Cycle) > 0}, nil
	}
}

// openSetLevel is the command set_thinking_level. A level that the model does not offer
// becomes the nearest.
func (s *Server) openSetLevel(r *request) work {
	level := r.word("level", llm.ThinkingLevels()...)
	return func(ctx context.Context, _ func()) (any, error) { return nil, s.agent.SetThinking(ctx, level) }
}

// openCycleLevel is the command cycle_thinking_level.
func (s *Server) openCycleLevel(*request) work {
	return func(ctx context.Context, _ func()) (any, error) {
		if !s.agent.Model().Reasoning {
			return written("null"), nil
		}
		if _, err := s.agent.CycleThinking(ctx); err != nil {
			return nil, err
		}
		return map[string]string{"level": s.agent.Thinking()}, nil
	}
}
