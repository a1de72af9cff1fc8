package luahooks

import (
	"testing"

	"pi/agent"
	"pi/luahooks/trust"
)

func TestARosterFindsHooksByNameAndByPath(t *testing.T) {
	r := newRoster("print", nil)
	gate := newHook(trust.Source{Name: "gate", Path: "/home/hooks/gate.lua"})
	mine := newHook(trust.Source{Name: "gate", Path: "/project/.pi/hooks/gate.lua"})
	r.replace([]*hook{gate, mine})
	for name, want := range map[string]int{"gate": 2, "/home/hooks/gate.lua": 1, ".pi/hooks/gate.lua": 1} {
		if found, err := r.named(name, "/project"); err != nil || len(found) != want {
			t.Errorf("%s: %d hooks, %v", name, len(found), err)
		}
	}
	if _, err := r.named("gat", "/project"); err == nil || err.Error() != `no hook "gat"; did you mean "gate"?` {
		t.Error(err)
	}
	if got := r.Summary(); got != "0 hooks, 2 failed" {
		t.Error(got)
	}
}

func TestARosterCountsWhoListens(t *testing.T) {
	r := newRoster("print", nil)
	r.count("tool_call", 2)
	r.count("tool_call", -1)
	if !r.wants(agent.KindToolCall) || r.wants(agent.KindUserBash) {
		t.Error("one handler of tool_call is left, and none of user_bash")
	}
	if r.count("tool_call", -1); r.wants(agent.KindToolCall) {
		t.Error("nobody listens any more")
	}
	if !r.knows("tool_call") || !r.knows("mine:done") || r.knows("tool_cal") {
		t.Error("events are those of the table and those with a colon")
	}
}

func TestPathsAreShownBelowTheWorkingDirectory(t *testing.T) {
	for path, want := range map[string]string{"/project/a.lua": "a.lua", "/project/b/c": "b/c", "/projects/a": "/projects/a", "/": "/", "/project/..b": "..b"} {
		if got := workdir("/project").shown(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}
