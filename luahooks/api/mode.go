package api

import (
	"context"
	"errors"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Mode is one pi.mode: a way to work that a user turns on.
type Mode struct {
	Name, Description string

	Tools    []string // nil: those that are active without a mode
	Section  string   // of the system prompt; "" for none
	Thinking string   // the level while it is on; "" leaves it

	gate []*Handler // none or one
}

func (m *Mode) id() string { return m.Name }

// Gate lists the handler that is asked of each tool call while the mode is on, before all of
// tool_call; none if the mode has no gate. m may be nil.
func (m *Mode) Gate() []*Handler {
	if m == nil {
		return nil
	}
	return m.gate
}

// modes are the modes of a hook, and how it turns those of all hooks on.
type modes struct{ *bridge }

func (m *modes) ofPi() part { return part{"mode": m.register} }

func (m *modes) ofContext() part { return part{"set_mode": m.set} }

// register is pi.mode{name, description?, tools?, section?, gate?, thinking?} → off: it
// registers a mode, in place of one of the hook with that name. off removes it. Misuse
// raises.
func (m *modes) register(L *lua.LState) int {
	n := &Mode{}
	var tools *lua.LTable
	var gate *lua.LFunction
	luavm.Unpack(L, 1, "mode", luavm.Opt("name", &n.Name).Required(), luavm.Opt("description", &n.Description),
		luavm.Opt("tools", &tools), luavm.Opt("section", &n.Section), luavm.Opt("gate", &gate), luavm.Opt("thinking", &n.Thinking))
	switch {
	case !hasNameCharacters(n.Name) || n.Name == "" || len(n.Name) > maxToolName:
		luavm.Raise(L, "mode: %q is no name of a mode: letters, digits, _ and -, at most %d", n.Name, maxToolName)
	case agent.IsNoMode(n.Name):
		luavm.Raise(L, "mode: %q is how people say that no mode is on; the mode needs another name", n.Name)
	}
	n.Section = strings.TrimSpace(n.Section)
	n.Description, _, _ = strings.Cut(strings.TrimSpace(n.Description), "\n")
	if n.Thinking != "" && !llm.ValidThinking(n.Thinking) {
		levels := llm.ThinkingLevels()
		luavm.Raise(L, "mode: option \"thinking\" must be one of %s, not %q%s", strings.Join(levels, ", "), n.Thinking, suggest.Hint(n.Thinking, levels))
	}
	if tools != nil {
		names, ok := luavm.Strings(L, tools)
		if !ok {
			luavm.Raise(L, "mode: option \"tools\" must be a list of strings")
		}
		n.Tools = append([]string{}, names...) // none is not all
	}
	if gate != nil {
		n.gate = []*Handler{{Fn: gate}}
	}
	m.registered.Modes.put(n)
	m.changed()
	L.Push(m.vm.Func("off", func() {
		m.registered.Modes.drop(n)
		m.changed()
	}))
	return 1
}

// changed offers the modes as they are now, unless the file is still being loaded: then that
// is done for all of its registrations at once.
func (m *modes) changed() {
	if m.registered.Handlers.isInForce() {
		m.Tools.Apply(m.Hook.Name)
	}
}

// errUserChooses is why a hook cannot leave a mode that nobody has.
var errUserChooses = errors.New("the session is in a mode that no hook has here, and a person has to choose another: /mode")

// errModeOfParent is why a hook of a child cannot choose a mode.
var errModeOfParent = errors.New("in a child: its mode is that of the agent that uses it")

// set is ctx.set_mode(name?) → true, or nil and a message. nil turns the mode that is on off.
func (m *modes) set(L *lua.LState, name *string) error {
	host := m.mustHost(L, "set_mode")
	if m.InChild() {
		return errModeOfParent
	}
	if host.Modes().IsMissing() && !isOfUser(m.vm.Context()) {
		return errUserChooses
	}
	return m.wait(L, "set_mode", func(ctx context.Context) error {
		return host.Modes().Select(ctx, textOf(name), agent.ModeByHook)
	})
}
