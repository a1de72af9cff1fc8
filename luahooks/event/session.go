package event

import (
	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const firstCancel = "the first cancel stops the chain; otherwise the last answer counts"

func sessionEvents() []Spec {
	return []Spec{
		asking(Spec{OwnOnly: true, Rule: "only hooks of the agent directory and of the command line are asked; the first answer counts; a file is accepted by its hash"},
			func(p *payload, e *agent.ProjectTrust) {
				p.text("cwd", e.Cwd)
				p.value("files", "pi.TrustFile[]", func() lua.LValue {
					return luavm.NewList(p.L, len(e.Files), func(i int) lua.LValue {
						t := luavm.NewRecord(p.L, 3)
						luavm.Set(t, "path", lua.LString(e.Files[i].Path))
						luavm.Set(t, "sha256", lua.LString(e.Files[i].SHA256))
						luavm.Set(t, "size", lua.LNumber(e.Files[i].Size))
						return t
					})
				})
			}, readTrusted),
		graceful(noFields[*agent.AppStart]),
		asking(Spec{Rule: "the last answer counts"},
			func(p *payload, e *agent.SessionDirectory) { p.text("cwd", e.Cwd) },
			func(r *result, e *agent.SessionDirectory) {
				if dir := r.text("dir"); dir != "" {
					r.then(func() { e.Dir = dir })
				}
			}),
		telling(Spec{Rule: toldAndWaitedFor, lazy: true}, func(p *payload, e *agent.SessionStart) {
			p.text("reason", e.Reason)
			p.text("session_id", e.SessionID)
			p.optional("session_file", e.SessionFile)
			p.optional("previous_session_file", e.PreviousSessionFile)
		}),
		asking(Spec{Rule: firstCancel},
			func(p *payload, e *agent.SessionBeforeSwitch) {
				p.text("reason", e.Reason)
				p.optional("target_session_file", e.TargetSessionFile)
			},
			func(r *result, e *agent.SessionBeforeSwitch) { r.cancel(&e.Cancel) }),
		waited(func(p *payload, e *agent.SessionSwitch) {
			p.text("reason", e.Reason)
			p.optional("previous_session_file", e.PreviousSessionFile)
		}),
		asking(Spec{Rule: firstCancel},
			func(p *payload, e *agent.SessionBeforeNew) { p.text("session_id", e.SessionID) },
			func(r *result, e *agent.SessionBeforeNew) { r.cancel(&e.Cancel) }),
		graceful(func(p *payload, e *agent.SessionNew) { p.text("session_id", e.SessionID) }),
		asking(Spec{Rule: firstCancel},
			func(p *payload, e *agent.SessionBeforeBranch) {
				p.text("entry_id", e.EntryID)
				p.integer("entry_index", e.EntryIndex+1)
			},
			func(r *result, e *agent.SessionBeforeBranch) {
				r.cancel(&e.Cancel)
				if skip := r.flag("skip_conversation_restore"); r.Has("skip_conversation_restore") {
					r.then(func() { e.SkipConversationRestore = skip })
				}
			}),
		graceful(func(p *payload, e *agent.SessionBranch) { p.optional("previous_session_file", e.PreviousSessionFile) }),
	}
}

// endEvents are the events of a session that come last in the documentation.
func endEvents() []Spec {
	return []Spec{
		graceful(func(p *payload, e *agent.SessionInfoChanged) { p.optional("name", e.Name) }),
		telling(Spec{Rule: "told in chain order; 2 s for all hooks together", Wait: LastChance},
			func(p *payload, e *agent.SessionShutdown) {
				p.text("reason", e.Reason)
				p.optional("target_session_file", e.TargetSessionFile)
			}),
	}
}

// readTrusted reads what a handler of project_trust returned: false, which refuses the
// project, or the hashes that it trusts. Either ends the chain. Hashes of files that it was
// not shown are ignored.
func readTrusted(r *result, e *agent.ProjectTrust) {
	v := r.value("trusted", "false|table<string, boolean>?")
	if r.stop = v != lua.LNil; !r.stop {
		return
	}
	if v == lua.LFalse {
		r.then(func() { e.Refused = true })
		return
	}
	t, ok := luavm.TableOf(r.L, v)
	if !ok {
		r.Fail("trusted", "expected false or a table of hashes, got %s", v.String())
		return
	}
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if k.Type() != lua.LTString || v.Type() != lua.LTBool {
			r.Fail("trusted", "expected { [sha256] = true }, got the key %s with %s", k.String(), v.String())
			return
		}
	}
	trusted := map[string]bool{}
	for _, f := range e.Files {
		if t.RawGetString(f.SHA256) == lua.LTrue {
			trusted[f.SHA256] = true
		}
	}
	r.then(func() { e.Trusted = trusted })
}
