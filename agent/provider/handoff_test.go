package provider_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/internal/testing/wiretest"
	"pi/session"
	"pi/session/message"
)

// line is one message of a conversation that goes from model to model.
type line struct {
	who     *party // nil: a user or a tool
	said    spoken
	message *message.Message
}

// oddIDs are ids of calls in one message, as servers and hooks have made them.
var oddIDs = []string{
	"functions.add:0", strings.Repeat("x", 450), "", "twice", "twice",
	strings.Repeat("y", 64) + "1", strings.Repeat("y", 64) + "2", "call_x|fc_y", "call_x|fc_z", "名前", "0",
}

// says is the n-th answer of a party, with calls of these ids.
func (p *party) says(t *testing.T, n int, thinks bool, text string, ids ...string) line {
	s := spoken{text: text}
	if thinks {
		s.thought = fmt.Sprintf("thought %d of %s", n, p.name)
		s.signature = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "signature %d of %s", n, p.name))
		s.redacted = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "withheld %d of %s", n, p.name))
	}
	for i, id := range ids {
		s.calls = append(s.calls, spokenCall{id, []string{"look", "add"}[i%2], fmt.Sprintf(`{"n":%d%d,"half":"\ud83d","big":12345678901234567890}`, n, i)})
	}
	return line{p, s, p.decoded(t, s)}
}

func userLine(content ...message.Block) line {
	return line{message: &message.Message{Role: message.RoleUser, Content: content}}
}

func picture(n int) message.Block {
	return message.Block{Type: message.BlockImage, MimeType: "image/png", Data: base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "picture %d", n))}
}

// results answers the calls of a line: with text, an image, both, an error, and
// nothing.
func results(answer line) []line {
	var lines []line
	for i, c := range answer.message.ToolCalls() {
		m := &message.Message{Role: message.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name}
		text := message.TextBlock(fmt.Sprintf("result of %s", c.Arguments))
		switch i % 5 {
		case 0:
			m.Content = []message.Block{text}
		case 1:
			m.Content = []message.Block{picture(i)}
		case 2:
			m.Content = []message.Block{text, picture(i)}
		case 3:
			m.Content, m.IsError = []message.Block{text}, true
		}
		lines = append(lines, line{message: m})
	}
	return lines
}

// conversation has all in it that upsets servers, its answers from one party.
func conversation(t *testing.T, p *party) []line {
	look := p.says(t, 1, true, "I look \xff", oddIDs...)
	again := p.says(t, 2, false, "And again", "functions.add:0", "twice", "0")
	aborted := p.says(t, 3, false, "never to be seen")
	aborted.message.StopReason = message.StopAborted
	lines := []line{userLine(message.TextBlock("look <&> at \u2028 this"), picture(100)), look}
	lines = append(append(lines, results(look)...), again)
	lines = append(append(lines, results(again)...), aborted, userLine(message.TextBlock("go \xed\xa0\x80 on")))
	return append(lines, p.says(t, 4, true, "that is all \n\n"), userLine(message.TextBlock("thanks")))
}

// hook is a model that a hook has: its answers come as they are, not from a
// server.
func hook() *party {
	return &party{name: "hook", model: llm.Model{Provider: "mine", ID: "tour", API: "lua"}}
}

func TestASessionGoesFromEveryModelToEveryOther(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	all := parties()
	for i := range append(all, party{}) {
		from := hook()
		if i < len(all) {
			from = &all[i]
		}
		lines := conversation(t, from)
		for j := range all {
			t.Run(from.name+" to "+all[j].name, func(t *testing.T) { handOver(t, lines, &all[j]) })
		}
	}
}

func TestASessionGoesToAnotherModelOfItsProvider(t *testing.T) {
	all := parties()
	for i := range all {
		other := all[i]
		other.name += " other"
		other.model.ID += "-other"
		t.Run(other.name, func(t *testing.T) { handOver(t, conversation(t, &all[i]), &other) })
	}
}

func TestASessionComesBackToTheModelThatBeganIt(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	all := parties()
	for i := range all {
		for j := range all {
			a, b := &all[i], &all[j]
			t.Run(a.name+" to "+b.name+" and back", func(t *testing.T) {
				first, second := a.says(t, 1, true, "first", "c1", "c2"), b.says(t, 2, true, "second", "c1", "c3")
				lines := append([]line{userLine(message.TextBlock("go")), first}, results(first)...)
				lines = append(append(lines, second), results(second)...)
				handOver(t, append(lines, a.says(t, 3, true, "third"), userLine(message.TextBlock("on"))), a)
			})
		}
	}
}

// handOver sends a conversation, as long as it was at each of its turns, to a
// party's strict server.
func handOver(t *testing.T, lines []line, to *party) {
	server := wiretest.Strict(t, to.check, to.answer(spoken{text: "taken"}))
	var before []byte
	for n := 1; n <= len(lines); n++ {
		last := lines[n-1].message
		if n < len(lines) && last.Role == lines[n].message.Role || last.StopReason == message.StopAborted {
			continue // the other results of a turn are still to come
		}
		body := send(t, to, server, lines[:n], nil)
		check(t, to, lines[:n], body, true)
		if last.Role == message.RoleAssistant {
			continue // blanks at its end go only if it is the last
		}
		if list := listOf(t, body); !bytes.HasPrefix(list, bytes.TrimRight(before, "]}")) {
			t.Fatalf("the first %d messages begin otherwise than those before:\n%s\n%s", n, list, before)
		} else {
			before = list
		}
	}
	check(t, to, lines, send(t, to, server, lines, []string{"text"}), false)
}

// send returns the body of the request. The server has to take it.
func send(t *testing.T, to *party, server *httptest.Server, lines []line, input []string) []byte {
	t.Helper()
	m := to.model
	m.BaseURL = server.URL
	if input != nil {
		m.Input = input
	}
	var body []byte
	r := &llm.Request{
		Model: &m, APIKey: "test-key-0123456789", Thinking: "medium", System: "be nice", Messages: forModel(t, lines),
		Body: func(_ context.Context, b []byte) ([]byte, error) { body = bytes.Clone(b); return b, nil },
	}
	for _, name := range []string{"look", "add"} {
		r.Tools = append(r.Tools, llm.ToolSpec{Name: name, Description: name + "s", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"},"half":{"type":"string"}},"required":["n"]}`)})
	}
	if a := wiretest.Collect(to.client(server.Client()).Stream(context.Background(), r)); a.Err != nil || a.Text(message.BlockText) != "taken" {
		t.Fatalf("%d messages: %s\n%.3000s", len(lines), a, body)
	}
	return body
}

// forModel is what is sent of a session with these messages.
func forModel(t *testing.T, lines []line) []*message.Message {
	t.Helper()
	s := session.New(session.Options{})
	for _, l := range lines {
		if _, err := s.AppendMessage(l.message); err != nil {
			t.Fatal(err)
		}
	}
	return session.ForModel(s.Context())
}

var cacheMarker = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// listOf is the list of messages of a request, without cache markers.
func listOf(t *testing.T, body []byte) []byte {
	t.Helper()
	return cacheMarker.ReplaceAll(messagesOf(t, body), nil)
}

// messagesOf is the list of messages of a request as it is.
func messagesOf(t *testing.T, body []byte) json.RawMessage {
	t.Helper()
	var q map[string]json.RawMessage
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "input", "contents"} {
		if list := q[name]; list != nil {
			return list
		}
	}
	t.Fatalf("no messages: %s", body)
	return nil
}

// check holds that a request to a party carries all that was said, its own
// thoughts, and nothing that only others understand.
func check(t *testing.T, to *party, lines []line, body []byte, images bool) {
	t.Helper()
	pieces := normal(carried(t, to.api, body))
	c := &checked{T: t, pieces: pieces, marks: to.api == "anthropic-messages" || to.api == "google-generative"}
	for _, m := range forModel(t, lines) {
		c.message(m, images)
	}
	c.nothingElse()
	c.thoughts(to, lines)
	if strings.Contains(string(body), "never to be seen") {
		t.Error("an aborted answer was sent")
	}
	if t.Failed() {
		t.Fatalf("%d messages became\n%s", len(lines), shown(pieces))
	}
}

// checked looks for what was said in the pieces of a request, in its order.
type checked struct {
	*testing.T
	pieces         []wiretest.Piece
	at             int // in pieces, of what was found last
	calls, results int
	images         int
	marks          bool // results that are errors are marked as such
}

func (c *checked) message(m *message.Message, images bool) {
	c.Helper()
	switch m.Role {
	case message.RoleUser:
		for _, b := range m.Content {
			c.block(wiretest.PieceUser, b, images)
		}
	case message.RoleAssistant:
		for _, b := range m.Content {
			c.block(wiretest.PieceText, b, images)
		}
	case message.RoleToolResult:
		c.result(m, images)
	}
}

func (c *checked) block(kind string, b message.Block, images bool) {
	c.Helper()
	switch b.Type {
	case message.BlockText:
		c.find(kind, strings.TrimSpace(strings.ToValidUTF8(b.Text, "\uFFFD")))
	case message.BlockImage:
		c.image(kind, b, images)
	case message.BlockToolCall:
		p := c.find(wiretest.PieceCall, "")
		if want := wiretest.Canonical(provider.CleanJSON(b.Arguments)); p.Name != b.Name || p.Text != want || p.ID != fmt.Sprint(c.calls) {
			c.Errorf("call %d is %s; want %s %s", c.calls, shown([]wiretest.Piece{p}), b.Name, want)
		}
		c.calls++
	}
}

// find goes on to the next piece of a kind with a text in it.
func (c *checked) find(kind, text string) wiretest.Piece {
	c.Helper()
	for i := c.at; i < len(c.pieces); i++ {
		if p := c.pieces[i]; p.Kind == kind && strings.Contains(p.Text, text) {
			c.at = i
			if kind == wiretest.PieceCall || kind == wiretest.PieceResult {
				c.at++
			}
			return p
		}
	}
	c.Errorf("there is no %s %q behind piece %d", kind, text, c.at)
	return wiretest.Piece{}
}

func (c *checked) image(kind string, b message.Block, taken bool) {
	c.Helper()
	if !taken {
		c.find(kind, provider.ImageOmitted)
		return
	}
	c.images++
	if !slices.ContainsFunc(c.pieces, func(p wiretest.Piece) bool { return p.Kind == wiretest.PieceImage && p.Text == b.Data }) {
		c.Errorf("the image %s is missing", b.Data)
	}
}

func (c *checked) result(m *message.Message, images bool) {
	c.Helper()
	p := c.find(wiretest.PieceResult, "")
	if p.ID != fmt.Sprint(c.results) {
		c.Errorf("result %d is that of call %s", c.results, p.ID)
	}
	c.results++
	if p.Failed != (m.IsError && c.marks) {
		c.Errorf("result %s is an error: %t; want %t", p.ID, p.Failed, m.IsError)
	}
	for _, b := range m.Content {
		switch {
		case b.Type == message.BlockImage && images:
			c.image(wiretest.PieceResult, b, true)
		case b.Type == message.BlockImage:
			b.Text = provider.ImageOmitted
			fallthrough
		default:
			if !strings.Contains(p.Text, strings.ToValidUTF8(b.Text, "\uFFFD")) {
				c.Errorf("result %s is %q; want %q", p.ID, p.Text, b.Text)
			}
		}
	}
	if len(m.Content) == 0 && p.Text != provider.NoOutput {
		c.Errorf("the empty result is %q", p.Text)
	}
}

// nothingElse holds that every call has one result, and nothing was made up.
func (c *checked) nothingElse() {
	c.Helper()
	n := map[string]int{}
	for _, p := range c.pieces {
		n[p.Kind]++
	}
	if n[wiretest.PieceCall] != c.calls || n[wiretest.PieceResult] != c.results || n[wiretest.PieceImage] != c.images {
		c.Errorf("there are %v; want %d calls, %d results, %d images", n, c.calls, c.results, c.images)
	}
}

// placeholder stands at calls of other models where signatures are demanded.
const placeholder = "skip/thought/signature/validator"

// thoughts holds that a model gets its own back, signed, and of those of others
// the text at most.
func (c *checked) thoughts(to *party, lines []line) {
	c.Helper()
	opaque, thought := map[string]bool{placeholder: true}, map[string]bool{}
	for _, l := range lines {
		if l.who == nil || l.said.thought == "" || l.who.name != to.name {
			continue
		}
		own := slices.ContainsFunc(c.pieces, func(p wiretest.Piece) bool {
			return p.Kind == wiretest.PieceThought && p.Text == l.said.thought
		})
		signed := slices.ContainsFunc(c.pieces, func(p wiretest.Piece) bool { return p.Opaque == l.said.signature })
		withheld := slices.ContainsFunc(c.pieces, func(p wiretest.Piece) bool { return p.Opaque == l.said.redacted })
		if own != to.thinks || signed != to.signs || withheld != to.withholds {
			c.Errorf("of %q came back: the thought %t, the signature %t, what is withheld %t", l.said.thought, own, signed, withheld)
		}
		thought[l.said.thought], opaque[l.said.signature], opaque[l.said.redacted] = true, true, true
	}
	for _, p := range c.pieces {
		if p.Kind == wiretest.PieceThought && p.Text != "" && !thought[p.Text] || p.Opaque != "" && !opaque[p.Opaque] {
			c.Errorf("%s goes to %s", shown([]wiretest.Piece{p}), to.name)
		}
	}
}
