package luahooks

import (
	"context"
	"strings"
	"testing"

	"pi/agent"
)

func TestTheAgentIsIdleWhenItHasSettled(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, `
		pi.on("agent_end", function(_, ctx) pi.state.ended = ctx.is_idle() end)
		pi.on("agent_settled", function(event, ctx) pi.state.settled = { ctx.is_idle(), event.aborted } end)
		pi.command("told", { handler = function()
			local s = pi.state.settled or {}
			return { status = tostring(pi.state.ended) .. " " .. tostring(s[1]) .. " " .. tostring(s[2]) }
		end })`, hold)
	told := func(want string) {
		t.Helper()
		until(t, func() bool {
			got, _ := p.run(t.Context(), "/told")
			return got == want
		})
	}
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "hello"}))
	told("false true false")
	run := make(chan error, 1)
	go func() { run <- p.Prompt(context.Background(), agent.Prompt{Text: "tool"}) }()
	<-hold.runs
	p.Abort()
	<-run
	told("false true true")
}

func TestAHookMovesTheSessionWhenTheAgentHasSettled(t *testing.T) {
	p := newWaitingProgram(t, `
		pi.on("agent_settled", function(_, ctx)
			local how = pi.state.how
			pi.state.how = nil
			if how == "tree" then
				assert(ctx.navigate_tree(ctx.entries[1].id))
			elseif how == "new" then
				assert(ctx.new_session())
			elseif how == "switch" then
				pi.state.failed = select(2, ctx.switch_session("nowhere"))
			end
		end)
		pi.on("agent_end", function(_, ctx) pi.state.raised = select(2, pcall(ctx.navigate_tree, "x")) end)
		pi.on("session_before_tree", function(_, ctx) pi.state.nested = select(2, pcall(ctx.new_session)) end)
		pi.command("next", { handler = function(ctx) pi.state.how = ctx.args[1] end })
		pi.command("told", { handler = function(ctx) return { status = tostring(pi.state[ctx.args[1]]) } end })`)
	ask := func(how, text string) {
		t.Helper()
		if _, err := p.run(t.Context(), "/next "+how); err != nil {
			t.Fatal(err)
		}
		mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: text}))
	}
	told := func(what, part string) {
		t.Helper()
		until(t, func() bool {
			got, _ := p.run(t.Context(), "/told "+what)
			return strings.Contains(got, part)
		})
	}
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "first"}))
	// The next prompt follows at once, and waits for what the hook does.
	ask("tree", "second")
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "third"}))
	until(t, func() bool {
		return strings.Contains(strings.Join(p.rig.host.notices(), "\n"), "hook a has moved the session to another place of its tree")
	})
	var texts []string
	for _, item := range p.Session().Context() {
		texts = append(texts, item.Message.Text())
	}
	if got := strings.Join(texts, ", "); got != "third, re third" {
		t.Errorf("the branch is %q", got)
	}
	before := p.Session()
	ask("new", "fourth")
	until(t, func() bool { return p.Session() != before && p.IsIdle() })
	ask("switch", "fifth")
	told("failed", "nowhere")
	told("raised", "only in commands and shortcuts, and in handlers of agent_settled")
	told("nested", "only in commands and shortcuts, and in handlers of agent_settled")
}

func TestAHookIsToldThatARunHasBegunBeforeItsMove(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, `
		local timer = require "pi.timer"
		pi.on("agent_settled", function(_, ctx)
			while not pi.state.go do timer.sleep(1) end
			local ok, message = ctx.navigate_tree(ctx.entries[1].id)
			pi.state.told = tostring(ok) .. " " .. tostring(message)
		end)
		pi.command("go", { handler = function() pi.state.go = true end })
		pi.command("told", { handler = function() return { status = pi.state.told } end })`, hold)
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "first"}))
	run := make(chan error, 1)
	go func() { run <- p.Prompt(context.Background(), agent.Prompt{Text: "tool"}) }()
	<-hold.runs
	_, err := p.run(t.Context(), "/go")
	mustDo(t, err)
	until(t, func() bool {
		got, _ := p.run(t.Context(), "/told")
		return strings.HasPrefix(got, "nil ") && strings.HasSuffix(got, "a run has begun meanwhile")
	})
	hold.letGo <- struct{}{}
	mustDo(t, <-run)
}

// To begin a new session is nothing that a user does: what the hook sends there counts.
func TestAMoveOfAHookBeginsNoNewCount(t *testing.T) {
	p := newWaitingProgram(t, `
		pi.on("agent_settled", function(_, ctx)
			assert(ctx.new_session())
			pi.send_user_message("again")
		end)`)
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "go"}))
	var err error
	runs := 0
	for err == nil && runs < 30 {
		<-p.Inbox().Submitted()
		for in := range p.driver.Submitted() {
			runs++
			if err = p.driver.Run(t.Context(), in); err != nil {
				break
			}
		}
	}
	if runs != 9 || err == nil || !strings.Contains(err.Error(), "max_continuations") {
		t.Errorf("%d runs, %v", runs, err)
	}
}

func TestMessagesOfAllRolesAreForWhoAsks(t *testing.T) {
	p := newWaitingProgram(t, `
		local usual, all = {}, {}
		pi.on("message_end", function(event) usual[#usual + 1] = event.message.role end)
		local off = pi.on("message_end", function(event)
			all[#all + 1] = event.message.role
			if event.message.role == "user" then
				local changed = event.message
				changed.content = { { type = "text", text = "tool, please" } }
				return { message = changed }
			elseif event.message.role == "toolResult" then
				return { message = { role = "toolResult", tool_call_id = "other", tool_name = "other", content = "less", is_error = true } }
			end
		end, { roles = "all" })
		pi.on("message_start", function(event) all[#all + 1] = "start " .. event.message.role end, { roles = "all" })
		pi.command("told", { handler = function()
			off()
			return { status = table.concat(usual, " ") .. "; " .. table.concat(all, " ") }
		end })
		pi.command("wrong", { handler = function(ctx)
			local _, why = pcall(pi.on, "turn_end", function() end, { roles = "all" })
			local _, other = pcall(pi.on, "message_end", function() end, { roles = "user" })
			return { status = why .. "; " .. other }
		end })
		pi.tool{ name = "hold", description = "d", execute = function() return "a long text" end }`)
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "hello"}))
	items := p.Session().Context()
	if got := items[0].Message.Text(); got != "tool, please" {
		t.Errorf("the prompt is %q", got)
	}
	if m := items[2].Message; m.Text() != "less" || m.IsError || m.ToolName != "hold" || m.ToolCallID == "other" {
		t.Errorf("the result is %+v", m)
	}
	want := "assistant assistant; start user user start assistant assistant start toolResult toolResult start assistant assistant"
	if got, err := p.run(t.Context(), "/told"); err != nil || got != want {
		t.Errorf("told %q, %v", got, err)
	}
	got, err := p.run(t.Context(), "/wrong")
	if err != nil || !strings.Contains(got, `option "roles" belongs to message_start and message_end, not to turn_end`) || !strings.Contains(got, `must be "all", not "user"`) {
		t.Errorf("misuse: %q, %v", got, err)
	}
}

func TestARunSaysWhichMessageHasBegunItAndAToolHowLongItRan(t *testing.T) {
	p := newWaitingProgram(t, `
		local timer = require "pi.timer"
		pi.on("before_agent_start", function(event) pi.state.type = event.message_type or "a prompt" end)
		pi.on("tool_execution_end", function(event) pi.state.took = event.duration_ms end)
		pi.command("told", { handler = function()
			return { status = pi.state.type .. " " .. tostring(pi.state.took and pi.state.took >= 20) }
		end })
		pi.command("wake", { handler = function()
			pi.send_message({ custom_type = "alarm", content = "wake up" }, { trigger_turn = true })
		end })
		pi.tool{ name = "hold", description = "d", execute = function() timer.sleep(20) return "slept" end }`)
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "tool"}))
	until(t, func() bool {
		got, _ := p.run(t.Context(), "/told")
		return got == "a prompt true"
	})
	_, err := p.run(t.Context(), "/wake")
	mustDo(t, err)
	for in := range p.driver.Submitted() {
		mustDo(t, p.driver.Run(t.Context(), in))
	}
	if got, err := p.run(t.Context(), "/told"); err != nil || got != "alarm true" {
		t.Errorf("told %q, %v", got, err)
	}
}
