package luahooks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func TestWhatHoldsItselfOrIsFarTooLargeIsAnErrorOfTheHandler(t *testing.T) {
	for name, c := range map[string]struct{ result, want string }{
		"a message that is its own": {`local m = { role = "user" } m.message = m m.content = "x" return { messages = { m } }`, ""},
		"a wrapper of itself":       {`local m = {} m.message = m return { messages = { m } }`, "messages[1]: message: role is missing"},
		"deep wrappers":             {`local m = { role = "user", content = "x" } for i = 1, 1e5 do m = { message = m } end return { messages = { m } }`, "message: role is missing"},
		"a wrapped message":         {`return { messages = { { message = { role = "user", content = "x" } } } }`, ""},
		"a cycle in the content":    {`local b = { type = "new" } b.b = b return { messages = { { role = "user", content = { b } } } }`, "the table contains itself"},
		"deep details": {`local d = {} for i = 1, 1e5 do d = { d } end
			return { messages = { { role = "custom", custom_type = "x", content = "x", details = d } } }`, "nested more than 256 deep"},
		"the same list a million times": {`local m = { role = "user", content = "x" } local l = {} for i = 1, 1e6 do l[i] = m end return { messages = l }`, "more than 100000"},
		"the same text many times": {`local m = { role = "user", content = ("x"):rep(2^20) } local l = {} for i = 1, 100 do l[i] = m end return { messages = l }`,
			"messages[65]: it is larger than 64 MiB"},
		"the same block many times": {`local b = { type = "text", text = ("x"):rep(2^20) } local l = {} for i = 1, 100 do l[i] = b end
			return { messages = { { role = "user", content = l } } }`, "content[65]: it is larger than 64 MiB"},
		"the same data in many tables": {`local d = { ("x"):rep(2^10) } for i = 1, 60 do d = { d, d } end return { messages = { { role = "custom", custom_type = "x", content = "x", details = d } } }`,
			"larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": `pi.on("context", function(e) ` + c.result + ` end)`}, func(o *Options) { o.Timeout = 30 * time.Second })
			e := &agent.Context{}
			r.emit(e)
			if c.want == "" {
				if r.mustBeQuiet(); len(e.Items) != 1 || e.Items[0].Message.Text() != "x" {
					t.Errorf("items %+v", e.Items)
				}
			} else if r.mustSay(c.want); len(e.Items) != 0 {
				t.Errorf("items %+v", e.Items)
			}
		})
	}
}

func TestJSONThatNeverEndsStopsWithItsHandler(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `local json = require "pi.json"
		pi.on("input", function() local d = {} for i = 1, 100 do d = { [""] = d, a = d } end while true do pcall(json.encode, d) end end)`}, soon)
	r.input("")
	r.mustSay("hook a: input:", "ran longer than 100ms")
	if r.said("fresh copy") {
		t.Error("it did not stop")
	}
}

// graph makes a value of a script: tables that may hold each other and themselves,
// with the keys that the readers of results know.
func graph(L *lua.LState, script []byte) lua.LValue {
	words := []string{"message", "messages", "content", "role", "type", "text", "details", "user", "entries", "custom", "custom_type", "input",
		"attachments", "usage", "entry_index", "arguments", "toolCall", "id", "name", "summary", "compaction", "sections", "headers", "replacement",
		"context_edit", "target_id", "result", "output", "payload", "prompt", "status", "abort", "inject", "wrap", "trusted", "system_prompt", "block", "reason"}
	tables := []*lua.LTable{L.NewTable()}
	value := func(b byte) lua.LValue {
		switch n := int(b); {
		case n < 64:
			return tables[n%len(tables)]
		case n < 80:
			t := L.NewTable()
			tables = append(tables, t)
			return t
		case n < 200:
			return lua.LString(words[n%len(words)])
		case n < 220:
			return lua.LNumber(n - 208)
		case n < 230:
			return lua.LBool(n%2 == 0)
		case n < 235:
			return lua.LNumber(1e300)
		default:
			return lua.LString(strings.Repeat("x", n))
		}
	}
	script = script[:min(len(script), 60)] // longer ones make of themselves more JSON than a fuzzer waits for
	for ; len(script) >= 3; script = script[3:] {
		t, v := tables[int(script[0])%len(tables)], value(script[2])
		if script[1] < 64 {
			t.Append(v)
		} else {
			t.RawSetString(words[int(script[1])%len(words)], v)
		}
	}
	return tables[0]
}

// FuzzWhatLuaHandsIn gives tables of any shape to everything that reads one. An
// error is right; a panic is not, and nothing survives an exhausted stack.
func FuzzWhatLuaHandsIn(f *testing.F) {
	f.Add([]byte{0, 64, 0})
	f.Add([]byte{0, 65, 70, 1, 1, 70, 2, 64, 2, 2, 67, 150})
	f.Add([]byte{0, 66, 70, 1, 0, 1, 1, 68, 0})
	f.Add([]byte{0, 72, 70, 1, 1, 70, 2, 68, 89, 2, 70, 2})
	f.Add([]byte("0000Z\xe6")) // an index far from every list
	r := newRig(f, map[string]string{"a.lua": ""})
	in := r.chain.roster.list()[0].current()
	f.Fuzz(func(t *testing.T, script []byte) {
		read := func(name string, do func(L *lua.LState, v lua.LValue) error) {
			err := in.vm.Run(context.Background(), luavm.Job{Name: name, Timeout: 20 * time.Second, Run: func(L *lua.LState) error {
				return do(L, graph(L, script))
			}})
			var e *luavm.Error
			if errors.As(err, &e) && e.Kind != luavm.Raised {
				t.Errorf("%s: %s: %v\n%s", name, e.Kind, err, e.Traceback)
			}
		}
		for _, e := range samples(t) {
			spec := r.chain.roster.events[e.Kind()]
			if !spec.Asking {
				continue
			}
			read(spec.Name, func(L *lua.LState, v lua.LValue) error {
				_, _, err := spec.Merge(in.events, L, e, e, v.(*lua.LTable))
				return err
			})
		}
	})
}
