package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"
	"pi/session/folder"

	lua "github.com/yuin/gopher-lua"
)

// inventory tells hooks what there is: skills, sessions, the models that a key goes through, the
// parts of the system prompt, keys, and what the front end can do.
type inventory struct{ *bridge }

func (i *inventory) ofPi() part { return part{"skills": i.skills, "sessions": i.sessions} }

func (i *inventory) ofContext() part {
	return part{"scoped_models": i.scopedModels, "prompt_parts": i.promptParts}
}

func (i *inventory) ofUI() part { return part{"keys": i.keys, "can": i.can} }

// newList is an empty list that is one in JSON, too.
func newList(L *lua.LState) *lua.LTable {
	t := L.CreateTable(0, 0)
	luavm.MarkList(t)
	return t
}

// skills is pi.skills(): {name, description, path, from}, by the commands that follow them.
func (i *inventory) skills(L *lua.LState) *lua.LTable {
	i.mustHost(L, "skills")
	all := newList(L)
	for _, c := range i.Commands() {
		if !c.IsSkill() {
			continue
		}
		t := luavm.NewRecord(L, 4)
		_, name, _ := strings.Cut(c.Name, ":")
		_, from, _ := strings.Cut(c.Origin, ", ")
		luavm.Set(t, "name", lua.LString(name))
		luavm.Set(t, "description", lua.LString(c.Help))
		luavm.Set(t, "path", lua.LString(c.From.Path))
		luavm.Set(t, "from", lua.LString(from))
		all.Append(t)
	}
	return all
}

// sessions is pi.sessions{cwd?, all?} → list, or nil and a message: the sessions that are kept of
// a folder, the project's unless cwd says otherwise, or of all; those written last first.
func (i *inventory) sessions(L *lua.LState) int {
	i.mustHaveLoaded(L, "sessions")
	cwd, all := i.Cwd, false
	luavm.Unpack(L, 1, "sessions", luavm.Opt("cwd", &cwd), luavm.Opt("all", &all))
	if cwd = i.absolute(cwd); all {
		cwd = ""
	}
	if i.Paths.Sessions == nil {
		return pushResult(L, nil, errors.New("no sessions are kept"))
	}
	var found []folder.Info
	err := i.wait(L, "sessions", func(ctx context.Context) error {
		for info, err := range folder.Scan(*i.Paths.Sessions, cwd) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil { // else it is one that cannot be read
				found = append(found, info)
			}
		}
		return nil
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	sessions := newList(L)
	for _, info := range found {
		sessions.Append(sessionTable(L, info))
	}
	L.Push(sessions)
	return 1
}

// sessionTable is a session of the list.
func sessionTable(L *lua.LState, info folder.Info) *lua.LTable {
	t := luavm.NewRecord(L, 10)
	luavm.Set(t, "path", lua.LString(info.Path))
	luavm.Set(t, "id", lua.LString(info.ID))
	luavm.Set(t, "cwd", lua.LString(info.Cwd))
	luavm.SetText(t, "name", info.Name)
	luavm.SetText(t, "first_prompt", info.FirstPrompt)
	luavm.SetText(t, "parent_session", info.Parent)
	luavm.SetText(t, "branch", info.Branch)
	luavm.Set(t, "messages", lua.LNumber(info.Messages))
	luavm.Set(t, "modified", milliseconds(info.Modified))
	if !info.Created.IsZero() {
		luavm.Set(t, "created", milliseconds(info.Created))
	}
	return t
}

func milliseconds(t time.Time) lua.LNumber { return lua.LNumber(t.UnixMilli()) }

// scopedModels is ctx.scoped_models(): {model, thinking?}, those that the key for the next model
// goes through.
func (i *inventory) scopedModels(L *lua.LState) *lua.LTable {
	all := newList(L)
	for _, c := range i.mustHost(L, "scoped_models").ScopedModels() {
		t := luavm.NewRecord(L, 2)
		luavm.Set(t, "model", i.records.Model(c.Model))
		luavm.SetText(t, "thinking", c.Level)
		all.Append(t)
	}
	return all
}

// promptParts is ctx.prompt_parts(): {name, text}, the sections of the system prompt.
func (i *inventory) promptParts(L *lua.LState) *lua.LTable {
	all := newList(L)
	for _, s := range i.mustHost(L, "prompt_parts").PromptParts() {
		t := luavm.NewRecord(L, 2)
		luavm.Set(t, "name", lua.LString(s.Name))
		luavm.Set(t, "text", lua.LString(s.Text))
		all.Append(t)
	}
	return all
}

// keys is ctx.ui.keys(): the keys of each action by its name, as they are in force. One that no
// key is bound to has an empty list.
func (i *inventory) keys(L *lua.LState) *lua.LTable {
	inForce := map[string][]string{}
	if i.Keys.InForce != nil {
		inForce = i.Keys.InForce()
	}
	all := luavm.NewRecord(L, len(inForce))
	for _, action := range slices.Sorted(maps.Keys(inForce)) {
		keys := newList(L)
		for _, key := range inForce[action] {
			keys.Append(lua.LString(key))
		}
		luavm.Set(all, action, keys)
	}
	return all
}

// can is ctx.ui.can(what): whether the front end can do more than ask and tell.
func (i *inventory) can(_ *lua.LState, what string) (bool, error) {
	abilities := agent.Abilities()
	if !slices.Contains(abilities, agent.Ability(what)) {
		var names []string
		for _, a := range abilities {
			names = append(names, string(a))
		}
		return false, luavm.Misusef("%q is none of %s%s", what, strings.Join(names, ", "), suggest.Hint(what, names))
	}
	return agent.UICan(i.UI(), agent.Ability(what)), nil
}
