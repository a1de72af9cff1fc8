package text

import (
	"reflect"
	"testing"
)

func TestWhatAFileRegistersAsFarAsItsTextSaysSo(t *testing.T) {
	computed := Registrations{Computed: true}
	for _, tt := range []struct {
		code    string
		want    Registrations
		problem bool
	}{
		{code: ``},
		{code: `pi.tool{ name = "b", description = "x" } pi.tool({ name = "a" }) pi.command("/c", {})`, want: Registrations{Tools: []string{"a", "b"}, Commands: []string{"/c"}}},
		{code: `local p = pi; local t = p.tool; t{ name = "a" } p.on("input", f) p.log("x")`, want: Registrations{Events: []string{"input"}, Tools: []string{"a"}}},
		{code: `pi.mode{ name = "deep" } local m = pi.mode m{ name = "auto" }`, want: Registrations{Modes: []string{"auto", "deep"}}},
		{code: `return function(api) api.command("c", { handler = function() end }) end`, want: Registrations{Commands: []string{"c"}}},
		{code: `local t; t = pi.tool; t{ name = "a" }`, want: Registrations{Tools: []string{"a"}}},
		{code: `pi.exec("ls") print(pi.paths.agent)`},
		{code: `pi.tool{ name = prefix .. "a" }`, want: computed},
		{code: `pi.tool(spec)`, want: computed},
		{code: `pi.command(name, {})`, want: computed},
		{code: `pi[x]("tool_call", f)`, want: computed},
		{code: `register(pi)`, want: computed},
		{code: `each(pi.tool, list)`, want: computed},
		{code: `local t = { api = pi } t.api.on("x", f)`, want: computed},
		{code: `return pi`, want: computed},
		{code: `load(text)()`, want: computed},
		{code: `local g = _G["p" .. "i"]`, want: computed},
		{code: `local o = require "pi.compat.omp" o.registerTool{ name = "x" }`, want: computed},
		{code: `local x = = 1`, want: computed, problem: true},
	} {
		got, err := Registered([]byte(tt.code))
		if !reflect.DeepEqual(got, tt.want) || (err != nil) != tt.problem {
			t.Errorf("%s: got %+v, %v, want %+v", tt.code, got, err, tt.want)
		}
	}
}

// FuzzRegistered holds that no text takes the program with it, and that what is no Lua is computed.
func FuzzRegistered(f *testing.F) {
	for _, seed := range []string{"", `pi.tool{ name = "a" }`, `local t = pi.tool t(x)`, "local x = = 1", "\x1bLua", "pi.pi.pi(pi)", "((((((", `pi = pi pi.on(pi.on, pi)`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		if r, err := Registered(code); err != nil && !r.Computed {
			t.Errorf("%q: %+v with %v", code, r, err)
		}
	})
}
