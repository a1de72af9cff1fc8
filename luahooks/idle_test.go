package luahooks

import "testing"

// A hook of which nothing is ever called is told, with what to do; one that another requires is a
// module, and an empty one is one that is being written.
func TestAHookThatRegistersNothingIsTold(t *testing.T) {
	t.Parallel()
	const table = "registers nothing: the table that the file returns is ignored; return a function: return function(pi) … end"
	r := newRig(t, map[string]string{
		"setup.lua": `return { name = "x", setup = function(pi) end }`, "empty.lua": "", "later.lua": "-- later",
		"rules.lua": `return { gate = function() end }`, "uses.lua": `local rules = require "rules" pi.on("tool_call", rules.gate) return rules`,
		"main.lua": `return function(pi) pi.on("input", function() end) end`,
	})
	r.mustSay("hook setup " + table)
	if got := len(r.host.notices()); got != 1 {
		t.Errorf("%d notices, want 1: %q", got, r.host.notices())
	}
	r.write("main.lua", `return { activate = function(pi) end }`)
	r.chain.Reload(t.Context(), true)
	r.mustSay("hook main " + table)
}
