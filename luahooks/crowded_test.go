package luahooks

import (
	"fmt"
	"testing"
)

func TestAProjectThatBecomesTooLargeKeepsTheGatesThatRun(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/gate.lua", `pi.on("tool_call", function() return { block = true, reason = "no" } end)`)
	r := g.start(always)
	if !r.bash("x").Block {
		t.Fatal("the gate is open before")
	}
	for i := range 1000 {
		g.write(fmt.Sprintf("project/.pi/hooks/lib/m%d.lua", i), "")
	}
	r.reload()
	if !r.bash("x").Block {
		t.Error("the gate is open")
	}
	r.mustSay("at most 1000 are judged", "the hooks stay as they are")
	if files := r.chain.guard.ProjectFiles(r.chain.opts.Places); len(files) > 0 {
		t.Errorf("%d files can be approved", len(files))
	}
}
