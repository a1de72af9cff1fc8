package luahooks

import (
	"strings"
	"testing"

	"pi/agent"
)

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
