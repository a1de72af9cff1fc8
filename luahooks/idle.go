package luahooks

import (
	"context"

	"pi/agent"
	"pi/luahooks/text"
)

// tellIdle tells of hooks that register nothing and return a table, as files of other programs do:
// nothing of it is ever called. A file that a hook requires is a module that lies beside it.
func (l *loader) tellIdle(ctx context.Context, hooks []*hook) {
	modules := map[string]bool{}
	for _, h := range l.roster.list() {
		if in := h.current(); in != nil {
			for file := range in.script.Files() {
				modules[file] = true
			}
		}
	}
	for _, h := range hooks {
		in := h.current()
		if in == nil || !in.script.ReturnsTable || modules[in.real] || modules[h.Path] {
			continue
		}
		var has Info
		has.add(&in.script.Registered)
		if len(has.Events)+len(has.Commands)+len(has.Tools)+len(has.Others) == 0 {
			l.audience.notify(ctx, agent.LevelWarning, "hook "+h.Name+" "+text.ReturnedTable)
		}
	}
}
