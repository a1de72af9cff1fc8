package luavm

import "testing"

func TestLoopOverAComputedReceiverRuns(t *testing.T) {
	for _, loop := range []string{
		`for l in (t:upper() .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in (id(t) .. id("\n")):gmatch("(.-)\n") do add(l) end`,
		`for l in (t .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in ("" .. id(t) .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in id(t .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in t:lower():upper():gmatch("[^\n]+") do add(l) end`,
		`for l in (id(t)):gmatch("[^\n]+") do add(l) end`,
		`for i = 1, 1 do local f = function() for l in (t:upper() .. "\n"):gmatch("(.-)\n") do add(l) end end f() end`,
		`for _, l in ipairs({id("a"), id("b")}) do add(l) end`,
	} {
		src := `local out = {}
local function add(l) out[#out + 1] = l:lower() end
local function id(s) return s end
local function run(t) ` + loop + ` end
run("a\nb")
return table.concat(out, ",")`
		if got, err := returned("loop", src); err != nil || got != "a,b" {
			t.Errorf("%s\n got %q, %v", loop, got, err)
		}
	}
}
