//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/stdlib/compat"
)

// portedTable is the table of the events of a module, and of those that it does not have.
func portedTable(about compat.About) string {
	var b strings.Builder
	b.WriteString("| event | here | fields | returns | rule |\n|---|---|---|---|---|\n")
	for _, e := range about.Events {
		ours := "the same"
		if e.Ours != e.Name {
			ours = "`" + e.Ours + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Name, ours, strings.Join(e.Fields, ", "), strings.Join(e.Results, ", "), inCell(e.Rule))
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(about.NoEvents)) {
		fmt.Fprintf(&b, "- `%s`: %s\n", name, about.NoEvents[name])
	}
	return b.String()
}

func TestThePageOfTheModulesHasTheEventsOfEach(t *testing.T) {
	for _, module := range compat.Names() {
		about, err := compat.Describe(module)
		if err != nil {
			t.Fatal(err)
		}
		generated(t, "docs/compat.md", "<!-- "+module+" -->\n", "<!-- /"+module+" -->\n", portedTable(about))
	}
}

// portedHooks are the hooks that the page shows, by the name of their file, and each once more
// for every module that it says they are the same with.
func portedHooks(t *testing.T) map[string]string {
	t.Helper()
	hooks := map[string]string{}
	head := regexp.MustCompile(`^-- (\w+)\.lua(?:; with (.*) it is the same)?\n`)
	for _, block := range luaBlock.FindAllStringSubmatch(mustRead(t, inModule("docs/compat.md")), -1) {
		code := block[1]
		name := head.FindStringSubmatch(code)
		if name == nil {
			continue
		}
		hooks[name[1]] = code
		for _, module := range compat.Names() {
			if strings.Contains(name[2], module) {
				hooks[name[1]+"_"+strings.TrimPrefix(module, "pi.compat.")] = strings.ReplaceAll(code, "pi.compat.pi_v2", module)
			}
		}
	}
	return hooks
}

const portedToolTest = `
t.case("HOOK greets", function(t)
  t.hook("hooks/HOOK.lua")
  t.model { { tool = "greet", input = { name = "Ada" } }, "done" }
  t.prompt("greet")
  t.ran("greet")
  t.match(t.calls("greet")[1].text, "Hello Ada")
  t.equal((t.tool("greet", {})).is_error, true)
end)
`

const portedCommandTest = `
t.case("HOOK deploys", function(t)
  t.hook("hooks/HOOK.lua")
  t.answers { select = "live", confirm = true, input = "faster" }
  t.command("/deploy main")
  t.shown("main is on live: faster")
end)
t.case("HOOK leaves", function(t)
  t.hook("hooks/HOOK.lua")
  t.answers { select = false }
  t.command("/deploy main")
  t.equal(#t.notices(), 0)
end)
`

func TestTheHooksOfThatPageDoWhatTheOriginalsDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hooks := portedHooks(t)
	tests := "local t = require \"pi.test\"\n"
	for name, code := range hooks {
		path := w.agentFile("ported/hooks/" + name + ".lua")
		w.write(path, code)
		if out, _ := w.piTells("hooks", "check", path); !strings.Contains(out, "loads") || strings.Contains(out, "problem") {
			t.Errorf("pi hooks check %s says\n%s", name, out)
		}
		body := portedCommandTest
		if strings.HasPrefix(name, "greet") {
			body = portedToolTest
		}
		tests += strings.ReplaceAll(body, "HOOK", name)
	}
	if want := []string{"deploy", "deploy_marvin", "deploy_omp", "greet", "greet_marvin", "greet_omp"}; !slices.Equal(slices.Sorted(maps.Keys(hooks)), want) {
		t.Errorf("the hooks are %v", slices.Sorted(maps.Keys(hooks)))
	}
	w.write(w.agentFile("ported/ported_test.lua"), tests)
	if out := w.pi("test", w.agentFile("ported/ported_test.lua")); !strings.HasPrefix(out, "ok ") {
		t.Errorf("pi test says\n%s", out)
	}
}
