package luahooks

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pi/agent"
	"pi/luahooks/trust"
	"pi/session"
	"pi/session/message"
)

// disagree dispatches e to hooks a, b and c that return these results, and gives
// what became of it as JSON.
func disagree(t *testing.T, e agent.Event, results ...string) string {
	t.Helper()
	files := map[string]string{}
	for i, result := range results {
		files[string(rune('a'+i))+".lua"] = `pi.on("` + e.Kind().String() + `", function(e) pi.log("asked") return ` + result + ` end)`
	}
	newRig(t, files).emit(e)
	raw, err := json.Marshal(e)
	mustDo(t, err)
	return string(raw)
}

// wrong is the result of a hook that fails.
const wrong = `error("broken")`

func TestWhoIsRightWhenHooksDisagree(t *testing.T) {
	branch := branchOfCalls(t)
	compact := func() agent.Event { return &agent.SessionBeforeCompact{BranchEntries: branch} }
	tree := func() agent.Event {
		return &agent.SessionBeforeTree{Preparation: agent.TreePreparation{UserWantsSummary: true}}
	}
	request := func() agent.Event { return &agent.BeforeProviderRequest{Payload: json.RawMessage(`{"n":0}`)} }
	add := func(s string) string { return `{ text = e.text .. "` + s + `" }` }
	for _, c := range []struct {
		name    string
		event   agent.Event
		results []string
		want    string
		not     string
	}{
		{"input chains", &agent.Input{Text: "0"}, []string{add("a"), wrong, add("c")}, `"Text":"0ac"`, ""},
		{"handled ends input", &agent.Input{Text: "0"}, []string{add("a"), `{ handled = true }`, add("c")}, `"Text":"0a"`, ""},
		{"line chains", &agent.Line{Text: "0"}, []string{add("a"), wrong, add("c")}, `"Text":"0ac"`, ""},
		{"handled ends line", &agent.Line{Text: "0"}, []string{add("a"), `{ handled = true }`, add("c")}, `"Text":"0a"`, ""},
		{"a command ends line", &agent.Line{Text: "0"}, []string{add("a"), `{ command = "/x" }`, add("c")}, `"Text":"0a"`, ""},
		{"system_prompt chains", &agent.BeforeAgentStart{SystemPrompt: "0"}, []string{`{ system_prompt = e.system_prompt .. "a" }`, `nil`, `{ system_prompt = e.system_prompt .. "c" }`}, `"SystemPrompt":"0ac"`, ""},
		{"sections merge", &agent.BeforeAgentStart{}, []string{`{ sections = { x = "a", y = "a" } }`, `{ sections = { y = e.sections.y .. "b" } }`, `{ sections = { x = false } }`}, `"Changed":{"x":null,"y":"ab"}`, ""},
		{"messages are all kept in order", &agent.BeforeAgentStart{}, []string{`{ message = { custom_type = "a", content = "1" } }`, wrong, `{ message = { custom_type = "c", content = "3", display = false } }`}, `"customType":"a"`, ""},
		{"the request chains", request(), []string{`{ payload = { n = e.payload.n + 1 } }`, `{ payload = { n = e.payload.n + 10 } }`, `nil`}, `"Payload":{"n":11}`, ""},
		{"headers merge", &agent.BeforeProviderHeaders{}, []string{`{ headers = { a = "1", b = "1" } }`, `{ headers = { A = "2" } }`, `{ headers = { b = false } }`}, `"Changed":{"A":"2","B":null}`, ""},
		{"a cancel stops the chain", &agent.SessionBeforeSwitch{}, []string{`{ cancel = true }`, wrong, `{ cancel = false }`}, `"Cancel":true`, ""},
		{"a failing hook does not cancel", &agent.SessionBeforeNew{}, []string{wrong, `{}`, `nil`}, `"Cancel":false`, ""},
		{"branch: the last answer counts", &agent.SessionBeforeBranch{}, []string{`{ skip_conversation_restore = true }`, `{ skip_conversation_restore = false }`, `nil`}, `"SkipConversationRestore":false`, ""},
		{"branch: an empty one is none", &agent.SessionBeforeBranch{}, []string{`{ skip_conversation_restore = true }`, `{}`, `{ cancel = false }`}, `"SkipConversationRestore":true`, ""},
		{"compact: the last summary counts", compact(), []string{`{ summary = "a" }`, `{ compaction = { summary = "b" } }`, `nil`}, `"Compaction":{"Summary":"b","FirstKeptEntryID":"","TokensBefore":0,"Details":null,"By":"b"}`, ""},
		{"compact: an empty summary is no opinion", compact(), []string{`{ summary = "a" }`, `{ summary = "" }`, `{ compaction = { summary = "" } }`}, `"Summary":"a"`, ""},
		{"compact: a broken one leaves the one before", compact(), []string{`{ summary = "a" }`, `{ compaction = { summary = "b", first_kept_entry_id = "nope" } }`, wrong}, `"Summary":"a"`, ""},
		{"compact: a cancel wins over what came before", compact(), []string{`{ summary = "a" }`, `{ cancel = true }`, `{ summary = "c" }`}, `"Cancel":true,"Compaction":{"Summary":"a"`, `"c"`},
		{"compacting joins, overrides and merges", &agent.SessionCompacting{}, []string{`{ context = { "1" }, prompt = "a", preserve_data = { x = 1, y = 1 } }`, `{ context = { "2", "3" }, preserve_data = { y = 2 } }`, `{ prompt = "c" }`},
			`"Context":["1","2","3"],"Prompt":"c","PreserveData":{"x":1,"y":2}`, ""},
		{"tree: the last answer counts as a whole", tree(), []string{`{ label = "a", summary = { summary = "s" } }`, `{ label = "b" }`, `{ cancel = false }`}, `"Summary":null,"CustomInstructions":"","ReplaceInstructions":false,"Label":"b"`, ""},
		{"the last directory counts", &agent.SessionDirectory{}, []string{`{ dir = "/a" }`, `{ dir = "/b" }`, `{ dir = "" }`}, `"Dir":"/b"`, ""},
		{"the first about trust counts", &agent.ProjectTrust{Files: []agent.TrustFile{{SHA256: "x"}, {SHA256: "y"}}}, []string{`nil`, `{ trusted = { x = true } }`, `{ trusted = false }`}, `"Refused":false,"Trusted":{"x":true}`, ""},
		{"a failing hook trusts nothing", &agent.ProjectTrust{}, []string{wrong, `nil`, `nil`}, `"Refused":false,"Trusted":null`, ""},
		{"the first answer to a command counts", &agent.UserBash{}, []string{`nil`, `{ result = { output = "b" } }`, `{ result = { output = "c" } }`}, `"Output":"b"`, ""},
		{"an error blocks a command", &agent.UserBash{}, []string{wrong, `{ result = { output = "b" } }`, `nil`}, `"Result":null,"Blocked":"hook a.lua failed: `, ""},
		{"an answer keeps later gates from being asked", &agent.UserBash{}, []string{`{ result = { output = "a" } }`, wrong, wrong}, `"Blocked":""`, ""},
		{"entries are joined, and one is enough to go on", &agent.TurnEnd{}, []string{`{ entries = { { type = "custom", custom_type = "a" } }, continue = true }`, wrong, `{ entries = { { type = "custom_message", custom_type = "c", content = "x" } } }`},
			`"Continue":true,"ContinuedBy":"a"`, ""},
		{"entries before the end", &agent.AgentBeforeSettle{}, []string{`{ continue = true }`, `{ continue = false }`, `{ continue = true }`}, `"Continue":true,"ContinuedBy":"c"`, ""},
		{"tool results are edited field by field", &agent.ToolResult{Name: "x"}, []string{`{ content = "a", is_error = true }`, `{ content = e.content[1].text .. tostring(e.is_error) }`, wrong}, `atrue`, ""},
	} {
		got := disagree(t, c.event, c.results...)
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s, want %s in it", c.name, got, c.want)
		}
	}
}

// branchOfCalls is: question, answer with calls c1 and c2, their results, answer.
func branchOfCalls(t *testing.T) []*session.Entry {
	t.Helper()
	s := session.New(session.Options{Cwd: "/"})
	call := func(id string) message.Block {
		return message.Block{Type: message.BlockToolCall, ID: id, Name: "x", Arguments: json.RawMessage(`{}`)}
	}
	for _, m := range []*message.Message{
		{Role: message.RoleUser, Content: []message.Block{message.TextBlock("q")}},
		{Role: message.RoleAssistant, Content: []message.Block{call("c1"), call("c2")}},
		{Role: message.RoleToolResult, ToolCallID: "c1", ToolName: "x"},
		{Role: message.RoleToolResult, ToolCallID: "c2", ToolName: "x"},
		{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("a")}},
	} {
		_, err := s.AppendMessage(m)
		mustDo(t, err)
	}
	return s.Branch()
}

func TestWhatACompactionKeepsNeverBeginsBetweenACallAndItsResult(t *testing.T) {
	branch := branchOfCalls(t)
	for i, want := range []string{"", "", "lies between a tool call and its result", "lies between a tool call and its result", ""} {
		e := &agent.SessionBeforeCompact{BranchEntries: branch}
		r := newRig(t, map[string]string{"a.lua": `pi.on("session_before_compact", function(e)
			return { compaction = { summary = "s", first_kept_entry_id = "` + branch[i].ID + `", tokens_before = 7, details = { x = 1 } } } end)`})
		r.emit(e)
		if want != "" {
			if r.mustSay(want, "a.lua:2"); e.Compaction != nil {
				t.Errorf("entry %d is kept", i)
			}
			continue
		}
		if r.mustBeQuiet(); e.Compaction == nil || e.Compaction.FirstKeptEntryID != branch[i].ID || e.Compaction.TokensBefore != 7 || string(e.Compaction.Details) != `{"x":1}` {
			t.Errorf("entry %d: %+v", i, e.Compaction)
		}
	}
}

func TestDraftsBecomeEntriesOfTheSession(t *testing.T) {
	r := newRig(t, nil)
	target := r.host.user("question")
	r.write("a.lua", `pi.on("turn_end", function(e) return { entries = {
		{ type = "custom", custom_type = "n", data = { a = {} } },
		{ type = "custom_message", custom_type = "m", content = "hello", display = false, details = { d = 1 } },
		{ type = "context_edit", target_id = "`+target.ID+`" },
		{ type = "context_edit", target_id = "`+target.ID+`", replacement = { content = "short" } },
		{ type = "compaction", summary = "s", first_kept_entry_id = "`+target.ID+`" },
	} } end)`)
	r.chain.Reload(t.Context(), false)
	r.host.forget()
	e := &agent.TurnEnd{Usage: used(agent.TurnUsage{ContextUsage: agent.ContextUsage{Tokens: 42}})}
	r.emit(e)
	r.mustBeQuiet()
	entries, err := r.host.session.AppendAll(e.Entries)
	mustDo(t, err)
	for i, want := range []string{
		`"type":"custom",|"customType":"n","data":{"a":{}}`,
		`"type":"custom_message",|"customType":"m","content":"hello","display":false,"details":{"d":1}`,
		`"type":"context_edit",|"replacement":null`,
		`"type":"context_edit",|"replacement":{"content":"short"}`,
		`"type":"compaction",|"summary":"s",|"tokensBefore":42,"fromHook":true`,
	} {
		for _, part := range strings.Split(want, "|") {
			if i >= len(entries) || !strings.Contains(string(entries[i].Raw()), part) {
				t.Fatalf("entry %d of %d: no %s", i, len(entries), part)
			}
		}
	}
	if got := r.host.session.Context(); len(got) != 3 || got[1].Message.Text() != "short" {
		t.Errorf("the context is %+v", got)
	}
}

func TestProjectHooksAreNotAskedAboutTheirTrust(t *testing.T) {
	trusts := `pi.on("project_trust", function(e) return { trusted = { x = true } } end)`
	r := newRig(t, nil)
	r.chain.roster.replace([]*hook{})
	for _, scope := range []trust.Scope{trust.ScopeProject, trust.ScopeConfig, trust.ScopeGlobal, trust.ScopeCommand} {
		h := &hook{Source: trust.Source{Name: string(scope), Path: "/h.lua", Scope: scope}}
		in, err := r.chain.loader.run(t.Context(), h, []byte(trusts), nil)
		mustDo(t, err)
		in.script.Registered.Handlers.Enter()
		h.now.Store(in)
		r.chain.roster.replace([]*hook{h})
		e := &agent.ProjectTrust{Files: []agent.TrustFile{{SHA256: "x"}}}
		r.emit(e)
		if own := scope == trust.ScopeGlobal || scope == trust.ScopeCommand; own != (e.Trusted != nil) {
			t.Errorf("a %s hook was asked: %v", scope, e.Trusted != nil)
		}
		in.close()
	}
}

func TestAGroupHasARuleOfItsOwnAmongOthers(t *testing.T) {
	compacting := func() agent.Event { return &agent.SessionCompacting{} }
	start := func() agent.Event { return &agent.BeforeAgentStart{SystemPrompt: "0"} }
	message := func(text string) string { return `message = { custom_type = "m", content = "` + text + `" }` }
	const last, first, stop = `{ group = { name = "g", rule = "last" } }`, `{ group = { name = "g", rule = "first" } }`, `{ group = { name = "g", rule = "stop" } }`
	const firstMessage = `{ group = { name = "g", rule = "first", keys = { "message" } } }`
	type handler struct{ options, result string }
	for _, c := range []struct {
		name  string
		event agent.Event
		files [][]handler // handlers of a.lua, b.lua, c.lua
		want  []string
		not   []string
		asked string // which handlers
	}{
		{"the last of several files counts whole", compacting(), [][]handler{
			{{last, `{ context = { "a1" }, prompt = "a", preserve_data = { a = 1 } }`}},
			{{"nil", `{ context = { "native" } }`}},
			{{last, `{ context = { "c1" } }`}},
		}, []string{`"Context":["native","c1"]`, `"Prompt":""`, `"PreserveData":null`}, nil, "abc"},
		{"the last of one file counts whole", compacting(), [][]handler{
			{{last, `{ context = { "1" }, prompt = "a" }`}, {last, `nil`}, {last, `{ preserve_data = { x = 1 } }`}, {last, `{}`}, {last, wrong}},
		}, []string{`"Context":null`, `"Prompt":""`, `"PreserveData":{"x":1}`}, nil, "aaaaa"},
		{"what others answered before it stays where it was", compacting(), [][]handler{
			{{"nil", `{ context = { "x" }, prompt = "x" }`}, {last, `{ context = { "1" }, prompt = "1" }`}},
			{{last, `{ context = { "2" } }`}, {"nil", `{ context = { "y" } }`}},
		}, []string{`"Context":["x","2","y"]`, `"Prompt":"x"`}, nil, "aabb"},
		{"groups do not know each other", compacting(), [][]handler{
			{{last, `{ context = { "g1" } }`}, {`{ group = { name = "h", rule = "last" } }`, `{ context = { "h1" } }`}},
			{{last, `{ context = { "g2" } }`}, {`{ group = { name = "h", rule = "last" } }`, `{ context = { "h2" } }`}},
		}, []string{`"Context":["g2","h2"]`}, nil, "aabb"},
		{"the first message counts, and what else is answered", start(), [][]handler{
			{{firstMessage, `{ system_prompt = e.system_prompt .. "a" }`}, {firstMessage, `{ ` + message("one") + ` }`}},
			{{"nil", `{ ` + message("native") + ` }`}},
			{{firstMessage, `{ system_prompt = e.system_prompt .. "c", ` + message("two") + ` }`}, {firstMessage, `{ ` + message("three") + ` }`}},
		}, []string{`"SystemPrompt":"0ac"`, `one`, `native`}, []string{`two`, `three`}, "aabcc"},
		{"the first answer counts", start(), [][]handler{
			{{first, `{}`}, {first, `{ system_prompt = "1" }`}},
			{{first, `{ system_prompt = "2" }`}, {"nil", `{ system_prompt = e.system_prompt .. "n" }`}},
		}, []string{`"SystemPrompt":"1n"`}, nil, "aabb"},
		{"nobody is asked behind the first answer", &agent.SessionBeforeCompact{BranchEntries: branchOfCalls(t)}, [][]handler{
			{{stop, `{ summary = "" }`}, {stop, wrong}, {stop, `{ summary = "one" }`}, {stop, wrong}},
			{{stop, wrong}, {"nil", `nil`}},
			{{stop, `{ cancel = true }`}},
		}, []string{`"Summary":"one"`, `"Cancel":false`}, nil, "aaab"},
		{"others are asked, and theirs is the last", &agent.SessionBeforeCompact{BranchEntries: branchOfCalls(t)}, [][]handler{
			{{stop, `{ summary = "one" }`}}, {{"nil", `{ summary = "two" }`}}, {{stop, `{ summary = "three" }`}},
		}, []string{`"Summary":"two"`}, nil, "ab"},
	} {
		files := map[string]string{}
		for i, handlers := range c.files {
			name := string(rune('a' + i))
			for _, h := range handlers {
				files[name+".lua"] += `pi.on("` + c.event.Kind().String() + `", function(e) pi.send("` + name + `") return ` + h.result + ` end, ` + h.options + ")\n"
			}
		}
		r := newRig(t, files)
		r.emit(c.event)
		raw, err := json.Marshal(c.event)
		mustDo(t, err)
		for _, want := range c.want {
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s: %s, want %s in it", c.name, raw, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(string(raw), not) {
				t.Errorf("%s: %s, with %s in it", c.name, raw, not)
			}
		}
		if asked := strings.ReplaceAll(r.host.texts(), " ", ""); asked != c.asked {
			t.Errorf("%s: asked were %s, want %s", c.name, asked, c.asked)
		}
	}
}

func TestWhatAGroupLeavesOutIsInTheLog(t *testing.T) {
	answer := `pi.on("before_agent_start", function() return { message = { custom_type = "m", content = "x" } } end,
		{ group = { name = "some.module", rule = "first", keys = { "message" } } })`
	r := newRig(t, map[string]string{"a.lua": answer, "b.lua": answer})
	r.emit(&agent.BeforeAgentStart{})
	log, err := os.ReadFile(r.chain.opts.LogPath)
	mustDo(t, err)
	if got := string(log); strings.Count(got, "message is left out") != 1 || !strings.Contains(got, "b: before_agent_start: message is left out: another handler of the group some.module gave one first") {
		t.Errorf("the log says %q", got)
	}
}

func TestAGroupThatIsNoneIsAnErrorOfItsLine(t *testing.T) {
	for options, want := range map[string]string{
		`{ grup = {} }`: `on: unknown option "grup", did you mean "group"?`,
		`{ group = { name = "g", rule = "lst" } }`:                        `on: group: there is no rule "lst"; there are first, last, stop`,
		`{ group = { name = "g" } }`:                                      `on: group: option "rule" is missing`,
		`{ group = { name = "g", rule = "last", keys = { "message" } } }`: `on: group: keys belong to the rule first`,
		`{ group = { name = "g", rule = "first", keys = { "mesage" } } }`: `unknown key "mesage" in the result of before_agent_start, did you mean "message"?`,
		`{ group = { name = "g", rule = "last" } }, 1`:                    `'on' takes at most 3 arguments, got 4`,
	} {
		newRig(t, map[string]string{"a.lua": "\n" + `pi.on("before_agent_start", function() end, ` + options + `)`}).mustSay("a.lua:2: ", want)
	}
	for _, event := range []string{"tool_result", "context", "input", "message_end", "before_agent_start", "before_provider_request", "before_provider_headers", "turn_end"} {
		newRig(t, map[string]string{"a.lua": `pi.on("` + event + `", function() end, { group = { name = "g", rule = "last" } })`}).
			mustSay("a.lua:1: ", "handlers of "+event+" see what those before them answered")
	}
	for _, event := range []string{"tool_call", "user_bash", "shell", "message_update", "project_trust", "turn_start", "my:event"} {
		newRig(t, map[string]string{"a.lua": `pi.on("` + event + `", function() end, { group = { name = "g", rule = "stop" } })`}).
			mustSay("a.lua:1: ", "handlers of "+event+" have none")
	}
}
