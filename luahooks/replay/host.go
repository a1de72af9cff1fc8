package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/api"
	"pi/luavm"
	"pi/session"
)

// host is the program as a hook sees it in a replay: the session as it was, and nothing that
// can be changed. All methods may be called from any goroutine.
type host struct {
	api.Host // nil: the other methods belong to functions that confine replaces

	playback *session.Playback
	models   *llm.Models
	tools    []agent.Tool
	modes    *agent.Modes
	undone   undone

	mu      sync.Mutex // guards what follows
	view    session.View
	seen    []session.Item // nil: to be built
	effects []Effect
	failed  bool
	late    bool // it was stopped for its time
}

func newHost(p *session.Playback, o Options) *host {
	h := &host{playback: p, models: o.Models, tools: o.Tools}
	if h.models == nil {
		h.models = llm.NewModels(nil)
	}
	h.modes = agent.NewModes(agent.ModeOptions{Tools: noRestriction{}, Thinking: recordedThinking{h}, Session: h.Session, IsIdle: h.IsIdle,
		Emit: func(context.Context, string, string, string) {}, Warn: func(context.Context, string) {}})
	return h
}

// next is called when the session has changed.
func (h *host) next() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = nil
}

// add notes an effect of the event that is being handled.
func (h *host) add(e Effect) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.effects = append(h.effects, e)
}

// takeEffects returns what was noted since the last call, and whether the hook failed, and for
// its time.
func (h *host) takeEffects() (effects []Effect, failed, late bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	effects, failed, late = h.effects, h.failed, h.late
	h.effects, h.failed, h.late = nil, false, false
	return effects, failed, late
}

func (h *host) Session() *session.Session { return h.playback.Session() }

// Seen is what the model saw, without what hooks made of it.
func (h *host) Seen() []session.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen == nil {
		h.seen = h.view.Context(h.playback.Session())
	}
	return h.seen
}

// Model is the one that the session used last, if it is known.
func (h *host) Model() *llm.Model {
	provider, id := h.playback.Session().Model()
	if id == "" {
		return nil
	}
	return h.models.Find(provider, id)
}

func (h *host) Models() *llm.Models  { return h.models }
func (h *host) Thinking() string     { return h.playback.Session().ThinkingLevel() }
func (h *host) Modes() *agent.Modes  { return h.modes }
func (h *host) Tools() []agent.Tool  { return h.tools }
func (h *host) SystemPrompt() string { return "" }

func (h *host) PromptParts() []agent.Section { return nil }
func (h *host) ScopedModels() []llm.Choice   { return nil }

func (h *host) Totals() agent.Totals {
	return agent.Totals{ContextUsage: agent.ContextUsage{Tokens: -1}}
}
func (h *host) IsIdle() bool            { return false }
func (h *host) Pending() int            { return 0 }
func (h *host) ResetBrake(agent.Origin) {}

// AllowContinuations allows nothing: nobody is there to ask.
func (h *host) AllowContinuations(context.Context, agent.Origin, int) error {
	return errors.New("nobody is there to ask")
}

func (h *host) SetTools([]agent.Tool, string) {}

// Notify does nothing: what a hook shows in a replay is shown to nobody.
func (h *host) Notify(context.Context, agent.Level, string) {}

// HookFailed notes that the hook raised.
func (h *host) HookFailed(_ context.Context, f *agent.HookFailed, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.effects, h.failed = append(h.effects, Effect{Kind: Raised, Text: f.Message}), true
	h.late = h.late || strings.Contains(f.Message, luavm.RanLonger)
}

type noRestriction struct{}

func (noRestriction) Restrict([]agent.Tool) {}
func (noRestriction) Lift()                 {}

// recordedThinking is the thinking level of the recording.
type recordedThinking struct{ host *host }

func (t recordedThinking) Wish() string                            { return t.host.Thinking() }
func (t recordedThinking) InForce(level string) string             { return level }
func (t recordedThinking) Use(string) (tell func(context.Context)) { return func(context.Context) {} }

// user is somebody at a terminal who leaves every question, and what was asked is noted.
type user struct {
	agent.NoUI
	host *host
}

func (*user) HasUI() bool { return true }

// Custom shows nothing; that it would have asked is noted.
func (p *user) Custom(agent.Component, agent.SurfaceOptions) (agent.Surface, error) {
	p.asked("with a component of its own", "", "")
	return nil, nil
}

func (p *user) Select(_ context.Context, title string, _ []agent.Choice, _ agent.DialogOptions) ([]string, bool, error) {
	p.asked("to choose", title, "")
	return nil, false, nil
}

func (p *user) Confirm(_ context.Context, title, message string, _ agent.DialogOptions) (agent.Answer, error) {
	p.asked("to confirm", title, message)
	return agent.No, nil
}

func (p *user) Input(_ context.Context, title, _ string, _ agent.DialogOptions) (string, bool, error) {
	p.asked("for a text", title, "")
	return "", false, nil
}

func (p *user) Editor(_ context.Context, title, _ string, _ agent.DialogOptions) (string, bool, error) {
	p.asked("for a text", title, "")
	return "", false, nil
}

func (p *user) asked(what, title, message string) {
	text := what
	if title != "" {
		text += fmt.Sprintf(" %q", title)
	}
	if message != "" {
		text += ": " + message
	}
	p.host.add(Effect{Kind: Asked, Text: text})
}
