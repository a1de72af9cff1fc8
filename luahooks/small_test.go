package luahooks

import (
	"strings"
	"testing"
)

func TestTheSummaryCounts(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"0 hooks":          {},
		"1 hook":           {"a.lua": ""},
		"2 hooks":          {"a.lua": "", "b.lua": ""},
		"1 hook, 1 failed": {"a.lua": "", "b.lua": "error()"},
	} {
		if got := newRig(t, files).chain.Summary(); got != want {
			t.Errorf("summary of %v is %q, want %q", files, got, want)
		}
	}
}

func TestWhatAToolMayReturn(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.tool{ name = "nothing", description = "d", execute = function() end }
		pi.tool{ name = "number", description = "d", execute = function() return 5 end }`})
	if res, err := r.host.tool(t, "nothing").Run(t.Context(), []byte(`{}`), nil); err != nil || len(res.Content) != 0 {
		t.Errorf("nil gives %+v, %v", res, err)
	}
	if _, err := r.host.tool(t, "number").Run(t.Context(), []byte(`{}`), nil); err == nil || !strings.Contains(err.Error(), "a.lua:3: a tool returns a string or a table, not a number") {
		t.Errorf("a number gives %v", err)
	}
}

func TestAnEventIsPrintedWhole(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(event) print(event) end)`})
	r.bash("ls")
	if said := strings.Join(r.host.notices(), "\n"); !strings.Contains(said, `"tool_name":"bash"`) || !strings.Contains(said, `"input":{"command":"ls"}`) {
		t.Errorf("said %s", said)
	}
}
