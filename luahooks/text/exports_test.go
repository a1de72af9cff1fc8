package text_test

import (
	"strings"
	"testing"
)

func TestAHookThatRegistersNothingIsWarnedOf(t *testing.T) {
	t.Parallel()
	const table = "registers nothing: the table that the file returns is ignored; return a function: return function(pi) … end"
	c := checker(t)
	for code, want := range map[string]string{
		`return { name = "x", setup = function(pi) pi.exec("ls", {}) end }`:                                    "a.lua:1: " + table,
		`return { hooks = { tool_call = function() end } }`:                                                    "a.lua:1: " + table,
		"local M = {}\nfunction M.activate(pi) end\nreturn M":                                                  "a.lua:3: " + table,
		`function activate(pi) end`:                                                                            "a.lua:1: registers nothing: nobody calls activate; return a function: return function(pi) … end",
		`function setup() pi.on("input", print) end setup()`:                                                   "",
		`function setup() end setup()`:                                                                         "",
		`pi.on("input", print) return {}`:                                                                      "",
		`pi.command("x", { handler = function() end }) return {}`:                                              "",
		`local v = require "pi.compat.marvin" v.register_command("x", { handler = function() end }) return {}`: "",
		`require("pi.fs") local t = { pi } return t`:                                                           "",
		`return function(pi) end`:                                                                              "",
		"":                                                                                                     "",
		"-- later":                                                                                             "",
		`print("hello")`:                                                                                       "",
	} {
		r, err := c.File("a.lua", []byte(code), nothingBeside)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		var got []string
		for _, p := range r.Warnings {
			got = append(got, p.String())
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s\nis told %q, want %q", code, got, want)
		}
	}
}
