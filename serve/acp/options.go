package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/agent/llm"
)

// The ids of what can be chosen.
const (
	optionModel    = "model"
	optionThinking = "thinking"
	optionMode     = "mode"
)

// menu is what the user can choose in a session.
type menu struct{ session *session }

// options returns what can be chosen in the session, and what is chosen now.
func (n menu) options() []configOption {
	all := []configOption{n.modelOption(), n.thinkingOption()}
	if m := n.modes(); m != nil {
		o := configOption{ID: optionMode, Name: "Mode", Category: "mode", Type: "select", Current: m.Current}
		for _, each := range m.Available {
			o.Options = append(o.Options, configChoice{each.ID, each.Name, each.Description})
		}
		all = append(all, o)
	}
	return all
}

// modelOption offers the models whose provider has a key.
func (n menu) modelOption() configOption {
	current := n.session.agent().Model()
	o := configOption{ID: optionModel, Name: "Model", Category: "model", Type: "select", Current: current.Ref()}
	seen := map[string]bool{}
	add := func(m *llm.Model) {
		if ref := m.Ref(); !seen[ref] {
			seen[ref] = true
			o.Options = append(o.Options, configChoice{ref, cmp.Or(m.Name, m.ID), ref})
		}
	}
	choices, _ := n.session.agent().Models().Scope(nil) // without patterns there are no problems
	for _, c := range choices {
		add(c.Model)
	}
	add(current)
	return o
}

// thinkingOption offers the levels of the model.
func (n menu) thinkingOption() configOption {
	o := configOption{ID: optionThinking, Name: "Thinking", Category: "thought_level", Type: "select", Current: n.session.agent().Thinking()}
	levels := llm.OfferedLevels(n.session.agent().Model())
	if !slices.Contains(levels, o.Current) {
		levels = append(levels[:len(levels):len(levels)], o.Current)
	}
	for _, level := range levels {
		o.Options = append(o.Options, configChoice{Value: level, Name: level})
	}
	return o
}

// modes returns the modes of the session; nil if no hook has any.
func (n menu) modes() *modeState {
	modes := n.session.agent().Modes()
	list, current := modes.List(), cmp.Or(modes.Current(), agent.NoMode)
	if len(list) == 0 && current == agent.NoMode {
		return nil
	}
	state := &modeState{Current: current, Available: []workMode{{ID: agent.NoMode, Name: "Default", Description: "no mode is on"}}}
	missing := current != agent.NoMode
	for _, m := range list {
		state.Available = append(state.Available, workMode{m.Name, m.Name, m.Description})
		missing = missing && m.Name != current
	}
	if missing {
		state.Available = append(state.Available, workMode{current, current, "the session was left in it, and no hook has it now"})
	}
	return state
}

// tellNews tells what can be chosen, and is chosen now, if that is something else than the
// client was told last: a model that brings another level with it is told once.
func (n menu) tellNews() {
	all := n.options()
	if n.session.shown.isNews("options", all) {
		n.session.out.send(configUpdate{"config_option_update", all})
	}
}

// noted is options for what the client is told now.
func (n menu) noted() []configOption {
	all := n.options()
	n.session.shown.isNews("options", all)
	return all
}

// beginSetMode turns a mode on.
func (v *Server) beginSetMode(f fields) (handler, error) {
	s, err := v.need(f)
	if err != nil {
		return nil, err
	}
	id, err := f.needText("modeId")
	if err != nil {
		return nil, err
	}
	return s.inOrder(func(ctx context.Context) (any, error) {
		return empty{}, menu{s}.setMode(ctx, "modeId", id)
	}), nil
}

// inOrder returns a handler that calls work when all requests that came before it have
// begun.
func (s *session) inOrder(work handler) handler {
	before, done := s.begins.next()
	return func(ctx context.Context) (any, error) {
		defer done()
		if err := waitFor(ctx, before); err != nil {
			return nil, err
		}
		if err := s.waitSettled(ctx); err != nil {
			return nil, err
		}
		return work(ctx)
	}
}

// setMode turns a mode on that is offered. field is where the client named it.
func (n menu) setMode(ctx context.Context, field, id string) error {
	m := n.modes()
	if m == nil || !slices.ContainsFunc(m.Available, func(each workMode) bool { return each.ID == id }) {
		return newError(codeParams, "%q: there is no mode %q", field, cut(id, 80))
	}
	if id == m.Current {
		return nil
	}
	if err := n.session.agent().Modes().Set(ctx, id); err != nil {
		return newError(codeParams, "%q: %v", field, err)
	}
	return nil
}

// beginSetOption chooses something.
func (v *Server) beginSetOption(f fields) (handler, error) {
	s, err := v.need(f)
	if err != nil {
		return nil, err
	}
	id, err := f.needText("configId")
	if err != nil {
		return nil, err
	}
	if kind, ok := f.text("type"); ok && kind == "boolean" {
		return nil, newError(codeParams, `"type": the option %q is a select; its value is a string`, cut(id, 80))
	}
	value, err := f.needText("value")
	if err != nil {
		return nil, err
	}
	return s.inOrder(func(ctx context.Context) (any, error) {
		if err := (menu{s}).setOption(ctx, id, value); err != nil {
			return nil, err
		}
		return configured{menu{s}.noted()}, nil
	}), nil
}

// setOption chooses one of the values that are offered.
func (n menu) setOption(ctx context.Context, id, value string) error {
	var names []string
	for _, o := range n.options() {
		names = append(names, o.ID)
		if o.ID != id {
			continue
		}
		if !slices.ContainsFunc(o.Options, func(c configChoice) bool { return c.Value == value }) {
			return newError(codeParams, `"value": the option %s has no value %q`, id, cut(value, 80))
		}
		return n.choose(ctx, id, value)
	}
	return newError(codeParams, `"configId": there is no option %q; options are %s`, cut(id, 80), strings.Join(names, ", "))
}

// choose chooses a value that is offered.
func (n menu) choose(ctx context.Context, id, value string) error {
	// What the hooks do at this goes on when the client cancels the request.
	ctx = context.WithoutCancel(ctx)
	switch id {
	case optionMode:
		return n.setMode(ctx, "value", value)
	case optionThinking:
		return n.session.agent().SetThinking(ctx, value)
	}
	n.session.mu.Lock()
	n.session.state.chosen = true
	n.session.mu.Unlock()
	provider, model, _ := strings.Cut(value, "/")
	if found := n.session.agent().Models().Find(provider, model); found != nil {
		n.session.agent().SetModel(ctx, found, "set")
		return nil
	}
	return newError(codeParams, `"value": the model %q is gone`, cut(value, 80))
}

// shown is what the client was told last of things that it is told only when they change.
type shown struct {
	mu   sync.Mutex
	last map[string]string
}

// isNews reports whether v is not what the client was told last under this key, and notes
// it.
func (t *shown) isNews(key string, v any) bool {
	text, err := json.Marshal(v)
	if err != nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string]string{}
	}
	was, told := t.last[key]
	t.last[key] = string(text)
	return !told || was != string(text)
}
