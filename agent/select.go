package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// selection is what the user chose to talk to.
type selection struct {
	model *llm.Model
	wish  string // how much the model is to think
}

// level returns the thinking level that requests ask for: the wish, as far as the model
// offers it.
func (s selection) level() string { return llm.Clamp(s.model, s.wish) }

// choice is the selection of the next request, and the ways to change it. All
// methods may be called from any goroutine.
type choice struct {
	events       *listeners
	conversation *conversation // which says how it was left
	models       *llm.Models
	patterns     []string    // what CycleModel goes through, see [llm.Models.Scope]
	idle         func() bool // no prompt runs

	mu         sync.Mutex // guards what follows, which changes together
	selected   selection
	unrecorded bool   // it was chosen, and the session does not say so yet
	cycleTold  string // what was told of patterns that mean no model
}

// chosen returns the model and the wanted thinking level of the next request.
func (c *choice) chosen() selection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.selected
}

// model is [Agent.Model].
func (c *choice) model() *llm.Model { return c.chosen().model }

// thinking is [Agent.Thinking].
func (c *choice) thinking() string { return c.chosen().level() }

// replace is [Agent.Replace].
func (c *choice) replace(was, now *llm.Model) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.selected.model == was {
		c.selected.model = now
	}
}

// set selects a model, a level, or both: nil or "" leaves that as it is, or as somebody
// else chooses it at the same time. It emits what is different, and the session
// records it. The error is that of a level which does not exist.
func (c *choice) set(ctx context.Context, model *llm.Model, level, source string) error {
	if level != "" {
		if err := llm.CheckThinking(level); err != nil {
			return err
		}
	}
	was, is := c.change(model, level)
	c.emitChange(ctx, was, is, source)
	c.recordAtRest(ctx)
	return nil
}

// change is set without a word: it returns the selection before and after, and neither
// checks the level nor records anything.
func (c *choice) change(model *llm.Model, level string) (was, is selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was = c.selected
	c.selected = selection{cmp.Or(model, was.model), cmp.Or(level, was.wish)}
	c.unrecorded = true
	return was, c.selected
}

// restore makes is the selection, with which another session was used last, and returns
// the one before. Nothing is emitted or recorded.
func (c *choice) restore(is selection) (was selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was = c.selected
	c.selected, c.unrecorded = is, false
	return was
}

// emitChange emits a change of the model and of the thinking level, as far as they differ
// between was and is.
func (c *choice) emitChange(ctx context.Context, was, is selection, source string) {
	before, now := was.level(), is.level()
	if was.model.Ref() != is.model.Ref() {
		c.events.emitIf(ctx, KindModelSelect, func() Event {
			return &ModelSelect{Model: is.model, Previous: was.model, ThinkingLevel: now, Source: source}
		})
	}
	if before != now {
		c.events.emitIf(ctx, KindThinkingLevelSelect, func() Event { return &ThinkingLevelSelect{now, before} })
	}
}

// isUnrecorded reports whether the session does not say yet what was chosen last.
func (c *choice) isUnrecorded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unrecorded
}

// recordAtRest records the choice in the session, so that it is the same when somebody
// opens the session later. It does nothing while a prompt runs, whose next turn records
// it, and in a session without entries, where the next prompt does.
func (c *choice) recordAtRest(ctx context.Context) {
	s := c.conversation.current()
	if !c.idle() || s.ReadOnly() || s.Leaf() == "" {
		return
	}
	if err := c.record(); err != nil {
		c.events.Notify(ctx, LevelWarning, err.Error())
	}
}

// record appends entries to the session for the model and the thinking level, where the
// session says something else.
func (c *choice) record() error {
	s := c.conversation.current()
	c.mu.Lock()
	is := c.selected
	c.unrecorded = false
	c.mu.Unlock()
	if provider, id := s.Model(); provider != is.model.Provider || id != is.model.ID {
		if _, err := s.Append(session.TypeModelChange, session.ModelChange{Provider: is.model.Provider, ModelID: is.model.ID}); err != nil {
			return err
		}
	}
	now := session.ThinkingLevelChange{ThinkingLevel: is.level(), Wished: !is.model.Reasoning && llm.AsksOff(is.model, is.wish)}
	if s.Thinking() != now {
		_, err := s.Append(session.TypeThinkingLevelChange, now)
		return err
	}
	return nil
}

// ThinkingNote tells a user what becomes of a thinking level that is wished of model in
// session s: that it does not offer it, or cannot be told; "" if there is nothing to say.
func ThinkingNote(models *llm.Models, s *session.Session, model *llm.Model, wish string) string {
	switch note := llm.Clamped(model, wish); {
	case wish == "off":
		return cmp.Or(note, models.NoOff(model))
	case note != "" && !model.Reasoning && hasThought(s, model):
		return fmt.Sprintf("thinking: %s, but which levels %s offers is not known: it thinks as it likes (with reasoning = true in a section [[providers.%s.models]] of config.toml it is asked for one)",
			wish, model.ID, model.Provider)
	default:
		return note
	}
}

// hasThought reports whether the context of s has thoughts of model.
func hasThought(s *session.Session, model *llm.Model) bool {
	return slices.ContainsFunc(s.Context(), func(it session.Item) bool {
		m := it.Message
		return m.Provider == model.Provider && m.Model == model.ID &&
			slices.ContainsFunc(m.Content, func(b message.Block) bool { return b.Type == message.BlockThinking })
	})
}

// newModes returns the modes of an agent with these parts, in the one that s was left in; nil
// for none.
func newModes(p *parts, s *session.Session) *Modes {
	m := NewModes(ModeOptions{
		Tools: p.tools, Thinking: thinkingChoice{p.choice}, Session: p.conversation.current, IsIdle: p.choice.idle,
		Emit: func(ctx context.Context, name, previous, source string) {
			p.events.emitIf(ctx, KindModeSelect, func() Event { return &ModeSelect{Name: name, Previous: previous, Source: source} })
		},
		Warn: func(ctx context.Context, text string) { p.events.Notify(ctx, LevelWarning, text) },
	})
	if s != nil {
		m.Restore(s)
	}
	return m
}

// thinkingChoice is the thinking level of a choice, as modes change it.
type thinkingChoice struct{ choice *choice }

func (t thinkingChoice) Wish() string { return t.choice.chosen().wish }

func (t thinkingChoice) InForce(level string) string {
	return selection{t.choice.model(), level}.level()
}

func (t thinkingChoice) Use(level string) (tell func(ctx context.Context)) {
	was, is := t.choice.change(nil, level)
	return func(ctx context.Context) {
		t.choice.emitChange(ctx, was, is, "set")
		t.choice.recordAtRest(ctx)
	}
}

// ErrFewModels is returned where there is no other model to go to.
var ErrFewModels = errors.New("fewer than two models to go through")

// cycleModel is [Agent.CycleModel].
func (c *choice) cycleModel(ctx context.Context, by int) error {
	if !c.idle() {
		return ErrNotIdle
	}
	choices, problems := c.models.Scope(c.patterns)
	c.tellProblems(ctx, problems)
	if len(choices) < 2 {
		return ErrFewModels
	}
	now := c.chosen()
	is := func(c llm.Choice) bool { return c.Model.Ref() == now.model.Ref() }
	at := slices.IndexFunc(choices, func(c llm.Choice) bool { return is(c) && (c.Level == "" || c.Level == now.wish) })
	if at < 0 {
		at = slices.IndexFunc(choices, is)
	}
	n := len(choices)
	if at < 0 && by < 0 {
		at = 0 // then the one before is the last
	}
	next := choices[((at+by)%n+n)%n]
	return c.set(ctx, next.Model, next.Level, "cycle")
}

// tellProblems tells the user which patterns mean no model, unless that was told
// before.
func (c *choice) tellProblems(ctx context.Context, problems []error) {
	if len(problems) == 0 {
		return
	}
	text := "models in the settings: " + strings.ReplaceAll(errors.Join(problems...).Error(), "\n", "; ")
	c.mu.Lock()
	isNew := text != c.cycleTold
	c.cycleTold = text
	c.mu.Unlock()
	if isNew {
		c.events.Notify(ctx, LevelWarning, text)
	}
}
