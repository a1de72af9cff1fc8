package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/trust"
	"pi/session"
	"pi/session/message"
)

func (h *fakeHost) Tools() []agent.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tools
}

func (r *rig) active() string {
	var names []string
	for _, t := range r.host.Tools() {
		names = append(names, t.Spec().Name)
	}
	return strings.Join(names, " ")
}

func TestHooksChooseAmongAllToolsAndTheChoiceSurvivesReloads(t *testing.T) {
	r := newRig(t, map[string]string{
		"t.lua": `pi.tool{ name = "own", description = "D", execute = function() end }`,
	}, func(o *Options) {
		o.Tools, o.Inactive = []agent.Tool{namedTool("read"), namedTool("bash")}, []agent.Tool{namedTool("grep")}
	})
	if got := r.active(); got != "read bash own" {
		t.Errorf("at first: %s", got)
	}
	const show = ` local l = {} for _, t in ipairs(pi.tools()) do l[#l + 1] = t.name .. (t.active and "+" or "-") .. t.source end return { text = table.concat(l, " ") }`
	if got := r.lua(`pi.set_active_tools({ "own", "grep", "read" })` + show); got != "read+program bash-program grep+program own+t" {
		t.Errorf("chosen: %q", got)
	}
	if got := r.active(); got != "read grep own" {
		t.Errorf("active: %s", got)
	}
	r.write("n.lua", `pi.tool{ name = "new", description = "D", execute = function() end }`)
	r.write("t.lua", `pi.tool{ name = "own", description = "E", execute = function() end } pi.tool{ name = "bash", description = "mine", execute = function() end }`)
	r.chain.Reload(context.Background(), true)
	if got := r.active(); got != "read grep new own" {
		t.Errorf("after a reload: %s", got)
	}
	if r.lua(`pi.set_active_tools({})`); r.active() != "" {
		t.Errorf("none: %s", r.active())
	}
}

func TestAToolKnowsItsCall(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": strings.ReplaceAll(caller, `name = "bash"`, `id = "call_7", name = "own"`), "t.lua": `
		pi.tool{ name = "own", description = "D", execute = function(p, ctx, call)
			return call.id .. tostring(call.signal.cancelled()) .. ctx.cwd:sub(1, 1) end }`})
	mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "x"}))
	if got := answerOf(t, a); got != "result: call_7false/" {
		t.Errorf("answer is %q", got)
	}
	r.mustBeQuiet()
}

func TestRenderersDrawMessagesAndTools(t *testing.T) {
	r, _ := onScreen(t, map[string]string{
		"a.lua": `pi.register_message_renderer("note", function(m, opts, theme) end)
			pi.register_message_renderer("bad", function() return 7 end)`,
		"b.lua": `pi.register_message_renderer("note", function(m, opts, theme)
				return { theme.fg("accent", m.custom_type .. m.content .. m.details.n), tostring(opts.expanded) .. opts.width } end)
			pi.register_message_renderer("text", function() return "one\ntwo\n" end)
			pi.tool{ name = "own", description = "D", execute = function() end,
				render_call = function(args, opts, theme) return "call " .. args.x .. opts.width end,
				render_result = function(result, opts, theme) return { "result " .. result.content[1].text .. tostring(opts.expanded) } end }`,
		"c.lua": `pi.register_message_renderer("note", function() return "too late" end)
			pi.tool{ name = "plain", description = "D", execute = function() end }`,
	})
	draw := func(kind string) string {
		m := &message.Message{Role: message.RoleCustom, CustomType: kind, Content: []message.Block{message.TextBlock("C")}, Plain: true, Details: json.RawMessage(`{"n":1}`)}
		lines, ok := r.chain.RenderMessage(context.Background(), m, true, 40)
		if !ok {
			return "none"
		}
		return strings.Join(lines, "|")
	}
	for kind, want := range map[string]string{"note": "<accent>noteC1|true40", "text": "one|two", "bad": "none", "other": "none"} {
		if got := draw(kind); got != want {
			t.Errorf("%s is drawn as %q, want %q", kind, got, want)
		}
	}
	r.mustSay("hook a: renderer of bad: a renderer returns a string or a list of strings, not a number")
	if lines, ok := r.chain.RenderToolCall(context.Background(), drawnCall("own", json.RawMessage(`{"x":"X"}`)), false, 30); !ok || strings.Join(lines, "|") != "call X30" {
		t.Errorf("the call is drawn as %q, %v", lines, ok)
	}
	if lines, ok := r.chain.RenderToolResult(context.Background(), drawnCall("own", nil), agent.TextResult("R"), false, 30); !ok || strings.Join(lines, "|") != "result Rfalse" {
		t.Errorf("the result is drawn as %q, %v", lines, ok)
	}
	for _, name := range []string{"plain", "bash"} {
		if _, ok := r.chain.RenderToolCall(context.Background(), drawnCall(name, nil), false, 30); ok {
			t.Errorf("%s is drawn", name)
		}
	}
}

func TestAProviderOverridesOnlyWhatItSays(t *testing.T) {
	t.Setenv("PI_TEST_KEY", "secret")
	r := newRig(t, nil)
	models := r.chain.opts.Models
	own := &llm.Model{Provider: "core", ID: "m", API: "openai-completions", BaseURL: "http://own", Headers: map[string]string{"A": "a"}, ContextWindow: 5}
	models.Register(llm.ProviderSpec{Name: "core", Models: llm.Listed(own), Open: func(id string) *llm.Model { c := *own; c.ID = id; return &c }})
	r.write("a.lua", `pi.provider("core", { base_url = "http://proxy/", headers = { B = "b" } })`)
	r.write("b.lua", `pi.provider("core", { api_key = "$PI_TEST_KEY" })`)
	r.chain.Reload(context.Background(), false)
	for _, id := range []string{"m", "another"} {
		m := models.Find("core", id)
		if m.BaseURL != "http://proxy" || m.API != own.API || m.ContextWindow != 5 || m.Headers["A"] != "a" || m.Headers["B"] != "b" || !m.NeedsKey {
			t.Errorf("%s is reached by %+v", id, m)
		}
	}
	if key, err := models.Key(context.Background(), own); err != nil || key != "secret" {
		t.Errorf("key %q, %v", key, err)
	}
	if len(own.Headers) != 1 {
		t.Errorf("the program's own model was changed: %v", own.Headers)
	}
	r.write("b.lua", `pi.provider("core", { api_key = "$PI_TEST_NONE", models = { "only" } })`)
	r.chain.Reload(context.Background(), false)
	m := models.Find("core", "only")
	if m == nil || m.BaseURL != "http://proxy" || models.Find("core", "m") != nil || len(models.Available()) != 0 {
		t.Errorf("the listed model is %+v; available %v", m, models.Available())
	}
	if _, err := models.Key(context.Background(), own); err == nil || !strings.Contains(err.Error(), "core") {
		t.Errorf("a key that is not there: %v", err)
	}
	mustDo(t, os.Remove(filepath.Join(r.dir, "a.lua")))
	mustDo(t, os.Remove(filepath.Join(r.dir, "b.lua")))
	r.chain.Reload(context.Background(), false)
	if m := models.Find("core", "m"); m != own {
		t.Errorf("without hooks the model is %+v", m)
	}
}

func TestAModelIsAskedBesideTheConversation(t *testing.T) {
	s := newStage(t)
	before := len(s.agent.Session().Context())
	const ask = `local llm = require("pi.llm"); `
	s.check([]try{
		{"event", ask + `local m = llm.complete(nil, { system = "S", messages = { { role = "user", content = "aside" } } }); return m.role .. m.content[1].text .. m.usage.input`, "assistantASIDE10"},
		{"event", ask + `return llm.complete(ctx.model, { messages = ctx.messages, tools = { { name = "t", description = "D" } } }, { max_tokens = 5, thinking = "off", signal = ctx.signal }).role`, "assistant"},
		{"event", ask + `return llm.complete("s/m", { messages = { { role = "user", content = { { type = "text", text = "b" } } } } }).content[1].text`, "B"},
		{"event", ask + `local x, err = llm.complete("no/such", { messages = { { role = "user", content = "b" } } });` + both, "no such model: \"no/such\" (/model or `pi models` lists them)"},
		{"event", ask + `llm.complete(nil, { messages = {} })`, "!messages is empty"},
		{"event", ask + `llm.complete(nil, {})`, `!option "messages" is missing`},
		{"event", ask + `llm.complete(nil, { messages = { { role = "usr", content = "b" } } })`, `!unknown role "usr"`},
		{"event", ask + `llm.complete(nil, { messages = { { role = "user", content = "b" } } }, { max_token = 1 })`, `!did you mean "max_tokens"`},
		{"event", ask + `llm.complete(nil, { messages = { { role = "user", content = "b" } } }, { thinking = "hihg" })`, `!did you mean "high"`},
		{"event", ask + `llm.complete(7, { messages = { { role = "user", content = "b" } } })`, "!model expected"},
	})
	if now := len(s.agent.Session().Context()); now != before {
		t.Errorf("the conversation has %d messages, it had %d", now, before)
	}
	notes := 0
	for _, e := range s.agent.Session().Entries() {
		if u, err := session.Body[session.UsageEntry](e); e.Type == session.TypeUsage && err == nil && u.Note == "lua" {
			notes++
		}
	}
	if notes != 3 || s.agent.Totals().Input != 40 {
		t.Errorf("%d usage entries, %d tokens in all", notes, s.agent.Totals().Input)
	}
}

func TestWhatIsSentBeforeThereIsASessionIsKept(t *testing.T) {
	root := t.TempDir()
	hooks := filepath.Join(root, "hooks")
	mustDo(t, os.MkdirAll(hooks, 0o755))
	mustDo(t, os.WriteFile(filepath.Join(hooks, "a.lua"), []byte(`pi.on("app_start", function(e, ctx)
		assert(ctx.mode == "print" and ctx.has_ui == false and ctx.cwd ~= nil)
		assert(pi.send("typed") and pi.send_user_message("said") and pi.send_message({ custom_type = "t", content = "custom" }))
		local ok, err = pcall(function() return ctx.model end)
		assert(not ok and err:find("use session_start"), err)
	end)`), 0o644))
	c := New(Options{Places: trust.Places{AgentDir: root, Cwd: root}, Cwd: root, Mode: "print", Models: llm.NewModels(nil), Timeout: 5 * time.Second, Grace: 5 * time.Second})
	defer c.Close(context.Background())
	c.Load(context.Background())
	mustDo(t, c.Handle(context.Background(), &agent.AppStart{}))
	a := agent.New(agent.Options{Session: session.New(session.Options{Cwd: root}), Models: c.opts.Models, Model: &llm.Model{Provider: "p", ID: "m"}, Cwd: root})
	c.Attach(a, agent.NoUI{})
	var sent []string
	for p := range a.Inbox().TakeSubmitted() {
		sent = append(sent, p.Text)
	}
	if strings.Join(sent, " ") != "typed said" || len(a.Session().Context()) != 1 {
		t.Errorf("sent %q, %d messages in the session", sent, len(a.Session().Context()))
	}
	if h := c.Hooks(); h[0].LastError != "" {
		t.Error(h[0].LastError)
	}
}

func TestACommandRunsWhileTheAgentWorks(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": caller, "h.lua": `
		pi.on("tool_call", function(e, ctx) if e.input.command == "x" then ctx.ui.confirm("?") end end)
		pi.command("pop", { handler = function(ctx)
			local x, err = ctx.new_session()
			pi.send("queued", { { text = "T" } })
			return { status = table.concat(ctx.args, "|") .. tostring(ctx.is_idle()) .. tostring(ctx.has_pending_messages()) .. " " .. tostring(x) .. " " .. err }
		end })
		pi.command("wait", { handler = function(ctx) ctx.wait_for_idle() return { status = tostring(ctx.is_idle()) } end })
		pi.command("stop", { handler = function(ctx) ctx.shutdown() end })`}, echoTool{})
	asked, answer := r.ui.dialogs()
	done := make(chan error, 1)
	go func() { done <- a.Prompt(context.Background(), agent.Prompt{Text: "x"}) }()
	<-asked
	run := func(name, args string) string {
		for _, c := range r.chain.Commands() {
			if c.Name == name {
				return said(c.Run(context.Background(), args))
			}
		}
		return "no command " + name
	}
	if got := run("pop", `3 "two words"`); got != "3|two wordsfalsetrue nil not while the agent is working; wait_for_idle() first" {
		t.Errorf("/pop says %q", got)
	}
	waited := make(chan string, 1)
	go func() { waited <- run("wait", "") }()
	answer <- true
	if got := <-waited; got != "true" {
		t.Errorf("/wait says %q", got)
	}
	mustDo(t, <-done)
	var told []string
	for _, item := range a.Session().Context() {
		if m := item.Message; m.Role == message.RoleUser {
			told = append(told, fmt.Sprint(m.Text(), len(m.Content)))
		}
	}
	if !slices.Equal(told, []string{"x1", "queuedT2"}) {
		t.Errorf("the model was told %q", told)
	}
	run("stop", "")
	<-a.ShutdownRequested()
}

func TestArgumentsArePreparedBeforeTheyAreCheckedAndJudged(t *testing.T) {
	a, r := program(t, map[string]string{"m.lua": caller, "t.lua": `pi.tool{ name = "run", description = "D",
			parameters = { type = "object", properties = { command = { type = "string" } }, required = { "command" }, additionalProperties = false },
			prepare_arguments = function(raw)
				if raw.broken then error("cannot be read") end
				if raw.as_it_is then return nil end
				return { command = raw.cmd }
			end,
			execute = function(p) return "ran " .. p.command end }`,
		"g.lua": `pi.on("tool_call", function(e) if e.input.command == "rm" then return { block = true, reason = "no rm" } end end)`}, echoTool{})
	for input, want := range map[string]string{
		`{"cmd":"ls"}`:      "ran ls",
		`{"cmd":"rm"}`:      "no rm",
		`{"broken":1}`:      "t.lua:4: cannot be read",
		`{"as_it_is":true}`: "property \"command\" is missing",
		`{"cmd":5}`:         "expected string",
		`{}`:                "property \"command\" is missing",
	} {
		got := a.CallTool(t.Context(), "run", []byte(input))
		if text := got.Content[0].Text; !strings.Contains(text, want) || got.IsError != !strings.HasPrefix(want, "ran") {
			t.Errorf("%s: %s (error: %v), want %s", input, text, got.IsError, want)
		}
	}
	r.mustBeQuiet()
}

func TestLevelInTheNameOfAModelIsWhatItIsAskedFor(t *testing.T) {
	s := newStage(t)
	s.write("think.lua", `pi.provider("think", { models = { { id = "m", reasoning = true } }, stream = function(r, emit) emit{ type = "text", text = r.thinking_level } end })`)
	s.chain.Reload(context.Background(), false)
	const ask = `local m = { messages = { { role = "user", content = "?" } } }; return require("pi.llm").complete(`
	s.check([]try{
		{"event", ask + `"think/m:high", m).content[1].text`, "high"},
		{"event", ask + `"think/m:high", m, { thinking = "low" }).content[1].text`, "low"},
		{"event", ask + `"think/m", m).content[1].text`, "off"},
	})
}

// A tool that stands in for another calls that one as part of its call: the gates have seen
// what runs, and see what is run in its place.
func TestAToolCallsTheOneItReplaces(t *testing.T) {
	const replaced = `pi.tool{ name = "bash", description = "d", parameters = { properties = { command = { type = "string" } } }, execute = function(p, ctx, call) `
	for name, c := range map[string]struct {
		execute, answer string
		asked           int // gates, about the call
		more            map[string]string
	}{
		"the same arguments": {`local r = call.original(p) return { content = "[" .. r.content[1].text .. "]", is_error = r.is_error }`, `[ran {"command":"ls"}]`, 1, nil},
		"written anew":       {`return call.original{ command = p.command }`, `ran {"command":"ls"}`, 1, nil},
		"other arguments":    {`return call.original{ command = "ls -l" }`, `ran {"command":"ls -l"}`, 2, nil},
		"a block":            {`local r, why = call.original{ command = "rm" } return tostring(r) .. " " .. why`, `nil not rm`, 2, nil},
		"a block handed on":  {`return call.original{ command = "rm" }`, `not rm`, 2, nil},
		"wrong arguments":    {`return call.original{ comand = "ls" }`, `invalid arguments`, 1, nil},
		"no table":           {`return call.original("ls")`, `t.lua:1: original: input: expected a table`, 1, nil},
		"twice":              {`return call.original(p).content[1].text .. call.original(p).content[1].text`, `ran {"command":"ls"}ran {"command":"ls"}`, 1, nil},
		"a rewrite":          {`return call.original{ command = "change" }`, `ran {"command":"changed"}`, 2, nil},
		"words of a gate":    {`local r = call.original{ command = "add" } return r.content[1].text .. r.content[2].text`, `ran {"command":"add"}added`, 2, nil},
		"that of another hook": {`return call.original(p)`, `<ran {"command":"ls"}>`, 1,
			map[string]string{"s.lua": replaced + `return "<" .. call.original(p).content[1].text .. ">" end }`}},
		"only one below": {`return call.original(p)`, `none`, 1, map[string]string{
			"s.lua": `pi.tool{ name = "bash", description = "d", execute = function() return "none" end }`}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"p.lua": caller, "t.lua": replaced + c.execute + ` end }`,
				"gate.lua": `pi.on("tool_call", function(e)
					print("asked " .. e.input.command)
					if e.input.command == "rm" then return { block = true, reason = "not rm" } end
					if e.input.command == "change" then return { input = { command = "changed" } } end
					if e.input.command == "add" then return { additional_context = "added" } end
				end)`}
			for name, code := range c.more {
				files[name] = code
			}
			a, r := program(t, files, echoTool{})
			mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
			if got := answerOf(t, a); !strings.HasPrefix(got, "result: ") || !strings.Contains(got, c.answer) {
				t.Errorf("answer %q, want %q; notices %q", got, c.answer, r.host.notices())
			}
			if asked := strings.Count(strings.Join(r.host.notices(), "\n"), "gate: asked"); asked != c.asked {
				t.Errorf("asked %d times, want %d: %q", asked, c.asked, r.host.notices())
			}
		})
	}
}

// A call that is over runs nothing any more, also from within another one.
func TestTheOriginalBelongsToItsCall(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": caller,
		"t.lua": `local first pi.tool{ name = "bash", description = "d", execute = function(p, ctx, call)
			first = first or call.original return first(p) end }`}, echoTool{})
	for _, want := range []string{`result: ran {"command":"ls"}`, "t.lua:2: original: the call it belongs to is over"} {
		mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
		if got := answerOf(t, a); !strings.Contains(got, want) {
			t.Errorf("answer %q, want %q; notices %q", got, want, r.host.notices())
		}
	}
}

// What the gates have seen is a call of another tool, though with the same arguments.
func TestTheOriginalFromWithinAnotherToolIsAskedAbout(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": caller, "t.lua": `local o
		pi.tool{ name = "other", description = "d", execute = function(p) return o(p) end }
		pi.tool{ name = "bash", description = "d", execute = function(p, ctx, call) o = call.original return pi.call_tool("other", p) end }`,
		"gate.lua": `local n = 0 pi.on("tool_call", function(e) n = n + 1 if n > 1 and e.tool_name == "bash" then return { block = true, reason = "seen" } end end)`}, echoTool{})
	mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
	if got := answerOf(t, a); got != "result: seen" {
		t.Errorf("answer %q, notices %q", got, r.host.notices())
	}
}

// What is said to change nothing is asked about again before something that may.
func TestAToolThatIsSaidToOnlyReadDoesNotHideTheOneBelow(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": caller, "t.lua": `pi.tool{ name = "bash", description = "d", annotations = { read_only = true },
			execute = function(p, ctx, call) return call.original(p) end }`,
		"gate.lua": `pi.on("tool_call", function(e) if not e.annotations.read_only then return { block = true, reason = "it may change something" } end end)`}, echoTool{})
	mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
	if got := answerOf(t, a); got != "result: it may change something" {
		t.Errorf("answer %q, notices %q", got, r.host.notices())
	}
}

func TestAToolThatReplacesNothingHasNoOriginal(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": strings.ReplaceAll(caller, `"bash"`, `"own"`), "t.lua": `pi.tool{ name = "own", description = "d",
		execute = function(p, ctx, call) return tostring(call.original) end }`}, echoTool{})
	mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
	if got := answerOf(t, a); got != "result: nil" {
		t.Errorf("answer %q, notices %q", got, r.host.notices())
	}
}
