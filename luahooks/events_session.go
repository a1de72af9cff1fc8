package luahooks

import (
	"pi/agent"

	lua "github.com/yuin/gopher-lua"
)

func sessionEvents() []eventSpec {
	return []eventSpec{
		{
			Kind:   agent.KindSessionStart,
			Fields: fields("reason", "string", "session_id", "string", "session_file", "string?", "previous_session_file", "string?"),
			Rule:   "told in chain order; waited for",
			build:  buildSessionStart,
			peek:   peekSessionStart,
		},
		{
			Kind:   agent.KindSessionShutdown,
			Fields: fields("reason", "string", "target_session_file", "string?"),
			Rule:   "told in chain order; 2 s for all hooks together",
			Wait:   lastChance,
			build:  buildSessionShutdown,
		},
	}
}

func buildSessionStart(_ *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionStart)
	t := record(L, s.Kind(), 4)
	setText(t, "reason", s.Reason)
	setText(t, "session_id", s.SessionID)
	setText(t, "session_file", s.SessionFile)
	setText(t, "previous_session_file", s.PreviousSessionFile)
	return t
}

func peekSessionStart(e agent.Event, field string) (lua.LValue, bool) {
	s := e.(*agent.SessionStart)
	switch field {
	case "reason":
		return textOrNil(s.Reason), true
	case "session_id":
		return textOrNil(s.SessionID), true
	case "session_file":
		return textOrNil(s.SessionFile), true
	}
	return nil, false
}

func buildSessionShutdown(_ *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionShutdown)
	t := record(L, s.Kind(), 2)
	setText(t, "reason", s.Reason)
	setText(t, "target_session_file", s.TargetSessionFile)
	return t
}
