package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session"
	"pi/session/message"
)

// errSeen ends a request whose body was seen.
var errSeen = errors.New("seen")

// bodyOf is what a client would send.
func bodyOf(client llm.Provider, r *llm.Request) (body []byte) {
	seen := *r
	seen.Body = func(_ context.Context, b []byte) ([]byte, error) {
		body = b
		return nil, errSeen
	}
	for _, err := range client.Stream(context.Background(), &seen) {
		if body == nil {
			panic(err)
		}
	}
	return body
}

// journey is a session to which everything happens that changes what a request says.
type journey struct {
	*rand.Rand
	t       testing.TB
	session *session.Session
	view    session.View
	models  []*llm.Model
	request llm.Request
	aside   bool // a hook adds something at the end of this request
}

func newJourney(t testing.TB, seed uint64, models []*llm.Model) *journey {
	j := &journey{Rand: rand.New(rand.NewPCG(seed, 7)), t: t, session: session.New(session.Options{}), models: models}
	j.request = llm.Request{Model: models[0], System: "be nice", SessionID: j.session.ID(), APIKey: "k"}
	j.add(&message.Message{Role: message.RoleUser, Content: j.shown()})
	return j
}

func (j *journey) add(m *message.Message) {
	if _, err := j.session.AppendMessage(m); err != nil {
		j.t.Fatal(err)
	}
}

func (j *journey) append(typ string, fields any) {
	if _, err := j.session.Append(typ, fields); err != nil {
		j.t.Fatal(err)
	}
}

// shown is content of a user or a tool.
func (j *journey) shown() []message.Block {
	blocks := []message.Block{message.TextBlock(fmt.Sprintf("<w%d> & é", j.IntN(1000)))}
	if j.IntN(4) == 0 {
		blocks = append(blocks, message.Block{Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"})
	}
	return blocks[j.IntN(len(blocks)):]
}

// turn adds an answer and most results of its calls, and by chance what was steered.
func (j *journey) turn() {
	m := &message.Message{Role: message.RoleAssistant, API: j.request.Model.API, Provider: j.request.Model.Provider, Model: j.request.Model.ID}
	for range 1 + j.IntN(4) {
		m.Content = append(m.Content, wiretest.PlannedBlock(byte(j.IntN(256))))
	}
	j.add(m)
	for _, call := range m.ToolCalls() {
		if j.IntN(6) > 0 {
			j.add(&message.Message{Role: message.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name, Content: j.shown(), IsError: j.IntN(4) == 0})
		}
	}
	if len(m.ToolCalls()) == 0 || j.IntN(5) == 0 {
		j.add(&message.Message{Role: message.RoleUser, Content: j.shown()})
	}
}

// some returns a message of the branch, of a role.
func (j *journey) some(roles ...message.Role) *session.Entry {
	var all []*session.Entry
	for _, e := range j.session.Branch() {
		for _, role := range roles {
			if m := e.Message(); m != nil && m.Role == role {
				all = append(all, e)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[j.IntN(len(all))]
}

// step does the next thing.
func (j *journey) step() {
	switch r := &j.request; j.IntN(48) {
	case 0:
		r.Model = j.models[j.IntN(len(j.models))]
	case 1:
		if e := j.some(message.RoleUser, message.RoleToolResult, message.RoleAssistant); e != nil {
			j.append(session.TypeContextEdit, session.ContextEdit{TargetID: e.ID, Replacement: &session.Replacement{Content: j.shown()[:1]}})
		}
	case 2:
		if e := j.some(message.RoleUser, message.RoleAssistant); e != nil {
			j.append(session.TypeCompaction, session.Compaction{Summary: "what was", FirstKeptEntryID: e.ID})
		}
	case 3:
		r.Thinking = []string{"", "off", "low", "high"}[j.IntN(4)]
	case 4:
		r.System = []string{"", "be nice", "be terse"}[j.IntN(3)]
	case 5:
		r.Tools = []llm.ToolSpec{{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "ls", Description: fmt.Sprint(j.IntN(3))}}[:j.IntN(3)]
	case 6:
		j.aside = true
	case 7: // the same request once more
	case 8:
		if r.Refused = nil; j.IntN(2) == 0 {
			r.Refused = map[llm.Thought]bool{{Signature: "c2ln", Text: "hm"}: true, {Signature: "c2ln"}: true}
		}
	default:
		j.turn()
	}
}

// next is the request that is sent now.
func (j *journey) next() *llm.Request {
	r := j.request
	r.Messages = j.view.ForModel(j.view.Context(j.session))
	if j.aside {
		r.Messages = append(r.Messages, &message.Message{Role: message.RoleUser, Content: j.shown()})
		j.aside = false
	}
	return &r
}

// families are models of one API, and their client.
func families() map[string][]party {
	of := map[string][]party{}
	for _, p := range parties() {
		of[p.model.API] = append(of[p.model.API], p)
	}
	for _, newer := range []string{"claude-haiku-5-5", "claude-sonnet-5-5"} { // whose thoughts do not always go along
		plain := of["anthropic-messages"][0]
		plain.model.ID = newer
		of["anthropic-messages"] = append(of["anthropic-messages"], plain)
	}
	return of
}

// TestWhatIsKeptOfARequestChangesNoByteOfTheNext holds it for conversations that share a
// client at the same time.
func TestWhatIsKeptOfARequestChangesNoByteOfTheNext(t *testing.T) {
	conversations, steps := uint64(5), 120
	if raceEnabled {
		conversations, steps = 3, 40
	}
	for api, all := range families() {
		t.Run(api, func(t *testing.T) {
			var models []*llm.Model
			for i := range all {
				m := all[i].model
				m.BaseURL = "http://model.test"
				m.Compat = map[string]any{"prompt_cache_key": false}
				models = append(models, &m)
				blind := m
				blind.Input, blind.Reasoning = []string{"text"}, false
				blind.Compat = map[string]any{"prompt_cache_key": false, "message_ids": true, "strict": true, "assistant_after_tools": true}
				models = append(models, &blind)
			}
			shared := all[0].client(nil)
			var talking sync.WaitGroup
			for seed := range conversations {
				j := newJourney(t, seed, models)
				talking.Go(func() {
					for n := range steps {
						r := j.next()
						whole := *r
						whole.SessionID = "" // nothing is kept of it
						got, want := bodyOf(shared, r), bodyOf(shared, &whole)
						if !bytes.Equal(got, want) {
							t.Errorf("conversation %d, request %d:\n%s\nas a whole\n%s", seed, n, got, want)
							return
						}
						j.step()
					}
				})
			}
			talking.Wait()
		})
	}
}

// long is a request of a conversation of so many turns.
func long(m *llm.Model, turns int) *llm.Request {
	said := []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("go")}}}
	for n := range turns {
		id := fmt.Sprint("call_", n)
		said = append(said, &message.Message{Role: message.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID,
			Content: []message.Block{message.TextBlock("on"), {Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a.go"}`)}}},
			&message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "read", Content: []message.Block{message.TextBlock(strings.Repeat("\tline := \"of text\"\n", 10))}})
	}
	return &llm.Request{Model: m, System: "be nice", SessionID: "s", APIKey: "k", Messages: said,
		Tools: []llm.ToolSpec{{Name: "read", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}}
}

// TestARequestCostsWhatItAdds counts the memory that is asked for, turn by turn: a turn
// behind many others asks for no more than one behind a few.
func TestARequestCostsWhatItAdds(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates as well")
	}
	for _, p := range parties() {
		t.Run(p.name, func(t *testing.T) {
			m := p.model
			m.BaseURL = "http://model.test"
			cost := func(turns int) float64 {
				client, r := p.client(nil), long(&m, turns+20)
				sent := *r
				n := len(r.Messages) - 40
				sent.Messages = r.Messages[:n]
				bodyOf(client, &sent)
				return testing.AllocsPerRun(15, func() {
					n += 2
					sent.Messages = r.Messages[:n]
					bodyOf(client, &sent)
				})
			}
			few, many := cost(20), cost(400)
			if many > few*1.2+20 {
				t.Errorf("%.0f allocations behind 20 turns, %.0f behind 400", few, many)
			}
		})
	}
}

// BenchmarkNextRequest is the request of a turn, from the messages to the bytes.
func BenchmarkNextRequest(b *testing.B) {
	for _, p := range parties() {
		for _, turns := range []int{20, 200, 600} {
			b.Run(fmt.Sprintf("%s/%d", p.name, turns), func(b *testing.B) {
				m := p.model
				m.BaseURL = "http://model.test"
				const rounds = 50
				all := long(&m, turns+rounds)
				var client llm.Provider
				round := rounds
				for b.Loop() {
					sent := *all
					if round == rounds {
						b.StopTimer()
						client, round = p.client(nil), 0
						sent.Messages = all.Messages[:1+2*turns]
						bodyOf(client, &sent)
						b.StartTimer()
					}
					round++
					sent.Messages = all.Messages[:1+2*(turns+round)]
					bodyOf(client, &sent)
				}
			})
		}
	}
}

// TestTheMessagesOfAClosedSessionAreFreed while the client may still have what it wrote.
func TestTheMessagesOfAClosedSessionAreFreed(t *testing.T) {
	for _, p := range parties() {
		m := p.model
		m.BaseURL = "http://model.test"
		client, r := p.client(nil), long(&m, 20)
		bodyOf(client, r)
		first := weak.Make(r.Messages[0])
		r = nil
		runtime.GC()
		if first.Value() != nil {
			t.Errorf("%s: the first message is still there", p.name)
		}
		runtime.KeepAlive(client)
	}
}
