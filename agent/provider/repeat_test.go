package provider_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session"
	"pi/session/message"
)

// conversations returns the recordings that belong together, in their order.
func conversations(folders []wiretest.Folder) [][]*wiretest.Folder {
	var all [][]*wiretest.Folder
	at := map[string]int{}
	for i := range folders {
		f := &folders[i]
		if f.Turns < 2 || f.Status != http.StatusOK {
			continue // a request that was refused is sent again as it is
		}
		if _, ok := at[f.Source.Path]; !ok {
			at[f.Source.Path] = len(all)
			all = append(all, nil)
		}
		all[at[f.Source.Path]] = append(all[at[f.Source.Path]], f)
	}
	for _, c := range all {
		slices.SortFunc(c, func(a, b *wiretest.Folder) int { return a.Turn - b.Turn })
	}
	return all
}

// repeat holds a recorded conversation again: our client decodes the recorded
// answers, and its requests have to carry what the recorded ones did. What tools
// and people said is taken from the recorded requests.
func repeat(t *testing.T, c []*wiretest.Folder, table *table) row {
	talk := newTalk(t, c)
	r := row{}
	for i, f := range c {
		body, answer := talk.ask(f)
		if i > 0 {
			ours, theirs := carried(t, f.API, body), carried(t, f.API, f.Request)
			match := talk.compare(ours, theirs)
			for _, miss := range match.misses {
				t.Errorf("the request of turn %d: %s", f.Turn, miss)
			}
			if len(match.misses) > 0 {
				t.Logf("ours:\n%s\nrecorded:\n%s", shown(ours), shown(theirs))
				r.misses++
			} else {
				r.repeated++
			}
			r.thoughts, r.kept = r.thoughts+match.thoughts, r.kept+match.kept
			table.judged(f, match.rules)
		}
		if i+1 < len(c) {
			talk.goOn(f, answer, c[i+1])
		}
	}
	return r
}

// talk is a conversation that is held again.
type talk struct {
	*testing.T
	session *session.Session
	model   *llm.Model
	ids     []string // of the calls so far, in the session
	wire    []string // and on the wire; "" where there is none
	failed  []int    // before which pieces there was an answer that is no part of our conversation
}

func newTalk(t *testing.T, c []*wiretest.Folder) *talk {
	talk := &talk{T: t, session: session.New(session.Options{}),
		model: &llm.Model{Provider: c[0].Provider, ID: c[0].Model, API: wiretest.APIName(c[0].API), BaseURL: "http://model.test", Reasoning: true}}
	talk.tell(normal(carried(t, c[0].API, c[0].Request)))
	return talk
}

func carried(t *testing.T, api string, body []byte) []wiretest.Piece {
	t.Helper()
	pieces, err := wiretest.Carried(api, body)
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

// ask sends what was said so far, and returns the request and what our client
// makes of the recorded answer.
func (t *talk) ask(f *wiretest.Folder) ([]byte, wiretest.Answer) {
	var body []byte
	r := &llm.Request{
		Model: t.model, APIKey: "test-key-0123456789", Messages: session.ForModel(t.session.Context()),
		Body: func(_ context.Context, b []byte) ([]byte, error) { body = b; return b, nil },
	}
	c := client(t.T, f.API)(f.Client(func() io.Reader { return bytes.NewReader(f.Body) }))
	answer := wiretest.Collect(c.Stream(context.Background(), r))
	if err := demands(f)(body); err != nil {
		t.Errorf("the request of turn %d: %v", f.Turn, err)
	}
	return body, answer
}

// demands are what a strict server of the API refuses.
func demands(f *wiretest.Folder) func([]byte) error {
	switch {
	case f.API == "anthropic-messages":
		return wiretest.CheckMessages
	case f.API == "openai-responses":
		return wiretest.CheckResponses
	case strings.HasPrefix(f.Model, "gemini-3"):
		return wiretest.CheckSignedGemini
	case f.API == "google-generative":
		return wiretest.CheckGemini
	}
	return wiretest.CheckChat
}

// goOn adds an answer, and what the recorded request behind it says further.
func (t *talk) goOn(f *wiretest.Folder, a wiretest.Answer, next *wiretest.Folder) {
	before, now := said(carried(t.T, f.API, f.Request)), said(carried(t.T, next.API, next.Request))
	if len(now) < len(before) || !slices.EqualFunc(before, now[:len(before)], func(a, b wiretest.Piece) bool { return a.Text == b.Text && a.Kind == b.Kind }) {
		t.Fatalf("%s does not go on from %s", next.ID, f.ID)
	}
	rest := now[len(before):]
	if a.Err == nil {
		for len(rest) > 0 && (rest[0].Kind == wiretest.PieceText || rest[0].Kind == wiretest.PieceCall) {
			rest = rest[1:]
		}
		t.add(&message.Message{Role: message.RoleAssistant, API: t.model.API, Provider: t.model.Provider, Model: t.model.ID, Content: a.Content, StopReason: a.Stop.Reason})
		if len(a.Calls()) != len(f.Expected.ToolCalls) {
			t.Fatalf("%s has other calls than expected: %s", f.ID, a)
		}
		for i, call := range f.Expected.ToolCalls {
			if call.ID != nil {
				t.wire[len(t.wire)-len(f.Expected.ToolCalls)+i] = *call.ID
			}
		}
	} else { // we would ask again; the recording client made an answer of what it had
		t.failed = append(t.failed, len(before))
	}
	t.tell(rest)
}

// said is what people, models and tools said: all but thoughts.
func said(pieces []wiretest.Piece) []wiretest.Piece {
	return slices.DeleteFunc(normal(pieces), func(p wiretest.Piece) bool { return p.Kind == wiretest.PieceThought })
}

// tell adds messages that carry the pieces.
func (t *talk) tell(pieces []wiretest.Piece) {
	for _, p := range pieces {
		switch block := message.TextBlock(p.Text); p.Kind {
		case wiretest.PieceUser:
			t.add(&message.Message{Role: message.RoleUser, Content: []message.Block{block}})
		case wiretest.PieceResult:
			var n int
			if _, err := fmt.Sscan(p.ID, &n); err != nil || n >= len(t.ids) {
				t.Fatalf("the result %+v has no call", p)
			}
			t.add(&message.Message{Role: message.RoleToolResult, ToolCallID: t.ids[n], ToolName: p.Name, IsError: p.Failed, Content: []message.Block{block}})
		case wiretest.PieceText, wiretest.PieceCall:
			if p.Kind == wiretest.PieceCall {
				block = message.Block{Type: message.BlockToolCall, ID: fmt.Sprintf("recorded_%d", len(t.ids)), Name: p.Name, Arguments: []byte(p.Text)}
			}
			t.add(&message.Message{Role: message.RoleAssistant, API: t.model.API, Provider: t.model.Provider, Model: t.model.ID, Content: []message.Block{block}})
		default:
			t.Fatalf("a recorded request holds %+v", p)
		}
	}
}

func (t *talk) add(m *message.Message) {
	if _, err := t.session.AppendMessage(m); err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Content {
		if b.Type == message.BlockToolCall {
			t.ids, t.wire = append(t.ids, b.ID), append(t.wire, "")
		}
	}
}

// normal puts pieces into a form in which those of different clients can be
// compared:
//
//   - the system prompt is another one, and what tools of the provider did is not
//     asked for by us, so it does not go back;
//   - a text of blanks says nothing, and a text in pieces is one text; but a part
//     with a signature stays what it is;
//   - calls are numbered, and results have the number of their call: what counts
//     is which belongs to which. Where a result names no call it is that of the
//     first call of its tool that has none;
//   - a thought that a client wrote into the text, in tags, is a thought.
func normal(pieces []wiretest.Piece) []wiretest.Piece {
	var out []wiretest.Piece
	calls := numbers{}
	for _, p := range pieces {
		switch p.Kind {
		case wiretest.PieceSystem, wiretest.PieceServer:
			continue
		case wiretest.PieceCall:
			p.ID = calls.call(p)
		case wiretest.PieceResult:
			p.ID, p.Name = calls.result(p)
		case wiretest.PieceUser, wiretest.PieceText:
			if thought, ok := strings.CutPrefix(p.Text, "<think>\n"); ok && p.Kind == wiretest.PieceText {
				thought, p.Text, _ = strings.Cut(thought, "\n</think>")
				out = append(out, wiretest.Piece{Kind: wiretest.PieceThought, Name: inTags, Text: thought})
			}
			if strings.TrimSpace(p.Text) == "" && p.Opaque == "" {
				continue
			}
			if n := len(out); n > 0 && out[n-1].Kind == p.Kind && out[n-1].Opaque == "" && p.Opaque == "" {
				out[n-1].Text += p.Text
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// inTags is the name of thoughts that stand in the text.
const inTags = "tags"

// numbers numbers the calls of a request.
type numbers struct{ open, done []wiretest.Piece }

func (n *numbers) call(p wiretest.Piece) string {
	number := fmt.Sprint(len(n.open) + len(n.done))
	n.open = append(n.open, wiretest.Piece{ID: p.ID, Name: p.Name, Text: number})
	return number
}

func (n *numbers) result(p wiretest.Piece) (number, tool string) {
	for i, call := range n.open {
		if p.ID != "" && p.ID == call.ID || p.ID == "" && p.Name == call.Name {
			n.open = slices.Delete(n.open, i, i+1)
			n.done = append(n.done, call)
			return call.Text, call.Name
		}
	}
	return "of no call", p.Name
}

// matched is what a comparison found.
type matched struct {
	misses, rules  []string
	thoughts, kept int
}

// rule notes why a difference is none.
func (m *matched) rule(why string) { m.rules = append(m.rules, why) }

func (m *matched) miss(format string, args ...any) {
	m.misses = append(m.misses, fmt.Sprintf(format, args...))
}

// compare looks for all that theirs carries in ours.
func (t *talk) compare(ours, theirs []wiretest.Piece) *matched {
	a, b := split(ours), split(theirs)
	m := &matched{}
	m.ids(ours, t.wire)
	m.said(a.said, b.said)
	own := t.ownThoughts(b.thoughts)
	if len(own) < len(b.thoughts) {
		m.rule("next request: an answer that failed is asked for again, not thought on")
	}
	m.thought(a.thoughts, own)
	return m
}

// ownThoughts leaves out those of answers that are not in our conversation.
func (t *talk) ownThoughts(thoughts []thought) []thought {
	return slices.DeleteFunc(slices.Clone(thoughts), func(h thought) bool { return slices.Contains(t.failed, h.before) })
}

// ids holds that calls go back under the ids they came with. Where an id came a
// second time, all that counts is that the calls can be told apart. APIs whose
// calls have no id need none.
func (m *matched) ids(ours []wiretest.Piece, wire []string) {
	seen := map[string]bool{}
	n := 0
	for _, p := range ours {
		if p.Kind != wiretest.PieceCall {
			continue
		}
		if n < len(wire) && wire[n] != "" && p.ID != wire[n] && !slices.Contains(wire[:n], wire[n]) {
			m.miss("call %d has the id %q; want %q", n, p.ID, wire[n])
		}
		if p.ID != "" && seen[p.ID] {
			m.miss("the id %q stands there twice", p.ID)
		}
		seen[p.ID] = true
		n++
	}
}

// thought is one that stands before the n-th other piece.
type thought struct {
	wiretest.Piece
	before int
}

type splitted struct {
	said     []wiretest.Piece
	thoughts []thought
}

func split(pieces []wiretest.Piece) splitted {
	var s splitted
	for _, p := range normal(pieces) {
		if p.Kind == wiretest.PieceThought {
			s.thoughts = append(s.thoughts, thought{p, len(s.said)})
		} else {
			s.said = append(s.said, p)
		}
	}
	return s
}

// said compares what was said, with its signatures. Text of an answer that the
// recording client lost may be there.
func (m *matched) said(ours, theirs []wiretest.Piece) {
	for i, want := range theirs {
		if len(ours) > 0 && ours[0].Kind == wiretest.PieceText && want.Kind != wiretest.PieceText {
			ours = ours[1:]
			m.kept++
			m.rule("next request: text of an answer that the recording client lost")
		}
		if len(ours) == 0 {
			m.miss("nothing more from piece %d on; want %s", i, shown(theirs[i:]))
			return
		}
		got := ours[0]
		ours = ours[1:]
		if want.Opaque != "" {
			m.thoughts++
		}
		if got != want {
			m.miss("piece %d is %s; want %s", i, shown([]wiretest.Piece{got}), shown(theirs[i:i+1]))
		}
	}
	if len(ours) > 0 {
		m.miss("there is more: %s", shown(ours))
	}
}

// thought looks for their thoughts, each in its place, under a name that they
// had there, and with the same signature.
func (m *matched) thought(ours, theirs []thought) {
	for _, group := range grouped(theirs) {
		i := slices.IndexFunc(ours, func(got thought) bool {
			return got.before == group[0].before && got.Text == group[0].Text && got.Opaque == opaqueOf(group) && m.named(got.Name, group)
		})
		if i < 0 {
			m.miss("there is no thought like %s before piece %d", shown([]wiretest.Piece{group[0].Piece}), group[0].before)
			continue
		}
		ours = slices.Delete(ours, i, i+1)
		m.thoughts++
	}
	for range ours {
		m.kept++
		m.rule("next request: a thought that the recording client lost")
	}
}

// named reports whether a thought goes back under a name that it may have.
func (m *matched) named(name string, group []thought) bool {
	if slices.ContainsFunc(group, func(h thought) bool { return h.Name == name }) {
		return true
	}
	if group[0].Name == inTags {
		m.rule("next request: a thought that the recording client wrote into the text")
		return true
	}
	return false
}

// grouped joins what is one thought that a client sent under several names.
func grouped(thoughts []thought) [][]thought {
	var groups [][]thought
	for _, h := range thoughts {
		i := slices.IndexFunc(groups, func(g []thought) bool {
			return g[0].before == h.before && g[0].Text == h.Text && h.Text != "" && !slices.ContainsFunc(g, func(q thought) bool { return q.Name == h.Name })
		})
		if i < 0 {
			groups = append(groups, []thought{h})
		} else {
			groups[i] = append(groups[i], h)
		}
	}
	return groups
}

// opaqueOf is the signature that one of the names carries.
func opaqueOf(group []thought) string {
	for _, h := range group {
		if h.Opaque != "" {
			return h.Opaque
		}
	}
	return ""
}

func shown(pieces []wiretest.Piece) string {
	var s strings.Builder
	for _, p := range pieces {
		fmt.Fprintf(&s, "%s %s %q %.300q", p.Kind, p.Name, p.ID, p.Text)
		if p.Opaque != "" {
			fmt.Fprintf(&s, " opaque %.40s… (%d)", p.Opaque, len(p.Opaque))
		}
		s.WriteString("\n")
	}
	return strings.TrimSuffix(s.String(), "\n")
}
