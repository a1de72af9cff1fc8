package luahooks

import (
	"context"
	"testing"

	"pi/luahooks/api"
)

func TestFunctionsRunBesideEachOther(t *testing.T) {
	const counted = `local running, most = 0, 0
		local function work(v) return function()
			running = running + 1 most = math.max(most, running)
			require("pi.timer").sleep(20)
			running = running - 1
			return v, "more"
		end end `
	for name, c := range map[string]struct{ code, want string }{
		"values":      {counted + `local a, b, c, more = pi.all{ work(1), work(nil), work("c") } return { text = tostring(a) .. tostring(b) .. c .. tostring(more) .. most }`, "1nilcnil3"},
		"the limit":   {counted + `pi.all({ work(), work(), work(), work() }, { limit = 2 }) return { text = tostring(most) }`, "2"},
		"the usual":   {counted + `local l = {} for i = 1, 9 do l[i] = work(i) end local r = { pi.all(l) } return { text = #r .. r[9] .. most }`, "994"},
		"none":        {`return { text = tostring(select("#", pi.all{})) }`, "0"},
		"an error":    {`local ok, why = pcall(pi.all, { function() require("pi.timer").sleep(60000) end, function() error({ code = 7 }) end }) return { text = tostring(why.code) }`, "7"},
		"the first":   {`local later = false local ok, why = pcall(pi.all, { function() error("one", 0) end, function() later = true end }, { limit = 1 }) return { text = why .. tostring(later) }`, "onefalse"},
		"programs":    {`local a, b = pi.all{ function() return pi.exec("echo", { "a" }).stdout end, function() return pi.exec("echo", { "b" }).stdout end } return { text = a .. b }`, "a\nb\n"},
		"all in all":  {`return { text = pi.all{ function() return (pi.all{ function() return "in" end }) end } }`, "in"},
		"no function": {`local ok, why = pcall(pi.all, { print, 2 }) return { text = why:match("list of functions expected.*") }`, "list of functions expected, [2] is a number)"},
		"too many":    {`local l = {} for i = 1, 101 do l[i] = print end local ok, why = pcall(pi.all, l) return { text = why:match("at most.*") }`, "at most 100 functions, these are 101)"},
		"no limit":    {`local ok, why = pcall(pi.all, {}, { limit = 0 }) return { text = why:match("option.*") }`, `option "limit" must be at least 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			if got := r.lua(c.code); got != c.want {
				t.Errorf("%q, want %q; notices %q", got, c.want, r.host.notices())
			}
		})
	}
}

func TestNothingRunsBesideWhileAHookLoads(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.all{ function() end }`})
	r.mustSay("a.lua:1: all: not available while the hook loads")
}

func TestHooksKnowWhereThingsAre(t *testing.T) {
	root := "/s"
	r := newRig(t, map[string]string{"a.lua": `local at_load = pi.paths.project .. pi.paths.agent .. pi.paths.program .. tostring(pi.paths.sessions)
		pi.on("input", function() return { text = at_load .. tostring(pcall(function() pi.paths.agent = "x" end)) } end)`},
		func(o *Options) { o.Paths = api.Paths{Agent: "/a", Project: "/p", Program: "/pi", Sessions: &root} })
	if got := r.input("x"); got != "/p/a/pi/sfalse" {
		t.Errorf("%q", got)
	}
	r.chain.Close(context.Background())
	r = newRig(t, map[string]string{"a.lua": `pi.on("input", function() return { text = tostring(pi.paths.sessions) } end)`})
	if got := r.input("x"); got != "nil" {
		t.Errorf("without a folder: %q", got)
	}
}
