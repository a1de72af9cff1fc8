package luahooks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent"
)

func TestAToolMayWaitUntilAHookMakesItActive(t *testing.T) {
	r := newRig(t, map[string]string{"t.lua": `
		pi.tool{ name = "own", description = "D", active = false, execute = function() end }
		pi.tool{ name = "bash", description = "mine", active = false, execute = function() end }`},
		func(o *Options) { o.Tools = []agent.Tool{namedTool("read"), namedTool("bash")} })
	if got := r.active(); got != "read" {
		t.Errorf("at first: %s", got)
	}
	if r.lua(`pi.set_active_tools({ "own" })`); r.active() != "own" {
		t.Errorf("chosen: %s", r.active())
	}
	r.bodies([][2]string{
		{`pi.tool{ name = "x", description = "D", active = 1, execute = function() end }`, `option "active" must be a boolean, not a number`},
	})
}

func TestAHookTakesAToolOfItsOwnAway(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.tool{ name = "others", description = "D", execute = function() end }`,
		"b.lua": `
			pi.tool{ name = "bash", description = "mine", execute = function() end }
			pi.tool{ name = "own", description = "D", execute = function() end }
			pi.tool{ name = "early", description = "D", execute = function() end }
			assert(pi.remove_tool("early"))
			pi.on("input", function(e)
				local ok, err = pi.remove_tool(e.text)
				return { text = tostring(ok) .. " " .. tostring(err) }
			end)`,
	}, func(o *Options) { o.Tools = []agent.Tool{namedTool("read"), namedTool("bash")} })
	for _, c := range [][3]string{
		{"bash", "true nil", "read bash others own"},
		{"own", "true nil", "read bash others"},
		{"own", `nil this hook has no tool "own"`, "read bash others"},
		{"others", `nil this hook has no tool "others"`, "read bash others"},
		{"read", `nil this hook has no tool "read"`, "read bash others"},
	} {
		if got := r.input(c[0]); got != c[1] || r.active() != c[2] {
			t.Errorf("%s: %s; active are %s", c[0], got, r.active())
		}
	}
	for _, tool := range r.host.Tools() {
		if tool.Spec().Description == "mine" {
			t.Error("bash is still the hook's")
		}
	}
}

func TestACompletionGetsCtx(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.command("go", { complete = function(prefix, ctx) return { prefix .. ctx.mode } end, handler = function() end })
		pi.completion("/skill:", { complete = function(word, ctx) return { { value = "/skill:" .. word .. "x", description = ctx.mode } } end })`})
	if got := r.command("go").Complete("a "); !slices.Equal(got, []string{"a interactive"}) {
		t.Errorf("offered %q", got)
	}
	one := r.chain.Completions()
	if len(one) != 1 || one[0].Prefix != "/skill:" {
		t.Fatalf("registered %v", one)
	}
	if got, err := one[0].Complete(t.Context(), "a"); err != nil || len(got) != 1 || got[0].Value != "/skill:ax" || got[0].Description != "interactive" {
		t.Errorf("offered %v, %v", got, err)
	}
	for prefix, want := range map[string]string{"/": "but for names such as /skill:", "/a": "but for names such as /skill:", "/:": "but for names such as /skill:", "!x": "is completed by the program"} {
		if got := r.lua(`pi.completion("` + prefix + `", { complete = function() end })`); !strings.Contains(got, want) {
			t.Errorf("%s: %s", prefix, got)
		}
	}
}

func TestAHookBringsFoldersAtAnyTime(t *testing.T) {
	r := newRig(t, map[string]string{
		"x/init.lua": `
			pi.on("input", function(e)
				local ok, err = pi.resources{ prompts = e.text }
				return { text = tostring(ok) .. " " .. tostring(err) }
			end)`,
		"x/one/a.md": "A", "x/two/b.md": "B",
	})
	folders := func() string {
		found, _ := r.chain.Resources()
		var names []string
		for _, f := range found {
			names = append(names, filepath.Base(f.Prompts))
		}
		return strings.Join(names, " ")
	}
	for i, c := range [][3]string{{"one", "true nil", "one"}, {"two", "true nil", "two"}, {"three", "nil prompts: ", "two"}} {
		if got := r.input(c[0]); !strings.HasPrefix(got, c[1]) || folders() != c[2] {
			t.Errorf("%d: %s; there are %s", i, got, folders())
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(r.dir, "x", "out")); err != nil {
		t.Skip(err)
	}
	if got := r.input("out"); !strings.HasSuffix(got, "out leads out of the folder of the hook") {
		t.Errorf("a link that leads out: %s", got)
	}
	for _, outside := range []string{"..", "/etc"} {
		if r.input(outside); !r.said(`must be the name of a folder beside the hook, not "` + outside + `"`) {
			t.Errorf("%s: %q", outside, r.host.notices())
		}
	}
}

func TestABackgroundByItsPartsAndNothingWhileItWorks(t *testing.T) {
	r := newRig(t, nil)
	r.bodies([][2]string{
		{`return { text = ctx.ui.theme.on_rgb(1, 2, 3, "x") }`, "x"},
		{`ctx.ui.theme.on_rgb(0, 0, 256, "x")`, "numbers from 0 to 255, not 256"},
		{`ctx.ui.set_working_message(true)`, "string, false or nil expected, got boolean"},
	})
}
