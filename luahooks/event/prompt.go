package event

import (
	"maps"
	"slices"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func promptEvents() []Spec {
	return []Spec{
		asking(Spec{About: "A line as a user or a program has handed it in, before skills, templates and files named with `@` are looked for in it. Commands of the program and of hooks run before it, and so does `!`; an unknown `/word` comes here first, and is refused if nobody takes it. It does not come for what hooks send, nor for answers of dialogs.",
			Rule: "chained: each sees the text as rewritten so far; handled and command stop the chain"},
			func(p *payload, e *agent.Line) {
				p.text("text", e.Text).about("as it was typed")
				p.blocks("attachments", e.Attachments).about("what a client or the prompt line sends with it; files that the text names are not among them yet")
				p.text("source", e.Source).about("`interactive`, `print`, `json`, `rpc` or `acp`")
				p.optional("streaming_behavior", e.StreamingBehavior).about("while the agent works: `steer` or `follow_up`")
			}, readLine),
		asking(Spec{About: "A prompt, before it is written anywhere.",
			Rule: "chained: each sees the text as rewritten so far; handled stops the chain"},
			func(p *payload, e *agent.Input) {
				p.text("text", e.Text)
				p.blocks("attachments", e.Attachments)
				p.text("source", e.Source).about("`interactive`, `print`, `json`, `rpc`, `acp` or `hook`")
				p.optional("streaming_behavior", e.StreamingBehavior).about("while the agent works: `steer` or `follow_up`")
				p.agent()
			}, readInput),
		asking(Spec{About: "The prompt is in the session, and the model is about to be asked.",
			Rule: "messages: all, in order; sections: merged; system_prompt: chained"},
			func(p *payload, e *agent.BeforeAgentStart) {
				system, sections := e.Prompts()
				p.text("prompt", e.Prompt)
				p.optional("message_type", e.MessageType).about("the `custom_type` of the message that began the run, as of `pi.send_message` with `trigger_turn`; nil for a prompt")
				p.blocks("attachments", e.Attachments)
				p.text("system_prompt", system).about("the whole of it")
				p.record("sections", "table<string, string>", func() {
					for _, s := range sections {
						p.text(s.Name, s.Text)
					}
				}).about("its parts, by name")
				p.agent()
			}, readBeforeAgentStart),
		waited("The agent begins to work on a prompt.", noFields[*agent.AgentStart]),
		graceful("The agent has worked on a prompt; once for each. Whether it was interrupted is in `agent_settled`.",
			func(p *payload, e *agent.AgentEnd) {
				p.messages("messages", record.ItemsOf(e.Messages)).about("the new ones")
				p.value("usage", "pi.Usage", func() lua.LValue { return record.Usage(p.L, &e.Usage) }).about("of the run")
				p.flag("will_retry", e.WillRetry).about("always false: a request that failed is made again within its turn")
			}),
		asking(Spec{About: "Asks before the agent stops. A hook may let it go on.",
			Rule: continuationRule, Clock: luavm.CountedLua}, // a check may take its time
			func(p *payload, e *agent.AgentBeforeSettle) {
				p.text("outcome", e.Outcome).about("`completed`, `aborted` or `error`")
				p.messages("messages", record.ItemsOf(e.Messages)).about("the new ones")
			},
			func(r *result, e *agent.AgentBeforeSettle) {
				readContinuation(r, &e.Continuation, 0, "ask the model once more; it needs something new to answer")
			}),
		telling(Spec{Context: "pi.SettledContext", About: "The agent is done: no retry, no compaction, no queued message follows, and `ctx.is_idle()` is true. A handler may move the session: `ctx.navigate_tree`, `ctx.branch`, `ctx.new_session` and `ctx.switch_session` work here as in commands. The prompt that comes next waits for that, and the program says which hook moved the session. Where a run has begun meanwhile, as after a handler that took its time, they give nil and a message.",
			Rule: toldWithGrace, Wait: Graceful},
			func(p *payload, e *agent.AgentSettled) {
				p.flag("aborted", e.Aborted).about("the run was interrupted")
			}),
	}
}

func turnEvents() []Spec {
	return []Spec{
		waited("A turn begins: one answer of the model, and the tools that it calls.",
			func(p *payload, e *agent.TurnStart) {
				p.integer("turn_index", e.TurnIndex).about("of this run, from 0")
				p.value("timestamp", "integer", func() lua.LValue { return lua.LNumber(e.Timestamp) }).about("milliseconds since 1970")
			}),
		asking(Spec{About: "A turn has ended. A hook may add to the session and let the agent go on.",
			Rule: continuationRule, Clock: luavm.CountedLua},
			func(p *payload, e *agent.TurnEnd) {
				p.integer("turn_index", e.TurnIndex).about("of this run, from 0")
				p.message("message", e.Message).about("the answer")
				p.messages("tool_results", record.ItemsOf(e.ToolResults))
				p.texts("entry_ids", e.EntryIDs).about("what the turn wrote")
				p.value("usage", "pi.TurnUsage", func() lua.LValue { return turnUsage(p.L, e.Used()) })
			},
			func(r *result, e *agent.TurnEnd) {
				readContinuation(r, &e.Continuation, e.Used().Tokens, "ask the model once more, also when it called no tool")
			}),
		asking(Spec{About: "What the model is about to be shown: before each request, and when a session was loaded or changed.",
			Rule: "chained: each sees the list of the one before; a failing handler leaves it in force"},
			func(p *payload, e *agent.Context) {
				p.value("entries", "pi.Entry[]", func() lua.LValue { return p.src.records.CurrentBranch(p.L, e.Entries) }).about("the current branch, root first")
				p.messages("messages", e.Items).about("a copy of yours; change it and return it")
			}, readContext),
		graceful("A hook has added as many model requests as it may, and wants one more: the user was asked whether it goes on, where there is one to ask. At `stop` the run ends, messages of the hook that wait are dropped, and what it sends is refused until somebody says something: a hook can say here what is left to do.",
			func(p *payload, e *agent.ContinuationLimit) {
				p.text("hook", e.Hook).about("its name; `pi.hook.name` is your own")
				p.integer("used", e.Used).about("the requests that count, of all hooks without a limit of their own together if this one has none")
				p.integer("limit", e.Limit).about("how many there may be: `max_continuations`, that of `[hook.NAME]`, or what the user allowed")
				p.text("answer", e.Answer).about("`stop`, also where nobody was asked; `more`: as many again; `until_interrupted`: until the user interrupts, types a prompt or goes to another session")
			}),
	}
}

const continuationRule = "entries: joined in order, appended all or none; continue: one is enough"

// readLine reads what a handler of line returned: another text or other attachments, a command
// to run instead, or handled.
func readLine(r *result, e *agent.Line) {
	text := r.text("text", "the line instead: read again for skills, templates and `@`, but never as a command or with `!`")
	if r.Has("text") {
		r.then(func() { e.Text = text })
	}
	if given := r.value("attachments", "pi.Block[]?", "what goes with it instead; as in `pi.send`"); given != lua.LNil {
		blocks, err := r.src.records.BlocksFrom(r.L, given, "attachments")
		r.FailWith(err)
		r.then(func() { e.Attachments = blocks })
	}
	command := r.text("command", "a command to run instead, with its slash and arguments; no line comes of it")
	if r.Has("command") {
		if !agent.IsCommandLine(command) {
			r.Fail("command", "expected a command such as \"/name args\", got %q", command)
		}
		by := r.src.cause
		r.then(func() { e.Command, e.CommandBy, e.CommandAt, e.Limit = command, by.Hook, by.Path, by.Limit })
	}
	handled := r.flag("handled", "that is all; the model is not asked")
	if handled {
		r.then(func() { e.Handled = true })
	}
	r.stop = handled || r.Has("command")
}

// readInput reads what a handler of input returned: a new text or new attachments for the
// prompt, or handled. As in all functions that read a result, r.then adds a change of e,
// made only if the handler ends in time, and r.stop keeps later handlers from being asked.
func readInput(r *result, e *agent.Input) {
	if text := r.text("text", "the prompt instead"); r.Has("text") {
		r.then(func() { e.Text = text })
	}
	if given := r.value("attachments", "pi.Block[]?", "what goes with it instead; as in `pi.send`"); given != lua.LNil {
		blocks, err := r.src.records.BlocksFrom(r.L, given, "attachments")
		r.FailWith(err)
		r.then(func() { e.Attachments = blocks })
	}
	if r.stop = r.flag("handled", "that is all; the model is not asked"); r.stop {
		r.then(func() { e.Handled = true })
	}
}

// readBeforeAgentStart reads what a handler of before_agent_start returned: a message to add,
// sections of the system prompt to set or remove, or a whole system prompt. The system
// prompt that this makes is recorded as a stage, with the name of the hook.
func readBeforeAgentStart(r *result, e *agent.BeforeAgentStart) {
	if m, ok := r.record("message", "pi.CustomMessage?", "goes along with the prompt", "custom_type", "content", "display", "details"); ok {
		added := m.CustomMessage()
		r.then(func() { e.Messages = append(slices.Clip(e.Messages), added) })
	}
	r.has("sections", "table<string, string|false>?", "parts that are added, replaced or (false) left out, for this prompt")
	sections, changes := r.Switches("sections")
	system, rewrites := r.text("system_prompt", "the whole system prompt, for this prompt; prefer `sections`"), r.Has("system_prompt")
	if !changes && !rewrites {
		return
	}
	r.then(func() {
		e.Changed = merged(e.Changed, sections)
		if rewrites {
			e.SystemPrompt = system
		}
		now, _ := e.Prompts()
		e.Stages = append(slices.Clip(e.Stages), agent.PromptStage{By: r.src.hook, Value: now})
	})
}

// merged returns a map with the names of old and of changes, which win; neither map is
// changed.
func merged(old, changes map[string]*string) map[string]*string {
	if len(changes) == 0 {
		return old
	}
	both := make(map[string]*string, len(old)+len(changes))
	maps.Copy(both, old)
	maps.Copy(both, changes)
	return both
}

// turnUsage is what a turn cost, and how full the context is where that is known.
func turnUsage(L *lua.LState, u agent.TurnUsage) *lua.LTable {
	t := record.Usage(L, &u.Usage)
	if u.Tokens >= 0 {
		luavm.Set(t, "context_tokens", lua.LNumber(u.Tokens))
	}
	if u.Window > 0 {
		luavm.Set(t, "context_window", lua.LNumber(u.Window))
	}
	if u.Tokens >= 0 && u.Window > 0 {
		luavm.Set(t, "percent", lua.LNumber(u.Percent))
	}
	return t
}

// readContext reads what a handler of context returned: the messages that the model gets in
// place of the ones that the handler saw. Without that key nothing changes.
func readContext(r *result, e *agent.Context) {
	given := r.value("messages", "(pi.Message|pi.PlacedMessage)[]?", "what the model is shown instead; the session stays as it is")
	if given == lua.LNil {
		return
	}
	list, ok := given.(*lua.LTable)
	if !ok {
		r.Fail("messages", "expected a list, got %s", given.Type())
		return
	}
	items, err := r.src.records.ItemsFrom(r.L, list, e.Entries)
	r.FailWith(err)
	r.then(func() {
		e.Items = items
		e.Stages = append(slices.Clip(e.Stages), agent.ContextStage{By: r.src.hook, Value: items})
	})
}
