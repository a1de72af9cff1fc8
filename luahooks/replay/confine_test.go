package replay

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"pi/luahooks"
	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// withEffect are the functions that do nothing in a replay, by table. A new function is
// written here, or into harmless.
func withEffect() map[string]string {
	return map[string]string{
		"pi": "call_tool set_active_tools send_message send_user_message send append_entry exec provider remove_provider set_session_name set_label " +
			"spawn spawned defer_exit continuations sessions answer",
		"ctx": "set_mode resolve_api_key exec save_entry edit_context rebuild_context abort shutdown compact set_model set_thinking_level " +
			"prompt wait_for_idle new_session switch_session branch navigate_tree reload",
		"ctx.ui":   "run copy notify_desktop",
		"pi.fs":    "write mkdir remove watch temp chmod copy rename locked",
		"pi.http":  "request get post listen stream events",
		"pi.timer": "sleep after every",
		"pi.git":   "root branch status diff env remotes",
		"pi.llm":   "complete stream",
		"pi.mcp":   "servers connect add",
		"pi.agent": "run start",
	}
}

func TestWhatEveryFunctionOfAHookDoesInAReplayIsDecided(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, name := range stdlib.Names() {
		code.WriteString("require \"" + name + "\"\n")
	}
	r := newRig(t, code.String())
	var mu sync.Mutex
	found := map[string][]string{}
	chain, err := r.chain.Rehearse(t.Context(), luahooks.Rehearsal{Hook: "a", Cwd: r.dir, Confine: func(_ *luavm.VM, _ *lua.LState, name string, table *lua.LTable) {
		mu.Lock()
		defer mu.Unlock()
		for _, key := range luavm.Keys(table) {
			if table.RawGetString(key).Type() == lua.LTFunction {
				found[name] = append(found[name], key)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	chain.Close(t.Context())
	for _, table := range []string{"pi", "ctx", "ctx.ui", "pi.fs", "pi.json"} {
		if len(found[table]) == 0 {
			t.Errorf("%s does not pass confine", table)
		}
	}
	for table, names := range found {
		sort.Strings(names)
		fine, not := harmless()[table], strings.Fields(withEffect()[table])
		for _, name := range names {
			if all := slices.Contains(fine, "*"); !all && slices.Contains(fine, name) == slices.Contains(not, name) {
				t.Errorf("%s.%s: decide whether it works in a replay: name it in harmless (confine.go), or here", table, name)
			}
		}
	}
	for name := range answers() {
		table, function := name[:strings.LastIndexByte(name, '.')], name[strings.LastIndexByte(name, '.')+1:]
		if !slices.Contains(strings.Fields(withEffect()[table]), function) {
			t.Errorf("%s has an answer, but is not replaced", name)
		}
	}
}
