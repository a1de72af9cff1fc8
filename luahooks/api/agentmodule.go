package api

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/child"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// agents is pi.agent: agents that work for the hook, each in a session of its own.
type agents struct {
	*bridge
	strict *lua.LTable // the metatable of results; nil before the first; only while the VM is held
}

// functions are those of the module, for [stdlib.Env].
func (a *agents) functions() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{"run": a.vm.Func("agent.run", a.run).GFunction, "start": a.vm.Func("agent.start", a.start).GFunction}
}

// mustHave returns the agents of the session, or an error where there can be none. It raises
// where nothing of a session works.
func (a *agents) mustHave(L *lua.LState, function string) (Agents, error) {
	a.mustHost(L, function)
	if a.Agents != nil {
		if all := a.Agents(); all != nil {
			return all, nil
		}
	}
	return nil, errors.New("no other agents can be used here")
}

// errand is what a hook wants an agent for, and what it wants to hear of it.
type errand struct {
	request AgentRequest
	until   *signal        // ends it early; may be nil
	onEvent *lua.LFunction // may be nil
}

// errandOf reads the table of options of a function. Misuse raises.
func (a *agents) errandOf(L *lua.LState, function string) *errand {
	e := &errand{request: AgentRequest{Hook: a.Hook, Origin: a.errandOrigin()}}
	r := &e.request
	from, kept := "none", "none"
	var model, until lua.LValue
	var schema *lua.LTable
	var turns, cost, timeout *float64
	luavm.Unpack(L, 1, function, luavm.Opt("prompt", &r.Prompt).Required(), luavm.Opt("agent", &r.Agent), luavm.Opt("name", &r.Name),
		luavm.Opt("system_prompt", &r.SystemPrompt), luavm.Opt("model", &model), luavm.Opt("thinking", &r.Thinking), luavm.Opt("tools", &r.Tools),
		luavm.Opt("cwd", &r.Cwd), luavm.Opt("schema", &schema), luavm.Opt("context", &from), luavm.Opt("session", &kept),
		luavm.Opt("max_turns", &turns), luavm.Opt("max_cost", &cost), luavm.Opt("timeout", &timeout), luavm.Opt("signal", &until),
		luavm.Opt("on_event", &e.onEvent))
	checkOneOf(L, function, "context", from, []string{"none", "parent"})
	checkOneOf(L, function, "session", kept, []string{"none", "keep"})
	if strings.TrimSpace(r.Prompt) == "" {
		luavm.Raise(L, "%s: option \"prompt\" is empty", function)
	}
	if r.Thinking != "" && !llm.ValidThinking(r.Thinking) {
		luavm.Raise(L, "%s: unknown thinking level %q%s", function, r.Thinking, suggest.Hint(r.Thinking, llm.ThinkingLevels()))
	}
	r.Model = modelNamed(L, function, model)
	r.HasTools, r.FromParent, r.Keep = r.Tools != nil, from == "parent", kept == "keep"
	if r.Cwd != "" {
		r.Cwd = a.absolute(r.Cwd)
	}
	if schema != nil {
		r.Schema = a.schema(L, function+": schema", schema)
	}
	r.limit(L, function, turns, cost, timeoutOption(L, function, timeout))
	r.mustFitParent(L, function)
	e.until = signalOption(L, function, until)
	return e
}

// modelNamed is the option model as --model has it: a text, or a model such as ctx.model.
func modelNamed(L *lua.LState, function string, v lua.LValue) string {
	switch v := v.(type) {
	case nil, *lua.LNilType:
		return ""
	case lua.LString:
		return string(v)
	case *lua.LUserData:
		if info, ok := v.Value.(record.ModelInfo); ok {
			return info.Provider + "/" + info.ID
		}
	case *lua.LTable:
		luavm.Materialise(L, v)
		provider, isProvider := v.RawGetString("provider").(lua.LString)
		id, isID := v.RawGetString("id").(lua.LString)
		if isProvider && isID {
			return string(provider + "/" + id)
		}
	}
	luavm.Raise(L, "%s: option \"model\" must be a model such as ctx.model or \"provider/id\", not a %s", function, v.Type())
	return ""
}

// limit reads the limits of a request; a timeout that is negative was not given.
func (r *AgentRequest) limit(L *lua.LState, function string, turns, cost *float64, timeout time.Duration) {
	if turns != nil {
		if *turns != math.Trunc(*turns) || *turns < 1 || *turns > math.MaxInt32 {
			luavm.Raise(L, "%s: option \"max_turns\" must be a whole number of at least 1, not %v", function, *turns)
		}
		r.MaxTurns = int(*turns)
	}
	if cost != nil {
		if r.MaxCost = *cost; !(*cost > 0) || math.IsInf(*cost, 0) {
			luavm.Raise(L, "%s: option \"max_cost\" must be a number of dollars above 0, not %v", function, *cost)
		}
	}
	if timeout == 0 {
		luavm.Raise(L, "%s: option \"timeout\" must be positive", function)
	}
	r.Timeout = max(timeout, 0)
}

// mustFitParent raises for what goes not with the context of the parent: its request begins as the
// parent's last one does.
func (r *AgentRequest) mustFitParent(L *lua.LState, function string) {
	if !r.FromParent {
		return
	}
	for _, o := range []struct {
		name  string
		given bool
	}{{"agent", r.Agent != ""}, {"tools", r.HasTools}, {"system_prompt", r.SystemPrompt != ""}, {"model", r.Model != ""}, {"thinking", r.Thinking != ""}} {
		if o.given {
			luavm.Raise(L, "%s: option %q cannot stand beside context = \"parent\": the agent goes on from the request of this session, which has its own", function, o.name)
		}
	}
}

// run is agent.run{…} → result, or nil and a message where it did not start. It ends with the job
// that waits.
func (a *agents) run(L *lua.LState, _ lua.LValue) (lua.LValue, error) {
	all, missing := a.mustHave(L, "agent.run")
	e := a.errandOf(L, "agent.run")
	if missing != nil {
		return nil, missing
	}
	a.noteErrand()
	var result AgentResult
	err := a.wait(L, "agent.run", func(ctx context.Context) (err error) {
		result, err = a.follow(ctx, all, e)
		return err
	})
	if err != nil {
		mustNested(L, "agent.run", err)
		return nil, err
	}
	return a.resultTable(L, &result), nil
}

// follow starts an agent, and returns what came of it; the error is that it did not start, or how
// on_event failed.
func (a *agents) follow(ctx context.Context, all Agents, e *errand) (AgentResult, error) {
	inChild, giveUp := e.until.within(asErrand(ctx))
	defer giveUp()
	if inChild.Err() != nil {
		return AgentResult{}, errCancelled
	}
	if e.onEvent == nil {
		return runAgent(ctx, inChild, all, e.request)
	}
	news, ended, over := make(chan eventNews), make(chan struct{}), make(chan struct{})
	defer close(over)
	e.request.OnEvent = a.pass(news, over)
	var result AgentResult
	var failed error
	go func() {
		defer close(ended)
		result, failed = runAgent(ctx, inChild, all, e.request)
	}()
	var wrong error // of on_event
	isEnough := false
	for {
		select {
		case one := <-news:
			if !isEnough {
				var answer child.Answer
				a.atWork(ctx, 1) // the tool does more than wait meanwhile
				answer, wrong = a.jobs.nested(asOwn(ctx), "on_event", e.onEvent, one.arguments)
				a.atWork(context.WithoutCancel(ctx), -1)
				if isEnough = answer == child.Enough; isEnough {
					giveUp()
				}
			}
			close(one.handled)
		case <-ended:
			if wrong != nil {
				return AgentResult{}, wrong
			}
			return result, failed
		}
	}
}

// runAgent starts an agent that ends with inChild, and waits for it until ctx ends.
func runAgent(ctx, inChild context.Context, all Agents, r AgentRequest) (AgentResult, error) {
	one, err := all.Start(inChild, r)
	if err != nil {
		return AgentResult{}, err
	}
	return one.Wait(ctx)
}

// asErrand is the context of an agent that works for a hook, of that of the job that wants it: what
// it brings is of the hook itself, and its own jobs run inside of none.
func asErrand(ctx context.Context) context.Context { return asOwn(luavm.Apart(ctx)) }

// errandOrigin is what the job that runs has an agent asked for: in the name of who has caused it. What
// a tool wants of an agent, the model wants, and what a command of a user does, they may end.
func (a *agents) errandOrigin() agent.Origin {
	job := a.vm.Context()
	o := a.originOf(job)
	if o.Kind == agent.FromHook && (IsOfTool(job) || isOfUser(job)) {
		o.Kind = agent.FromUser
	}
	return o
}

// noteErrand notes that the job that runs has an agent work. What it sends from then on is of the hook
// itself, as after a prompt.
func (a *agents) noteErrand() {
	job := a.vm.Context()
	if c, _ := job.Value(commandKey{}).(*commandRun); c != nil {
		c.asked.Store(true)
	}
	if f, _ := job.Value(followingKey{}).(*following); f != nil {
		f.sent.Store(true)
	}
}

// eventNews is an event of an agent on its way to on_event; handled is closed by who has taken it.
type eventNews struct {
	table   func(L *lua.LState) *lua.LTable
	handled chan struct{}
}

func (n *eventNews) arguments(L *lua.LState) []lua.LValue { return []lua.LValue{n.table(L)} }

// pass returns what hands the events of an agent to news, and waits until they are handled, or over
// is closed.
func (a *agents) pass(news chan<- eventNews, over <-chan struct{}) func(context.Context, agent.Event) {
	return func(_ context.Context, e agent.Event) {
		table := a.EventTable(e)
		if table == nil {
			return
		}
		one := eventNews{table, make(chan struct{})}
		select {
		case news <- one:
		case <-over:
			return
		}
		select {
		case <-one.handled:
		case <-over:
		}
	}
}

// start is agent.start{…} → handle, or nil and a message where it did not start.
func (a *agents) start(L *lua.LState, _ lua.LValue) (lua.LValue, error) {
	all, missing := a.mustHave(L, "agent.start")
	e := a.errandOf(L, "agent.start")
	if missing != nil {
		return nil, missing
	}
	a.noteErrand()
	one := &started{agents: a, onEvent: e.onEvent}
	if e.onEvent != nil {
		e.request.OnEvent = one.tell
	}
	// A command is over while what it has started works; whatever else is interrupted takes that along.
	scope := luavm.Outermost(a.vm.Context())
	if scope.Value(commandKey{}) != nil {
		scope = nil
	}
	err := a.wait(L, "agent.start", func(ctx context.Context) error { return one.begin(ctx, scope, all, e) })
	if err != nil {
		return nil, err
	}
	return one.table(), nil
}

// started is an agent that was started, as the hook has it.
type started struct {
	*agents
	onEvent  *lua.LFunction  // may be nil
	job      context.Context // of the job that has started it, without its end
	life     context.Context
	giveUp   context.CancelFunc
	isEnough atomic.Bool // on_event has returned true

	child Child
}

// begin starts the agent in the name of a job, on a goroutine that stays until it has ended: with
// itself, the VM, the signal of the hook, or when the job of scope is stopped; scope may be nil.
func (s *started) begin(job, scope context.Context, all Agents, e *errand) error {
	began, end := make(chan error, 1), s.Clock.Begin()
	s.job = context.WithoutCancel(job)
	work := asErrand(s.job)
	work, s.giveUp = context.WithCancel(work)
	ok := s.Spawn(func(life context.Context) {
		defer end()
		defer s.giveUp()
		s.life = asOfTool(asOwn(life), job)
		defer context.AfterFunc(life, s.giveUp)()
		work, cancel := e.until.within(work)
		defer cancel()
		if scope != nil {
			work, cancel = (&signal{job: scope}).within(work)
			defer cancel()
		}
		s.work(work, all, e.request, began)
	})
	if !ok {
		end()
		s.giveUp()
		return errors.New("the hook has ended")
	}
	select {
	case err := <-began:
		return err
	case <-job.Done(): // nobody will have the handle
		s.giveUp()
		return job.Err()
	}
}

// work starts the agent, tells began how that went, and waits for its end.
func (s *started) work(ctx context.Context, all Agents, r AgentRequest, began chan<- error) {
	if ctx.Err() != nil {
		began <- errCancelled
		return
	}
	one, err := all.Start(ctx, r)
	s.child = one
	began <- err
	if err != nil {
		return
	}
	<-one.Ended()
}

type startedKey struct{}

// tell hands an event to on_event in a job of its own. The agent waits meanwhile.
func (s *started) tell(_ context.Context, e agent.Event) {
	table := s.EventTable(e)
	if table == nil || s.isEnough.Load() || s.life.Err() != nil {
		return
	}
	s.atWork(s.job, 1) // the tool that waits for the agent, if one does, is at work meanwhile
	defer s.atWork(s.job, -1)
	answer, began := new(child.Answer), time.Now() // a job that did not stop may still write it
	err := s.jobs.run(context.WithValue(s.life, startedKey{}, s), "on_event", func(L *lua.LState) error {
		*answer = answerOf(callLua(L, s.onEvent, table(L)))
		return nil
	})
	s.jobs.reportCallback(s.life, "on_event", began, err)
	if err == nil && *answer == child.Enough {
		s.isEnough.Store(true)
		s.giveUp()
	}
}

// table is the agent for Lua: {name, wait, steer, abort}.
func (s *started) table() *lua.LTable {
	return s.newTable("the agent", func() []part {
		return []part{{"name": lua.LString(s.child.Name()), "wait": s.await, "steer": s.steer, "abort": proc{s.child.Abort}}}
	})
}

// await is h.wait{timeout?, signal?}: the result once the agent has ended; or nil and "timeout" or
// "cancelled".
func (s *started) await(L *lua.LState) int {
	var ms *float64
	var until lua.LValue
	luavm.Unpack(L, 1, "wait", luavm.Opt("timeout", &ms), luavm.Opt("signal", &until))
	timeout, signal := timeoutOption(L, "wait", ms), signalOption(L, "wait", until)
	if s.vm.Context().Value(startedKey{}) == s {
		luavm.Raise(L, "wait: the agent does not end before its on_event returns")
	}
	var result AgentResult
	err := s.wait(L, "wait", func(ctx context.Context) (err error) {
		result, err = s.awaitEnd(ctx, timeout, signal)
		return err
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	return pushResult(L, s.resultTable(L, &result), nil)
}

// awaitEnd waits until the agent has ended. The error says that the time or the signal, which may be
// nil, was first, or ctx.
func (s *started) awaitEnd(ctx context.Context, timeout time.Duration, until *signal) (AgentResult, error) {
	ctx, isLate, end := s.within(ctx, timeout)
	defer end()
	ctx, cancel := until.within(ctx)
	defer cancel()
	result, err := s.child.Wait(ctx)
	if err == nil || ctx.Err() == nil {
		return result, err
	}
	select {
	case <-s.child.Ended(): // at the last moment
		return s.child.Wait(context.WithoutCancel(ctx))
	default:
	}
	if isLate() {
		return result, errTimeout
	}
	return result, errCancelled
}

// steer is h.steer(text): true, or nil and that it has ended.
func (s *started) steer(L *lua.LState, text string) error {
	if strings.TrimSpace(text) == "" {
		return luavm.Misusef("the text is empty")
	}
	o := s.errandOrigin()
	return s.wait(L, "steer", func(ctx context.Context) error { return s.child.Steer(agent.WithOrigin(luavm.Apart(ctx), o), text) })
}

// resultNames are the fields of what came of an agent.
func resultNames() []string {
	return []string{"text", "value", "messages", "usage", "stop_reason", "error", "session_file"}
}

// resultTable is what came of an agent, for Lua. r must not change any more.
func (a *agents) resultTable(L *lua.LState, r *AgentResult) *lua.LTable {
	if a.strict == nil {
		a.strict = a.vm.Strict(&luavm.Fields{Of: "what came of the agent", Names: resultNames})
	}
	t := luavm.NewRecord(L, len(resultNames()))
	luavm.Set(t, "text", lua.LString(r.Text))
	if r.Value != nil {
		luavm.Set(t, "value", a.records.JSON(r.Value))
	}
	messages := make([]*message.Message, len(r.Messages))
	for i := range r.Messages {
		messages[i] = &r.Messages[i]
	}
	luavm.Set(t, "messages", a.records.Messages(L, record.ItemsOf(messages)))
	luavm.Set(t, "usage", record.Usage(L, &r.Usage))
	luavm.Set(t, "stop_reason", lua.LString(r.StopReason))
	luavm.SetText(t, "error", r.Error)
	luavm.SetText(t, "session_file", r.SessionFile)
	t.Metatable = a.strict
	return t
}
