package hooktest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luahooks/event"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// recorder gets events as hooks are about to get them, and hands those that a test wants to
// it.
type recorder struct {
	mu    sync.Mutex // guards wants
	wants []wantedEvents
}

// wantedEvents are the names of events, and what gets those: one of the program, or with data one that a
// hook emits for others.
type wantedEvents struct {
	names []string
	seen  func(ctx context.Context, name string, e agent.Event, data json.RawMessage)
}

// want makes seen get the events with these names, too.
func (r *recorder) want(names []string, seen func(ctx context.Context, name string, e agent.Event, data json.RawMessage)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wants = append(r.wants, wantedEvents{names, seen})
}

// Wants reports whether a test wants events of kind k.
func (r *recorder) Wants(k agent.Kind) bool { return len(r.wanting(k.String())) > 0 }

// wanting lists what gets the events of a name.
func (r *recorder) wanting(name string) (found []wantedEvents) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.wants {
		if slices.Contains(w.names, name) {
			found = append(found, w)
		}
	}
	return found
}

// Handle records e. It never fails.
func (r *recorder) Handle(ctx context.Context, e agent.Event) error {
	r.record(ctx, e.Kind().String(), e, nil)
	return nil
}

// noteEmitted records an event that a hook emits for others.
func (r *recorder) noteEmitted(ctx context.Context, name string, data json.RawMessage) {
	r.record(ctx, name, nil, data)
}

func (r *recorder) record(ctx context.Context, name string, e agent.Event, data json.RawMessage) {
	for _, w := range r.wanting(name) {
		w.seen(ctx, name, e, data)
	}
}

// events is t.events{names…} → a list to which the events of these names are added as they
// come, as hooks get them.
func (f *file) events(L *lua.LState, names []string) lua.LValue {
	s := f.current(L, "events")
	rows := map[string]*event.Spec{}
	for _, name := range names {
		row, err := rowOf(name)
		if err != nil {
			luavm.Raise(L, "t.events: %v", err)
		}
		rows[name] = row
	}
	list := L.NewTable()
	source := event.NewSource(f.vm, f.records, agent.Origin{Hook: "test"}, nil, func(*lua.LState) lua.LValue { return lua.LNil }, s.branch)
	s.stage.recorder.want(names, func(ctx context.Context, name string, e agent.Event, data json.RawMessage) {
		_ = s.job(ctx, "events", func(L *lua.LState) error {
			if e == nil {
				t := luavm.NewRecord(L, 2)
				luavm.Set(t, "type", lua.LString(name))
				luavm.Set(t, "data", f.records.JSON(data))
				list.Append(t)
				return nil
			}
			if row := rows[name]; row.Copy != nil {
				e = row.Copy(e)
			}
			list.Append(rows[name].Table(source, L, e))
			return nil
		})
	})
	return list
}

// branch is the branch of the session, for the events that show it.
func (s *scene) branch() (branch []*session.Entry, known bool) {
	if s.stage.run == nil {
		return nil, false
	}
	return s.stage.run.Session().Branch(), true
}

// rowOf returns the row of an event of the program; nil for one that hooks emit. An unknown
// name is an error.
func rowOf(name string) (*event.Spec, error) {
	table := event.Table()
	var names []string
	for i, row := range table {
		if row.Name == name {
			return &table[i], nil
		}
		names = append(names, row.Name)
	}
	if strings.Contains(name, ":") {
		return nil, nil
	}
	return nil, luavm.Misusef("no event %q%s", name, suggest.Hint(name, names))
}
