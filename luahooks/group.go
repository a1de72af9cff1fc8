package luahooks

import (
	"slices"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// groups are those that the handlers asked about one event were in, and what they answered.
// hasEnded and join may be called on nil, which is an event without groups so far.
type groups struct {
	spec  *event.Spec
	event agent.Event

	answered map[string][]string // by the name of a group: the keys of its answers
	before   agent.Event         // the event before the first answer of a group with the rule last
	changes  []change            // since then, in their order
}

// change is what one answer changed in an event.
type change struct {
	group string // "" unless the rule is last
	apply func()
}

// member is a handler of a group that is asked. keys and omitted are written by its job, and
// read only when that ended in time.
type member struct {
	group *api.Group
	spent []string // keys that do not count in its answer
	none  bool     // none counts

	keys    []string // of its answer, those that count
	omitted []string // of its answer, those that do not
}

// hasEnded reports whether no handler of a group is to be asked any more.
func (g *groups) hasEnded(group *api.Group) bool {
	return g != nil && group.Rule == api.GroupStop && g.answered[group.Name] != nil
}

// join returns what a handler is in its group.
func (g *groups) join(group *api.Group) *member {
	m := &member{group: group}
	if g == nil || group.Rule != api.GroupFirst {
		return m
	}
	answered := g.answered[group.Name]
	if m.none = len(group.Keys) == 0 && answered != nil; m.none {
		return m
	}
	for _, key := range answered {
		if slices.Contains(group.Keys, key) {
			m.spent = append(m.spent, key)
		}
	}
	return m
}

// countingOf returns what counts of an answer with these keys, and the keys of that.
func (m *member) countingOf(L *lua.LState, answer *lua.LTable, keys []string) (*lua.LTable, []string) {
	for _, key := range keys {
		if m.none || slices.Contains(m.spent, key) {
			m.omitted = append(m.omitted, key)
		} else {
			m.keys = append(m.keys, key)
		}
	}
	if len(m.omitted) == 0 {
		return answer, keys
	}
	rest := luavm.NewRecord(L, len(m.keys))
	for _, key := range m.keys {
		luavm.Set(rest, key, answer.RawGetString(key))
	}
	return rest, m.keys
}

// apply carries out an answer that has an effect. m is nil for a handler that is in no group.
func (g *groups) apply(m *member, apply func()) {
	c := change{apply: apply}
	if m != nil {
		if g.answered == nil {
			g.answered = map[string][]string{}
		}
		g.answered[m.group.Name] = append(g.answered[m.group.Name], m.keys...)
		if m.group.Rule == api.GroupLast {
			c.group = m.group.Name
			g.withdraw(m.group.Name)
		}
	}
	c.apply()
	if g.before != nil {
		g.changes = append(g.changes, c)
	}
}

// withdraw makes the event what it would be if the group had not answered before.
func (g *groups) withdraw(name string) {
	if g.before == nil {
		g.before = g.spec.Copy(g.event)
		return
	}
	rest := slices.DeleteFunc(slices.Clone(g.changes), func(c change) bool { return c.group == name })
	if len(rest) == len(g.changes) {
		return
	}
	g.spec.Restore(g.event, g.before)
	g.changes = rest
	for _, c := range rest {
		c.apply()
	}
}
