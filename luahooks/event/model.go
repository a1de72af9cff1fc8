package event

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/record"

	lua "github.com/yuin/gopher-lua"
)

func providerEvents() []Spec {
	return []Spec{
		{
			Kind: agent.KindBeforeProviderRequest, Asking: true,
			Fields:  "payload table; provider string; model string",
			Results: "payload table?",
			Rule:    "chained: each sees the body as rewritten so far",
			build:   buildBeforeProviderRequest, Copy: copyOf[agent.BeforeProviderRequest], Merge: mergeBeforeProviderRequest,
		},
		{
			Kind: agent.KindBeforeProviderHeaders, Asking: true,
			Fields:  "headers table<string, string>; provider string; model string",
			Results: "headers table<string, string|false>?",
			Rule:    "merged: each sees the headers as changed so far",
			build:   buildBeforeProviderHeaders, Copy: copyOf[agent.BeforeProviderHeaders], Merge: mergeBeforeProviderHeaders,
		},
		{
			Kind:   agent.KindAfterProviderResponse,
			Fields: "provider string; model string; status integer; headers table<string, string>",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildAfterProviderResponse,
		},
	}
}

func messageEvents() []Spec {
	return []Spec{
		{
			Kind:   agent.KindMessageStart,
			Fields: "message pi.Message",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildMessageStart,
		},
		{
			Kind: agent.KindMessageUpdate, Asking: true,
			Fields:  "message pi.Message; delta pi.Delta",
			Results: "abort pi.Abort?",
			Rule:    "the stream does not wait: what comes while a hook is busy is joined; the first abort counts",
			build:   buildMessageUpdate, Copy: copyOf[agent.MessageUpdate], Merge: mergeMessageUpdate,
		},
		{
			Kind: agent.KindMessageEnd, Asking: true,
			Fields:  "message pi.Message",
			Results: "message pi.Message?",
			Rule:    "chained: each sees the message as the one before left it; the role stays",
			build:   buildMessageEnd, Copy: copyOf[agent.MessageEnd], Merge: mergeMessageEnd,
		},
	}
}

func choiceEvents() []Spec {
	return []Spec{
		{
			Kind: agent.KindModelSelect,
			Fields: "model pi.Model; previous_model pi.Model?; provider string; model_id string; " +
				"previous_provider string?; previous_model_id string?; thinking_level string; source string",
			Rule: toldWithGrace, Wait: Graceful,
			build: buildModelSelect,
		},
		{
			Kind:   agent.KindThinkingLevelSelect,
			Fields: "level string; previous_level string",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildThinkingLevelSelect,
		},
		{
			Kind:   agent.KindUIPromptStart,
			Fields: "kind string; title string?",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildUIPrompt,
		},
		{
			Kind:   agent.KindUIPromptEnd,
			Fields: "kind string; title string?",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildUIPrompt,
		},
		{
			Kind:   agent.KindHookError,
			Fields: "hook string; path string; event string; error string; traceback string?; count integer",
			Rule:   "told in chain order to the other hooks; the agent goes on after hook_grace", Wait: Graceful,
			build: buildHookError,
		},
	}
}

func recoveryEvents() []Spec {
	start := func(k agent.Kind) Spec {
		return Spec{Kind: k, Fields: "reason string", Rule: toldWithGrace, Wait: Graceful, build: buildCompactionStart}
	}
	end := func(k agent.Kind) Spec {
		return Spec{Kind: k, Rule: toldWithGrace, Wait: Graceful, build: buildCompactionEnd,
			Fields: "result pi.Entry?; aborted boolean; will_retry boolean; error_message string?"}
	}
	return []Spec{
		start(agent.KindCompactionStart), end(agent.KindCompactionEnd),
		start(agent.KindAutoCompactionStart), end(agent.KindAutoCompactionEnd),
		{
			Kind:   agent.KindAutoRetryStart,
			Fields: "attempt integer; max_attempts integer; delay_ms integer; error_message string",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildAutoRetryStart,
		},
		{
			Kind:   agent.KindAutoRetryEnd,
			Fields: "success boolean; attempt integer; final_error string?",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildAutoRetryEnd,
		},
	}
}

func buildBeforeProviderRequest(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.BeforeProviderRequest)
	return newPayload(L, e, 3).Set("payload", src.records.JSON(s.Payload)).Text("provider", s.Provider).Text("model", s.Model).Table()
}

func mergeBeforeProviderRequest(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.BeforeProviderRequest), src.records.NewAnswer(L, r)
	body := a.Data("payload")
	if body != nil && body[0] != '{' {
		a.Fail("payload", "expected a table that is an object, got %s", kindOfJSON(body))
	}
	return func() {
		if body != nil {
			s.Payload = body
			s.Stages = append(slices.Clip(s.Stages), agent.PayloadStage{By: src.hook, Payload: body})
		}
	}, false, a.Failed()
}

func kindOfJSON(raw json.RawMessage) string {
	switch raw[0] {
	case '[':
		return "a list"
	case '"':
		return "a string"
	}
	return string(raw)
}

// buildBeforeProviderHeaders names headers in lower case, as scripts write them.
func buildBeforeProviderHeaders(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.BeforeProviderHeaders)
	headers := record.NewPayload(L, len(s.Headers))
	for name, value := range s.Headers {
		headers.Text(strings.ToLower(name), value)
	}
	for name, value := range s.Changed {
		if value == nil {
			headers.Set(strings.ToLower(name), lua.LNil)
		} else {
			headers.Text(strings.ToLower(name), *value)
		}
	}
	return newPayload(L, e, 3).Set("headers", headers.Table()).Text("provider", s.Provider).Text("model", s.Model).Table()
}

// mergeBeforeProviderHeaders takes what differs from what the hook was shown: the
// key, which reads "…", is not overwritten by a hook that returns the whole table.
func mergeBeforeProviderHeaders(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.BeforeProviderHeaders), src.records.NewAnswer(L, r)
	given, _ := a.Switches("headers")
	changes := map[string]*string{}
	for name, value := range given {
		key := http.CanonicalHeaderKey(name)
		if err := validHeader(name, value); err != nil {
			a.Fail("headers", "%w", err)
		}
		if value != nil && *value == headerNow(s, key) {
			continue
		}
		changes[key] = value
	}
	return func() { s.Changed = merged(s.Changed, changes) }, false, a.Failed()
}

// headerNow is a header as hooks see it; "" for none.
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

func buildAfterProviderResponse(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.AfterProviderResponse)
	headers := record.NewPayload(L, len(s.Headers))
	for name, values := range s.Headers {
		headers.Text(strings.ToLower(name), strings.Join(values, ", "))
	}
	return newPayload(L, e, 4).Text("provider", s.Provider).Text("model", s.Model).Number("status", s.Status).
		Set("headers", headers.Table()).Table()
}

func buildMessageStart(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Set("message", src.records.Message(e.(*agent.MessageStart).Message)).Table()
}

func buildMessageUpdate(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.MessageUpdate)
	delta := record.NewPayload(L, 3).Text("type", deltaType(s.Delta.Kind)).Number("index", s.Delta.Index).Text("text", s.Delta.Text)
	return newPayload(L, e, 2).Set("message", src.records.Message(s.Message())).Set("delta", delta.Table()).Table()
}

func deltaType(k llm.DeltaKind) string {
	switch k {
	case llm.DeltaThinking:
		return "thinking"
	case llm.DeltaToolCall:
		return "tool_call"
	}
	return "text"
}

func mergeMessageUpdate(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.MessageUpdate), src.records.NewAnswer(L, r)
	abort, ok := a.Record("abort", "reason", "inject")
	if !ok {
		return nil, false, a.Failed()
	}
	answer := &agent.Abort{Reason: abort.Text("reason"), Inject: abort.Text("inject"), By: src.hook}
	return func() { s.Abort = answer }, true, a.Failed()
}

func buildMessageEnd(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Set("message", src.records.Message(e.(*agent.MessageEnd).Message)).Table()
}

func mergeMessageEnd(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.MessageEnd)
	t, ok := r.RawGetString("message").(*lua.LTable)
	if !ok {
		return nil, false, fmt.Errorf("message: expected a table, got %s", r.RawGetString("message").Type())
	}
	item, _, err := src.records.ItemFrom(L, t, nil)
	if err == nil && item.Message.Role != s.Message.Role {
		err = fmt.Errorf("the role must stay %q, got %q", s.Message.Role, item.Message.Role)
	}
	if err != nil {
		return nil, false, fmt.Errorf("message: %w", err)
	}
	return func() { s.Message = item.Message }, false, nil
}

func buildModelSelect(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ModelSelect)
	p := newPayload(L, e, 8).Set("model", src.records.Model(s.Model)).Set("previous_model", src.records.Model(s.Previous)).
		Text("thinking_level", s.ThinkingLevel).Text("source", s.Source)
	if s.Model != nil {
		p.Text("provider", s.Model.Provider).Text("model_id", s.Model.ID)
	}
	if s.Previous != nil {
		p.Text("previous_provider", s.Previous.Provider).Text("previous_model_id", s.Previous.ID)
	}
	return p.Table()
}

func buildThinkingLevelSelect(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ThinkingLevelSelect)
	return newPayload(L, e, 2).Text("level", s.Level).Text("previous_level", s.Previous).Table()
}

func buildUIPrompt(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	p := newPayload(L, e, 2)
	switch s := e.(type) {
	case *agent.UIPromptStart:
		p.Text("kind", s.PromptKind).Maybe("title", s.Title)
	case *agent.UIPromptEnd:
		p.Text("kind", s.PromptKind).Maybe("title", s.Title)
	}
	return p.Table()
}

func buildHookError(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.HookFailed)
	return newPayload(L, e, 6).Text("hook", s.Hook).Text("path", s.Path).Text("event", s.Event).Text("error", s.Message).
		Maybe("traceback", s.Traceback).Number("count", s.Count).Table()
}

func buildCompactionStart(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	return newPayload(L, e, 1).Text("reason", e.(*agent.CompactionStart).Reason).Table()
}

func buildCompactionEnd(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.CompactionEnd)
	return newPayload(L, e, 4).Set("result", src.records.Entry(s.Result)).Flag("aborted", s.Aborted).
		Flag("will_retry", s.WillRetry).Maybe("error_message", s.ErrorMessage).Table()
}

func buildAutoRetryStart(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.AutoRetryStart)
	return newPayload(L, e, 4).Number("attempt", s.Attempt).Number("max_attempts", s.MaxAttempts).
		Number("delay_ms", s.DelayMS).Text("error_message", s.ErrorMessage).Table()
}

func buildAutoRetryEnd(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.AutoRetryEnd)
	return newPayload(L, e, 3).Flag("success", s.Success).Number("attempt", s.Attempt).Maybe("final_error", s.FinalError).Table()
}
