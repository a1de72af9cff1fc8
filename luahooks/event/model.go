package event

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func providerEvents() []Spec {
	return []Spec{
		asking(Spec{About: "The body of a request, as it will be sent.",
			Rule: "chained: each sees the body as rewritten so far"},
			func(p *payload, e *agent.BeforeProviderRequest) {
				p.value("payload", "table", func() lua.LValue { return p.src.records.JSON(e.Payload) }).about("the JSON of the provider's own API")
				p.text("provider", e.Provider)
				p.text("model", e.Model)
			}, readBody),
		asking(Spec{About: "The headers of a request. The key reads `…`.",
			Rule: "merged: each sees the headers as changed so far"},
			func(p *payload, e *agent.BeforeProviderHeaders) {
				p.record("headers", "table<string, string>", func() { headersNow(p, e) })
				p.text("provider", e.Provider)
				p.text("model", e.Model)
			}, readHeaders),
		graceful("The provider has begun to answer.",
			func(p *payload, e *agent.AfterProviderResponse) {
				p.text("provider", e.Provider)
				p.text("model", e.Model)
				p.integer("status", e.Status).about("of HTTP")
				p.record("headers", "table<string, string>", func() {
					for name, values := range e.Headers {
						p.text(strings.ToLower(name), strings.Join(values, ", "))
					}
				})
			}),
	}
}

func messageEvents() []Spec {
	return []Spec{
		graceful("A message of the model begins; with the option `roles = \"all\"` of `pi.on` also any other message, right before its `message_end`. One without a `message_end` before the next begins was cut off, and counts as nothing.",
			func(p *payload, e *agent.MessageStart) { p.message("message", e.Message) }),
		asking(Spec{About: "A piece of an answer. The stream does not wait for handlers: what comes meanwhile is joined.",
			Rule: "the stream does not wait: what comes while a hook is busy is joined; the first abort counts"},
			func(p *payload, e *agent.MessageUpdate) {
				p.value("message", "pi.Message", func() lua.LValue { return p.src.records.Message(e.Message()) }).about("as far as it has come")
				p.record("delta", "pi.Delta", func() {
					p.text("type", record.DeltaType(e.Delta.Kind))
					p.integer("index", e.Delta.Index)
					p.text("text", e.Delta.Text)
				}).about("what is new")
			},
			func(r *result, e *agent.MessageUpdate) {
				if given, ok := r.record("abort", "pi.Abort?", "stop the answer, and ask again", "reason", "inject"); ok {
					abort := &agent.Abort{Reason: given.Text("reason"), Inject: given.Text("inject"), By: r.src.hook}
					r.stop = true
					r.then(func() { e.Abort = abort })
				}
			}),
		asking(Spec{About: "A message is complete. What a handler makes of it is what is stored and sent. With the option `roles = \"all\"` of `pi.on` it comes for messages of all roles, before they are stored: prompts (`user`), results of tools (`toolResult`), messages of hooks (`custom`), commands of the user (`bashExecution`). Of those `content` and `details` count, of a command its `output`; ids, the name of the tool and `is_error` stay, and so does an empty content.",
			Rule: "chained: each sees the message as the one before left it; the role stays; a handler that fails leaves the message as it was"},
			func(p *payload, e *agent.MessageEnd) { p.message("message", e.Message) }, readMessage),
	}
}

func choiceEvents() []Spec {
	return []Spec{
		graceful("Another model was chosen: by the user or a hook (`set`), with Ctrl+P (`cycle`), or with another session (`restore`).",
			func(p *payload, e *agent.ModelSelect) {
				model, previous := cmp.Or(e.Model, new(llm.Model)), cmp.Or(e.Previous, new(llm.Model))
				p.value("model", "pi.Model", func() lua.LValue { return p.src.records.Model(e.Model) })
				p.value("previous_model", "pi.Model?", func() lua.LValue { return p.src.records.Model(e.Previous) })
				p.text("provider", model.Provider)
				p.text("model_id", model.ID)
				p.optional("previous_provider", previous.Provider)
				p.optional("previous_model_id", previous.ID)
				p.text("thinking_level", e.ThinkingLevel).about("what the model is asked for, which may be less than what was chosen")
				p.text("source", e.Source).about("`set`, `cycle` or `restore`")
			}),
		graceful("The model is asked for another thinking level than before: one was chosen, or the model is another.",
			func(p *payload, e *agent.ThinkingLevelSelect) {
				p.text("level", e.Level)
				p.text("previous_level", e.Previous)
			}),
		graceful("Another mode is on than before, see `pi.mode`; also after the start and after a change of the session, if the session was left in one.",
			func(p *payload, e *agent.ModeSelect) {
				p.optional("mode", e.Name).about("nil: none is on")
				p.optional("previous_mode", e.Previous)
				p.text("source", e.Source).about("where the wish came from: `flag`, `key`, `command`, `hook`, `client`, `restore` or, in a child, `parent`")
			}),
		graceful("The program waits for the user.",
			func(p *payload, e *agent.UIPromptStart) { p.prompt(e.PromptKind, e.Title) }),
		graceful("The user has answered.",
			func(p *payload, e *agent.UIPromptEnd) { p.prompt(e.PromptKind, e.Title) }),
		graceful("The window of the terminal came to the front, or another one did. Where the terminal does not tell, and without one, it never comes; of two changes that follow each other at once only the last is told. The program asks the terminal to tell only while a hook listens, or `[ui] notify` is on.",
			func(p *payload, e *agent.Focus) { p.flag("focused", e.Focused).about("whether it is in front now") }),
		graceful("A dialog of a hook has opened, `ctx.ui.confirm`, `select`, `input` or `editor`. A hook that may (`answers = true` in `[hook.NAME]` of the user's config.toml) answers it from elsewhere with `pi.answer`: the first answer counts. Questions of the program itself, as whether a hook is trusted, do not come here.",
			func(p *payload, e *agent.UIPrompt) {
				p.text("id", e.ID).about("for `pi.answer`")
				p.text("kind", e.PromptKind).about("`confirm`, `select`, `input` or `editor`")
				p.text("title", e.Title)
				p.optional("message", e.Message)
				p.value("choices", "pi.PromptChoice[]?", func() lua.LValue { return choicesTable(p.L, e.Choices) }).about("of select")
				p.flag("multi", e.Multi).about("several of them may be taken")
				p.text("hook", e.Hook).about("the name of the hook that asks")
			}),
		telling(Spec{About: "Another hook failed; its own errors a hook does not hear of. Nor is anybody told of an error in a handler of `hook_error`, and of what it sets off: that is only shown.",
			Rule: "told in chain order to the other hooks; the agent goes on after hook_grace", Wait: Graceful},
			func(p *payload, e *agent.HookFailed) {
				p.text("hook", e.Hook).about("its name")
				p.text("path", e.Path)
				p.text("event", e.Event).about("what it was called for: an event, `/NAME` for a command, `timer.every`, `load` and the like")
				p.text("error", e.Message).about("with file and line")
				p.optional("traceback", e.Traceback)
				p.integer("count", e.Count).about("how often this has come from the same handler with the same words; a user is shown the first")
			}),
	}
}

// prompt gives p the fields of a dialog with the user.
func (p *payload) prompt(kind, title string) {
	p.text("kind", kind).about("`select`, `confirm`, `input`, `editor`, `custom` or `run`")
	p.optional("title", title)
}

func recoveryEvents() []Spec {
	start := func(reasons string) func(*payload, *agent.CompactionStart) {
		return func(p *payload, e *agent.CompactionStart) { p.text("reason", e.Reason).about(reasons) }
	}
	end := func(p *payload, e *agent.CompactionEnd) {
		p.entry("result", "pi.Entry?", e.Result)
		p.flag("aborted", e.Aborted)
		p.flag("will_retry", e.WillRetry)
		p.optional("error_message", e.ErrorMessage)
	}
	auto := func(k agent.Kind, about string) Spec {
		return Spec{Kind: k, About: about, Rule: toldWithGrace, Wait: Graceful}
	}
	return []Spec{
		graceful("The context is being shortened.", start("`manual`, `threshold` or `overflow`")), graceful("That is over.", end),
		telling(auto(agent.KindAutoCompactionStart, "The context is being shortened because it is full."), start("`threshold` or `overflow`")),
		telling(auto(agent.KindAutoCompactionEnd, "That is over."), end),
		graceful("A request failed for a reason that may pass, and is made again after a while. What came of it so far counts as nothing: the answer begins anew, with another `message_start`.",
			func(p *payload, e *agent.AutoRetryStart) {
				p.integer("attempt", e.Attempt).about("that comes then, from 1; the first request is none")
				p.integer("max_attempts", e.MaxAttempts)
				p.integer("delay_ms", e.DelayMS).about("until then")
				p.text("error_message", e.ErrorMessage).about("why the request failed")
			}),
		graceful("It is decided: an answer stands, or the request is given up.",
			func(p *payload, e *agent.AutoRetryEnd) {
				p.flag("success", e.Success)
				p.integer("attempt", e.Attempt).about("the last")
				p.optional("final_error", e.FinalError).about("why it was given up")
			}),
	}
}

// readBody reads what a handler of before_provider_request returned: the whole body to send
// in place of the one that it saw. It is recorded as a stage, with the name of the hook.
func readBody(r *result, e *agent.BeforeProviderRequest) {
	if !r.has("payload", "table?", "is sent instead") {
		return
	}
	body := r.Data("payload")
	if body != nil && body[0] != '{' {
		got := string(body)
		switch body[0] {
		case '[':
			got = "a list"
		case '"':
			got = "a string"
		}
		r.Fail("payload", "expected a table that is an object, got %s", got)
	}
	r.then(func() {
		e.Payload = body
		e.Stages = append(slices.Clip(e.Stages), agent.PayloadStage{By: r.src.hook, Value: body})
	})
}

// headersNow gives p the headers as changed so far, with names in lower case, as scripts
// write them.
func headersNow(p *payload, e *agent.BeforeProviderHeaders) {
	for name, value := range e.Headers {
		p.text(strings.ToLower(name), value)
	}
	for name, value := range e.Changed {
		if value == nil {
			luavm.Set(p.table, strings.ToLower(name), lua.LNil)
		} else {
			p.text(strings.ToLower(name), *value)
		}
	}
}

// readHeaders reads the headers that a handler returned; false removes one. Only what differs
// from what it was shown is a change: the API key is shown as "…", and must not be
// overwritten with that by a hook that returns the whole table.
func readHeaders(r *result, e *agent.BeforeProviderHeaders) {
	r.has("headers", "table<string, string|false>?", "set, or (false) left out")
	given, _ := r.Switches("headers")
	seen, changes := r.seen.(*agent.BeforeProviderHeaders), map[string]*string{}
	for name, value := range given {
		key := http.CanonicalHeaderKey(name)
		if err := validHeader(name, value); err != nil {
			r.Fail("headers", "%w", err)
		}
		if value == nil || *value != headerNow(seen, key) {
			changes[key] = value
		}
	}
	r.then(func() { e.Changed = merged(e.Changed, changes) })
}

// headerNow returns the value of a header with the changes of handlers so far; "" for none.
// key is its canonical name.
func headerNow(s *agent.BeforeProviderHeaders, key string) string {
	if value, ok := s.Changed[key]; ok && value != nil {
		return *value
	} else if ok {
		return ""
	}
	for name, value := range s.Headers {
		if http.CanonicalHeaderKey(name) == key {
			return value
		}
	}
	return ""
}

// validHeader returns an error for a name that HTTP does not allow, and for a value with
// control characters. value is nil for a header that is removed.
func validHeader(name string, value *string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) {
		return fmt.Errorf("%q is no name of a header", name)
	}
	if value != nil && strings.ContainsFunc(*value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("the value of %s has control characters", name)
	}
	return nil
}

// readMessage reads what a handler of message_end returned: the message in place of the one
// that it saw, with the same role.
func readMessage(r *result, e *agent.MessageEnd) {
	given := r.value("message", "pi.Message?", "instead; of the same role")
	if given == lua.LNil {
		return
	}
	t, ok := given.(*lua.LTable)
	if !ok {
		r.Fail("message", "expected a table, got %s", given.Type())
		return
	}
	item, _, err := r.src.records.ItemFrom(r.L, t, nil)
	if role := r.seen.(*agent.MessageEnd).Message.Role; err == nil && item.Message.Role != role {
		err = fmt.Errorf("the role must stay %q, got %q", role, item.Message.Role)
	}
	if err != nil {
		r.Fail("message", "%w", err)
	}
	r.then(func() { e.Message = item.Message })
}

// choicesTable is what can be chosen in a dialog, in its order; nil where nothing can.
func choicesTable(L *lua.LState, choices []agent.Choice) lua.LValue {
	if len(choices) == 0 {
		return lua.LNil
	}
	return luavm.NewList(L, len(choices), func(i int) lua.LValue {
		t := luavm.NewRecord(L, 2)
		luavm.Set(t, "label", lua.LString(choices[i].Label))
		if about := choices[i].Description; about != "" {
			luavm.Set(t, "description", lua.LString(about))
		}
		return t
	})
}
