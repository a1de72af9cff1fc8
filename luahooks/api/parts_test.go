package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/luavm"
	"pi/session"
	"pi/session/message"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// Each part of the API does its work without the others.

func TestAListHasOneItemOfEachName(t *testing.T) {
	var l List[Flag]
	for _, f := range []Flag{{Name: "a"}, {Name: "b"}, {Name: "a", Hook: "put"}} {
		l.put(f)
	}
	l.replace(Flag{Name: "b", Hook: "replaced"})
	before := l.All()
	if !l.remove("a") || l.remove("a") {
		t.Error("a was there once")
	}
	if want := []Flag{{Name: "b", Hook: "replaced"}, {Name: "a", Hook: "put"}}; !slices.Equal(before, want) {
		t.Errorf("items %+v, want %+v", before, want)
	}
	if _, ok := l.Find("a"); ok || len(l.All()) != 1 {
		t.Errorf("%+v is left", l.All())
	}
}

func TestHandlersCountOnlyWhileTheyAreInForce(t *testing.T) {
	count := 0
	h := &Handlers{count: func(_ string, n int) { count += n }}
	steps := []struct {
		do   func()
		want int
	}{
		{func() { h.on("input", &Handler{}) }, 0},
		{h.Enter, 1},
		{h.Enter, 1},
		{func() { off := h.on("input", &Handler{}); off(); off() }, 1},
		{func() { h.on("context", &Handler{}) }, 2},
		{h.Exit, 0},
		{h.Exit, 0},
	}
	for i, s := range steps {
		if s.do(); count != s.want {
			t.Errorf("after step %d %d handlers count, want %d", i, count, s.want)
		}
	}
	if got := h.Events(); !slices.Equal(got, []string{"context", "input"}) || len(h.Of("input")) != 1 {
		t.Errorf("events %q, %d handlers of input", got, len(h.Of("input")))
	}
}

func TestACallGoesToTheVersionThatRuns(t *testing.T) {
	closed := newLab(t)
	closed.vm.Close()
	now := newLab(t, func(l *lab) part {
		l.Tools = new(labBox)
		return (&tools{bridge: l.bridge, contexts: new(contexts), signals: &signals{bridge: l.bridge}}).part()
	})
	now.want("nil", `api.tool{ name = "t", description = "d", execute = function() return "new" end }`)
	old := &Tool{home: &tools{bridge: closed.bridge}, spec: llm.ToolSpec{Name: "t"}}
	if _, err := old.Run(t.Context(), json.RawMessage(`{}`), nil); !IsReplaced(err) {
		t.Errorf("without a successor: %v", err)
	}
	if got := closed.owner.reports(); !strings.HasPrefix(got, "tool t failed for 0:") || !strings.HasSuffix(got, "ran tool t true") {
		t.Errorf("the owner heard %q", got)
	}
	closed.owner.now = now.owner.now
	if r, err := old.Run(t.Context(), json.RawMessage(`{}`), nil); err != nil || r.Content[0].Text != "new" {
		t.Errorf("with one: %+v, %v", r, err)
	}
}

func TestWhatGoesWrongInACallbackIsReportedOnce(t *testing.T) {
	l := newLab(t)
	fails := func(L *lua.LState) error { L.RaiseError("late %d", 7); return nil }
	if err := l.jobs.callBack(t.Context(), "timer", fails); err == nil {
		t.Error("no error")
	}
	if got := l.owner.reports(); !strings.HasPrefix(got, "ran timer true; timer failed for 2:") || !strings.Contains(got, "late 7") {
		t.Errorf("the owner heard %q", got)
	}
	l.owner.said, l.owner.cutOff = nil, true
	_ = l.jobs.callBack(t.Context(), "timer", fails)
	if got := l.owner.reports(); got != "ran timer true" {
		t.Errorf("at the end of the program the owner heard %q", got)
	}
}

func TestOnlyLinesAreDrawn(t *testing.T) {
	l := newLab(t)
	for code, want := range map[string]string{`return "a\nb\n"`: "[a b]", `return {"a\nb", "c"}`: "[a b c]", `return nil`: "[]", `return 5`: "not a number",
		`return { {} }`: "a string or a list of strings, and element 1 of the list is a table"} {
		proto, err := luavm.Compile("draw.lua", []byte(code))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := l.jobs.draw(t.Context(), "drawing", func(L *lua.LState) lua.LValue { return callLua(L, L.NewFunctionFromProto(proto)) })
		if got := fmt.Sprint(lines); err != nil && !strings.Contains(err.Error(), want) || err == nil && got != want {
			t.Errorf("%s draws %s, %v", code, got, err)
		}
	}
}

func TestWhatIsSentBeforeASessionWaits(t *testing.T) {
	var stored []func(context.Context, Host)
	early := true
	l := newLab(t, func(l *lab) part {
		l.Later = func(send func(context.Context, Host)) bool {
			if early {
				stored = append(stored, send)
			}
			return early
		}
		return (&sender{l.bridge}).part()
	})
	l.want("true", `return api.send("first")`)
	l.want("true", `return api.send(" ")`)
	if len(stored) != 1 || len(l.program.did) != 0 {
		t.Fatalf("%d stored, the program did %q", len(stored), l.program.did)
	}
	l.program.err = errors.New("no model")
	stored[0](t.Context(), l.program)
	early = false
	l.want("no model", `return select(2, api.send("second"))`)
	if want := []string{`submit "first" from lab`, `submit "second" from lab`}; !slices.Equal(l.program.did, want) {
		t.Errorf("the program did %q, want %q", l.program.did, want)
	}
	if got := l.noticed(); got != "error: hook lab: send: no model" {
		t.Errorf("notices %q", got)
	}
	l.want("error: deliver_as must be steer or follow_up, not", `api.send_user_message("x", { deliver_as = "stear" })`)
	l.want("error: attachments are a list", `api.send("x", { path = "/x" })`)
}

func TestACommandRunsAsTheUsersOwn(t *testing.T) {
	changed := 0
	l := newLab(t, func(l *lab) part {
		l.Mode, l.UI = "print", func() agent.UI { return nil }
		c := &contexts{bridge: l.bridge, signals: &signals{bridge: l.bridge}}
		c.open(func() []part { return nil })
		l.Keys = Keys{Chord: func(key string) (string, error) { return key, nil }, IsReserved: func(chord string) bool { return chord == "ctrl+c" }}
		l.CommandsChanged = func(context.Context) { changed++ }
		l.Commands = func() []command.Command {
			return []command.Command{{Name: "help", Help: "helps"}, {Name: "go", Hook: "lab", From: command.Provenance{Path: "/h/lab.lua"}},
				{Name: "fix", Origin: "template, here", From: command.Provenance{Path: "/t/fix.md"}}, {Name: "skill:pdf", Origin: "skill, here", From: command.Provenance{Path: "/s/pdf/SKILL.md"}}}
		}
		return (&commands{l.bridge, c}).part()
	})
	l.want("nil", `api.command("go", { complete = function(p) return { p .. "x" } end,
		handler = function(ctx) return { prompt = ctx.args[2] .. ctx.mode, status = tostring(ctx.has_ui) } end })`)
	l.owner.now.Handlers.Enter()
	l.want("nil", `api.command("fails", { handler = function() return 5 end })`)
	l.want("helps", `return api.commands()[1].description`)
	l.want("program nil hook /h/lab.lua template /t/fix.md skill /s/pdf/SKILL.md", `local said = {}
		for _, c in ipairs(api.commands()) do said[#said + 1] = c.kind .. " " .. tostring(c.path) end
		return table.concat(said, " ")`)
	l.want("false", `return api.shortcut("ctrl+c", { handler = function() end })`)
	c, _ := l.owner.now.Commands.Find("go")
	out, err := c.Run(t.Context(), `one "two "`)
	if err != nil || out.Prompt.Text != "two print" || out.Status != "false" || out.Prompt.Origin.Kind != agent.FromUser || out.Prompt.Origin.Hook != "lab" {
		t.Errorf("%+v, %v", out, err)
	}
	if got := c.Under("go:2").Complete("a"); !slices.Equal(got, []string{"ax"}) {
		t.Errorf("candidates %q", got)
	}
	fails, _ := l.owner.now.Commands.Find("fails")
	if _, err := fails.Run(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "hook lab: lab.lua:1: a command returns nil, a string or a table") {
		t.Error(err)
	}
	if got := l.owner.reports(); !strings.HasPrefix(got, "ran /go false; ran /fails true; /fails failed for 1:") || changed != 1 {
		t.Errorf("the owner heard %q, %d changes", got, changed)
	}
}

// labTool is a tool of the program.
type labTool string

func (t labTool) Spec() llm.ToolSpec { return llm.ToolSpec{Name: string(t)} }
func (labTool) Run(context.Context, json.RawMessage, agent.Update) (agent.Result, error) {
	return agent.Result{}, nil
}

// labBox has the program's tool bash and what the lab registers.
type labBox struct {
	l    *lab
	said []string
}

func (b *labBox) All() []OfferedTool {
	all := []OfferedTool{{labTool("bash"), true}}
	for _, t := range b.l.owner.now.Tools.All() {
		all = append(all, OfferedTool{t, false})
	}
	return all
}
func (b *labBox) IsOwn(name string) bool { return name == "bash" }
func (b *labBox) Below(name, _ string) agent.Tool {
	if name == "bash" {
		return labTool("bash")
	}
	return nil
}
func (b *labBox) Choose(names []string, by string) {
	b.said = append(b.said, fmt.Sprint("choose ", names))
}
func (b *labBox) MayCall(string) error { return nil }
func (b *labBox) Apply(by string)      { b.said = append(b.said, "apply "+by) }

func TestAToolShowsWhatItHasSoFar(t *testing.T) {
	box := new(labBox)
	l := newLab(t, func(l *lab) part {
		box.l = l
		l.Tools = box
		return (&tools{bridge: l.bridge, contexts: new(contexts), signals: &signals{bridge: l.bridge}}).part()
	})
	l.owner.now.Handlers.Enter()
	l.want("nil", `api.tool{ name = "t", description = "d", parameters = { properties = { x = { type = "string" } } }, execute = function(p, _, call)
		call.update("half") return { content = p.x, details = { id = call.id } } end }`)
	if !slices.Equal(box.said, []string{"apply lab"}) {
		t.Errorf("a tool in force is not applied: %q", box.said)
	}
	tool, _ := l.owner.now.Tools.Find("t")
	var updates []string
	r, err := tool.Run(t.Context(), json.RawMessage(`{"x":"whole"}`), func(r agent.Result) { updates = append(updates, r.Content[0].Text) })
	if err != nil || r.Content[0].Text != "whole" || !slices.Equal(updates, []string{"half"}) {
		t.Errorf("%+v %q, %v", r, updates, err)
	}
}

func TestAModuleIsLoadedOnceAndItsFileRemembered(t *testing.T) {
	found := 0
	var m *modules
	newModules := func(l *lab) part {
		l.FindModule = func(name string, _ bool, looked func(path, sum string)) (string, []byte, error) {
			found++
			looked("/project/"+name+".lua", fmt.Sprint(found))
			if name == "none" {
				return "", nil, errors.New("module none does not exist")
			}
			return name + ".lua", []byte(`return { name = ... }`), nil
		}
		m = &modules{bridge: l.bridge, env: &stdlib.Env{}, required: map[string]*module{}, looked: map[string]string{}}
		return part{"require": m.require}
	}
	l := newLab(t, newModules)
	l.want("x", `assert(api.require("x") == api.require("x")) return api.require("x").name`)
	l.want("error: module none does not exist", `api.require("none")`)
	l.want("error: module pi.nothing does not exist", `api.require("pi.nothing")`)
	l.want("error: names are words", `api.require("../x")`)
	if got := fmt.Sprint(m.files()); got != "map[/project/none.lua:2 /project/x.lua:1]" {
		t.Errorf("files %s", got)
	}
}

func TestAStateLosesOnlyWhatIsNoData(t *testing.T) {
	l := newLab(t)
	l.want("nil", `rawset(_G, "pi", { state = { n = 1, f = function() end } })`)
	state, lost, err := encodeState(t.Context(), l.vm, l.records, l.Timeout)
	if string(state) != `{"n":1}` || lost == nil || err != nil {
		t.Errorf("%s, lost %v, %v", state, lost, err)
	}
}

func TestAProviderNeedsAnAddressOrAScript(t *testing.T) {
	changed := 0
	l := newLab(t, func(l *lab) part {
		l.owner.now.Handlers.Enter()
		l.ProvidersChanged = func() { changed++ }
		return (&providers{l.bridge}).part()
	})
	l.want("error: it needs api and base_url, or a stream function", `api.provider("p", {})`)
	l.want("error: is no name of a provider", `api.provider("a/b", {})`)
	l.want("nil", `api.provider("p", { models = { "m" }, stream = function(request, emit)
		emit{ type = "text", text = request.messages[1].content[1].text } end })`)
	p, _ := l.owner.now.Providers.Find("p")
	model, ok := p.Script()
	if !ok || p.Settings.API != "lua" || p.Settings.Models[0].ID != "m" {
		t.Fatalf("%+v", p)
	}
	var text string
	request := &llm.Request{Model: &llm.Model{}, Messages: nil}
	for d, err := range model.Stream(t.Context(), request) {
		if text += d.Text; err != nil {
			text += err.Error()
		}
	}
	if !strings.Contains(text, "lab.lua:2") {
		t.Errorf("a request without messages gives %q", text)
	}
	l.want("true", `return api.remove_provider("p")`)
	l.want("false", `return api.remove_provider("p")`)
	if got := l.owner.reports(); !strings.HasPrefix(got, "stream p failed for 0:") || changed != 2 {
		t.Errorf("the owner heard %q, %d changes", got, changed)
	}
}

func TestAModelIsFoundByItsNameOrItsValue(t *testing.T) {
	l := newLab(t, func(l *lab) part { return models{l.bridge}.part() }, func(l *lab) part {
		return part{"complete": asking{models{l.bridge}, "complete"}.complete, "stream": asking{models{l.bridge}, "stream"}.complete, "mine": func() lua.LValue { return l.records.Model(l.program.model) }}
	})
	known := llm.NewModels(nil)
	known.Register(llm.ProviderSpec{Name: "p", Models: func() []*llm.Model { return []*llm.Model{{Provider: "p", ID: "m", Name: "M"}} }})
	l.program.models, l.program.model = known, known.Find("p", "m")
	l.want("M", `return api.find_model("p", "m").name`)
	l.want("1", `return #api.available_models()`)
	l.want("true", `return select(2, api.find_model("p", "none")):find("no model p/none: ", 1, true) == 1`)
	l.want("there is no key for p/m", `return select(2, api.resolve_api_key(api.mine()))`)
	l.want("error: model expected (such as ctx.model", `api.resolve_api_key(5)`)
	l.want("error: complete: messages is empty", `api.complete(nil, { messages = {} })`)
	l.want("error: unknown thinking level", `api.complete(nil, { messages = { { role = "user", content = "x" } } }, { thinking = "hihg" })`)
	l.want(`error: stream: option "on_delta" is missing`, `api.stream(nil, { messages = { { role = "user", content = "x" } } })`)
	l.want(`error: complete: unknown option "on_delta"`, `api.complete(nil, { messages = { { role = "user", content = "x" } } }, { on_delta = print })`)
	l.want(`["text 0 one","thinking 1 two","tool_call 2 {}","stop"]`, `
		local seen = {}
		local m = api.stream(nil, { messages = { { role = "user", content = "x" } } }, { on_delta = function(d)
			seen[#seen + 1] = d.type .. " " .. d.index .. " " .. d.text
		end })
		seen[#seen + 1] = m.stop_reason
		return seen`)
	l.want("1aborted", `
		local n = 0
		local m = api.stream(nil, { messages = { { role = "user", content = "x" } } }, { on_delta = function() n = n + 1 return true end })
		return n .. m.stop_reason`)
	l.want("error: lab.lua:2: stream: on_delta: lab.lua:2: boom", `
		api.stream(nil, { messages = { { role = "user", content = "x" } } }, { on_delta = function() error("boom") end })`)
	l.want("true", `return api.set_model("p", "m")`)
	if !slices.Equal(l.program.did, []string{"select p/m"}) {
		t.Errorf("the program did %q", l.program.did)
	}
}

func TestMessagesAreMadeOncePerHandler(t *testing.T) {
	var m *messages
	l := newLab(t, func(l *lab) part {
		m = &messages{bridge: l.bridge}
		return part{"messages": func(L *lua.LState) *lua.LTable { return m.current(L, l.program) }, "drop": func() { m.drop() }}
	})
	l.program.seen = []session.Item{{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{{Type: message.BlockText, Text: "one"}}}}}
	l.want("true", `return rawequal(api.messages()[1], api.messages()[1])`)
	l.want("one", `api.messages()[1].content = "changed" return api.messages()[1].content[1].text`)
	l.want("false", `local first = api.messages()[1] api.drop() return rawequal(first, api.messages()[1])`)
}
