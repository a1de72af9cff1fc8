package wiretest

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// Planned makes a session of a plan, for fuzz tests: u, a and A begin a message of
// the user, of m and of another model, r adds a result of the oldest open call, and
// any other letter the block of that letter to the answer before. It returns what
// is sent before each answer, and at the end.
func Planned(t *testing.T, plan []byte, m *llm.Model, block func(letter byte) message.Block) [][]*message.Message {
	p := &planned{t: t, session: session.New(session.Options{})}
	p.begin(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("begin")}})
	for _, letter := range plan {
		switch letter {
		case 'u':
			p.begin(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("go on")}})
		case 'a':
			p.begin(&message.Message{Role: message.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID})
		case 'A':
			p.begin(&message.Message{Role: message.RoleAssistant, API: m.API, Provider: "other", Model: "o"})
		case 'r':
			p.result()
		default:
			p.add(block(letter))
		}
	}
	p.begin(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("end")}})
	p.begin(nil)
	return append(p.all, session.ForModel(p.session.Context()))
}

type planned struct {
	t       *testing.T
	session *session.Session
	now     *message.Message // not in the session yet
	open    []message.Block  // calls without a result
	all     [][]*message.Message
}

// begin appends the message before to the session, unless it is empty, and begins
// another; nil begins none. What is sent before an answer is stored in all. Any message
// but a result ends the wait for results.
func (p *planned) begin(next *message.Message) {
	if p.now != nil && len(p.now.Content) > 0 {
		if p.now.Role == message.RoleAssistant {
			p.all = append(p.all, session.ForModel(p.session.Context()))
		}
		if _, err := p.session.AppendMessage(p.now); err != nil {
			p.t.Fatal(err)
		}
	}
	if p.now = next; next != nil && next.Role != message.RoleToolResult {
		p.open = nil
	}
}

// result begins the result of the oldest open call, if there is one.
func (p *planned) result() {
	if len(p.open) == 0 {
		return
	}
	call := p.open[0]
	p.begin(&message.Message{Role: message.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name,
		Content: []message.Block{message.TextBlock("result"), {Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"}}})
	p.open = p.open[1:]
}

// add adds a block to the answer before, if it is one.
func (p *planned) add(b message.Block) {
	if p.now.Role != message.RoleAssistant {
		return
	}
	p.now.Content = append(p.now.Content, b)
	if b.Type == message.BlockToolCall {
		p.open = append(p.open, b)
	}
}

// Plans are seeds of plans.
func Plans() [][]byte {
	return [][]byte{[]byte("u t a T S c C r r u u"), []byte("uaSaTaCCCrruSSTCru"), []byte("uAbcCrBLlrxaSCCruimi"), []byte("uaSSuaTSCuirraCCru"), []byte("a bdfgbaghrrA hijrua klmn opq")}
}

// PlannedBlock is some block of an answer: thoughts and texts with signatures of
// all kinds, calls with ids and arguments of all kinds.
func PlannedBlock(letter byte) message.Block {
	thought := func(text, signature string) message.Block {
		return message.Block{Type: message.BlockThinking, Text: text, Signature: signature}
	}
	call := func(id, arguments, signature string) message.Block {
		return message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(arguments), Signature: signature}
	}
	blocks := []message.Block{
		thought("hm", "c2ln"), thought("", "c2ln"), thought("hm", ""), thought("", ""), thought("hm", "reasoning_content"), thought("hm", `{"v":`),
		{Type: message.BlockThinking, Redacted: true, Signature: "b3BhcXVl"}, {Type: message.BlockThinking, Redacted: true},
		message.TextBlock("d"), message.TextBlock(""), message.TextBlock(" \n"), message.TextBlock("<&\u2028>"), {Type: message.BlockText, Text: "s", Signature: "msg_1"},
		call("call_1", `{"x":1}`, ""), call("call_1|fc_2", `{`, "c2ln"), call("functions.add:0", `{}`, ""), call("", `{}`, ""),
		call(strings.Repeat("x", 450), `{"deep":{"a":[1,2.50,12345678901234567890]}}`, ""), call("|", `[]`, "c2ln"), call("ü", `null`, ""),
	}
	return blocks[int(letter)%len(blocks)]
}
