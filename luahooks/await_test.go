package luahooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
)

// modelThat is a provider whose model answers as the text before it wants: "tool" calls a tool, "fail" fails, and
// anything else is said again.
const modelThat = `pi.provider("s", { models = { "m" }, stream = function(request, emit)
	local last = request.messages[#request.messages]
	local text = type(last.content) == "string" and last.content or last.content[1].text
	if last.role ~= "toolResult" and text:find("tool") then
		emit{ type = "tool_call", name = "hold", arguments = {} }
	elseif text:find("fail") then
		error("the model is ill")
	else
		emit{ type = "text", text = "re " .. text }
	end
end })
`

// holdTool is a tool that tells that it runs, and returns when it is let go or ends.
type holdTool struct{ runs, letGo chan struct{} }

func newHoldTool() holdTool { return holdTool{make(chan struct{}, 20), make(chan struct{}, 20)} }

func (holdTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "hold", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}
}

func (h holdTool) Run(ctx context.Context, _ json.RawMessage, _ agent.Update) (agent.Result, error) {
	h.runs <- struct{}{}
	select {
	case <-h.letGo:
		return agent.TextResult("held"), nil
	case <-ctx.Done():
		return agent.Result{}, ctx.Err()
	}
}

// waitingProgram is a program whose commands are run as a front end does, with what they say.
type waitingProgram struct {
	*agent.Agent
	rig    *rig
	driver command.Driver

	mu   sync.Mutex
	said []string
}

func newWaitingProgram(t *testing.T, hook string, tools ...agent.Tool) *waitingProgram {
	t.Helper()
	a, r := program(t, map[string]string{"a.lua": modelThat + hook}, tools...)
	p := &waitingProgram{Agent: a, rig: r}
	p.driver = command.Driver{Agent: a, Commands: command.NewSet(nil, r.chain.Commands), Ask: a.Prompt,
		Act: func(ctx context.Context, _ string, run command.Action) (command.Outcome, error) {
			out, err := run(ctx)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.said = append(p.said, out.Status)
			return out, err
		}}
	return p
}

// run runs a command that a user has typed, and returns what it said.
func (p *waitingProgram) run(ctx context.Context, line string) (string, error) {
	err := p.driver.Run(ctx, agent.Prompt{Text: line, Source: "interactive"})
	p.mu.Lock()
	defer p.mu.Unlock()
	said := strings.Join(p.said, ",")
	p.said = nil
	return said, err
}

// ask is a command that hands in each of its arguments and says what became of them.
const ask = `
	pi.command("ask", { handler = function(ctx)
		local out = {}
		for _, text in ipairs(ctx.args) do
			local r, message = ctx.prompt(text)
			out[#out + 1] = r and r.outcome .. (r.error and " (" .. r.error .. ")" or "") .. " " .. #r.messages or "nil: " .. message
		end
		return { status = table.concat(out, "; ") }
	end })
`

func TestACommandIsToldWhatBecameOfItsPrompt(t *testing.T) {
	p := newWaitingProgram(t, ask+`
		pi.on("input", function(event)
			if event.text == "mine" then return { handled = true } end
			if event.text == "other" then return { text = "another" } end
		end)
		pi.on("before_agent_start", function(event, ctx) if event.prompt == "stop" then ctx.abort() end end)`)
	for line, want := range map[string]string{
		"/ask hello":         `completed 2`,
		"/ask other":         `completed 2`,
		"/ask mine":          `handled 0`,
		"/ask 'please fail'": `error \(.*the model is ill.*\) 2`,
		"/ask stop":          `aborted \(interrupted\) 2`,
		"/ask ' '":           `nil: the prompt is empty`,
		"/ask hello mine":    `completed 2; handled 0`,
	} {
		got, err := p.run(t.Context(), line)
		if err != nil || !regexp.MustCompile("(?s)^"+want+"$").MatchString(got) {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
	if !p.IsIdle() || p.Pending() > 0 {
		t.Error("something is left")
	}
}

func TestEachFurtherPromptOfACommandIsOneThatAHookAdds(t *testing.T) {
	p := newWaitingProgram(t, ask)
	texts := strings.Repeat(" x", 12)
	got, err := p.run(t.Context(), "/ask"+texts)
	if err != nil || strings.Count(got, "completed") != 9 || strings.Count(got, "limit") != 3 || !strings.Contains(got, "hook a wants the model asked once more") {
		t.Errorf("typed: %q, %v", got, err)
	}
	err = p.driver.Run(t.Context(), agent.Prompt{Text: "/ask" + texts, Source: "hook", Origin: agent.Origin{Kind: agent.FromHook, Hook: "b"}})
	p.mu.Lock()
	got = strings.Join(p.said, "")
	p.mu.Unlock()
	if err != nil || strings.Count(got, "limit") != 12 {
		t.Errorf("of a hook, behind the limit: %q, %v", got, err)
	}
}

// Whatever a command does between its prompts, it begins no new count.
func TestACommandThatPromptsBeginsNoNewCount(t *testing.T) {
	for name, between := range map[string]string{
		"it sends":                    `pi.send("aside")`,
		"it sends a command":          `pi.send("/ask")`,
		"it sends a message":          `pi.send_user_message("aside", { deliver_as = "steer" })`,
		"a function beside it sends":  `pi.async(function() pi.send("aside") end).wait()`,
		"functions inside of it send": `pi.all{ function() pi.send("aside") end }`,
		"a timer sends":               `local p = pi.promise() require("pi.timer").after(0, function() pi.send("aside") p.resolve(1) end) p.wait()`,
		"another handler sends":       `pi.emit("h:x", {})`,
	} {
		p := newWaitingProgram(t, ask+`
			pi.on("h:x", function() pi.send("aside") end)
			pi.command("loop", { handler = function(ctx)
				local n = 0
				for i = 1, 20 do
					if ctx.prompt("x").outcome == "completed" then n = n + 1 end
					`+between+`
				end
				return { status = tostring(n) }
			end })`)
		if got, err := p.run(t.Context(), "/loop"); err != nil || got != "9" {
			t.Errorf("%s: %s prompts, %v, want 9", name, got, err)
		}
	}
}

// A timer that a command starts may remind of something, and may not keep the model at work.
func TestWhatACommandLeavesBehindBeginsOneNewCount(t *testing.T) {
	for name, leave := range map[string]string{
		"timer": `require("pi.timer").after(0, loop)`,
		"async": `pi.async(loop)`,
	} {
		p := newWaitingProgram(t, `
			local n, ended = 0, pi.promise()
			local function loop()
				for i = 1, 20 do
					local turn = pi.promise()
					pi.on("agent_settled", turn.resolve)
					if not pi.send("more") then break end
					turn.wait()
					n = i
				end
				ended.resolve(true)
			end
			pi.command("go", { handler = function() `+leave+` end })
			pi.command("said", { handler = function() return { status = tostring(n) } end })`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := p.run(ctx, "/go")
		for err == nil {
			select {
			case <-p.Inbox().Submitted():
				for in := range p.Inbox().TakeSubmitted() {
					err = p.driver.Run(ctx, in)
				}
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if !strings.Contains(err.Error(), "hook a wants the model asked once more") {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := p.run(t.Context(), "/said"); got != "9" {
			t.Errorf("%s: %s times, want 9", name, got)
		}
	}
}

func TestAPromptWhoseSessionWasLeftWasTheFirst(t *testing.T) {
	p := newWaitingProgram(t, `
		local runs = 0
		pi.on("agent_settled", function(_, ctx) runs = runs + 1 assert(ctx.new_session{}) end)
		pi.command("loop", { handler = function(ctx)
			for i = 1, 20 do ctx.prompt("x") end
			return { status = tostring(runs) }
		end })`)
	if got, err := p.run(t.Context(), "/loop"); err != nil || got != "9" {
		t.Errorf("%s prompts, %v, want 9", got, err)
	}
}

func TestThePromptThatACommandReturnsIsAFurtherOne(t *testing.T) {
	p := newWaitingProgram(t, `
		pi.command("go", { handler = function(ctx)
			for i = 1, tonumber(ctx.args[1]) do assert(ctx.prompt("x")) end
			return "the last"
		end })`)
	for line, want := range map[string]string{"/go 0": "", "/go 8": "", "/go 9": "max_continuations"} {
		err := p.driver.Run(t.Context(), agent.Prompt{Text: line, Source: "interactive"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestWhatARunOfACommandSendsIsOfTheHook(t *testing.T) {
	p := newWaitingProgram(t, ask+`
		pi.tool{ name = "hold", description = "d", execute = function() assert(pi.send("again tool")) return "sent" end }`)
	got, err := p.run(t.Context(), "/ask tool")
	if err != nil || !strings.HasPrefix(got, "limit") {
		t.Errorf("a tool that sends for ever: %q, %v", got, err)
	}
}

func TestAPromptOfACommandJoinsTheRunInProgress(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, ask, hold)
	run := make(chan error, 1)
	go func() { run <- p.Prompt(context.Background(), agent.Prompt{Text: "tool"}) }()
	<-hold.runs
	joined := make(chan string, 2)
	for range 2 {
		go func() {
			got, _ := p.run(context.Background(), "/ask 'and this'")
			joined <- got
		}()
	}
	until(t, func() bool { return p.Pending() == 2 })
	hold.letGo <- struct{}{}
	for range 2 {
		if got := <-joined; !strings.Contains(got, "completed 8") {
			t.Errorf("joined: %q", got)
		}
	}
	if err := <-run; err != nil {
		t.Error(err)
	}
}

func TestAnInterruptEndsTheRunThatACommandHasJoined(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, ask, hold)
	run := make(chan error, 1)
	go func() { run <- p.Prompt(context.Background(), agent.Prompt{Text: "tool"}) }()
	<-hold.runs
	joined := make(chan string, 1)
	go func() {
		got, _ := p.run(context.Background(), "/ask 'and this' hello")
		joined <- got
	}()
	until(t, func() bool { return p.Pending() == 1 })
	p.Abort()
	if got := <-joined; !strings.Contains(got, "aborted (interrupted) 3; completed 2") {
		t.Errorf("joined: %q", got)
	}
	<-run
}

func TestACommandThatIsInterruptedTakesItsPromptAlong(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, ask, hold)
	ctx, cancel := context.WithCancel(t.Context())
	alone := make(chan error, 1)
	go func() {
		_, err := p.run(ctx, "/ask tool")
		alone <- err
	}()
	<-hold.runs
	cancel()
	if err := <-alone; err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("its own run: %v", err)
	}
	if err := p.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}

	run := make(chan error, 1)
	go func() { run <- p.Prompt(context.Background(), agent.Prompt{Text: "tool"}) }()
	<-hold.runs
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		_, err := p.run(ctx, "/ask 'and this'")
		alone <- err
	}()
	until(t, func() bool { return p.Pending() == 1 })
	cancel()
	if err := <-alone; err == nil || p.Pending() != 0 {
		t.Errorf("the run of another: %v, %d wait", err, p.Pending())
	}
	hold.letGo <- struct{}{}
	if err := <-run; err != nil {
		t.Error(err)
	}
}

func TestACommandIsToldThatItsSessionWasLeft(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, ask, hold)
	said := make(chan string, 1)
	go func() {
		got, err := p.run(context.Background(), "/ask tool")
		said <- fmt.Sprint(got, err)
	}()
	<-hold.runs
	mustDo(t, p.Interrupting().NewSession(t.Context(), agent.NewSessionOptions{}))
	if got := <-said; got != "nil: the session was left meanwhile<nil>" {
		t.Errorf("got %q", got)
	}
}

func TestACommandThatWaitsHoldsNothing(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, ask+`
		pi.command("move", { handler = function(ctx)
			local result, message = ctx.navigate_tree(ctx.entries[1].id)
			return { status = message or "moved" }
		end })
		pi.on("turn_start", function(_, ctx) ctx.save_entry{ type = "h_turn" } end)`, hold)
	said := make(chan string, 1)
	go func() {
		err := p.driver.Run(context.Background(), agent.Prompt{Text: "/ask tool", Source: "interactive"})
		said <- fmt.Sprint(err)
	}()
	<-hold.runs // the hook has handled turn_start meanwhile
	err := p.driver.Run(t.Context(), agent.Prompt{Text: "/move", Source: "interactive"})
	p.mu.Lock()
	got := strings.Join(p.said, ",")
	p.mu.Unlock()
	if err != nil || !strings.HasSuffix(got, "not while the agent is working; wait_for_idle() first") {
		t.Errorf("to move while a run works: %q, %v", got, err)
	}
	hold.letGo <- struct{}{}
	<-said
	p.mu.Lock()
	p.said = nil
	p.mu.Unlock()
	if got, err := p.run(t.Context(), "/move"); err != nil || got != "moved" {
		t.Errorf("to move at rest: %q, %v", got, err)
	}
}

func TestSixteenCommandsMayWait(t *testing.T) {
	hold := newHoldTool()
	p := newWaitingProgram(t, ask, hold)
	run := make(chan error, 1)
	go func() { run <- p.Prompt(context.Background(), agent.Prompt{Text: "tool"}) }()
	<-hold.runs
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { _ = p.driver.Run(ctx, agent.Prompt{Text: "/ask x", Source: "interactive"}) })
	}
	until(t, func() bool { return p.Pending() == 16 })
	if got, err := p.run(t.Context(), "/ask x"); err != nil || got != "nil: 16 commands wait for a prompt already" {
		t.Errorf("the 17th: %q, %v", got, err)
	}
	cancel()
	all.Wait()
	hold.letGo <- struct{}{}
	<-run
}

// A front end that runs a command before it is through with the prompt of another one.
func TestPromptsNestFourDeep(t *testing.T) {
	p := newWaitingProgram(t, ask)
	depth, deepest := 0, ""
	p.driver.Await = func(ctx context.Context, in agent.Prompt) error {
		err := p.Prompt(ctx, in)
		if depth++; depth < 10 {
			got, _ := p.run(ctx, "/ask x")
			deepest = cmp.Or(deepest, got)
		}
		return err
	}
	_, err := p.run(t.Context(), "/ask x")
	if err != nil || depth != 4 || !strings.Contains(deepest, "4 commands wait for a prompt inside of each other already") {
		t.Errorf("%d deep, %q, %v", depth, deepest, err)
	}
}

func TestOnlyCommandsWaitForPrompts(t *testing.T) {
	p := newWaitingProgram(t, `
		pi.on("agent_settled", function(_, ctx)
			local ok, message = pcall(ctx.prompt, "x")
			pi.state.event = message
		end)
		pi.command("told", { handler = function() return { status = pi.state.event } end })
		pi.command("wrong", { handler = function(ctx) ctx.prompt("x", { expnad = true }) end })`)
	mustDo(t, p.Prompt(t.Context(), agent.Prompt{Text: "hello"}))
	until(t, func() bool {
		got, _ := p.run(t.Context(), "/told")
		return strings.Contains(got, "prompt: only in commands and shortcuts")
	})
	if _, err := p.run(t.Context(), "/wrong"); err == nil || !strings.Contains(err.Error(), `did you mean "expand"`) {
		t.Errorf("an option that there is not: %v", err)
	}
}

func TestOnlyTemplatesAndSkillsAreExpanded(t *testing.T) {
	p := newWaitingProgram(t, `
		pi.command("ask", { handler = function(ctx)
			local r = assert(ctx.prompt(ctx.args_raw, { expand = true }))
			return { status = r.messages[2].content[1].text }
		end })
		pi.command("secret", { handler = function() pi.state.ran = true end })`)
	p.rig.chain.opts.Commands = nil
	for line, want := range map[string]string{"/ask /secret": "re /secret", "/ask /no such": "re /no such", "/ask plain": "re plain"} {
		if got, err := p.run(t.Context(), line); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
}

func TestAShortcutWaitsForAPromptToo(t *testing.T) {
	p := newWaitingProgram(t, `
		pi.shortcut("f5", { handler = function(ctx) return { status = assert(ctx.prompt("hello")).outcome } end })`)
	key := p.rig.chain.Shortcuts()[0]
	err := p.driver.Do(t.Context(), "", func(ctx context.Context) (command.Outcome, error) {
		return key.Run(p.CommandContext(ctx, agent.Prompt{Source: "interactive"}))
	})
	if got := strings.Join(p.said, ","); err != nil || got != "completed" {
		t.Errorf("said %q, %v", got, err)
	}
}
