package luahooks

import (
	"context"
	"testing"
)

func TestFlagsHaveTheValueOfTheCommandLineOrTheirDefault(t *testing.T) {
	files := map[string]string{
		"a.lua": `pi.flag("loud", { description = "D" }) pi.flag("depth", { type = "number", default = 3 }) pi.flag("who", { default = "me" })
			pi.flag("bare", { type = "string" })
			local early = pi.get_flag("depth")
			pi.on("input", function() return { text = table.concat({ tostring(pi.get_flag("loud")), tostring(pi.get_flag("depth")), pi.get_flag("who"),
				tostring(pi.get_flag("bare")), tostring(pi.get_flag("unknown")), tostring(early) }, " ") } end)`,
		"b.lua": `pi.flag("who", { default = "you" })`,
	}
	for _, c := range []struct {
		given map[string]string
		want  string
	}{
		{nil, "false 3 you nil nil 3"},
		{map[string]string{"loud": "true", "depth": "4.5", "who": "x", "bare": "", "unknown": "y"}, "true 4.5 x  nil 4.5"},
	} {
		r := newRig(t, files, func(o *Options) { o.Flags = c.given })
		if got := r.input(""); got != c.want {
			t.Errorf("%v: %q, want %q", c.given, got, c.want)
		}
		flags := r.chain.Flags()
		if len(flags) != 4 || flags[3].Name != "who" || flags[3].Hook != "b" || flags[0].Type != "boolean" || flags[0].Description != "D" {
			t.Errorf("flags are %+v", flags)
		}
	}
}

func TestAValueThatIsNoneIsToldOnceAndTheDefaultCounts(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.flag("depth", { default = 3 })
		pi.on("input", function() return { text = tostring(pi.get_flag("depth")) } end)`}, func(o *Options) { o.Flags = map[string]string{"depth": "deep"} })
	for range 2 {
		if got := r.input(""); got != "3" {
			t.Errorf("got %q", got)
		}
	}
	if n := r.host.notices(); len(n) != 1 || n[0] != "error: --depth=deep: hook a wants a number, such as --depth=3; its default counts" {
		t.Errorf("notices %q", n)
	}
}

func TestMisuseOfFlags(t *testing.T) {
	r := newRig(t, nil)
	for code, want := range map[string]string{
		`pi.flag("--x", {})`:                                  "is no name of a flag",
		`pi.flag("n", {})`:                                    "is no name of a flag",
		`pi.flag("name", { type = "bool" })`:                  "type must be boolean or string or number",
		`pi.flag("name", { type = "number", default = "x" })`: "default must be a number, as type says, not a string",
		`pi.flag("name", { default = {} })`:                   "default must be a boolean, string or number",
		`pi.flag("name", { defualt = 1 })`:                    `did you mean "default"`,
		`pi.get_flag()`:                                       "string expected",
	} {
		r.host.forget()
		r.write("bad.lua", code)
		r.chain.Reload(context.Background(), false)
		r.mustSay("bad.lua:1: ", want)
	}
}
