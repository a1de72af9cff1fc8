package luahooks

import (
	"context"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func TestChainsThatShareCodeCompileAFileOnce(t *testing.T) {
	r := newRig(t, map[string]string{
		"lib/count.lua": `local n = 0
			return function() n = n + 1 return { text = n .. " asked" } end`,
		"a.lua": `pi.on("input", require "count")
			pi.on("tool_result", function() end)`,
	}, func(o *Options) { o.Compiled = new(Compiled) })
	second := New(r.chain.opts)
	second.Load(context.Background())
	t.Cleanup(func() { second.Close(context.Background()) })
	alone := r.chain.opts
	alone.Compiled = nil
	third := New(alone)
	third.Load(context.Background())
	t.Cleanup(func() { third.Close(context.Background()) })

	handler := func(c *Chain, event string) *lua.LFunction {
		return c.roster.list()[0].current().handlers(event)[0].Fn
	}
	for _, event := range []string{"input", "tool_result"} { // a function of the module, and one of the file
		first := handler(r.chain, event)
		if handler(second, event).Proto != first.Proto {
			t.Errorf("the function for %s was compiled twice", event)
		}
		if handler(second, event) == first || handler(third, event).Proto == first.Proto {
			t.Errorf("chains share more of %s than they should", event)
		}
	}
	// What is shared has no state: each chain counts its own calls.
	other := &rig{t: t, dir: r.dir, cwd: r.cwd, chain: second}
	if got := r.input("") + ", " + r.input("") + ", " + other.input(""); got != "1 asked, 2 asked, 1 asked" {
		t.Error(got)
	}
	// A changed file is another one.
	r.write("lib/count.lua", `return function() return { text = "changed" } end`)
	second.Reload(context.Background(), false)
	if got := other.input(""); got != "changed" {
		t.Errorf("after a change: %q", got)
	}
}
