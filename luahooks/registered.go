package luahooks

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/agent/command"
	"pi/luahooks/api"
	"pi/luahooks/trust"
	"pi/session/message"
)

// What hooks register for a user: commands, keys, flags.

// namedCommand is a command of a hook under the name that it can be called by.
type namedCommand struct {
	*api.Command
	name  string
	hook  *hook
	first *hook // that has a command with this name before it; nil: no hook has
}

// commands lists the commands of all hooks in chain order. The program keeps its names, else
// the first hook a name; later ones are name:2, name:3 and so on.
func (r *roster) commands() (all []namedCommand) {
	taken, owner := map[string]int{}, map[string]*hook{}
	for _, name := range r.reserved {
		taken[name] = 1
	}
	for _, h := range r.list() {
		for _, cmd := range h.registered().Commands.All() {
			c := namedCommand{cmd, cmd.Name, h, owner[cmd.Name]}
			if taken[cmd.Name]++; taken[cmd.Name] > 1 {
				c.name = fmt.Sprintf("%s:%d", cmd.Name, taken[cmd.Name])
			}
			if c.first == nil {
				owner[cmd.Name] = h
			}
			all = append(all, c)
		}
	}
	return all
}

// Commands lists the commands of all hooks in chain order, under the names that they can be
// called by.
func (r *roster) Commands() (all []command.Command) {
	for _, c := range r.commands() {
		known := c.Under(c.name)
		known.From = command.Provenance{Path: c.hook.Path, OfProject: c.hook.Scope == trust.ScopeProject, Named: c.hook.Scope == trust.ScopeCommand}
		all = append(all, known)
	}
	return all
}

// warnCommands tells the user, once each, of commands that have another name than the one
// that their hook gave them.
func (l *loader) warnCommands(ctx context.Context) {
	if l.above != nil { // where the user was told
		return
	}
	for _, c := range l.roster.commands() {
		if c.name == c.Name {
			continue
		}
		text := fmt.Sprintf("command /%s of %s has the name of one of the program; it is /%s", c.Name, l.dir.shown(c.hook.Path), c.name)
		if c.first != nil {
			text = fmt.Sprintf("command /%s is in %s and in %s; the second is /%s", c.Name, l.dir.shown(c.first.Path), l.dir.shown(c.hook.Path), c.name)
		}
		l.audience.notifyOnce(ctx, "command "+c.Name+c.hook.Path, agent.LevelWarning, text)
	}
}

// Shortcuts lists the keys that hooks took; of two that took the same the last
// in the chain has it.
func (r *roster) Shortcuts() []api.Shortcut {
	var all []api.Shortcut
	for _, h := range r.list() {
		for _, s := range h.registered().Shortcuts.All() {
			all = slices.DeleteFunc(all, func(have api.Shortcut) bool { return have.Key == s.Name })
			all = append(all, api.Shortcut{Key: s.Name, Description: s.Description, Hook: h.Name,
				Run: func(ctx context.Context) (command.Outcome, error) { return s.Run(ctx, "") }})
		}
	}
	return all
}

// Flags lists the flags of all hooks; of two of the same name the last in the
// chain counts.
func (r *roster) Flags() []api.Flag {
	var all []api.Flag
	for _, h := range r.list() {
		for _, f := range h.registered().Flags.All() {
			all = append(slices.DeleteFunc(all, func(have api.Flag) bool { return have.Name == f.Name }), f)
		}
	}
	return all
}

// Completions lists what hooks offer for words with a prefix, in chain order. Several may
// have the same prefix.
func (r *roster) Completions() []*api.Completion {
	var all []*api.Completion
	for _, h := range r.list() {
		all = append(all, h.registered().Completions.All()...)
	}
	return all
}

// Resources lists the folders of skills and templates that hooks bring, the last hook of the
// chain first, with the names of the hooks.
func (r *roster) Resources() (all []api.Resources, hooks []string) {
	for _, h := range slices.Backward(r.list()) {
		for _, folders := range h.registered().Resources.All() {
			all, hooks = append(all, folders), append(hooks, h.Name)
		}
	}
	return all, hooks
}

// What hooks draw of messages and tool calls.

// RenderMessage asks the hooks for the lines of a custom message. The first
// answer of the chain counts; false means that no hook has one. A renderer that
// fails is reported and has none.
func (r *roster) RenderMessage(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	return r.render(api.EntryRenderer(m.CustomType), func(by api.Renderer) ([]string, bool) { return by.Message(ctx, m, expanded, width) })
}

// RenderToolCall is RenderMessage for a call of a tool. Behind the renderers of all hooks
// comes the tool itself, if a hook brought it and it has render_call.
func (r *roster) RenderToolCall(ctx context.Context, c agent.DrawnCall, expanded bool, width int) ([]string, bool) {
	lines, ok := r.render(api.ToolRenderer(c.Name), func(by api.Renderer) ([]string, bool) { return by.Call(ctx, c, expanded, width) })
	if t := r.tool(c.Name); !ok && t != nil {
		return t.RenderCall(ctx, c, expanded, width)
	}
	return lines, ok
}

// RenderToolResult is the same for a result, or for what a running tool has reported last, and
// render_result.
func (r *roster) RenderToolResult(ctx context.Context, c agent.DrawnCall, result agent.Result, expanded bool, width int) ([]string, bool) {
	lines, ok := r.render(api.ToolRenderer(c.Name), func(by api.Renderer) ([]string, bool) { return by.Result(ctx, c, result, expanded, width) })
	if t := r.tool(c.Name); !ok && t != nil {
		return t.RenderResult(ctx, c, result, expanded, width)
	}
	return lines, ok
}

// DrawsTool reports whether a hook draws calls of a tool or their results.
func (r *roster) DrawsTool(name string) bool {
	if t := r.tool(name); t != nil && t.Draws() {
		return true
	}
	return slices.ContainsFunc(r.list(), func(h *hook) bool {
		_, ok := h.registered().Renderers.Find(api.ToolRenderer(name))
		return ok
	})
}

// render asks the renderers of a kind in chain order, until one draws.
func (r *roster) render(kind string, draw func(api.Renderer) ([]string, bool)) ([]string, bool) {
	for _, h := range r.list() {
		if by, ok := h.registered().Renderers.Find(kind); ok {
			if lines, ok := draw(by); ok {
				return lines, true
			}
		}
	}
	return nil, false
}
