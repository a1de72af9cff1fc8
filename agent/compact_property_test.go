package agent

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

var compactedTalks = flag.Int("talks", 12, "how many random conversations go through compactions")

// talker is a model with a window of its own, and a user and tools to go with
// it. Everything that is said begins with a mark; a summary consists of the marks
// that its request had. So whatever was said once has to stand in each later
// request, itself or in a summary.
type talker struct {
	t      *testing.T
	window int // tokens
	silent bool

	mu       sync.Mutex
	r        *rand.Rand
	marks    int
	said     map[string]bool // true: in the session
	requests int             // of the conversation
	asked    int             // for summaries
	alone    int             // automatic compactions since the last good answer
	broken   bool            // a summary failed since then
	done     map[string]int  // compactions by reason
}

var markIn = regexp.MustCompile(`<\d+>`)

// mark begins a new thing that is said.
func (k *talker) mark() string {
	k.marks++
	m := fmt.Sprintf("<%d>", k.marks)
	k.said[m] = true
	return m
}

func (k *talker) words(chars int) string { return k.mark() + strings.Repeat("w", k.r.IntN(chars+1)) }

// dropped are answers that a hook takes out of the context: every seventh.
func dropped(m *message.Message) bool {
	mark := markIn.FindString(m.Text())
	return m.Role == message.RoleAssistant && len(m.ToolCalls()) == 0 && strings.HasSuffix(mark, "7>")
}

func (k *talker) reply(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size, text := 0, ""
	for _, m := range r.Messages {
		size += compaction.EstimateTokens(m)
		text += line(m) + "\n"
	}
	if size > k.window {
		yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Message: "too long", Overflow: true})
		return
	}
	if strings.HasPrefix(r.System, "You write notes for a coding agent") {
		k.summarize(text, yield)
		return
	}
	k.requests++
	k.check(r, text)
	k.answer(size, yield)
}

// summarize answers with the marks of a request; now and then it fails.
func (k *talker) summarize(text string, yield func(llm.Delta, error) bool) {
	k.asked++
	if k.silent {
		k.t.Error("a summary was asked for")
	}
	marks := slices.Compact(slices.Sorted(slices.Values(markIn.FindAllString(text, -1))))
	if k.r.IntN(12) == 0 {
		k.broken = true
		yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Message: "no power"})
		return
	}
	_ = yield(llm.Delta{Kind: llm.DeltaText, Text: "notes of " + strings.Join(marks, "")}, nil) &&
		yield(stop(message.StopEnd), nil)
}

// check: all that was said is in the request, and each call has its result.
func (k *talker) check(r *llm.Request, text string) {
	has := map[string]bool{}
	for _, m := range markIn.FindAllString(text, -1) {
		has[m] = true
	}
	for m, in := range k.said {
		if in && !has[m] {
			k.t.Errorf("request %d: %s is lost", k.requests, m)
		}
	}
	open := map[string]bool{}
	for _, m := range r.Messages {
		if m.Role != message.RoleToolResult && len(open) > 0 {
			k.t.Errorf("request %d: calls without a result: %v", k.requests, open)
		}
		if m.Role == message.RoleToolResult && (!open[m.ToolCallID] || m.Text() == "interrupted") {
			k.t.Errorf("request %d: result %s without its call or lost: %q", k.requests, m.ToolCallID, m.Text())
		}
		delete(open, m.ToolCallID)
		for _, c := range m.ToolCalls() {
			open[c.ID] = true
		}
	}
}

// answer says something or calls tools, and counts what it got.
func (k *talker) answer(size int, yield func(llm.Delta, error) bool) {
	k.alone, k.broken = 0, false
	m := &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock(k.words(1500))}}
	ds := []llm.Delta{text(m.Text())}
	reason := message.StopEnd
	if k.r.IntN(3) > 0 {
		var calls []call
		for i := range 1 + k.r.IntN(3) {
			calls = append(calls, call{fmt.Sprintf("c%d.%d", k.marks, i), "dig", "{}"})
		}
		ds, reason = append(ds, callDeltas(calls...)...), message.StopToolUse
	} else if dropped(m) {
		k.said[markIn.FindString(m.Text())] = false
	}
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: size, Output: compaction.EstimateTokens(m)}}
	for _, d := range append(ds, usage, stop(reason)) {
		if !yield(d, nil) {
			return
		}
	}
}

// dig finds little, or a lot.
func (k *talker) dig(context.Context) (Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	chars := 2000
	if k.r.IntN(5) == 0 {
		chars = 60000
	}
	return TextResult(k.words(chars)), nil
}

// begun counts compactions: of those that nobody asked for there is one between
// two answers at most.
func (k *talker) begun(e *CompactionStart) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.Auto {
		return
	}
	k.done[e.Reason]++
	if e.Reason != CompactManual {
		if k.alone++; k.alone > 1 {
			k.t.Errorf("%d automatic compactions without an answer", k.alone)
		}
	}
}

// begins makes the agent. It knows the window of the model, or learns it.
func (k *talker) begins(settings CompactionSettings, knows, hooks bool) *harness {
	o := Options{Settings: Settings{Compaction: settings}, Tools: []Tool{tool("dig", k.dig)}}
	o.Listeners = []Listener{listener{KindCompactionStart: func(_ context.Context, e Event) error { k.begun(e.(*CompactionStart)); return nil }}}
	if hooks {
		o.Listeners = append(o.Listeners, on(func(e *Context) {
			e.Items = slices.DeleteFunc(slices.Clone(e.Items), func(it session.Item) bool { return dropped(it.Message) })
		}))
	}
	r := newHarness(k.t, o, slices.Repeat([]reply{k.reply}, 5000)...)
	if knows {
		r.Model().ContextWindow = k.window
	}
	return r
}

func newTalker(t *testing.T, seed uint64) *talker {
	r := rand.New(rand.NewPCG(seed, 2))
	return &talker{t: t, r: r, window: 6000 + r.IntN(20000), said: map[string]bool{}, done: map[string]int{}}
}

// prompt says something; what the user adds comes back as an answer.
func (k *talker) prompt(r *harness) error {
	k.mu.Lock()
	words := k.words(1000)
	k.mu.Unlock()
	return r.Prompt(k.t.Context(), Prompt{Text: words})
}

func TestAConversationSurvivesItsCompactions(t *testing.T) {
	total := map[string]int{}
	for seed := range uint64(*compactedTalks) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			k := newTalker(t, seed)
			knows, hooks := seed%4 != 0, seed%3 == 0
			r := k.begins(CompactionSettings{Enabled: true, ReserveTokens: 4096, KeepRecentTokens: 3000}, knows, hooks)
			for range 15 {
				err := k.prompt(r)
				if err != nil && !k.broken {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if err != nil || k.r.IntN(5) == 0 {
					k.ask(r)
				}
				if t.Failed() {
					t.Fatalf("seed %d: a window of %d tokens", seed, k.window)
				}
			}
			k.survives(r)
			for reason, n := range k.done {
				total[reason] += n
			}
		})
	}
	for _, reason := range []string{CompactManual, CompactThreshold, CompactOverflow} {
		if total[reason] == 0 {
			t.Errorf("no compaction for the reason %s in %v", reason, total)
		}
	}
}

// ask is /compact: afterwards there is no more than is to be kept and to be free,
// unless that failed.
func (k *talker) ask(r *harness) {
	before := r.meter.tokensOf(r.Context(k.t.Context()))
	done, err := r.Compact(k.t.Context(), CompactOptions{})
	after := r.meter.tokensOf(r.Seen())
	limits := r.Settings().Compaction.Within(k.window)
	switch {
	case err != nil && after != before:
		k.t.Errorf("a compaction that failed (%v) leaves %d of %d tokens", err, after, before)
	case err == nil && (after >= limits.KeepRecentTokens+limits.ReserveTokens || done.After != after):
		k.t.Errorf("%d of %d tokens are left, %d are told", after, before, done.After)
	}
}

// survives: whoever opens the file has the same context, and each summary is
// there.
func (k *talker) survives(r *harness) {
	seen := show(k.t, r.Session())
	file := r.Session().File()
	again, err := session.Read(file)
	if err != nil {
		k.t.Fatal(err)
	}
	if got := show(k.t, again); got != seen {
		k.t.Errorf("after opening the context is\n%s\nit was\n%s", got, seen)
	}
}

func show(t *testing.T, s *session.Session) string {
	t.Helper()
	b, err := json.Marshal(session.ForModel(s.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCompactionThatIsOffAsksNobody(t *testing.T) {
	for seed := range uint64(5) {
		k := newTalker(t, seed)
		k.silent = true
		r := k.begins(CompactionSettings{ReserveTokens: 4096, KeepRecentTokens: 3000}, true, false)
		full := false
		for range 30 {
			if err := k.prompt(r); err != nil {
				full = strings.Contains(err.Error(), "too long")
				break
			}
		}
		if !full || k.asked > 0 || len(k.done) > 0 {
			t.Errorf("seed %d: full %v, %d summaries asked for, compactions %v", seed, full, k.asked, k.done)
		}
	}
}

// Hooks may add messages at any moment, also while a summary is planned, written
// or stored.
func TestWhatIsSaidWhileACompactionGoesOnIsNotLost(t *testing.T) {
	for seed := range uint64(4) {
		k := newTalker(t, seed)
		r := k.begins(CompactionSettings{Enabled: true, ReserveTokens: 4096, KeepRecentTokens: 3000}, true, seed%2 == 0)
		for range 10 {
			if err := k.prompt(r); err != nil && !k.broken {
				t.Fatal(err)
			}
			said := make(chan []string)
			go func() { said <- k.chat(r) }()
			// Whether the prompt's own compaction left anything depends on who is first.
			_, err := r.Compact(t.Context(), CompactOptions{})
			if err != nil && !errors.Is(err, compaction.ErrNothingToCompact) && !k.broken {
				t.Error(err)
			}
			marks := <-said
			k.mu.Lock()
			for _, m := range marks {
				k.said[m] = true
			}
			k.mu.Unlock()
		}
		_ = k.prompt(r)
	}
}

// chat adds messages to the session and returns their marks.
func (k *talker) chat(r *harness) (marks []string) {
	for range 20 {
		k.mu.Lock()
		k.marks++
		m := fmt.Sprintf("<%d>", k.marks)
		k.mu.Unlock()
		note := &message.Message{Role: message.RoleCustom, CustomType: "note", Content: []message.Block{message.TextBlock(m)}}
		if err := r.SendCustom(k.t.Context(), Prompt{Custom: note}, DeliverSteer, false); err != nil {
			k.t.Error(err)
		}
		marks = append(marks, m)
	}
	return marks
}
