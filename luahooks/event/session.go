package event

import (
	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const firstCancel = "the first cancel stops the chain; otherwise the last answer counts"

// startEvents are those before there is a session.
func startEvents() []Spec {
	return []Spec{
		asking(Spec{About: "Asks whether hooks of a project may run, and in an event of its own whether its MCP servers may be used. Only your own hooks and those of the command line are asked. In a terminal they can ask the user: `confirm`, `select` and `input` work line by line, for there is no prompt yet. Programs do not run; `fs` reads and `git` looks, as `git.remotes()` does. A remote is text that the clone brings and proves nothing: whoever made the clone wrote it.",
			OwnOnly: true, Rule: "only hooks of the agent directory and of the command line are asked; the first answer counts; a file is accepted by its hash"},
			func(p *payload, e *agent.ProjectTrust) {
				p.text("cwd", e.Cwd).about("the project")
				p.value("files", "pi.TrustFile[]", func() lua.LValue {
					return luavm.NewList(p.L, len(e.Files), func(i int) lua.LValue {
						t := luavm.NewRecord(p.L, 5)
						luavm.Set(t, "path", lua.LString(e.Files[i].Path))
						luavm.Set(t, "sha256", lua.LString(e.Files[i].SHA256))
						luavm.Set(t, "size", lua.LNumber(e.Files[i].Size))
						luavm.Set(t, "kind", lua.LString(e.Files[i].Kind))
						for key, rows := range map[string][]string{"servers": e.Files[i].Servers, "packages": e.Files[i].Packages} {
							if len(rows) > 0 {
								luavm.Set(t, key, luavm.NewList(p.L, len(rows), func(i int) lua.LValue { return lua.LString(rows[i]) }))
							}
						}
						return t
					})
				}).about("what would run")
			}, readTrusted),
		graceful("Settings and hooks are loaded, and there is no session yet. What is sent now waits for it; files are written, programs run and servers asked at once.", noFields[*agent.AppStart]),
		asking(Spec{About: "Asks where sessions are kept, at the start; not with `--session-dir`. `pi sessions` asks no hooks: `--session-dir` tells it too.",
			Rule: "the last answer counts"},
			func(p *payload, e *agent.SessionDirectory) { p.text("cwd", e.Cwd).about("the working directory") },
			func(r *result, e *agent.SessionDirectory) {
				if dir := r.text("dir", "the directory"); dir != "" {
					r.then(func() { e.Dir = dir })
				}
			}),
	}
}

func sessionEvents() []Spec {
	return []Spec{
		telling(Spec{About: "A session has become the current one; also after a reload, then only for the hook that was loaded anew.",
			Rule: toldAndWaitedFor, lazy: true}, func(p *payload, e *agent.SessionStart) {
			p.text("reason", e.Reason).about("`startup`, `reload`, `new`, `resume` or `branch`; in a child `agent`")
			p.text("session_id", e.SessionID)
			p.optional("session_file", e.SessionFile).about("nil when nothing is saved")
			p.optional("previous_session_file", e.PreviousSessionFile).about("the session before it")
		}),
		asking(Spec{About: "Asks before another session becomes the current one.",
			Rule: firstCancel},
			func(p *payload, e *agent.SessionBeforeSwitch) {
				p.text("reason", e.Reason).about("`new` or `resume`")
				p.optional("target_session_file", e.TargetSessionFile).about("the other session")
			},
			func(r *result, e *agent.SessionBeforeSwitch) { r.cancel(&e.Cancel, "stay in this session") }),
		waited("Another session is the current one.",
			func(p *payload, e *agent.SessionSwitch) {
				p.text("reason", e.Reason).about("`new` or `resume`")
				p.optional("previous_session_file", e.PreviousSessionFile).about("the session that was left")
			}),
		asking(Spec{About: "Asks before an empty session is started, by `/new` or a hook.",
			Rule: firstCancel},
			func(p *payload, e *agent.SessionBeforeNew) {
				p.text("session_id", e.SessionID).about("of the session that would be left")
			},
			func(r *result, e *agent.SessionBeforeNew) { r.cancel(&e.Cancel, "stay in this session") }),
		graceful("An empty session was started.",
			func(p *payload, e *agent.SessionNew) { p.text("session_id", e.SessionID) }),
		asking(Spec{About: "Asks before the way to an entry is copied into a session of its own.",
			Rule: firstCancel},
			func(p *payload, e *agent.SessionBeforeBranch) {
				p.text("entry_id", e.EntryID).about("where the new session would end; of a prompt of the user: before which it would")
				p.integer("entry_index", e.EntryIndex+1).about("where that entry stands on the way to it, from 1; on this branch that is its place in `ctx.entries`")
			},
			func(r *result, e *agent.SessionBeforeBranch) {
				r.cancel(&e.Cancel, "stay in this session")
				if skip := r.flag("skip_conversation_restore", "take all of this branch along, not only the way to the entry"); r.Has("skip_conversation_restore") {
					r.then(func() { e.SkipConversationRestore = skip })
				}
			}),
		graceful("The way to an entry was copied into a session of its own.",
			func(p *payload, e *agent.SessionBranch) {
				p.optional("previous_session_file", e.PreviousSessionFile).about("the session that was left")
			}),
	}
}

// endEvents are the events of a session that come last in the documentation.
func endEvents() []Spec {
	return []Spec{
		graceful("The session got a name, or lost it.",
			func(p *payload, e *agent.SessionInfoChanged) { p.optional("name", e.Name) }),
		telling(Spec{About: "The session ends, on every way out. All hooks together have 2 seconds; what is cut off then is said. Nothing is sent any more.",
			Rule: "told in chain order; 2 s for all hooks together", Wait: LastChance},
			func(p *payload, e *agent.SessionShutdown) {
				p.text("reason", e.Reason).about("`quit`, `reload`, `new`, `resume` or `branch`")
				p.optional("target_session_file", e.TargetSessionFile).about("the session that comes after it")
			}),
	}
}

// readTrusted reads what a handler of project_trust returned: false, which refuses the
// project, or the hashes that it trusts. Either ends the chain. Hashes of files that it was
// not shown are ignored.
func readTrusted(r *result, e *agent.ProjectTrust) {
	v := r.value("trusted", "false|table<string, boolean>?", "false: none; a table accepts the files that it names by their `sha256`")
	remember := r.flag("remember", "with a table in `trusted`: what it accepts is approved for later runs too, as if you had said always; a row and `pi trust --list` say which hook did")
	if r.stop = v != lua.LNil; !r.stop {
		if remember {
			r.Fail("remember", "it goes with trusted = { [sha256] = true }")
		}
		return
	}
	if v == lua.LFalse {
		if remember {
			r.Fail("remember", "only what is trusted is remembered; to refuse a project for good is for its user")
			return
		}
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
	by := r.src.hook
	r.then(func() { e.Trusted, e.Remember, e.By = trusted, remember, by })
}
