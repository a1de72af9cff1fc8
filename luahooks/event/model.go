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
		asking(Spec{Rule: "chained: each sees the body as rewritten so far"},
			func(p *payload, e *agent.BeforeProviderRequest) {
				p.value("payload", "table", func() lua.LValue { return p.src.records.JSON(e.Payload) })
				p.text("provider", e.Provider)
				p.text("model", e.Model)
			}, readBody),
		asking(Spec{Rule: "merged: each sees the headers as changed so far"},
			func(p *payload, e *agent.BeforeProviderHeaders) {
				p.record("headers", "table<string, string>", func() { headersNow(p, e) })
				p.text("provider", e.Provider)
				p.text("model", e.Model)
			}, readHeaders),
		graceful(func(p *payload, e *agent.AfterProviderResponse) {
			p.text("provider", e.Provider)
			p.text("model", e.Model)
			p.integer("status", e.Status)
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
		graceful(func(p *payload, e *agent.MessageStart) { p.message("message", e.Message) }),
		asking(Spec{Rule: "the stream does not wait: what comes while a hook is busy is joined; the first abort counts"},
			func(p *payload, e *agent.MessageUpdate) {
				p.value("message", "pi.Message", func() lua.LValue { return p.src.records.Message(e.Message()) })
				p.record("delta", "pi.Delta", func() {
					p.text("type", record.DeltaType(e.Delta.Kind))
					p.integer("index", e.Delta.Index)
					p.text("text", e.Delta.Text)
				})
			},
			func(r *result, e *agent.MessageUpdate) {
				if given, ok := r.record("abort", "pi.Abort?", "reason", "inject"); ok {
					abort := &agent.Abort{Reason: given.Text("reason"), Inject: given.Text("inject"), By: r.src.hook}
					r.stop = true
					r.then(func() { e.Abort = abort })
				}
			}),
		asking(Spec{Rule: "chained: each sees the message as the one before left it; the role stays"},
			func(p *payload, e *agent.MessageEnd) { p.message("message", e.Message) }, readMessage),
	}
}

func choiceEvents() []Spec {
	return []Spec{
		graceful(func(p *payload, e *agent.ModelSelect) {
			model, previous := cmp.Or(e.Model, new(llm.Model)), cmp.Or(e.Previous, new(llm.Model))
			p.value("model", "pi.Model", func() lua.LValue { return p.src.records.Model(e.Model) })
			p.value("previous_model", "pi.Model?", func() lua.LValue { return p.src.records.Model(e.Previous) })
			p.text("provider", model.Provider)
			p.text("model_id", model.ID)
			p.optional("previous_provider", previous.Provider)
			p.optional("previous_model_id", previous.ID)
			p.text("thinking_level", e.ThinkingLevel)
			p.text("source", e.Source)
		}),
		graceful(func(p *payload, e *agent.ThinkingLevelSelect) {
			p.text("level", e.Level)
			p.text("previous_level", e.Previous)
		}),
		graceful(func(p *payload, e *agent.ModeSelect) {
			p.optional("mode", e.Name)
			p.optional("previous_mode", e.Previous)
			p.text("source", e.Source)
		}),
		graceful(func(p *payload, e *agent.UIPromptStart) { p.prompt(e.PromptKind, e.Title) }),
		graceful(func(p *payload, e *agent.UIPromptEnd) { p.prompt(e.PromptKind, e.Title) }),
		telling(Spec{Rule: "told in chain order to the other hooks; the agent goes on after hook_grace", Wait: Graceful},
			func(p *payload, e *agent.HookFailed) {
				p.text("hook", e.Hook)
				p.text("path", e.Path)
				p.text("event", e.Event)
				p.text("error", e.Message)
				p.optional("traceback", e.Traceback)
				p.integer("count", e.Count)
			}),
	}
}

// prompt gives p the fields of a dialog with the user.
func (p *payload) prompt(kind, title string) {
	p.text("kind", kind)
	p.optional("title", title)
}

func recoveryEvents() []Spec {
	start := func(p *payload, e *agent.CompactionStart) { p.text("reason", e.Reason) }
	end := func(p *payload, e *agent.CompactionEnd) {
		p.entry("result", "pi.Entry?", e.Result)
		p.flag("aborted", e.Aborted)
		p.flag("will_retry", e.WillRetry)
		p.optional("error_message", e.ErrorMessage)
	}
	auto := func(k agent.Kind) Spec { return Spec{Kind: k, Rule: toldWithGrace, Wait: Graceful} }
	return []Spec{
		graceful(start), graceful(end),
		telling(auto(agent.KindAutoCompactionStart), start), telling(auto(agent.KindAutoCompactionEnd), end),
		graceful(func(p *payload, e *agent.AutoRetryStart) {
			p.integer("attempt", e.Attempt)
			p.integer("max_attempts", e.MaxAttempts)
			p.integer("delay_ms", e.DelayMS)
			p.text("error_message", e.ErrorMessage)
		}),
		graceful(func(p *payload, e *agent.AutoRetryEnd) {
			p.flag("success", e.Success)
			p.integer("attempt", e.Attempt)
			p.optional("final_error", e.FinalError)
		}),
	}
}

// readBody reads what a handler of before_provider_request returned: the whole body to send
// in place of the one that it saw. It is recorded as a stage, with the name of the hook.
func readBody(r *result, e *agent.BeforeProviderRequest) {
	if !r.has("payload", "table?") {
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
	r.has("headers", "table<string, string|false>?")
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
	given := r.value("message", "pi.Message?")
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
