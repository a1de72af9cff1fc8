package event

import (
	"fmt"

	"pi/agent"
	"pi/luahooks/record"

	lua "github.com/yuin/gopher-lua"
)

const (
	toldAndWaitedFor = "told in chain order; waited for"
	toldWithGrace    = "told in chain order; the agent goes on after hook_grace"
	firstCancel      = "the first cancel stops the chain; otherwise the last answer counts"
)

func sessionEvents() []Spec {
	return []Spec{
		{
			Kind: agent.KindProjectTrust, Asking: true, OwnOnly: true,
			Fields:  "cwd string; files pi.TrustFile[]",
			Results: "trusted false|table<string, boolean>?",
			Rule:    "only hooks of the agent directory and of the command line are asked; the first answer counts; a file is accepted by its hash",
			build:   buildProjectTrust, Copy: copyOf[agent.ProjectTrust], Merge: mergeProjectTrust,
		},
		{
			Kind: agent.KindAppStart, Rule: toldWithGrace, Wait: Graceful,
			build: buildNothing,
		},
		{
			Kind: agent.KindSessionDirectory, Asking: true,
			Fields:  "cwd string",
			Results: "dir string?",
			Rule:    "the last answer counts",
			build:   buildSessionDirectory, Copy: copyOf[agent.SessionDirectory], Merge: mergeSessionDirectory,
		},
		{
			Kind:   agent.KindSessionStart,
			Fields: "reason string; session_id string; session_file string?; previous_session_file string?",
			Rule:   toldAndWaitedFor,
			build:  buildSessionStart, peek: peekSessionStart,
		},
		{
			Kind: agent.KindSessionBeforeSwitch, Asking: true,
			Fields:  "reason string; target_session_file string?",
			Results: "cancel boolean?",
			Rule:    firstCancel,
			build:   buildSessionBeforeSwitch, Copy: copyOf[agent.SessionBeforeSwitch], Merge: mergeSessionBeforeSwitch,
		},
		{
			Kind:   agent.KindSessionSwitch,
			Fields: "reason string; previous_session_file string?",
			Rule:   toldAndWaitedFor,
			build:  buildSessionSwitch,
		},
		{
			Kind: agent.KindSessionBeforeNew, Asking: true,
			Fields:  "session_id string",
			Results: "cancel boolean?",
			Rule:    firstCancel,
			build:   buildSessionBeforeNew, Copy: copyOf[agent.SessionBeforeNew], Merge: mergeSessionBeforeNew,
		},
		{
			Kind:   agent.KindSessionNew,
			Fields: "session_id string",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildSessionNew,
		},
		{
			Kind: agent.KindSessionBeforeBranch, Asking: true,
			Fields:  "entry_id string; entry_index integer",
			Results: "cancel boolean?; skip_conversation_restore boolean?",
			Rule:    firstCancel,
			build:   buildSessionBeforeBranch, Copy: copyOf[agent.SessionBeforeBranch], Merge: mergeSessionBeforeBranch,
		},
		{
			Kind:   agent.KindSessionBranch,
			Fields: "previous_session_file string?",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildSessionBranch,
		},
	}
}

// endEvents are those about the session as a whole that stand behind the others.
func endEvents() []Spec {
	return []Spec{
		{
			Kind:   agent.KindSessionInfoChanged,
			Fields: "name string?",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildSessionInfoChanged,
		},
		{
			Kind:   agent.KindSessionShutdown,
			Fields: "reason string; target_session_file string?",
			Rule:   "told in chain order; 2 s for all hooks together",
			Wait:   LastChance,
			build:  buildSessionShutdown,
		},
	}
}

// buildNothing is the table of an event that has nothing but its type.
func buildNothing(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 0).Table()
}

func buildProjectTrust(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ProjectTrust)
	files := L.CreateTable(len(s.Files), 0)
	for _, f := range s.Files {
		files.Append(record.NewPayload(L, 3).Text("path", f.Path).Text("sha256", f.SHA256).Set("size", lua.LNumber(f.Size)).Table())
	}
	return newPayload(L, e, 2).Text("cwd", s.Cwd).Set("files", files).Table()
}

// mergeProjectTrust accepts only files that the hook was shown.
func mergeProjectTrust(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.ProjectTrust)
	if r.RawGetString("trusted") == lua.LFalse {
		return func() { s.Refused = true }, true, nil
	}
	t, ok := r.RawGetString("trusted").(*lua.LTable)
	if !ok {
		return nil, false, fmt.Errorf("trusted: expected false or a table of hashes, got %s", r.RawGetString("trusted").String())
	}
	trusted := map[string]bool{}
	a := src.records.NewAnswer(L, r)
	if t, ok = hashes(a, t); !ok {
		return nil, false, a.Failed()
	}
	for _, f := range s.Files {
		if t.RawGetString(f.SHA256) == lua.LTrue {
			trusted[f.SHA256] = true
		}
	}
	return func() { s.Trusted = trusted }, true, nil
}

// hashes checks the shape of { [sha256] = true }.
func hashes(a record.Answer, t *lua.LTable) (*lua.LTable, bool) {
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if k.Type() != lua.LTString || v.Type() != lua.LTBool {
			a.Fail("trusted", "expected { [sha256] = true }, got the key %s with %s", k.String(), v.String())
			return t, false
		}
	}
	return t, true
}

func buildSessionDirectory(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Text("cwd", e.(*agent.SessionDirectory).Cwd).Table()
}

func mergeSessionDirectory(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionDirectory), src.records.NewAnswer(L, r)
	dir := a.Text("dir")
	if dir == "" {
		return nil, false, a.Failed()
	}
	return func() { s.Dir = dir }, false, nil
}

func buildSessionStart(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionStart)
	return newPayload(L, e, 4).Maybe("reason", s.Reason).Maybe("session_id", s.SessionID).
		Maybe("session_file", s.SessionFile).Maybe("previous_session_file", s.PreviousSessionFile).Table()
}

func peekSessionStart(e agent.Event, field string) (lua.LValue, bool) {
	s := e.(*agent.SessionStart)
	switch field {
	case "reason":
		return record.TextOrNil(s.Reason), true
	case "session_id":
		return record.TextOrNil(s.SessionID), true
	case "session_file":
		return record.TextOrNil(s.SessionFile), true
	}
	return nil, false
}

func buildSessionBeforeSwitch(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionBeforeSwitch)
	return newPayload(L, e, 2).Text("reason", s.Reason).Maybe("target_session_file", s.TargetSessionFile).Table()
}

func mergeSessionBeforeSwitch(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	return src.mergeCancel(L, r, &e.(*agent.SessionBeforeSwitch).Cancel)
}

func mergeSessionBeforeNew(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	return src.mergeCancel(L, r, &e.(*agent.SessionBeforeNew).Cancel)
}

// mergeCancel reads a result that has nothing but cancel.
func (src *Source) mergeCancel(L *lua.LState, r *lua.LTable, into *bool) (func(), bool, error) {
	a := src.records.NewAnswer(L, r)
	cancel := a.Flag("cancel")
	return func() { *into = cancel }, cancel, a.Failed()
}

func buildSessionSwitch(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionSwitch)
	return newPayload(L, e, 2).Text("reason", s.Reason).Maybe("previous_session_file", s.PreviousSessionFile).Table()
}

func buildSessionBeforeNew(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Text("session_id", e.(*agent.SessionBeforeNew).SessionID).Table()
}

func buildSessionNew(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Text("session_id", e.(*agent.SessionNew).SessionID).Table()
}

func buildSessionBeforeBranch(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionBeforeBranch)
	return newPayload(L, e, 2).Text("entry_id", s.EntryID).Number("entry_index", s.EntryIndex+1).Table()
}

// mergeSessionBeforeBranch: of several answers the last counts as a whole.
func mergeSessionBeforeBranch(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionBeforeBranch), src.records.NewAnswer(L, r)
	cancel, skip, answers := a.Flag("cancel"), a.Flag("skip_conversation_restore"), a.Has("skip_conversation_restore")
	return func() {
		s.Cancel = cancel
		if answers {
			s.SkipConversationRestore = skip
		}
	}, cancel, a.Failed()
}

func buildSessionBranch(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Maybe("previous_session_file", e.(*agent.SessionBranch).PreviousSessionFile).Table()
}

func buildSessionInfoChanged(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Maybe("name", e.(*agent.SessionInfoChanged).Name).Table()
}

func buildSessionShutdown(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionShutdown)
	return newPayload(L, e, 2).Maybe("reason", s.Reason).Maybe("target_session_file", s.TargetSessionFile).Table()
}
