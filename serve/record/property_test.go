package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// pairs follows records and says where one has no partner. What it allows is what every
// prefix of a stream may have.
type pairs struct {
	run, turn  bool
	message    *header // that is open
	blocks     map[int]bool
	calls      map[string]bool
	compacting bool
	retrying   bool
	said       json.RawMessage
	added      []json.RawMessage
}

// header is what the test reads of a message.
type header struct {
	Role      string
	Timestamp int64
}

type wire struct {
	Type                  string
	Message               json.RawMessage
	Messages, ToolResults []json.RawMessage
	AssistantMessageEvent struct {
		Type         string
		ContentIndex int
	}
	ToolCallID   string
	Reason       string
	ErrorMessage string
	WillRetry    bool
}

// add checks the next record.
func (p *pairs) add(record []byte) error {
	var r wire
	if err := json.Unmarshal(record, &r); err != nil {
		return err
	}
	switch r.Type {
	case "agent_start", "agent_end", "agent_settled", "turn_start", "turn_end":
		return p.addLimit(r)
	case "message_start", "message_end":
		return p.addMessage(r)
	case "message_update":
		return p.addUpdate(r.AssistantMessageEvent.Type, r.AssistantMessageEvent.ContentIndex)
	case "tool_execution_start":
		p.calls[r.ToolCallID] = true
	case "tool_execution_update", "tool_execution_end":
		if !p.calls[r.ToolCallID] {
			return fmt.Errorf("call %s does not run", r.ToolCallID)
		}
		if r.Type == "tool_execution_end" {
			delete(p.calls, r.ToolCallID)
		}
	case "compaction_start", "compaction_end":
		isSecond := r.Reason == agent.CompactOverflow && r.ErrorMessage != "" && !p.compacting && r.Type == "compaction_end"
		if p.compacting != (r.Type == "compaction_end") && !isSecond {
			return fmt.Errorf("compacting is %v", p.compacting)
		}
		p.compacting = r.Type == "compaction_start"
	case "auto_retry_start", "auto_retry_end":
		if p.run && r.Type == "auto_retry_start" || !p.retrying && r.Type == "auto_retry_end" {
			return fmt.Errorf("in a run: %v, retrying: %v", p.run, p.retrying)
		}
		p.retrying = r.Type == "auto_retry_start"
	}
	return nil
}

// addLimit checks the beginning or the end of a run or a turn.
func (p *pairs) addLimit(r wire) error {
	want := [2]bool{r.Type != "agent_start" && r.Type != "agent_settled", r.Type == "turn_end"}
	if got := [2]bool{p.run, p.turn}; got != want || p.message != nil {
		return fmt.Errorf("in run, in turn %v; in message %+v", got, p.message)
	}
	switch r.Type {
	case "agent_start":
		p.run, p.added = true, nil
	case "turn_start":
		p.turn, p.said = true, nil
	case "turn_end":
		p.turn = false
		if p.said != nil && string(p.said) != string(r.Message) {
			return fmt.Errorf("the turn has %s, the answer was %s", r.Message, p.said)
		}
		if n := len(p.added) - len(r.ToolResults); n < 0 || !slices.EqualFunc(r.ToolResults, p.added[n:], func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			return fmt.Errorf("the results are not the last messages")
		}
	case "agent_end":
		p.run = false
		if !slices.EqualFunc(r.Messages, p.added, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			return fmt.Errorf("the run has %s, there were %s", r.Messages, p.added)
		}
	}
	return nil
}

// addMessage checks the beginning or the end of a message.
func (p *pairs) addMessage(r wire) error {
	var h header
	if err := json.Unmarshal(r.Message, &h); err != nil {
		return err
	}
	if r.Type == "message_start" {
		if p.message != nil || h.Role == "assistant" && (!p.turn || p.said != nil) || h.Role == "toolResult" && !p.turn {
			return fmt.Errorf("%s in turn %v, behind %+v", h.Role, p.turn, p.message)
		}
		p.message, p.blocks = &h, map[int]bool{}
		return nil
	}
	if p.message == nil || *p.message != h {
		return fmt.Errorf("%+v ends %+v", h, p.message)
	}
	p.message, p.added = nil, append(p.added, r.Message)
	if h.Role == "assistant" {
		p.said = r.Message
	}
	return nil
}

// addUpdate checks a piece of an answer: blocks begin and end once.
func (p *pairs) addUpdate(kind string, index int) error {
	if p.message == nil || p.message.Role != "assistant" {
		return fmt.Errorf("outside of an answer")
	}
	open, seen := p.blocks[index]
	switch kind[len(kind)-3:] {
	case "art":
		if seen {
			return fmt.Errorf("block %d begins again", index)
		}
		p.blocks[index] = true
	case "end":
		if !open {
			return fmt.Errorf("block %d is not open", index)
		}
		p.blocks[index] = false
	default:
		if !seen {
			return fmt.Errorf("block %d has not begun", index)
		}
	}
	return nil
}

// runner plays an agent that does something else each time.
type runner struct {
	*rand.Rand
	t      *testing.T
	handle func(agent.Event)
	time   int64
	ids    int
}

// one calls one of the functions.
func (r *runner) one(all ...func()) { all[r.IntN(len(all))]() }

// maybe calls f in one of n cases.
func (r *runner) maybe(n int, f func()) {
	if r.IntN(n) == 0 {
		f()
	}
}

// aside does what may come at any time.
func (r *runner) aside() {
	r.maybe(4, func() {
		r.one(
			func() { r.handle(&agent.QueueChanged{Steering: []string{"x"}}) },
			func() { r.handle(&agent.HookFailed{Path: "/x"}) },
			func() { r.handle(in(custom("aside"))) },
			func() { r.handle(&agent.ThinkingLevelSelect{Level: "low"}) },
			func() { r.handle(entry(r.t, session.TypeCustom, session.Custom{CustomType: "x"})) },
		)
	})
}

// message returns an answer at its present time.
func (r *runner) message(reason message.StopReason, blocks ...message.Block) *message.Message {
	m := said(reason, "", blocks...)
	r.time++
	m.Timestamp = r.time
	return m
}

// stream plays deltas of an answer, which it returns as far as that has come.
func (r *runner) stream() {
	r.handle(&agent.MessageStart{Message: r.message("")})
	for i := range r.IntN(4) {
		for range 1 + r.IntN(3) {
			r.one(
				func() { r.handle(delta(llm.DeltaText, 2*i, "x")) },
				func() { r.handle(delta(llm.DeltaKind(llm.DeltaStop), 0, "")) },
				func() { r.handle(callDelta(2*i+1, fmt.Sprint(i), "{")) },
			)
			r.aside()
		}
	}
}

// end plays the end of an answer, and the start of it if that was not before.
func (r *runner) end(m *message.Message, started bool) {
	r.endUnstored(m, started)
	r.aside()
	r.handle(in(m))
}

func (r *runner) endUnstored(m *message.Message, started bool) {
	if !started {
		r.handle(&agent.MessageStart{Message: m})
	}
	r.handle(&agent.MessageEnd{Message: m})
}

// answer plays one answer until it is stored, with what may fail before.
func (r *runner) answer() *message.Message {
	for {
		failed := r.message(message.StopError)
		streamed := r.IntN(2) == 0
		if streamed {
			r.stream()
		}
		switch r.IntN(6) {
		case 0:
			r.handle(&agent.AutoRetryStart{Attempt: 1, ErrorMessage: "bad", Failed: failed})
			r.aside()
			cancelled := r.IntN(3) == 0
			r.handle(&agent.AutoRetryWaited{Cancelled: cancelled})
			m := r.message(message.StopEnd)
			if cancelled {
				m = r.message(message.StopAborted)
			}
			again := !cancelled && r.IntN(2) == 0
			if again {
				r.stream()
			}
			r.end(m, again || cancelled && streamed)
			r.handle(&agent.AutoRetryEnd{Success: !cancelled, Attempt: 1})
			return m
		case 1:
			r.end(failed, streamed)
			r.handle(&agent.CompactionStart{Reason: agent.CompactOverflow, Failed: failed})
			r.aside()
			again := r.IntN(2) == 0
			e := &agent.CompactionEnd{Reason: agent.CompactOverflow, WillRetry: again, ErrorMessage: "no"}
			if again {
				e.Done = &agent.Compacted{}
			}
			r.handle(e)
			if !again {
				return failed
			}
		case 2:
			r.end(r.message(message.StopAborted), streamed)
			r.maybe(2, func() { r.handle(in(custom("no"))) })
		case 3:
			r.endUnstored(failed, streamed)
			r.maybe(2, func() { r.handle(in(failed)) }) // else it could not be stored
			return failed
		default:
			m := r.message(message.StopEnd)
			r.end(m, streamed)
			return m
		}
	}
}

// turn plays one turn.
func (r *runner) turn() {
	r.handle(&agent.TurnStart{})
	for range r.IntN(3) {
		r.handle(in(user("x")))
	}
	r.maybe(3, func() {
		r.handle(&agent.CompactionStart{Reason: agent.CompactThreshold})
		r.aside()
		r.handle(&agent.CompactionEnd{Reason: agent.CompactThreshold, Aborted: true})
	})
	m := r.answer()
	var results []*message.Message
	if !isFailed(m) {
		for range r.IntN(3) {
			r.ids++
			id := fmt.Sprint("c", r.ids)
			r.handle(&agent.ToolExecutionStart{ID: id})
			r.aside()
			r.handle(&agent.ToolExecutionUpdate{ID: id})
			r.handle(&agent.ToolExecutionEnd{ID: id})
			r.handle(&agent.ToolExecutionUpdate{ID: id})
			results = append(results, resultOf(id))
			r.handle(in(results[len(results)-1]))
		}
	}
	r.aside()
	r.handle(&agent.TurnEnd{Message: m, ToolResults: results})
	r.aside()
}

func TestEveryPrefixOfARunIsPaired(t *testing.T) {
	for seed := range uint64(1000) {
		p := &pairs{calls: map[string]bool{}}
		var last []byte
		var seen []string
		tr := NewTranslator(func(record []byte) {
			seen = append(seen, string(record))
			if err := p.add(record); err != nil {
				for _, line := range seen {
					t.Log(line)
				}
				t.Fatalf("seed %d: %s: %v", seed, record, err)
			}
			last = append(last[:0], record...)
		})
		r := &runner{Rand: rand.New(rand.NewPCG(seed, 1)), t: t, handle: tr.Handle}
		for range 3 {
			r.aside()
			r.handle(&agent.AgentStart{})
			for range r.IntN(4) {
				r.turn()
			}
			r.maybe(4, func() { r.handle(&agent.TurnStart{}) }) // it fails before its request
			r.handle(&agent.AgentEnd{})
			r.handle(&agent.AgentSettled{})
			if p.run || p.turn || p.message != nil || p.retrying || string(last) != `{"type":"agent_settled","aborted":false}` {
				t.Fatalf("seed %d: at the end %+v, %s", seed, p, last)
			}
		}
	}
}
