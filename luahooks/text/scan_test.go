package text

import (
	"reflect"
	"strings"
	"testing"

	"pi/luavm"
)

func TestWhatAFileDoesAsFarAsItsTextSaysSo(t *testing.T) {
	for _, tt := range []struct {
		code    string
		want    Scanned
		problem bool
	}{
		{code: ``},
		{code: `local a = require "b"; local c = require("a.b")`, want: Scanned{Requires: []string{"a.b", "b"}}},
		{code: "#!/usr/bin/lua\npi.on('input', function() pi.on([[context]], f) end)", want: Scanned{Events: []string{"context", "input"}}},
		{code: "\ufeffpi.on('x', f) pi.on('x', g)", want: Scanned{Events: []string{"x"}}},
		{code: `return function(pi) if a then pi.on("tool_call", f) end end`, want: Scanned{Events: []string{"tool_call"}}},
		{code: `local api = pi; local on = api.on; on("input", f); api.on("context", f)`, want: Scanned{Events: []string{"context", "input"}}},
		{code: `local api; api = pi; api.on("input", f)`, want: Scanned{Events: []string{"input"}}},
		{code: `return function(api) api.on("input", f) end`, want: Scanned{Events: []string{"input"}}},
		{code: `return require("pi.compat.omp").hook(function(o) o.on("input", f) end)`, want: Scanned{Requires: []string{"pi.compat.omp"}, Events: []string{"input"}}},
		{code: `local marvin = require "pi.compat.marvin" marvin.on("tool.execute.before", f) marvin.on(x, f)`,
			want: Scanned{Requires: []string{"pi.compat.marvin"}, Events: []string{"tool.execute.before"}, Dynamic: true}},
		{code: `local t = { x = { require "deep" }, f = function() return -#require("len") .. not require "no" end }`, want: Scanned{Requires: []string{"deep", "len", "no"}}},
		{code: `for _, x in ipairs(require "list") do while require "w" do repeat until require "r" end end`, want: Scanned{Requires: []string{"list", "r", "w"}}},
		{code: `require(name)`, want: Scanned{Dynamic: true}},
		{code: `require("a" .. "b")`, want: Scanned{Dynamic: true}},
		{code: `pi.on(event, f)`, want: Scanned{Dynamic: true}},
		{code: `other.on("x", f); pi.off("y"); local require2 = require2 "z"`},
		{code: `local x = = 1`, want: Scanned{Dynamic: true}, problem: true},
		{code: `x = ` + strings.Repeat("{", 5000) + `require "hidden"` + strings.Repeat("}", 5000), want: Scanned{Dynamic: true}, problem: true},
		{code: `x = ` + strings.Repeat("{", 900) + `require "hidden"` + strings.Repeat("}", 900), want: Scanned{Requires: []string{"hidden"}}},
		{code: strings.Repeat(" ", luavm.MaxSource+1), want: Scanned{Dynamic: true}, problem: true},
	} {
		got, err := Scan([]byte(tt.code))
		if !reflect.DeepEqual(got, tt.want) || (err != nil) != tt.problem {
			t.Errorf("%.60s: got %+v, %v, want %+v", tt.code, got, err, tt.want)
		}
	}
}

// FuzzScan holds that no text takes the program with it.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", `require "a"`, `pi.on("x", function() end)`, "local x = = 1", "\x1bLua", "#!\nreturn", "((((((", `require [==[a]==]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		s, err := Scan(code)
		if err != nil && !s.Dynamic && (len(s.Requires) > 0 || len(s.Events) > 0) {
			t.Errorf("%q: %+v with %v", code, s, err)
		}
	})
}
