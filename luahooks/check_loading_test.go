package luahooks

import (
	"fmt"
	"strings"
	"testing"

	"pi/luahooks/text"
	"pi/luavm"
	"pi/stdlib"
	"pi/stdlib/annotated"

	lua "github.com/yuin/gopher-lua"
)

// The check knows which functions work while a file loads, and which functions Lua has here: it
// says of each what the program does.
func TestTheCheckKnowsWhatWorksWhileAFileLoads(t *testing.T) {
	t.Parallel()
	set, err := annotated.Read(stdlib.Annotations())
	mustDo(t, err)
	c, err := text.NewChecker()
	mustDo(t, err)
	const refused = "not available while the hook loads"
	try := func(code string) {
		report, err := c.File("a.lua", []byte(code), func(string) (string, []byte, bool) { return "", nil, false })
		mustDo(t, err)
		says := false
		for _, p := range report.Problems {
			says = says || strings.Contains(p.What, refused)
		}
		r := newRig(t, map[string]string{"a.lua": code})
		if is := r.said(refused); is != says {
			t.Errorf("%s: refused is %v, and the check says %v; %q", code, is, says, r.host.notices())
		}
	}
	arguments := map[string]string{ // of those that look at them first
		"set_active_tools": `{}`, "send_message": `{ custom_type = "a_note", content = "x" }`, "send_user_message": `"x"`, "send": `"x"`,
		"set_session_name": `"x"`, "set_label": `"x"`, "emit": `"a:b"`,
	}
	for _, m := range set.All(set.Class("pi")) {
		if m.Type.Kind == annotated.Function {
			try(fmt.Sprintf("pi.%s(%s)", m.Name, arguments[m.Name]))
		}
	}
	for _, name := range stdlib.Names() {
		class := set.Module(name)
		if class == nil || strings.HasPrefix(name, "pi.compat") {
			continue
		}
		for _, m := range set.All(class) {
			if m.Type.Kind == annotated.Function {
				try(fmt.Sprintf("require(%q).%s()", name, m.Name))
			}
		}
	}
}

func TestTheCheckKnowsTheFunctionsOfLua(t *testing.T) {
	t.Parallel()
	c, err := text.NewChecker()
	mustDo(t, err)
	vm := luavm.New(luavm.Options{})
	defer vm.Close()
	wrong := func(code string) bool {
		report, err := c.File("a.lua", []byte(code), func(string) (string, []byte, bool) { return "", nil, false })
		mustDo(t, err)
		return len(report.Problems) > 0
	}
	vm.State().G.Global.ForEach(func(k, v lua.LValue) {
		library, ok := v.(*lua.LTable)
		if name := k.String(); name == "_G" || !ok {
			if wrong("local a = " + name) {
				t.Errorf("%s is called undefined", name)
			}
			return
		}
		library.ForEach(func(name, v lua.LValue) {
			if v.Type() == lua.LTFunction && wrong(fmt.Sprintf("%s.%s(1)", k, name)) {
				t.Errorf("%s.%s is called no function", k, name)
			}
		})
	})
	for _, code := range []string{"os.execute('x')", "table.unpack({})", "string.trim('x')", "dofile('x')", "local a = io", "math.pow2(1)"} {
		if !wrong(code) {
			t.Errorf("%s is said to work", code)
		}
	}
}
