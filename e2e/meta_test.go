//go:build unix

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luavm"
	"pi/stdlib"
)

func TestTheAnnotationsAreLua(t *testing.T) {
	files, err := fs.Glob(stdlib.Annotations(), "*.lua")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(stdlib.Annotations(), file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := luavm.Compile(file, text); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryAnnotationSaysWhatItIsAndNamesTypesThatExist(t *testing.T) {
	a := readAnnotations(t)
	for _, c := range a.order {
		if c.doc == "" && !strings.HasPrefix(c.name, "pi.Bash") {
			t.Errorf("%s: class %s is not described", c.file, c.name)
		}
		if c.parent != "" && a.classes[c.parent] == nil {
			t.Errorf("%s extends %s, which is not there", c.name, c.parent)
		}
		for _, m := range c.members {
			where := c.name + "." + m.name
			a.checkType(t, where, m.typ)
			if m.fn == nil {
				continue
			}
			if m.doc == "" {
				t.Errorf("%s: %s is not described", c.file, where)
			}
			for _, v := range append(slices.Clone(m.fn.params), m.fn.returns...) {
				a.checkType(t, where, v.typ)
			}
			for _, typ := range m.fn.overloads {
				a.checkType(t, where, typ)
			}
		}
	}
	for name, alias := range a.aliases {
		if alias.doc == "" {
			t.Errorf("alias %s is not described", name)
		}
	}
}

var (
	quotedType    = regexp.MustCompile(`"[^"]*"`)
	parameterName = regexp.MustCompile(`[\w.]+\??: `)
	typeName      = regexp.MustCompile(`[A-Za-z_][\w.]*`)
)

// checkType wants every name in a type to be one.
func (a *annotations) checkType(t *testing.T, where, typ string) {
	t.Helper()
	if typ == "" {
		t.Errorf("%s has no type", where)
	}
	bare := quotedType.ReplaceAllString(typ, "")
	bare = strings.ReplaceAll(bare, "): ", ") ")
	bare = parameterName.ReplaceAllString(bare, "")
	for _, name := range typeName.FindAllString(bare, -1) {
		switch name {
		case "string", "number", "integer", "boolean", "table", "any", "nil", "fun", "function", "true", "false", "userdata":
			continue
		}
		if _, alias := a.aliases[name]; !alias && a.classes[name] == nil {
			t.Errorf("%s: there is no type %s", where, name)
		}
	}
}

// className is the name of an event in the names of classes: tool_call, ToolCall.
func className(event string) string {
	var b strings.Builder
	for _, word := range strings.Split(event, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return "pi." + b.String()
}

func TestTheAnnotationsHaveTheEventsOfTheProgram(t *testing.T) {
	var classes, overloads strings.Builder
	for _, e := range event.Infos() {
		name, returns := className(e.Name), ""
		fmt.Fprintf(&classes, "\n--- %s\n---@class %sEvent\n---@field type %q\n", e.About, name, e.Name)
		for _, f := range e.Fields {
			classes.WriteString(annotatedField(f, strings.HasSuffix(f.Type, "?")))
		}
		if len(e.Results) > 0 {
			returns = ": " + name + "Result?"
			fmt.Fprintf(&classes, "\n--- What a handler of `%s` may return.\n---@class %sResult\n", e.Name, name)
		}
		for _, f := range e.Results {
			classes.WriteString(annotatedField(f, true))
		}
		fmt.Fprintf(&overloads, "---@overload fun(event: %q, fn: fun(event: %sEvent, ctx: %s)%s): fun()\n", e.Name, name, cmp.Or(e.Context, "pi.Context"), returns)
	}
	generated(t, "stdlib/meta/events.lua", "nil, and an empty table, are no opinion.\n", "", classes.String())
	generated(t, "stdlib/meta/pi.lua", "any other that is not known raises.\n", "---@param event string\n", overloads.String())
}

// annotatedField is the line of a field of an event, or of a key that may be left out.
func annotatedField(f event.Field, optional bool) string {
	mark := ""
	if optional {
		mark = "?"
	}
	return strings.TrimRight(fmt.Sprintf("---@field %s%s %s %s", f.Name, mark, strings.TrimSuffix(f.Type, "?"), f.About), " ") + "\n"
}

// surveyor is a hook that says what it sees: the members of every table that
// hooks are given, with the Lua types of their values. Of a class that it sees
// several times all members count.
const surveyor = `
local seen = {}
local function look(name, t, live)
  seen[name] = seen[name] or {}
  for k, v in pairs(t) do
    if type(k) == "string" then seen[name][k] = type(v) end
  end
  for _, k in ipairs(live or {}) do seen[name][k] = type(t[k]) end
end
local function look_at_message(m)
  look("pi.Message", m)
  if type(m.content) == "table" then
    for _, block in ipairs(m.content) do look("pi.Block", block) end
  end
  if m.usage then
    look("pi.Usage", m.usage)
    look("pi.Cost", m.usage.cost)
  end
end
-- arity calls what refuses too many arguments before it does anything; the others
-- want something else than nil, but for those that are left out.
local runs = { new_session = true, rebuild_context = true, compact = true }
local function arity(name, t)
  local takes = {}
  for k, v in pairs(t) do
    if type(v) == "function" and not runs[k] then
      local _, message = pcall(v, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
      takes[k] = tostring(message):match("takes at most (%d+) arguments")
    end
  end
  seen["arity " .. name] = takes
end
local in_handler
pi.on("session_start", function(_, ctx) in_handler = ctx end)
pi.command("survey", { handler = function(ctx)
  look("pi", pi)
  look("pi.Hook", pi.hook)
  look("pi.Context", in_handler, LIVE)
  local members = { unpack(LIVE) }
  for name in pairs(in_handler) do members[#members + 1] = name end
  look("pi.CommandContext", ctx, members)
  look("pi.UI", ctx.ui)
  look("pi.Theme", ctx.ui.theme)
  look("pi.Session", ctx.session)
  look("pi.SessionHeader", ctx.session.header())
  look("pi.TreeNode", ctx.session.tree()[1])
  look("pi.SessionUsage", ctx.usage())
  look("pi.Model", ctx.model)
  look("pi.ExecResult", pi.exec("true"))
  local program = pi.spawn("sleep", { "600" })
  look("pi.Program", program)
  program.kill()
  look("pi.Exit", program.wait())
  for _, tool in ipairs(pi.tools()) do look("pi.ToolInfo", tool) end
  for _, command in ipairs(pi.commands()) do look("pi.CommandInfo", command) end
  for _, entry in ipairs(ctx.entries) do
    look("pi.Entry", entry)
    if entry.message then look_at_message(entry.message) end
  end
  for _, message in ipairs(ctx.messages) do look_at_message(message) end
  for _, module in ipairs(MODULES) do
    look(module, require(module))
    arity(module, require(module))
  end
  arity("pi", pi)
  arity("pi.UI", ctx.ui)
  arity("pi.Theme", ctx.ui.theme)
  arity("pi.Session", ctx.session)
  arity("pi.CommandContext", in_handler)
  local signal = ctx.signal
  local _ = signal.cancelled
  look("pi.Signal", signal)
  return { status = require("pi.json").encode(seen) }
end })
`

// everyKind is a session with an entry of every type, and a message of every
// role.
const everyKind = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-31T12:00:00.000Z","cwd":"/","parentSession":"/x.jsonl"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-31T12:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"timestamp":1}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-31T12:00:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"t","redacted":true},{"type":"text","text":"yes","textSignature":"s"},{"type":"toolCall","id":"c1","name":"ls","arguments":{},"thoughtSignature":"u"}],"api":"lua","provider":"demo","model":"tour","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","errorMessage":"none","timestamp":2}}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-01-31T12:00:00.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a.txt"}],"details":{"n":1},"isError":false,"timestamp":3}}
{"type":"message","id":"a4","parentId":"a3","timestamp":"2026-01-31T12:00:00.000Z","message":{"role":"bashExecution","command":"ls","output":"a.txt","exitCode":0,"cancelled":false,"truncated":true,"fullOutputPath":"/y","excludeFromContext":true,"timestamp":4}}
{"type":"thinking_level_change","id":"a5","parentId":"a4","timestamp":"2026-01-31T12:00:00.000Z","thinkingLevel":"off"}
{"type":"model_change","id":"a6","parentId":"a5","timestamp":"2026-01-31T12:00:00.000Z","provider":"demo","modelId":"tour"}
{"type":"compaction","id":"a7","parentId":"a6","timestamp":"2026-01-31T12:00:00.000Z","summary":"so far","firstKeptEntryId":"a3","tokensBefore":10,"details":{},"fromHook":true}
{"type":"branch_summary","id":"a8","parentId":"a7","timestamp":"2026-01-31T12:00:00.000Z","fromId":"a2","summary":"elsewhere","details":{},"fromHook":true}
{"type":"context_edit","id":"a9","parentId":"a8","timestamp":"2026-01-31T12:00:00.000Z","targetId":"a1","replacement":{"content":"less"}}
{"type":"usage","id":"b1","parentId":"a9","timestamp":"2026-01-31T12:00:00.000Z","kind":"hook","provider":"demo","model":"tour","note":"x","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}
{"type":"custom","id":"b2","parentId":"b1","timestamp":"2026-01-31T12:00:00.000Z","customType":"mine","data":{"a":1}}
{"type":"custom_message","id":"b3","parentId":"b2","timestamp":"2026-01-31T12:00:00.000Z","customType":"mine","content":"hello","display":true,"details":{}}
{"type":"label","id":"b4","parentId":"b3","timestamp":"2026-01-31T12:00:00.000Z","targetId":"a1","label":"start"}
{"type":"session_info","id":"b5","parentId":"b4","timestamp":"2026-01-31T12:00:00.000Z","name":"all"}
`

// luaList is a list of strings as Lua writes it.
func luaList(words []string) string {
	quoted := []string{}
	for _, w := range words {
		quoted = append(quoted, `"`+w+`"`)
	}
	return "{ " + strings.Join(quoted, ", ") + " }"
}

// survey is what the hook says, by class.
func survey(t *testing.T) map[string]map[string]string {
	t.Helper()
	w := newWorld(t)
	code := "local LIVE, MODULES = " + luaList(api.ContextMembers()) + ", " + luaList(slices.DeleteFunc(ownModules(), func(name string) bool { return name == "pi.test" })) + "\n" + surveyor
	w.write(w.agentFile("hooks/survey.lua"), code)
	file := filepath.Join(w.home, "s.jsonl")
	w.write(file, everyKind)
	answer, notices := w.piTells("--session", file, "-p", "/survey")
	seen := map[string]map[string]string{}
	if err := json.Unmarshal([]byte(answer), &seen); err != nil {
		t.Fatalf("%v\n%s\n%s", err, answer, notices)
	}
	return seen
}

func TestTheAnnotationsHaveEverythingThatAHookSees(t *testing.T) {
	t.Parallel()
	a := readAnnotations(t)
	for name, members := range survey(t) {
		if name, ok := strings.CutPrefix(name, "arity "); ok {
			a.sameArity(t, name, members)
			continue
		}
		class := a.classes[name]
		if class == nil {
			t.Errorf("%s is not annotated", name)
			continue
		}
		left := map[string]*annotatedMember{}
		for _, m := range a.all(class) {
			left[m.name] = m
		}
		if name == "pi.Context" { // what only commands may do raises elsewhere, and editors do not offer it
			for _, only := range []string{"pi.CommandContext", "pi.SettledContext"} {
				for _, m := range a.classes[only].members {
					delete(members, m.name)
				}
			}
		}
		for member, typ := range members {
			m := left[member]
			delete(left, member)
			if m == nil {
				t.Errorf("%s.%s (a %s) is not annotated", name, member, typ)
			} else if !m.mayBe(a, typ) {
				t.Errorf("%s.%s is a %s, annotated as %s", name, member, typ, m.as())
			}
		}
		for member, m := range left {
			if !m.optional {
				t.Errorf("%s.%s is only in the annotations", name, member)
			}
		}
	}
}

// sameArity wants functions to take as many arguments as they have parameters.
func (a *annotations) sameArity(t *testing.T, name string, takes map[string]string) {
	t.Helper()
	if len(takes) == 0 && name != "pi.llm" {
		t.Errorf("no function of %s says how many arguments it takes", name)
	}
	for _, m := range a.all(a.classes[name]) {
		if n, known := takes[m.name]; known && m.fn != nil && n != strconv.Itoa(len(m.fn.params)) {
			t.Errorf("%s.%s takes %s arguments, annotated with %d", name, m.name, n, len(m.fn.params))
		}
	}
}

func TestTheAnnotationsListTheColoursAndLevelsThatThereAre(t *testing.T) {
	a := readAnnotations(t)
	var colors []string
	for _, v := range a.aliases["pi.Color"].values {
		colors = append(colors, v.name)
	}
	if want := agent.ThemeColors(); !slices.Equal(colors, want) {
		t.Errorf("colours are %q, want %q", colors, want)
	}
	levels := strings.ReplaceAll(a.aliases["pi.ThinkingLevel"].typ, `"`, "")
	if want := strings.Join(llm.ThinkingLevels(), "|"); levels != want {
		t.Errorf("thinking levels are %s, want %s", levels, want)
	}
}

func TestEveryModuleIsAnnotated(t *testing.T) {
	a := readAnnotations(t)
	known := append(stdlib.Names(), "pi.test")
	for _, name := range known {
		if c := a.modules[name]; c == nil || c.name != name {
			t.Errorf("nothing is required as %s", name)
		}
	}
	for name := range a.modules {
		if !slices.Contains(known, name) {
			t.Errorf("%s is annotated and no module", name)
		}
	}
}

// ownModules lists the modules with an API of the program's own. Those that have the API of
// another program are described in a document of their own.
func ownModules() []string {
	return slices.DeleteFunc(append(stdlib.Names(), "pi.test"), func(name string) bool { return strings.HasPrefix(name, "pi.compat.") })
}

// mayBe reports whether a value of a Lua type can be what is annotated.
func (m *annotatedMember) mayBe(a *annotations, typ string) bool {
	if m.fn != nil {
		return typ == "function"
	}
	if typ == "nil" {
		return m.optional
	}
	return slices.ContainsFunc(unionOf(m.typ), func(one string) bool { return a.isA(one, typ) })
}

// isA reports whether a value of a Lua type can be of an annotated one.
func (a *annotations) isA(annotated, typ string) bool {
	switch {
	case annotated == "any":
		return true
	case a.aliases[annotated] != nil, strings.HasPrefix(annotated, `"`):
		return typ == "string"
	case strings.HasPrefix(annotated, "fun("):
		return typ == "function"
	case strings.HasSuffix(annotated, "[]"), strings.HasPrefix(annotated, "table"):
		return typ == "table"
	case a.classes[annotated] != nil:
		return typ == "table" || typ == "userdata"
	case annotated == "integer":
		return typ == "number"
	}
	return annotated == typ
}

// unionOf takes a type apart at its bars.
func unionOf(typ string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range typ {
		switch {
		case strings.ContainsRune("([{<", c):
			depth++
		case strings.ContainsRune(")]}>", c):
			depth--
		case c == '|' && depth == 0 && !strings.HasPrefix(typ[from:], "fun("):
			parts = append(parts, typ[from:i])
			from = i + 1
		}
	}
	return append(parts, typ[from:])
}

func TestWhatTheDocumentsNameIsThere(t *testing.T) {
	a := readAnnotations(t)
	ctx := slices.Concat(a.names(a.classes["pi.Context"]), a.names(a.classes["pi.SettledContext"]), a.names(a.classes["pi.CommandContext"]))
	known := map[string][]string{
		"pi": a.names(a.classes["pi"]), "ctx": ctx, "ctx.ui": a.names(a.classes["pi.UI"]), "ctx.session": a.names(a.classes["pi.Session"]),
	}
	typesOfEntries := []string{"pi.abort", "pi.leaf", "pi.date", "pi.branch"}
	called := regexp.MustCompile(`\b(ctx\.ui|ctx\.session|ctx|pi)\.(\w+)`)
	seen := 0
	for _, path := range []string{"README.md", "docs/using.md", "docs/examples.md", "docs/hooks.md", "docs/reference.md", "config.example.toml"} {
		byHand, _, _ := strings.Cut(mustRead(t, inModule(path)), referenceBegin)
		for _, m := range called.FindAllStringSubmatch(byHand, -1) {
			seen++
			_, class := a.classes[m[0]] // pi.Emitted, or a module
			if !class && !slices.Contains(typesOfEntries, m[0]) && !slices.Contains(known[m[1]], m[2]) && !isAwaited(t, m[0]) {
				t.Errorf("%s: there is no %s", path, m[0])
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d names are looked at", seen)
	}
}
