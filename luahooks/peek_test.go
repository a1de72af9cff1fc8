package luahooks

import (
	"testing"
)

func TestAnEventThatWasPeekedAtIsStillAWholeTable(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(e)
		local name = e.tool_name
		local n = 0
		for _ in pairs(e) do n = n + 1 end
		e.extra = 1
		print(name, e.type, n, e.input.command, e.extra, rawget(e, "tool_call_id"), tostring(rawget(e, "nothing")), tostring(pcall(function() return e.nothing end)))
	end)`})
	r.bash("ls")
	r.mustSay("bash", "tool_call", "5", "ls", "1", "nil", "false")
}
