package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/internal/testing/slowmodel"
	"pi/luahooks/api"
	"pi/session"
)

// parent is a run whose hooks may use agents, and the model that all of them ask.
type parent struct {
	*run
	model *slowmodel.Server
}

// openParent opens a run in a place with these settings, beside those of the model, and hooks.
func openParent(t testing.TB, o Options, settings string, hooks map[string]string) parent {
	t.Helper()
	model, err := slowmodel.Listen()
	if err != nil {
		t.Fatal(err)
	}
	p := place(t, o, hooks)
	writePrompt(t, filepath.Join(p.AgentDir, "config.toml"), model.Settings("10ms")+"\n"+settings)
	if p, err = New(o, p.Cwd); err != nil {
		t.Fatal(err)
	}
	r, f := p.newRun(), new(watching)
	if err := r.open(t.Context(), front{f, f}, "print", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(context.Background()); err != nil {
			t.Error(err)
		}
		_ = model.Close()
	})
	return parent{r, model}
}

// next returns the next request of whoever asks.
func (p parent) next(t testing.TB) *slowmodel.Turn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	turn, err := p.model.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// answer answers the next request with words, and returns what it was.
func (p parent) answer(t testing.TB, words string) slowmodel.Request {
	t.Helper()
	turn := p.next(t)
	turn.Text(words)
	turn.End()
	return turn.Request
}

// start has a hook start an agent.
func (p parent) start(t testing.TB, request api.AgentRequest) api.Child {
	t.Helper()
	c, err := p.agents().Start(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ended waits for what comes of an agent.
func ended(t testing.TB, c api.Child) api.AgentResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := c.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// askedTools are the names of the tools in a request.
func askedTools(t testing.TB, r slowmodel.Request) (names []string) {
	t.Helper()
	var body struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, tool := range body.Tools {
		names = append(names, tool.Function.Name)
	}
	return names
}

func TestAChildAnswersAPrompt(t *testing.T) {
	p := openParent(t, Options{}, "", nil)
	c := p.start(t, api.AgentRequest{Prompt: "how many?", SystemPrompt: "You count."})
	asked := p.answer(t, "seven")
	if system := asked.Of("system"); len(system) != 1 || !strings.HasPrefix(system[0].Text(), "You count.\n\nTools:") || asked.Last() != "how many?" {
		t.Errorf("it was asked %s", asked.Body)
	}
	if got := ended(t, c); got.Text != "seven" || got.StopReason != "completed" || len(got.Messages) != 2 || got.SessionFile != "" || got.Usage.Output == 0 {
		t.Errorf("it came to %+v", got)
	}
	for _, e := range p.agent.Session().Branch() {
		if e.Type != session.TypeUsage {
			t.Errorf("the session of the parent has an entry %s", e.Type)
		}
	}
}

func TestAChildHasTheActiveToolsOfItsParentAndNoOthers(t *testing.T) {
	for _, c := range []struct {
		settings string
		request  api.AgentRequest
		want     string
	}{
		{"", api.AgentRequest{}, "read bash edit write grep find ls"},
		{"[tools]\nactive = [\"read\", \"ls\"]\n", api.AgentRequest{}, "read ls"},
		{"", api.AgentRequest{HasTools: true, Tools: []string{"write", "read"}}, "read write"},
		{"", api.AgentRequest{HasTools: true}, ""},
		{"[tools]\nactive = [\"read\"]\n", api.AgentRequest{HasTools: true, Tools: []string{"bash", "read"}}, "read"},
	} {
		p := openParent(t, Options{}, c.settings, nil)
		c.request.Prompt = "go"
		child := p.start(t, c.request)
		if got := strings.Join(askedTools(t, p.answer(t, "done")), " "); got != c.want {
			t.Errorf("%v of %q: %s, want %s", c.request.Tools, c.settings, got, c.want)
		}
		ended(t, child)
	}
}

func TestAChildAnswersByASchemaWithinThreeTries(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	words := func(turn *slowmodel.Turn) { turn.Text("it is 7") }
	wrong := func(turn *slowmodel.Turn) { turn.Call("c", "final_answer", "n", "many") }
	right := func(turn *slowmodel.Turn) { turn.Begin("c", "final_answer"); turn.Arguments(`{"n":7}`) }
	for _, c := range []struct {
		schema  json.RawMessage
		answers []func(*slowmodel.Turn)
		value   string
		last    string // why the last try does not fit; "": it does
	}{
		{schema, []func(*slowmodel.Turn){right}, `{"n":7}`, ""},
		{schema, []func(*slowmodel.Turn){words, wrong, right}, `{"n":7}`, ""},
		{schema, []func(*slowmodel.Turn){words, wrong, words}, ``, "the model answered in words"},
		{schema, []func(*slowmodel.Turn){wrong, wrong, wrong}, ``, "invalid arguments: /n: expected integer, got string"},
		{json.RawMessage(`{"type":"array"}`), []func(*slowmodel.Turn){func(turn *slowmodel.Turn) {
			turn.Begin("c", "final_answer")
			turn.Arguments(`{"answer":[1,2]}`)
		}}, `[1,2]`, ""},
	} {
		p := openParent(t, Options{}, "", nil)
		child := p.start(t, api.AgentRequest{Prompt: "how many?", Schema: c.schema, HasTools: true, Tools: []string{"read"}})
		for _, answer := range c.answers {
			turn := p.next(t)
			if got := strings.Join(askedTools(t, turn.Request), " "); got != "read final_answer" {
				t.Errorf("its tools are %s", got)
			}
			answer(turn)
			turn.End()
		}
		got := ended(t, child)
		if string(got.Value) != c.value || (got.StopReason == "completed") != (c.value != "") || c.last != "" && got.Error != (&noAnswerError{c.last}).Error() {
			t.Errorf("after %d answers: %s, %s %s", len(c.answers), got.Value, got.StopReason, got.Error)
		}
	}
}

func TestWhatCannotBeIsSaidBeforeAChildBegins(t *testing.T) {
	p := openParent(t, Options{}, "[tools]\nconfine = true\n", nil)
	outside := filepath.Dir(p.place.Cwd)
	if err := os.Symlink(outside, filepath.Join(p.place.Cwd, "out")); err != nil {
		t.Fatal(err)
	}
	for want, request := range map[string]api.AgentRequest{
		`no tool "bsh", did you mean "bash"?`: {HasTools: true, Tools: []string{"bsh"}},
		`model: `:                             {Model: "nowhere/none"},
		`thinking`:                            {Thinking: "deep"},
		`lies outside of`:                     {Cwd: outside},
		`cwd: `:                               {Cwd: filepath.Join(outside, "none")},
		`outside`:                             {Cwd: filepath.Join(p.place.Cwd, "out")},
		`schema: `:                            {Schema: json.RawMessage(`{"type":7}`)},
	} {
		request.Prompt = "go"
		if _, err := p.agents().Start(t.Context(), request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", request, err, want)
		}
	}
}

func TestAChildIsSteered(t *testing.T) {
	p := openParent(t, Options{}, "", nil)
	c := p.start(t, api.AgentRequest{Prompt: "go"})
	turn := p.next(t)
	if err := c.Steer(t.Context(), "the other way"); err != nil {
		t.Fatal(err)
	}
	turn.Call("c", "ls")
	turn.End()
	if asked := p.answer(t, "gone"); asked.Last() != "the other way" {
		t.Errorf("behind the call it was asked %s", asked.Body)
	}
	ended(t, c)
	if err := c.Steer(t.Context(), "too late"); err == nil {
		t.Error("one that has ended was steered")
	}
}

func TestAChildEndsAtItsTime(t *testing.T) {
	p := openParent(t, Options{}, "", nil)
	c := p.start(t, api.AgentRequest{Prompt: "go", Timeout: time.Millisecond})
	if got := ended(t, c); got.StopReason != "timeout" || !strings.Contains(got.Error, "1ms") {
		t.Errorf("it ended as %s: %s", got.StopReason, got.Error)
	}
}

// Its time is also that in the queue: whoever waits for it has no more.
func TestAChildEndsAtItsTimeInTheQueue(t *testing.T) {
	p := openParent(t, Options{}, "[agents]\nmax = 1\n", nil)
	first := p.start(t, api.AgentRequest{Prompt: "go"})
	turn := p.next(t)
	c := p.start(t, api.AgentRequest{Prompt: "go", Timeout: time.Millisecond})
	if got := ended(t, c); got.StopReason != "timeout" {
		t.Errorf("it ended as %s: %s", got.StopReason, got.Error)
	}
	turn.Text("done")
	turn.End()
	ended(t, first)
}

// A handler of child_start ends with the child that it keeps from its work.
func TestAChildEndsWhileHooksAreToldOfIt(t *testing.T) {
	p := openParent(t, Options{}, "", map[string]string{"slow.lua": `
		pi.on("child_start", function() require("pi.fs").write("told", "") pi.promise().wait() end)`})
	c := p.start(t, api.AgentRequest{Prompt: "go"})
	for !exists(filepath.Join(p.place.Cwd, "told")) {
		time.Sleep(5 * time.Millisecond)
	}
	c.Abort()
	if got := ended(t, c); got.StopReason != "aborted" {
		t.Errorf("it ended as %s: %s", got.StopReason, got.Error)
	}
}

func TestAChildEndsAtItsTurns(t *testing.T) {
	p := openParent(t, Options{}, "", nil)
	c := p.start(t, api.AgentRequest{Prompt: "go", MaxTurns: 2})
	for range 2 {
		turn := p.next(t)
		turn.Call("c", "ls")
		turn.End()
	}
	if got := ended(t, c); got.StopReason != "limit" || got.Error == "" {
		t.Errorf("it ended as %s: %s", got.StopReason, got.Error)
	}
}

// The turns of a child are those of all its prompts: what its hooks submit begins no new count.
func TestWhatHooksSubmitInAChildIsWithinItsTurns(t *testing.T) {
	p := openParent(t, Options{}, "", map[string]string{"more.lua": `
		pi.command("more", { handler = function() pi.send_user_message("more") end })
		pi.on("before_agent_start", function(_, ctx) if ctx.agent then pi.send_user_message("/more", { expand = true }) end end)`})
	c := p.start(t, api.AgentRequest{Prompt: "go", MaxTurns: 2})
	for _, want := range []string{"go", "more"} {
		if got := p.answer(t, "done").Last(); got != want {
			t.Errorf("it was asked %q, want %q", got, want)
		}
	}
	if got := ended(t, c); got.StopReason != "limit" || len(got.Messages) != 4 {
		t.Errorf("it ended as %s with %d messages", got.StopReason, len(got.Messages))
	}
}

// What steers a child before the model is asked, while hooks look at its prompt, comes behind that.
func TestAChildIsSteeredWhileHooksLookAtItsPrompt(t *testing.T) {
	p := openParent(t, Options{}, "", map[string]string{"slow.lua": `
		local fs = require "pi.fs"
		pi.on("input", function(e, ctx)
			if not ctx.agent or e.text ~= "go" then return end
			fs.write("looks", "")
			repeat pi.sleep(5) until fs.exists("seen")
		end)`})
	c := p.start(t, api.AgentRequest{Prompt: "go"})
	for !exists(filepath.Join(p.place.Cwd, "looks")) {
		time.Sleep(5 * time.Millisecond)
	}
	if err := c.Steer(t.Context(), "the other way"); err != nil {
		t.Error(err)
	}
	writePrompt(t, filepath.Join(p.place.Cwd, "seen"), "")
	for _, want := range []string{"go", "the other way"} {
		if got := p.answer(t, "done").Last(); got != want {
			t.Errorf("it was asked %q, want %q", got, want)
		}
	}
	if got := ended(t, c); got.StopReason != "completed" {
		t.Errorf("it ended as %s: %s", got.StopReason, got.Error)
	}
	if err := c.Steer(t.Context(), "too late"); err == nil {
		t.Error("one that has ended was steered")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Hooks in a child have commands run as in any session, but none that takes it elsewhere, or does what
// only the user does.
func TestCommandsOfTheUserAreNoneOfAChild(t *testing.T) {
	p := openParent(t, Options{}, "", map[string]string{"run.lua": `
		pi.command("own", { handler = function() pi.send_user_message("last") end })
		pi.on("before_agent_start", function(e, ctx)
			if ctx.agent and e.prompt:sub(1, 1) ~= "l" then pi.send_user_message(e.prompt, { expand = true }) end
		end)`})
	for _, name := range []string{"mcp", "agents", "hooks disable run", "settings", "new", "mode", "resume x", "tools", "undo"} {
		c := p.start(t, api.AgentRequest{Prompt: "/" + name})
		p.answer(t, "first")
		if got, want := ended(t, c), "in a child: it is for the session of the user"; got.StopReason != "error" || !strings.HasSuffix(got.Error, want) {
			t.Errorf("/%s ended as %s: %s", name, got.StopReason, got.Error)
		}
	}
	for _, name := range []string{"own", "name x"} {
		c := p.start(t, api.AgentRequest{Prompt: "/" + name})
		p.answer(t, "first")
		if name == "own" {
			p.answer(t, "second")
		}
		if got := ended(t, c); got.StopReason != "completed" {
			t.Errorf("/%s ended as %s: %s", name, got.StopReason, got.Error)
		}
	}
}

func TestAChildGoesOnFromTheLastRequestOfItsParent(t *testing.T) {
	p := openParent(t, Options{}, "", map[string]string{"mark.lua": `
		pi.on("context", function(e) e.messages[1].content = "MARKED" return { messages = e.messages } end)
		pi.on("before_agent_start", function(e) return { system_prompt = e.system_prompt .. " More." } end)`})
	if _, err := p.agents().Start(t.Context(), api.AgentRequest{Prompt: "too early", FromParent: true}); err == nil {
		t.Error("it goes on from nothing")
	}
	done := make(chan error, 1)
	go func() { done <- p.agent.Prompt(t.Context(), agent.Prompt{Text: "look"}) }()
	turn := p.next(t)
	turn.Call("c1", "ls")
	turn.End()
	last := p.answer(t, "I have seen it").Body
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p.agent.SetTools(p.agent.Tools()[:1], "") // what was sent stays, and is refused
	for _, keep := range []bool{false, true} {
		c := p.start(t, api.AgentRequest{Prompt: "what did you see?", FromParent: true, Keep: keep})
		turn := p.next(t)
		begin, _, _ := strings.Cut(string(last), `],"tools"`)
		if behind, ok := strings.CutPrefix(string(turn.Request.Body), begin); !ok || strings.Count(behind, `"role"`) != 2 || turn.Request.Last() != "what did you see?" {
			t.Errorf("after\n%s\nit was asked\n%s", last, turn.Request.Body)
		}
		turn.Call("c2", "bash", "command", "touch out")
		turn.End()
		if r := p.answer(t, "nothing"); !r.Answered() || !strings.Contains(r.Messages[len(r.Messages)-1].Text(), "may not be used here") {
			t.Errorf("the call came to %s", r.Body)
		}
		r := ended(t, c)
		if r.Text != "nothing" || len(r.Messages) != 4 || r.Usage.Output > 10 || (r.SessionFile != "") != keep {
			t.Errorf("it came to %+v", r)
		}
	}
}

func TestTheAnswerIsReadFromTheWordsOfOneThatGoesOn(t *testing.T) {
	p := openParent(t, Options{}, "", nil)
	done := make(chan error, 1)
	go func() { done <- p.agent.Prompt(t.Context(), agent.Prompt{Text: "look"}) }()
	p.answer(t, "seen")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	for _, words := range [][]string{{"```json\n{\"n\":7}\n```"}, {"seven", "{}", `{"n":7}`}, {"seven", "7", "{}"}} {
		c := p.start(t, api.AgentRequest{Prompt: "how many?", FromParent: true, Schema: schema})
		for i, text := range words {
			asked := p.answer(t, text)
			if i == 0 && !strings.Contains(asked.Last(), string(schema)) {
				t.Errorf("it was asked %q", asked.Last())
			}
		}
		got, fits := ended(t, c), words[len(words)-1] != "{}"
		if (string(got.Value) == `{"n":7}`) != fits || (got.StopReason == "completed") != fits {
			t.Errorf("%q came to %s, %s %s", words, got.Value, got.StopReason, got.Error)
		}
	}
}

// The provider's cache is of use: each request of a child begins with the one before, and children of
// one agent begin with the same tools and system prompt.
func TestRequestsOfChildrenBeginAlike(t *testing.T) {
	p := openParent(t, Options{}, "", map[string]string{"tool.lua": `pi.tool{ name = "mine", description = "of a hook", execute = function() return "well" end }`})
	heads := map[string]bool{}
	for _, prompt := range []string{"one", "two", "three"} {
		c := p.start(t, api.AgentRequest{Prompt: prompt, SystemPrompt: "You look.", HasTools: true, Tools: []string{"ls", "mine"}})
		before := ""
		for n := range 6 {
			turn := p.next(t)
			body := string(turn.Request.Body)
			said, rest, ok := strings.Cut(body, `],"tools"`)
			if !ok || !strings.HasPrefix(said, before) {
				t.Fatalf("request %d of %s\n%s\ndoes not begin with\n%s", n, prompt, body, before)
			}
			head, _, _ := strings.Cut(said, prompt)
			heads[head+rest], before = true, said
			switch {
			case n == 5:
				turn.Text("done")
			case n%2 == 0:
				turn.Call("c", "mine")
			default:
				turn.Call("d", "ls", "path", ".")
			}
			turn.End()
		}
		ended(t, c)
	}
	if len(heads) != 1 {
		t.Errorf("%d ways to begin", len(heads))
	}
}
