package luahooks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/session/message"
)

func TestHooksCompleteWordsWithAPrefix(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.completion("#", { description = "issues", complete = function(word, ctx)
				return { "#1 " .. word, { value = 2, label = "two", description = "of " .. ctx.cwd:match("[^/]+$") } }
			end })
			local off = pi.completion("$", { complete = function() end })
			pi.command("off", { handler = function() off() end })`,
		"b.lua": `pi.completion("#", { complete = function() error("broken") end })
			pi.completion("%", { complete = function() return "text" end })
			pi.completion("&", { complete = function() return { { value = {}, label = "x" } } end })`,
		"c.lua": `pi.completion("a b", { complete = print })`,
		"d.lua": `pi.completion("/x", { complete = print })`,
	})
	r.mustSay("hook c did not load", `"a b" is no prefix`)
	r.mustSay("hook d did not load", `what begins with "/" is completed by the program`)
	all := r.chain.Completions()
	var names []string
	for _, c := range all {
		names = append(names, c.Hook()+c.Prefix+c.Description)
	}
	if want := []string{"a#issues", "a$", "b#", "b%", "b&"}; !slices.Equal(names, want) {
		t.Fatalf("there are %q", names)
	}
	ctx := context.Background()
	found, err := all[0].Complete(ctx, "wo")
	if want := []agent.Choice{{Value: "#1 wo", Label: "#1 wo"}, {Value: "2", Label: "two", Description: "of project"}}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found %+v, %v", found, err)
	}
	if found, err := all[1].Complete(ctx, ""); len(found) > 0 || err != nil {
		t.Errorf("nil is %+v, %v", found, err)
	}
	for i, want := range map[int]string{2: "broken", 3: "not a string", 4: "the value of candidate 1 is a table"} {
		if _, err := all[i].Complete(ctx, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s of b: %v, want %s", all[i].Prefix, err, want)
		}
	}
	r.mustSay("hook b: completion of #", "b.lua:1: broken")
	_, err = r.chain.Commands()[0].Run(ctx, "")
	mustDo(t, err)
	if now := r.chain.Completions(); len(now) != 4 || now[1].Hook() != "b" {
		t.Errorf("after off there are %d", len(now))
	}
	r.write("a.lua", `pi.completion("#", { complete = function() return { "new" } end })`)
	r.chain.Reload(ctx, false)
	if found, err := all[0].Complete(ctx, ""); err != nil || len(found) != 1 || found[0].Value != "new" {
		t.Errorf("of the version before: %+v, %v", found, err)
	}
}

func TestTheNewestWordEndsTheCompletionOfTheOneBefore(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `local timer = require "pi.timer"
		pi.completion("#", { complete = function(word)
			if word == "slow" then pi.emit("x:began") timer.sleep(60000) end
			return { word }
		end })`, "b.lua": `pi.on("x:began", function() pi.send("began") end)`})
	c, ended := r.chain.Completions()[0], make(chan error)
	go func() {
		_, err := c.Complete(context.Background(), "slow")
		ended <- err
	}()
	until(t, func() bool { return strings.Contains(r.host.texts(), "began") })
	if found, err := c.Complete(context.Background(), "quick"); err != nil || len(found) != 1 {
		t.Errorf("the newest: %+v, %v", found, err)
	}
	if err := <-ended; err == nil {
		t.Error("the one before goes on")
	}
	if notices := strings.Join(r.host.notices(), "\n"); strings.Contains(notices, "completion") {
		t.Errorf("the person is told: %s", notices)
	}
}

func TestRenderersAreAskedInChainOrderAndTheToolLast(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.renderer{ tool = "bash", call = function(input, opts, theme)
				if input.command == "skip" then return end
				return "$ " .. input.command .. opts.width .. tostring(opts.expanded) .. theme.bold("!")
			end, result = function() end }
			pi.renderer{ entry = "card", result = function(m, opts) return m.content .. tostring(opts.expanded) end }`,
		"b.lua": `pi.renderer{ tool = "bash", result = function(r) return { "result", r.content[1].text, tostring(r.is_error) } end }
			pi.renderer{ tool = "own", call = function() return "of b" end }
			pi.register_message_renderer("card", function() return "never" end)`,
		"c.lua": `pi.tool{ name = "own", description = "x", execute = function() end, render_call = function() return "itself" end, render_result = function() return "its result" end }
			pi.renderer{ tool = "bash", call = function() error("broken") end }`,
		"d.lua": `pi.renderer{ call = print }`,
		"e.lua": `pi.renderer{ entry = "x", call = print }`,
		"f.lua": `pi.renderer{ tool = "x" }`,
	})
	r.mustSay("hook d did not load", `one of "tool" and "entry" must say what is drawn`)
	r.mustSay("hook e did not load", "an entry is no call of a tool")
	r.mustSay("hook f did not load", `option "result" is missing`)
	ctx := context.Background()
	result := agent.TextResult("out")
	call := func(tool, input string) string {
		lines, ok := r.chain.RenderToolCall(ctx, drawnCall(tool, json.RawMessage(input)), true, 30)
		if !ok {
			return "none"
		}
		return strings.Join(lines, "|")
	}
	for _, c := range []struct{ what, got, want string }{
		{"a call", call("bash", `{"command":"ls"}`), "$ ls30true!"},
		{"a call that the first leaves to the next, which fails", call("bash", `{"command":"skip"}`), "none"},
		{"a call of a tool of a hook", call("own", `{}`), "of b"},
		{"one that nobody draws", call("read", `{}`), "none"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	r.mustSay("hook c: renderer of bash", "c.lua:2: broken")
	if lines, ok := r.chain.RenderToolResult(ctx, drawnCall("bash", nil), result, false, 30); !ok || strings.Join(lines, "|") != "result|out|false" {
		t.Errorf("the result is %q", lines)
	}
	if lines, ok := r.chain.RenderToolResult(ctx, drawnCall("own", nil), result, false, 30); !ok || lines[0] != "its result" {
		t.Errorf("the result of a hook's tool is %q", lines)
	}
	m := &message.Message{Role: message.RoleCustom, CustomType: "card", Content: []message.Block{message.TextBlock("text")}, Plain: true}
	if lines, ok := r.chain.RenderMessage(ctx, m, true, 30); !ok || lines[0] != "texttrue" {
		t.Errorf("the message is %q", lines)
	}
}

func TestAHookBringsSkillsAndTemplates(t *testing.T) {
	r := newRig(t, map[string]string{"a/init.lua": `assert(pi.resources{ skills = "skills" })`})
	r.mustSay("skills:", "is no folder")
	mustDo(t, os.MkdirAll(filepath.Join(r.dir, "a", "skills"), 0o755))
	mustDo(t, os.MkdirAll(filepath.Join(r.dir, "more"), 0o755))
	r.write("b.lua", `assert(pi.resources{ prompts = "more" })`)
	r.write("c.lua", `pi.resources{ skills = "../elsewhere" }`)
	r.write("d.lua", `pi.resources{}`)
	r.chain.Reload(context.Background(), true)
	r.mustSay("hook c did not load", "the name of a folder beside the hook")
	r.mustSay("hook d did not load", "must name a folder")
	all, hooks := r.chain.Resources()
	if len(all) != 2 || hooks[0] != "b" || all[0].Prompts != filepath.Join(r.dir, "more") || hooks[1] != "a" || all[1].Skills != filepath.Join(r.dir, "a", "skills") {
		t.Errorf("there are %+v of %q", all, hooks)
	}
}
