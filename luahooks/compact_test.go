package luahooks

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"pi/agent"
	"pi/luahooks/event"
	"pi/session"
)

// summariser is a model that answers a request for a summary with notes, and
// everything else with what it was told last.
const summariser = `pi.provider("s", { models = { "m" }, stream = function(request, emit)
	local last = request.messages[#request.messages]
	local text = type(last.content) == "string" and last.content or last.content[1].text
	emit{ type = "text", text = text:find("## Next steps", 1, true) and "the notes" or text }
end })`

// attend does what a front end does at rest, until nothing is left to do.
func attend(t *testing.T, a *agent.Agent) {
	t.Helper()
	for range 100 {
		next, stop := iter.Pull(a.Inbox().TakeSubmitted())
		p, ok := next()
		stop()
		if !ok {
			return
		}
		mustDo(t, a.Prompt(context.Background(), p))
	}
	t.Fatal("there is always more to do")
}

func TestACompactionMayBeAskedForAnywhereAndEnds(t *testing.T) {
	var hook strings.Builder
	for _, e := range event.Infos() {
		fmt.Fprintf(&hook, "pi.on(%q, function(event, ctx) ctx.compact{ on_error = function() end } end)\n", e.Name)
	}
	a, _ := program(t, map[string]string{"p.lua": summariser, "all.lua": hook.String()})
	mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "one"}))
	attend(t, a)
	mustDo(t, a.NewSession(context.Background(), agent.NewSessionOptions{}))
	mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "two"}))
	attend(t, a)
	mustDo(t, a.Close(context.Background()))
	n := 0
	for _, e := range a.Session().Entries() {
		if e.Type == session.TypeCompaction {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d compactions", n)
	}
}

func TestWhatCameOfACompactionIsToldToTheHookThatAsked(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": summariser, "ask.lua": `
		pi.command("ask", { handler = function(ctx)
			return { status = tostring(ctx.compact{ instructions = "mind the doors",
				on_complete = function(c) print(c.type .. ": " .. c.summary .. " of " .. #ctx.messages .. ", kept " .. tostring(c.first_kept_entry_id == c.id)) end,
				on_error = function(message) print("not: " .. message) end }) }
		end })
		pi.command("quiet", { handler = function(ctx) ctx.compact() end })
		pi.command("wrong", { handler = function(ctx) ctx.compact{ on_complete = function() error("oh") end } end })`})
	heard := func(text string) {
		t.Helper()
		until(t, func() bool { return r.said(text) })
	}
	run := func(name string) {
		t.Helper()
		for _, c := range r.chain.Commands() {
			if c.Name == name {
				if _, err := c.Run(context.Background(), ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		attend(t, a)
	}
	mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "one"}))
	run("ask")
	heard("ask: compaction: the notes of 1, kept true")
	run("ask")
	heard("not: already compacted")
	run("quiet")
	heard("hook ask: compact: already compacted")
	mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "two"}))
	run("wrong")
	heard("oh")
}
