package session

import "pi/session/message"

// The sentences that stand for what is not there.
const (
	beginText       = "What was said before this point is not shown."
	interruptedText = "interrupted"
	removedText     = "The result of this call was removed from the context."
)

// ForModel turns a context into what is sent: messages of the roles user,
// assistant and toolResult, each call with exactly one result right behind it.
//
//   - failed and aborted answers, excluded commands, system messages and
//     messages of unknown roles are left out;
//   - shell commands of the user, hooks' messages and summaries become user
//     messages;
//   - a call without a result gets an error result "interrupted", or, where a session
//     is known that has its result ([Session.ForModel]), one that says that it was
//     removed; a result without a call, or a second one, is left out. The result of a
//     call is looked for up to the next answer;
//   - empty text is left out, and with it messages in which nothing remains;
//   - an answer at the very beginning, whose prompt was taken out, gets a user
//     message before it that says so: no API takes a conversation without;
//   - a call of a tool whose name no API takes has a name that all take;
//   - what is no valid UTF-8 or an unpaired surrogate becomes U+FFFD, and tool
//     arguments that are no JSON object become {}.
//
// The same items give the same messages, and more items at the end leave those
// for the earlier ones as they were, except for calls still without a result.
// Messages that need no change are those of the items.
func ForModel(items []Item) []*message.Message { return forModel(items, nil) }

// ForModel is [ForModel] for a list that was made of what Context returned: results
// that the session has and the list has not were removed.
func (s *Session) ForModel(items []Item) []*message.Message { return forModel(items, s.Branch()) }

// forModel turns items into the messages that are sent. path is the branch they are of,
// or nil if no session is known.
func forModel(items []Item, path []*Entry) []*message.Message {
	p := pairing{out: make([]*message.Message, 0, len(items)), path: path}
	for _, it := range items {
		p.add(it)
	}
	p.endAnswer()
	return p.out
}

// pairing holds back what follows an answer until all its results are known.
type pairing struct {
	out     []*message.Message
	calls   []message.Block
	results []*message.Message // of calls, nil as long as there is none
	between []*message.Message // what else stands before the next answer
	time    int64              // of the answer
	at      int                // of the answer on the path, -1 if it is not there

	path []*Entry // what the list was made of; nil: nothing is known
}

// add adds the next item. What no model sees is left out; other messages become what a
// model may see, and wait in between until the answer before them is complete.
func (p *pairing) add(it Item) {
	m := it.Message
	if m == nil || message.Hidden(m) {
		return
	}
	m = message.Clean(message.AsUser(m))
	switch {
	case m.Role == message.RoleToolResult:
		// A result without a call in the current answer, or a second one for it, is dropped.
		for i, c := range p.calls {
			if c.ID == m.ToolCallID && p.results[i] == nil {
				p.results[i] = m
				break
			}
		}
	case len(m.Content) == 0:
	case m.Role == message.RoleAssistant:
		p.addAnswer(m)
		if p.at = -1; it.Entry != nil && it.Index < len(p.path) && p.path[it.Index] == it.Entry {
			p.at = it.Index
		}
	default:
		p.between = append(p.between, m)
	}
}

// addAnswer ends the answer before and begins a new one, whose results are to follow. An
// answer that comes first gets a user message before it.
func (p *pairing) addAnswer(m *message.Message) {
	p.endAnswer()
	if len(p.out) == 0 {
		p.out = append(p.out, &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(beginText)}, Timestamp: m.Timestamp})
	}
	p.out = append(p.out, m)
	p.calls, p.time = m.ToolCalls(), m.Timestamp
	p.results = make([]*message.Message, len(p.calls))
}

// endAnswer appends the results of the current answer, and then the messages that came
// between them. A call without a result gets one: that it was interrupted, or that its result
// was removed from the context. The time of that is the answer's, because the present would
// make every request different.
func (p *pairing) endAnswer() {
	for i, c := range p.calls {
		if p.results[i] != nil {
			continue
		}
		removed := p.hasResult(c.ID)
		text := interruptedText
		if removed {
			text = removedText
		}
		p.results[i] = &message.Message{Role: message.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name,
			Content: []message.Block{message.TextBlock(text)}, IsError: !removed, Timestamp: p.time}
	}
	p.out = append(append(p.out, p.results...), p.between...)
	p.calls, p.results, p.between = nil, nil, nil
}

// hasResult reports whether the branch has a result of that call of the current answer:
// if so, somebody removed it from the list.
func (p *pairing) hasResult(call string) bool {
	if p.at < 0 {
		return false
	}
	for _, e := range p.path[p.at+1:] {
		switch m := e.Message(); {
		case m == nil:
		case m.Role == message.RoleToolResult && m.ToolCallID == call:
			return true
		case m.Role == message.RoleAssistant && !message.Hidden(m):
			return false
		}
	}
	return false
}
