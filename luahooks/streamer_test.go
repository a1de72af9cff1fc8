package luahooks

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/session/message"
)

// answering plays a stream of answers.
type answering struct {
	r    *rig
	ctx  context.Context // of the answer
	text string
	stop func(*agent.Abort)
}

// delta streams a piece of text and returns the abort that came with it.
func (a *answering) delta(text string) *agent.Abort {
	a.r.t.Helper()
	a.text += text
	return a.handle(llm.Delta{Kind: llm.DeltaText, Text: text})
}

// end ends the answer.
func (a *answering) end() *agent.Abort {
	a.r.t.Helper()
	defer func() { a.text = "" }()
	return a.handle(llm.Delta{Kind: llm.DeltaStop})
}

func (a *answering) handle(d llm.Delta) *agent.Abort {
	a.r.t.Helper()
	e := agent.NewMessageUpdate(d, func() *message.Message {
		return &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock(a.text)}}
	}, a.stop)
	mustDo(a.r.t, a.r.chain.Handle(cmp.Or(a.ctx, context.Background()), e))
	return e.Abort
}

const hears = `pi.on("message_update", function(e) pi.state[#pi.state + 1] = e.delta.type .. e.delta.index .. e.delta.text end)
	pi.on("input", function() return { text = table.concat(pi.state, " ") } end)`

func TestQuickHandlersHearEachDeltaInOrder(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": hears}, patient)
	a := &answering{r: r}
	var want []string
	for i := range 100 {
		a.delta(fmt.Sprint(i))
		want = append(want, fmt.Sprintf("text0%d", i))
	}
	a.handle(llm.Delta{Kind: llm.DeltaThinking, Index: 1, Text: "t"})
	a.handle(llm.Delta{Kind: llm.DeltaToolCall, Index: 2, Text: "{"})
	a.end()
	heard := r.input("")
	// On a machine that is busy elsewhere some may have been joined; nothing is
	// lost, and the order stays.
	digits := func(s string) string { return strings.NewReplacer("text0", "", " ", "").Replace(s) }
	if got := digits(heard); got != digits(strings.Join(append(want, "thinking1t", "tool_call2{"), " ")) {
		t.Errorf("heard %q", heard)
	}
}

func TestAQuickAbortStopsTheAnswerAtItsDelta(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("message_update", function(e) if e.message.content[1].text:find("TODO") then return { abort = { reason = "rule", inject = "no TODOs" } } end end)`,
		"b.lua": hears,
	}, patient)
	a := &answering{r: r}
	for _, text := range []string{"fine ", "TO", "D"} {
		if abort := a.delta(text); abort != nil {
			t.Fatalf("aborted at %q", text)
		}
	}
	abort := a.delta("O")
	if abort == nil {
		abort = a.end() // the machine was busy
	}
	if abort == nil || *abort != (agent.Abort{Reason: "rule", Inject: "no TODOs", By: "a"}) {
		t.Fatalf("abort is %+v", abort)
	}
	a.text = ""
	if abort := a.delta("again"); abort != nil {
		t.Error("the abort of one answer stopped the next")
	}
	r.mustBeQuiet()
}

func TestABusyHookDoesNotHoldTheStreamAndHearsTheRestJoined(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `local n = 0
			pi.on("message_update", function(e, ctx)
				n = n + 1
				if n == 1 then ctx.ui.confirm("slow") end
				pi.state[#pi.state + 1] = e.delta.type .. ":" .. e.delta.text .. "/" .. e.message.content[1].text
			end)
			pi.on("input", function() return { text = table.concat(pi.state, " ") } end)`,
		"b.lua": `pi.on("message_update", function(e) pi.send(e.delta.text) end)`,
	})
	asked, answer := r.ui.dialogs()
	a := &answering{r: r}
	a.delta("x")
	<-asked
	began := time.Now()
	for range 50 {
		a.delta("y")
	}
	a.handle(llm.Delta{Kind: llm.DeltaThinking, Text: "t"})
	a.delta("z")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the stream was held for %v", took)
	}
	go func() { answer <- true }()
	a.end()
	ys := strings.Repeat("y", 50)
	if got, want := r.input(""), "text:x/x text:"+ys+"/x"+ys+" thinking:t/x"+ys+" text:z/x"+ys+"z"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	if got := strings.ReplaceAll(r.host.texts(), " ", ""); got != "x"+ys+"tz" {
		t.Errorf("the other hook heard %q", got)
	}
}

func TestALateAbortIsNotLostWhenTheStreamHasEnded(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("message_update", function(e, ctx)
		if ctx.ui.confirm("stop?") then return { abort = { reason = "late" } } end end)`})
	asked, answer := r.ui.dialogs()
	stopped := make(chan *agent.Abort, 1) // the way of an abort that comes just before the end
	a := &answering{r: r, stop: func(abort *agent.Abort) { stopped <- abort }}
	if a.delta("x") != nil {
		t.Fatal("nobody has answered yet")
	}
	<-asked
	go func() { answer <- true }()
	abort := a.end()
	select {
	case abort = <-stopped:
	default:
	}
	if abort == nil || abort.Reason != "late" || abort.Inject != "" {
		t.Errorf("abort is %+v", abort)
	}
}

func TestALateAbortStopsAStreamInWhichNothingComes(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("message_update", function(e, ctx)
		if ctx.ui.confirm("stop?") then return { abort = { reason = "late" } } end end)`})
	asked, answer := r.ui.dialogs()
	stopped := make(chan *agent.Abort, 1)
	a := &answering{r: r, stop: func(abort *agent.Abort) { stopped <- abort }}
	if a.delta("x") != nil {
		t.Fatal("nobody has answered yet")
	}
	<-asked
	answer <- true
	if abort := <-stopped; abort.By != "a" || abort.Reason != "late" {
		t.Errorf("abort is %+v", abort)
	}
}

func TestAnAnswerThatWasStoppedElsewhereLeavesNothingForTheNext(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("message_update", function(e, ctx)
		pi.send(e.delta.text)
		if e.delta.text == "first" and ctx.ui.confirm("stop?") then return { abort = {} } end end)`})
	asked, answer := r.ui.dialogs()
	stop := func(*agent.Abort) { t.Error("the second answer was stopped") }
	a := &answering{r: r, ctx: context.WithValue(t.Context(), answerKey{}, 1), stop: stop}
	a.delta("first")
	<-asked
	a.handle(llm.Delta{Kind: llm.DeltaThinking, Text: "lost"})
	a.ctx = context.WithValue(t.Context(), answerKey{}, 2)
	a.delta("second")
	answer <- true
	if a.end() != nil {
		t.Error("the second answer was aborted")
	}
	if got := r.host.texts(); got != "first second" {
		t.Errorf("heard %q", got)
	}
}

type answerKey struct{}

func TestAnAbortThatComesAfterItsAnswerIsOverStopsNoOther(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("message_update", function(e, ctx)
		if e.delta.text == "first" then ctx.ui.confirm("slow") return { abort = {} } end end)`},
		func(o *Options) { o.Timeout = 50 * time.Millisecond })
	asked, answer := r.ui.dialogs()
	a := &answering{r: r}
	a.delta("first")
	<-asked
	if a.end() != nil { // nobody answers in time
		t.Fatal("aborted")
	}
	answer <- true
	for range 20 {
		if abort := a.delta("second"); abort != nil {
			t.Fatalf("the second answer was aborted: %+v", abort)
		}
	}
	if a.end() != nil {
		t.Error("the second answer was aborted")
	}
}

func TestOfTwoAbortsTheFirstHookInTheChainCounts(t *testing.T) {
	abort := `pi.on("message_update", function(e) return { abort = { reason = pi.hook.name } } end)`
	r := newRig(t, map[string]string{"a.lua": abort, "b.lua": abort}, patient)
	a := &answering{r: r}
	got := a.delta("x")
	if got == nil {
		got = a.end()
	}
	if got == nil || got.Reason != "a" {
		t.Errorf("abort is %+v", got)
	}
}

func TestAnInterruptEndsHandlersOfAStream(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("message_update", function(e, ctx) ctx.ui.confirm("never") end)`})
	ended := make(chan struct{})
	r.ui.ask = func(ctx context.Context, _, _ string) (string, bool, error) {
		<-ctx.Done()
		close(ended)
		return "", false, ctx.Err()
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := agent.NewMessageUpdate(llm.Delta{Kind: llm.DeltaText, Text: "x"}, func() *message.Message { return &message.Message{} }, nil)
	mustDo(t, r.chain.Handle(ctx, e))
	cancel()
	<-ended
	r.mustBeQuiet()
}

func TestAFailingHandlerOfAStreamIsReportedAndTheRestComes(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("message_update", function(e) if e.delta.text == "bad" then error("broken") end pi.send(e.delta.text) end)`}, patient)
	a := &answering{r: r}
	a.delta("one")
	a.end()
	a.delta("bad")
	a.end()
	a.delta("two")
	a.end()
	r.mustSay("hook a: message_update:", "a.lua:1: broken")
	if got := r.host.texts(); got != "one two" {
		t.Errorf("heard %q", got)
	}
}

// BenchmarkStream is one delta to a hook that looks at it.
func BenchmarkStream(b *testing.B) {
	r := newRig(b, map[string]string{"a.lua": `pi.on("message_update", function(e) if e.delta.text == "x" then return end end)`})
	m := &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("x")}}
	b.ReportAllocs()
	for b.Loop() {
		r.emit(agent.NewMessageUpdate(llm.Delta{Kind: llm.DeltaText, Text: "x"}, func() *message.Message { return m }, nil))
	}
}
