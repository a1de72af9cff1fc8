package luahooks

import (
	"context"
	"strings"
	"sync"
	"testing"

	"pi/luahooks/api"
)

// mayAnswer lets the hook of that name answer dialogs.
func mayAnswer(name string) func(*Options) {
	return func(o *Options) {
		o.Settings = func(hook string, _ bool) api.Settings {
			return api.Settings{Table: "hook." + hook, Answers: hook == name}
		}
	}
}

func TestAnotherHookAnswersADialog(t *testing.T) {
	for _, tt := range []struct{ name, ask, value, want, row string }{
		{"yes", `ctx.ui.confirm("q", "m")`, `true`, "true", `hook phone answered "q" of hook a: yes`},
		{"no", `ctx.ui.confirm("q")`, `false`, "false", `hook phone answered "q" of hook a: no`},
		{"a choice by its label", `ctx.ui.select("q", { "x", { value = 7, label = "seven" } })`, `"seven"`, "7", `: seven`},
		{"a choice by its position", `ctx.ui.select("q", { "x", { value = 7, label = "seven" } })`, `1`, "x", `: x`},
		{"several", `table.concat(ctx.ui.select("q", { "x", "y", "z" }, { multi = true }), "+")`, `{ "x", 3 }`, "x+z", `: x, z`},
		{"none of several", `#ctx.ui.select("q", { "x", "y" }, { multi = true })`, `{}`, "0", `of hook a`},
		{"a text", `ctx.ui.input("q")`, `"words"`, "words", `: words`},
		{"a text of several rows", `ctx.ui.editor("q", "p")`, `"a\nb"`, "a\nb", `of hook a`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, map[string]string{
				"a.lua":     `pi.command("ask", { handler = function(ctx) pi.send("got:" .. tostring(` + tt.ask + `)) end })`,
				"phone.lua": `pi.on("ui_prompt", function(e) assert(e.hook == "a" and e.title == "q"); assert(pi.answer(e.id, ` + tt.value + `)) end)`,
			}, mayAnswer("phone"))
			r.ui.dialogs() // nobody answers there
			if _, err := r.chain.Commands()[0].Run(context.Background(), ""); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { return strings.Contains(r.host.texts(), "got:") })
			if got := r.host.texts(); got != "got:"+tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if told := r.ui.told.Load(); told == nil || !strings.Contains(*told, tt.row) {
				t.Errorf("told %v, want %q", told, tt.row)
			}
		})
	}
}

func TestWhatCannotBeAnswered(t *testing.T) {
	for _, tt := range []struct{ name, ask, answer, want string }{
		{"another id", `ctx.ui.confirm("q")`, `pi.answer("none", true)`, "no dialog with that id is open"},
		{"a text for a question", `ctx.ui.confirm("q")`, `pi.answer(id, "yes")`, "true or false answers it, not a string"},
		{"a number for a text", `ctx.ui.input("q")`, `pi.answer(id, 1)`, "asks for a text, not for a number"},
		{"no such choice", `ctx.ui.select("q", { "left", "right" })`, `pi.answer(id, "lef")`, `no choice "lef", did you mean "left"?`},
		{"a place beyond them", `ctx.ui.select("q", { "left", "right" })`, `pi.answer(id, 3)`, "no choice 3"},
		{"one of several is none", `ctx.ui.select("q", { "left" }, { multi = true })`, `pi.answer(id, { "left", "up" })`, `no choice "up"`},
		{"answered before", `ctx.ui.confirm("q")`, `(function() pi.answer(id, false); return pi.answer(id, true) end)()`, "it was answered, or left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, map[string]string{
				"a.lua": `pi.command("ask", { handler = function(ctx) pi.send("got:" .. tostring(` + tt.ask + `)) end })`,
				"phone.lua": `pi.on("ui_prompt", function(e)
					local id = e.id
					local ok, err = ` + tt.answer + `
					pi.send("refused:" .. tostring(ok) .. ":" .. tostring(err))
				end)`,
			}, mayAnswer("phone"))
			asked, answer := r.ui.dialogs()
			var work sync.WaitGroup
			work.Go(func() { _, _ = r.chain.Commands()[0].Run(context.Background(), "") })
			if tt.name != "answered before" {
				<-asked
				answer <- true
			}
			work.Wait()
			until(t, func() bool {
				return strings.Contains(r.host.texts(), "got:") && strings.Contains(r.host.texts(), "refused:")
			})
			if got := r.host.texts(); !strings.Contains(got, "refused:nil:") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAHookAnswersOnlyIfItsUserLetsIt(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua":     `pi.command("ask", { handler = function(ctx) pi.send("got:" .. tostring(ctx.ui.confirm("q"))) end })`,
		"phone.lua": `pi.on("ui_prompt", function(e) local ok, err = pi.answer(e.id, true); pi.send("refused:" .. tostring(ok) .. ":" .. err) end)`,
	}, mayAnswer("another"))
	asked, answer := r.ui.dialogs()
	var work sync.WaitGroup
	work.Go(func() { _, _ = r.chain.Commands()[0].Run(context.Background(), "") })
	<-asked
	answer <- false
	work.Wait()
	until(t, func() bool { return strings.Contains(r.host.texts(), "refused:") })
	if got := r.host.texts(); !strings.Contains(got, "refused:nil:this hook may not answer dialogs; [hook.phone] answers = true in your config.toml lets it") {
		t.Errorf("got %q", got)
	}
}
