package event

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// withSource runs f in a VM that serves no hook.
func withSource(t *testing.T, f func(src *Source, L *lua.LState)) {
	t.Helper()
	vm := luavm.New(luavm.Options{})
	t.Cleanup(vm.Close)
	src := NewSource(vm, record.NewConverter(vm, new(record.ValidJSON)), agent.Origin{Hook: "a"}, nil, func(*lua.LState) lua.LValue { return lua.LTrue },
		func() ([]*session.Entry, bool) { return nil, true })
	if err := vm.Run(context.Background(), luavm.Job{Run: func(L *lua.LState) error { f(src, L); return nil }}); err != nil {
		t.Fatal(err)
	}
}

func rows() map[string]*Spec {
	rows := map[string]*Spec{}
	for _, s := range Table() {
		rows[s.Name] = &s
	}
	return rows
}

// events are one event for each row, all fields set.
func events(t *testing.T) []agent.Event {
	m := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}}
	entry, err := session.New(session.Options{Cwd: "/"}).AppendMessage(m)
	if err != nil {
		t.Fatal(err)
	}
	known := map[reflect.Type]any{}
	for _, v := range []any{m, entry, json.RawMessage(`{"a":1}`), http.Header{"A": {"b"}}, map[string]string{"A": "b"}, m.Content,
		&llm.Model{Provider: "p", ID: "m"}, &message.Usage{Input: 1}, session.Item{Message: m, Index: -1},
		func() agent.TurnUsage { return agent.TurnUsage{ContextUsage: agent.ContextUsage{Tokens: 1, Window: 2}} }} {
		known[reflect.TypeOf(v)] = v
	}
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		if k, ok := known[v.Type()]; ok {
			v.Set(reflect.ValueOf(k))
			return
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Int, reflect.Int64:
			v.SetInt(1)
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					fill(v.Field(i))
				}
			}
		}
	}
	all := []agent.Event{
		&agent.ProjectTrust{}, &agent.AppStart{}, &agent.SessionDirectory{}, &agent.SessionStart{}, &agent.SessionBeforeSwitch{},
		&agent.SessionSwitch{}, &agent.SessionBeforeNew{}, &agent.SessionNew{}, &agent.SessionBeforeBranch{}, &agent.SessionBranch{},
		&agent.SessionBeforeCompact{}, &agent.SessionCompacting{}, &agent.SessionCompact{}, &agent.SessionCompactFailed{},
		&agent.SessionInfoChanged{}, &agent.SessionBeforeTree{}, &agent.SessionTree{}, &agent.SessionShutdown{},
		&agent.Line{}, &agent.Input{}, &agent.BeforeAgentStart{}, &agent.AgentStart{}, &agent.AgentEnd{}, &agent.AgentBeforeSettle{}, &agent.AgentSettled{}, &agent.TurnStart{}, &agent.TurnEnd{}, &agent.Context{}, &agent.ContinuationLimit{}, &agent.BeforeProviderRequest{},
		&agent.BeforeProviderHeaders{}, &agent.AfterProviderResponse{}, &agent.MessageStart{},
		agent.NewMessageUpdate(llm.Delta{}, func() *message.Message { return m }, nil), &agent.MessageEnd{}, &agent.ModelSelect{},
		&agent.ThinkingLevelSelect{}, &agent.ModeSelect{}, &agent.UIPromptStart{}, &agent.UIPromptEnd{}, &agent.Focus{}, &agent.UIPrompt{}, &agent.HookFailed{}, &agent.CompactionStart{},
		&agent.CompactionEnd{}, &agent.AutoRetryStart{}, &agent.AutoRetryEnd{}, &agent.ToolCall{}, &agent.ToolResult{},
		&agent.ToolExecutionStart{}, &agent.ToolExecutionUpdate{}, &agent.ToolExecutionEnd{}, &agent.UserBash{}, &agent.ShellCommand{},
		&agent.MCPServer{}, &agent.MCPChange{Before: &agent.Definition{}, After: &agent.Definition{}},
		&agent.ChildStart{}, &agent.ChildEnd{},
	}
	for _, e := range all {
		fill(reflect.ValueOf(e).Elem())
		if other := reflect.ValueOf(e).Elem().FieldByName("Other"); other.IsValid() {
			other.SetBool(false) // else it has no row of its own
		}
	}
	all = append(all, &agent.CompactionStart{}, &agent.CompactionEnd{}) // without Auto, as those above are with it
	if have := len(Table()); len(all) != have {
		t.Fatalf("%d events for %d rows", len(all), have)
	}
	return all
}

// What the table of an event has, what the documentation lists and what is told of a
// single field are the same, whatever is in the event.
func TestFieldsAreListedFilledAndToldAlike(t *testing.T) {
	rows := rows()
	withSource(t, func(src *Source, L *lua.LState) {
		for _, e := range events(t) {
			s := rows[e.Kind().String()]
			var listed []Field
			s.fields(&payload{list: &listed}, e)
			if !slices.Equal(listed, s.Fields) {
				t.Errorf("%s lists %v when it is empty, and %v", s.Name, s.Fields, listed)
			}
			filled, names := s.fill(src, L, e), namesOf(s.Fields)
			filled.ForEach(func(k, v lua.LValue) {
				if name := k.String(); name != "type" && !slices.Contains(names, name) {
					t.Errorf("%s has a field %s that is not listed", s.Name, name)
				}
			})
			for _, f := range s.Fields {
				v := filled.RawGetString(f.Name)
				told, ok := s.peek(src, e, f.Name)
				if plain := slices.Contains([]string{"string", "string?", "boolean", "integer"}, f.Type) && f.Name != "timestamp"; ok != plain || ok && told != v {
					t.Errorf("%s.%s: told as %v, %v; in the table it is %v", s.Name, f.Name, told, ok, v)
				}
				if v == lua.LNil && !strings.HasSuffix(f.Type, "?") && f.Type != "any" && e.Kind() != agent.KindCompactionEnd {
					t.Errorf("%s.%s is nil, listed as %s", s.Name, f.Name, f.Type)
				}
			}
			if s.Asking && (s.Copy(e) == e || s.Copy(e).Kind() != e.Kind()) {
				t.Errorf("%s: the copy for a handler is none", s.Name)
			}
			if _, ok := s.peek(src, e, "no_such_field"); ok {
				t.Errorf("%s tells a field that it does not have", s.Name)
			}
		}
	})
}

// read gives a result, which is Lua code that knows the event as e, to the row of an event, and carries it out.
func read(t *testing.T, e agent.Event, code string) (stop bool, err error) {
	t.Helper()
	withSource(t, func(src *Source, L *lua.LState) {
		s := rows()[e.Kind().String()]
		L.SetGlobal("e", s.Table(src, L, e))
		if err := L.DoString("return " + code); err != nil {
			t.Fatal(err)
		}
		var apply func()
		apply, stop, err = s.Merge(src, L, e, s.Copy(e), L.CheckTable(-1))
		if err != nil && (apply != nil || stop) {
			t.Errorf("%s has an effect, and %v", code, err)
		}
		if apply != nil {
			apply()
		}
	})
	return stop, err
}

// A handler that returns an empty table has no opinion.
func TestAnEmptyResultChangesNothing(t *testing.T) {
	for _, e := range events(t) {
		s := rows()[e.Kind().String()]
		if !s.Asking {
			continue
		}
		before, _ := json.Marshal(encodable(e))
		stop, err := read(t, e, "{}")
		after, _ := json.Marshal(encodable(e))
		if stop || err != nil || string(before) != string(after) {
			t.Errorf("%s: stop %v, %v; %s became %s", s.Name, stop, err, before, after)
		}
	}
}

func encodable(e agent.Event) any {
	if turn, ok := e.(*agent.TurnEnd); ok {
		return turn.Continuation
	}
	return e
}

func TestWhatAResultDoes(t *testing.T) {
	hash := []agent.TrustFile{{SHA256: "aa"}}
	for _, c := range []struct {
		event  agent.Event
		result string
		want   string // in the event's JSON, or the error
		stops  bool
	}{
		{&agent.ProjectTrust{Files: hash}, `{ trusted = false }`, `"Refused":true`, true},
		{&agent.ProjectTrust{Files: hash}, `{ trusted = { aa = true, bb = true } }`, `"Trusted":{"aa":true}`, true},
		{&agent.ProjectTrust{Files: hash}, `{ trusted = { "aa" } }`, "trusted: expected { [sha256] = true }, got the key 1 with aa", false},
		{&agent.ProjectTrust{Files: hash}, `{ trusted = "aa" }`, "trusted: expected false or a table of hashes, got aa", false},
		{&agent.SessionDirectory{}, `{ dir = "/d" }`, `"Dir":"/d"`, false},
		{&agent.SessionDirectory{}, `{ dir = 1 }`, "dir: expected a string, got number", false},
		{&agent.SessionBeforeSwitch{}, `{ cancel = true }`, `"Cancel":true`, true},
		{&agent.SessionBeforeBranch{}, `{ skip_conversation_restore = true }`, `"SkipConversationRestore":true`, false},
		{&agent.SessionBeforeCompact{}, `{ summary = "s" }`, `"Summary":"s"`, false},
		{&agent.SessionBeforeCompact{}, `{ summary = "s", compaction = { summary = "t" } }`, "summary: it is given twice; compaction has one too", false},
		{&agent.SessionCompacting{Context: []string{"a"}}, `{ context = { "b" } }`, `"Context":["a","b"]`, false},
		{&agent.SessionCompacting{}, `{ preserve_data = "x" }`, "preserve_data: expected a table with names as keys", false},
		{&agent.SessionBeforeTree{Label: "first"}, `{ custom_instructions = "c" }`, `"CustomInstructions":"c","ReplaceInstructions":false,"Label":""`, false},
		{&agent.Line{Text: "x"}, `{ handled = true, text = "y" }`, `"Text":"y"`, true},
		{&agent.Line{Text: "x"}, `{ command = "/name x" }`, `"Command":"/name x"`, true},
		{&agent.Line{}, `{ command = "name" }`, `command: expected a command such as "/name args", got "name"`, false},
		{&agent.Line{}, `{ attachments = "x" }`, "attachments: expected a list of blocks, got string", false},
		{&agent.Input{Text: "x"}, `{ handled = true, text = "y" }`, `"Text":"y"`, true},
		{&agent.Input{}, `{ attachments = "x" }`, "attachments: expected a list of blocks, got string", false},
		{&agent.BeforeAgentStart{}, `{ message = { custom_type = "n", content = "c" }, sections = { a = false } }`, `"customType":"n"`, false},
		{&agent.AgentBeforeSettle{}, `{ continue = true }`, `"Continue":true,"ContinuedBy":"a"`, false},
		{&agent.TurnEnd{}, `{ entries = { { type = "custom", custom_type = "n" } } }`, `"customType":"n"`, false},
		{&agent.Context{}, `{ messages = { { role = "user", content = "c" } } }`, `"By":"a"`, false},
		{&agent.Context{}, `{ messages = "x" }`, "messages: expected a list, got string", false},
		{&agent.BeforeProviderRequest{}, `{ payload = { a = 1 } }`, `"Payload":{"a":1}`, false},
		{&agent.BeforeProviderRequest{}, `{ payload = { 1 } }`, "payload: expected a table that is an object, got a list", false},
		{&agent.BeforeProviderHeaders{Headers: map[string]string{"A": "b"}}, `{ headers = { a = "b", c = false } }`, `"Changed":{"C":null}`, false},
		{&agent.MessageEnd{Message: &message.Message{Role: message.RoleUser}}, `{ message = { role = "user", content = "new" } }`, `"new"`, false},
		{&agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant}}, `{ message = { role = "user", content = "new" } }`, `message: the role must stay "assistant", got "user"`, false},
		{&agent.ToolCall{}, `{ block = true, reason = "r", input = { a = 1 } }`, `"Input":null,"RewrittenBy":"","Block":true,"Reason":"r","BlockedBy":"a"`, true},
		{&agent.ToolCall{}, `{ input = { a = 1 }, additional_context = "" }`, `"Input":{"a":1},"RewrittenBy":"a","Block":false,"Reason":"","BlockedBy":"","AdditionalContext":[""]`, false},
		{&agent.ToolCall{}, `{ block = 1 }`, "block: expected a boolean, got number", false},
		{&agent.ToolResult{}, `{ is_error = true, usage = { input = 3 } }`, `"input":3`, false},
		{&agent.ToolResult{}, `{ usage = 3 }`, "usage: expected a table, got number", false},
		{&agent.UserBash{}, `{ result = { output = "o", exit_code = 2 } }`, `"Output":"o","ExitCode":2`, true},
		{&agent.UserBash{}, `{ result = {} }`, "result.output: it is missing", false},
		{&agent.ProjectTrust{Files: hash}, `{ trusted = { aa = true, bb = false, cc = true } }`, `"Refused":false,"Trusted":{"aa":true}`, true},
		{&agent.ProjectTrust{Files: hash}, `{ trusted = { } }`, `"Trusted":{}`, true},
		{&agent.SessionDirectory{Dir: "/x"}, `{ dir = "" }`, `"Dir":"/x"`, false},
		{&agent.SessionCompacting{}, `{ context = { "a", "b" }, prompt = "p", preserve_data = { k = { 1 } } }`, `"Context":["a","b"],"Prompt":"p","PreserveData":{"k":[1]}`, false},
		{&agent.SessionCompacting{}, `{ preserve_data = {} }`, `"PreserveData":null`, false},
		{&agent.SessionBeforeTree{Preparation: agent.TreePreparation{UserWantsSummary: true}}, `{ summary = { summary = "s", details = { 1 } }, custom_instructions = "c", replace_instructions = true, label = "l" }`, `"Summary":{"Summary":"s","Details":[1]},"CustomInstructions":"c","ReplaceInstructions":true,"Label":"l"`, false},
		{&agent.SessionBeforeTree{}, `{ summary = { summary = "s" }, label = "l" }`, `"Summary":null,"CustomInstructions":"","ReplaceInstructions":false,"Label":"l"`, false},
		{&agent.Input{Text: "x"}, `{ text = "y", handled = true }`, `"Text":"y"`, true},
		{&agent.Input{Text: "x"}, `{ handled = true }`, `"Handled":true`, true},
		{&agent.BeforeAgentStart{}, `{ sections = { a = "t", b = false } }`, `"Changed":{"a":"t","b":null}`, false},
		{&agent.BeforeAgentStart{SystemPrompt: "s"}, `{ system_prompt = e.system_prompt .. "!" }`, `"SystemPrompt":"s!"`, false},
		{&agent.BeforeProviderRequest{Payload: json.RawMessage(`{"n":12345678901234567890,"a":{}}`)}, `(function() e.payload.x = true; return { payload = e.payload } end)()`, `{"n":12345678901234567890,"a":{},"x":true}`, false},
		{&agent.BeforeProviderHeaders{Headers: map[string]string{"X-Api-Key": "…"}}, `{ headers = { ["x-a"] = "1", ["X-B"] = false } }`, `"Changed":{"X-A":"1","X-B":null}`, false},
		{&agent.BeforeProviderHeaders{Headers: map[string]string{"X-Api-Key": "…"}}, `{ headers = e.headers }`, `"Changed":null`, false},
		{&agent.UserBash{}, `{ result = { output = "o", exit_code = -1, cancelled = true, truncated = true } }`, `"Result":{"Output":"o","ExitCode":-1,"Signal":"","Cancelled":true,"Truncated":true`, true},
		{&agent.UserBash{}, `{ result = { output = "" } }`, `"Result":{"Output":"","ExitCode":null`, true},
		{&agent.ProjectTrust{}, `{ trusted = true }`, "trusted: expected false or a table of hashes", false},
		{&agent.SessionBeforeNew{}, `{ cancel = "yes" }`, "cancel: expected a boolean, got string", false},
		{&agent.SessionBeforeCompact{}, `{ summary = 5 }`, "summary: expected a string, got number", false},
		{&agent.SessionBeforeCompact{}, `{ compaction = { sumary = "x" } }`, `compaction.sumary: unknown key, did you mean "summary"?`, false},
		{&agent.SessionBeforeCompact{}, `{ compaction = { summary = "x", first_kept_entry_id = "nope" } }`, `compaction.first_kept_entry_id: entry "nope" is not on the branch`, false},
		{&agent.SessionBeforeCompact{}, `{ compaction = { summary = "x", tokens_before = -1 } }`, "compaction.tokens_before: expected an integer from 0, got -1", false},
		{&agent.SessionBeforeCompact{}, `{ compaction = { summary = "x", details = { f = print } } }`, "compaction.details: ", false},
		{&agent.SessionBeforeCompact{}, `{ compaction = { summary = "x" }, summary = "y" }`, "summary: it is given twice", false},
		{&agent.SessionCompacting{}, `{ context = "x" }`, "context: expected a list, got string", false},
		{&agent.SessionCompacting{}, `{ context = { "x", 5 } }`, "context[2]: expected a string, got number", false},
		{&agent.SessionCompacting{}, `{ preserve_data = { 1, 2 } }`, "preserve_data: expected a table with names as keys", false},
		{&agent.SessionBeforeTree{}, `{ summary = "x" }`, "summary: expected a table, got string", false},
		{&agent.SessionBeforeTree{}, `{ summary = {} }`, "summary.summary: it is missing", false},
		{&agent.BeforeAgentStart{}, `{ sections = { a = true } }`, "sections.a: expected a string or false, got true", false},
		{&agent.BeforeAgentStart{}, `{ message = { content = "x" } }`, "message.custom_type: it is missing", false},
		{&agent.BeforeAgentStart{}, `{ message = { custom_type = "x" } }`, "message.content: it is missing", false},
		{&agent.TurnEnd{}, `{ entries = { type = "custom" } }`, "entries: expected a list, it has the key type", false},
		{&agent.TurnEnd{}, `{ entries = { 5 } }`, "entries[1]: expected a table, got number", false},
		{&agent.TurnEnd{}, `{ entries = { { type = "message" } } }`, `entries[1].type: expected custom, custom_message, context_edit or compaction, got "message"`, false},
		{&agent.TurnEnd{}, `{ entries = { { type = "custom", custom_type = "x" }, { type = "custom" } } }`, "entries[2].custom_type: it is missing", false},
		{&agent.TurnEnd{}, `{ entries = { { type = "custom", custom_type = "x", date = 1 } } }`, `entries[1].date: unknown key, did you mean "data"?`, false},
		{&agent.TurnEnd{}, `{ entries = { { type = "custom", custom_type = "pi.leaf" } } }`, "the program's own", false},
		{&agent.TurnEnd{}, `{ entries = { { type = "custom", custom_type = "x", data = { f = print } } } }`, "entries[1].data: ", false},
		{&agent.TurnEnd{}, `{ entries = { { type = "custom_message", custom_type = "x", content = { { type = "text" } } } } }`, "entries[1].content[1]: text: ", false},
		{&agent.TurnEnd{}, `{ entries = { { type = "context_edit", target_id = "nope" } } }`, `entries[1].target_id: entry "nope" is not on the branch`, false},
		{&agent.TurnEnd{}, `{ entries = { { type = "context_edit", target_id = "nope", replacement = {} } } }`, "entries[1].", false},
		{&agent.TurnEnd{}, `{ entries = { { type = "compaction", summary = "" } } }`, "entries[1].summary: it is empty", false},
		{&agent.AgentBeforeSettle{}, `{ continue = 1 }`, "continue: expected a boolean, got number", false},
		{&agent.BeforeProviderHeaders{}, `{ headers = { ["x y"] = "1" } }`, `"x y" is no name of a header`, false},
		{&agent.BeforeProviderHeaders{}, `{ headers = { x = "a\nb" } }`, "the value of x has control characters", false},
		{&agent.UserBash{}, `{ result = "x" }`, "result: expected a table, got string", false},
		{&agent.UserBash{}, `{ result = { exit_code = 1 } }`, "result.output: it is missing", false},
		{&agent.UserBash{}, `{ result = { output = "", exit_code = 1.5 } }`, "result.exit_code: expected an integer, got 1.5", false},
		{&agent.MessageEnd{Message: &message.Message{Role: message.RoleUser}}, `{ message = "x" }`, "message: expected a table, got string", false},
	} {
		stop, err := read(t, c.event, c.result)
		became, _ := json.Marshal(encodable(c.event))
		right := strings.Contains(string(became), c.want)
		if err != nil {
			right = strings.Contains(err.Error(), c.want)
		}
		if !right || stop != c.stops {
			t.Errorf("%T %s: %s (stop %v, %v), want %s", c.event, c.result, became, stop, err, c.want)
		}
	}
}

func TestAnUnknownKeyNamesTheNearest(t *testing.T) {
	s := rows()["tool_call"]
	if s.MayReturn("blok") || !s.MayReturn("block") || !strings.HasSuffix(s.UnknownKey("blok").Error(), `unknown key "blok" in the result of tool_call, did you mean "block"?`) {
		t.Errorf("%v, %v, %v", s.MayReturn("blok"), s.MayReturn("block"), s.UnknownKey("blok"))
	}
}

// A field that an event does not have raises, whether its table was filled before or not.
func TestAFieldThatIsNotThereRaises(t *testing.T) {
	withSource(t, func(src *Source, L *lua.LState) {
		for _, e := range []agent.Event{&agent.ToolCall{Name: "bash"}, &agent.TurnStart{TurnIndex: 7}} {
			s := rows()[e.Kind().String()]
			L.SetGlobal("e", s.Table(src, L, e))
			if err := L.DoString(`return e.tool_name or e.turn_index`); s.lazy && (err != nil || L.Get(-1).String() != "bash") {
				t.Errorf("%s: %v, %v", s.Name, L.Get(-1), err)
			}
			if err := L.DoString(`return e.zzz`); err == nil || !strings.Contains(err.Error(), `the event `+s.Name+` has no field "zzz"; it has type, `) {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	})
}

// Tables of JSON are empty until somebody looks into them.
func TestAnAnswerMayBeDecodedJSON(t *testing.T) {
	trust, end := &agent.ProjectTrust{Files: []agent.TrustFile{{SHA256: "x"}}}, &agent.TurnEnd{}
	for _, c := range []struct {
		event  agent.Event
		answer string
		taken  func() bool
	}{
		{trust, `{"trusted":{"x":true}}`, func() bool { return trust.Trusted["x"] }},
		{end, `{"entries":[{"type":"custom","custom_type":"mine:x"}]}`, func() bool { return len(end.Continuation.Entries) == 1 }},
	} {
		withSource(t, func(src *Source, L *lua.LState) {
			s := rows()[c.event.Kind().String()]
			apply, _, err := s.Merge(src, L, c.event, s.Copy(c.event), src.records.JSON([]byte(c.answer)).(*lua.LTable))
			if err != nil {
				t.Fatal(err)
			}
			if apply(); !c.taken() {
				t.Errorf("%s has no effect", c.answer)
			}
		})
	}
}
