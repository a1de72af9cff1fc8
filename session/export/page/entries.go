package page

import (
	"iter"
	"slices"

	"pi/internal/markup"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// branch writes the current branch.
func (p *page) branch() {
	p.w.Raw(`<main id="branch" data-leaf="`)
	p.w.Int(p.leaf())
	p.w.Raw("\">\n")
	for i, e := range p.path {
		if p.w.Err() != nil {
			return
		}
		p.entry(e, slices.Values(p.path[i+1:]))
	}
	if len(p.written) == 0 {
		p.w.Raw(`<p class="empty">Nothing is said on this branch.</p>`)
	}
	p.w.Raw("</main>\n")
}

// others writes what is not on the current branch, in the order of the file.
func (p *page) others() {
	onBranch := make(map[string]bool)
	for _, e := range p.path {
		onBranch[e.ID] = true
	}
	began := false
	for _, e := range p.entries {
		if onBranch[e.ID] || p.written[e.ID] || p.hidden[e.ID] || p.w.Err() != nil {
			continue
		}
		if !began {
			began = true
			p.w.Raw(`<details id="others"><summary>On other branches</summary>` + "\n")
		}
		p.speaker = "" // its neighbours may be of other branches
		p.entry(e, p.following(e))
	}
	if began {
		p.w.Raw("</details>\n")
	}
}

// following yields what follows an entry outside of the current branch, each time the newest child.
func (p *page) following(e *session.Entry) iter.Seq[*session.Entry] {
	return func(yield func(*session.Entry) bool) {
		for {
			children := p.children[e.ID]
			if len(children) == 0 {
				return
			}
			if e = children[len(children)-1]; !yield(e) {
				return
			}
		}
	}
}

// findHidden notes the entries that have no element on the page. Labels are shown beside what they name,
// the name of the session is its title, and moves of the leaf are seen by what goes on from where.
func (p *page) findHidden() {
	for _, e := range p.entries {
		switch e.Type {
		case session.TypeLabel, session.TypeSessionInfo:
			p.hidden[e.ID] = true
		case session.TypeCustom:
			p.hidden[e.ID] = rawjson.Unquote(rawjson.Field(e.Uncached().Raw(), "customType")) == session.LeafMove
		}
	}
}

// parent is the number of the entry that e goes on from, without those that are hidden; 0 if there is
// none.
func (p *page) parent(e *session.Entry) int {
	for {
		if e = p.session.Entry(e.ParentID); e == nil {
			return 0
		}
		if !p.hidden[e.ID] {
			return p.numbers[e.ID]
		}
	}
}

// leaf is the number of the last entry of the current branch that is shown.
func (p *page) leaf() int {
	for _, e := range slices.Backward(p.path) {
		if !p.hidden[e.ID] {
			return p.numbers[e.ID]
		}
	}
	return 0
}

// entry writes an entry, and with an answer the results of its calls, which are found in what
// follows it.
func (p *page) entry(original *session.Entry, rest iter.Seq[*session.Entry]) {
	if p.written[original.ID] || p.hidden[original.ID] {
		return
	}
	e := original.Uncached()
	p.totals.entry(e)
	switch {
	case e.Raw() == nil:
		p.gone++
		p.unreadable(e)
	case e.Type == session.TypeMessage, e.Type == session.TypeCustomMessage, e.Type == session.TypeCompaction, e.Type == session.TypeBranchSummary:
		p.spoken(e, rest)
	default:
		p.note(e)
	}
}

// spoken writes an entry that a model reads.
func (p *page) spoken(e *session.Entry, rest iter.Seq[*session.Entry]) {
	m := e.Message()
	switch {
	case m == nil && e.Type == session.TypeBranchSummary:
		p.line(e, "a branch was left, without a summary", "")
	case m == nil:
		p.unreadable(e)
	case m.Role == message.RoleAssistant:
		p.answer(e, m, p.results(m, rest))
	case m.Role == message.RoleToolResult:
		p.lostResult(e, m)
	default:
		p.message(e, m)
	}
}

// open begins the element of an entry.
func (p *page) open(e *session.Entry, begin markup.Literal) {
	p.written[e.ID] = true
	p.w.Raw(begin)
	p.w.Raw(` id="m`)
	p.w.Int(p.numbers[e.ID])
	p.w.Raw(`" data-p="`)
	p.w.Int(p.parent(e))
	p.w.Raw(`"`)
}

// result is the result of a call, and the entry that has it.
type result struct {
	entry   *session.Entry
	message *message.Message
}

// mostAhead is how far the results of calls can be from the answer that made them.
const mostAhead = 200

// results returns the results of the calls of an answer by the id of the call: those that
// follow before anything else is said.
func (p *page) results(m *message.Message, rest iter.Seq[*session.Entry]) map[string]result {
	open := map[string]bool{}
	for _, call := range m.ToolCalls() {
		open[call.ID] = true
	}
	found := map[string]result{}
	ahead := 0
	for e := range rest {
		if ahead++; len(found) == len(open) || ahead > mostAhead {
			break
		}
		if e.Type != session.TypeMessage {
			continue
		}
		e := e.Uncached()
		r := e.Message()
		if r == nil || r.Role != message.RoleToolResult {
			break
		}
		if _, isSecond := found[r.ToolCallID]; open[r.ToolCallID] && !isSecond && !p.written[e.ID] {
			found[r.ToolCallID] = result{e, r}
		}
	}
	return found
}

// heading writes who speaks, the label of the entry, the time and what an answer used.
func (p *page) heading(e *session.Entry, by string, name markup.Literal, u *message.Usage) {
	p.w.Raw(`<h2><a href="#m`)
	p.w.Int(p.numbers[e.ID])
	p.w.Raw(`">`)
	p.w.Raw(name)
	p.w.Raw("</a>")
	if by != "" {
		p.w.Raw(` <span class="by">`)
		p.w.Line(by)
		p.w.Raw("</span>")
	}
	if label := p.labels[e.ID]; label != "" {
		p.w.Raw(` <mark>`)
		p.w.Line(label)
		p.w.Raw("</mark>")
	}
	p.w.Raw(` <small>`)
	p.w.Text(joined(usageText(u), formatTime(e.Timestamp)))
	p.w.Raw("</small></h2>")
}

// joined joins the texts that are not empty.
func joined(a, b string) string {
	if a != "" && b != "" {
		return a + " · " + b
	}
	return a + b
}

// unreadable writes a line where an entry should be.
func (p *page) unreadable(e *session.Entry) {
	p.open(e, `<p class="note error"`)
	p.w.Raw(">an entry that cannot be read: ")
	p.w.Line(e.ID)
	p.w.Raw("</p>\n")
}
