//go:build unix

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/cli/hooktest"
)

// The tests that the guide shows pass, beside the hooks that it shows, and the examples.
func TestTheTestsOfTheGuidePass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hooks := regexp.MustCompile(`t\.hook\("(\w+)\.lua"\)`)
	seen := 0
	for _, block := range luaBlock.FindAllStringSubmatch(mustRead(t, inModule("docs/hooks.md")), -1) {
		if !strings.Contains(block[1], `require "pi.test"`) {
			continue
		}
		seen++
		for _, hook := range hooks.FindAllStringSubmatch(block[1], -1) {
			code, err := os.ReadFile(inModule("examples/" + hook[1] + ".lua"))
			if err != nil {
				code = []byte(guideHook(t, hook[1]))
			}
			w.write(w.agentFile("hooks/"+hook[1]+".lua"), string(code))
		}
		w.write(w.agentFile("hooks/guide_test.lua"), block[1])
		if out := w.pi("test"); !strings.HasPrefix(out, "ok ") {
			t.Errorf("pi test says\n%s", out)
		}
	}
	if seen == 0 {
		t.Error("the guide shows no test")
	}
}

// What pi.test has, and what editors are told of it, is the same.
func TestTheAnnotationsHaveWhatATestHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.agentFile("x_test.lua")
	w.write(path, `local t = require "pi.test"
t.case("x", function() for name in pairs(t) do print(name) end end)`)
	var names []string
	_, err := hooktest.Run(t.Context(), hooktest.Options{Paths: []string{path}, Done: func(hooktest.Outcome) {}, Print: func(_, line string) { names = append(names, line) }})
	if err != nil {
		t.Fatal(err)
	}
	a := readAnnotations(t)
	annotated := a.names(a.modules["pi.test"])
	slices.Sort(names)
	slices.Sort(annotated)
	if !slices.Equal(names, annotated) {
		t.Errorf("it has\n%q\nannotated are\n%q", names, annotated)
	}
}
