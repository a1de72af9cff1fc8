package page

import (
	"iter"
	"slices"

	"pi/internal/markup"
	"pi/session"
	"pi/session/message"
)

// branch writes the current branch.
func (p *page) branch() {
	p.w.Raw("<main id=\"branch\">\n")
	for i, e := range p.path {
		if p.w.Err() != nil {
			return
		}
		p.entry(e, slices.Values(p.path[i+1:]))
	}
	if len(p.written) == 0 {
		p.w.Raw(`<p class="empty">Nothing was said in this session.</p>`)
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
		if onBranch[e.ID] || p.written[e.ID] || !isShown(e) || p.w.Err() != nil {
			continue
		}
		if !began {
			began = true
			p.w.Raw(`<details id="others"><summary>On other branches</summary>` + "\n")
		}
		p.speaker = "" // its neighbours may be of other branches
		p.entry(e, p.after(e))
	}
	if began {
		p.w.Raw("</details>\n")
	}
}

// after yields what follows an entry outside of the current branch, each time the newest child.
func (p *page) after(e *session.Entry) iter.Seq[*session.Entry] {
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

// isShown reports whether entries of a type are on the page. Labels are shown beside what they
// name, and the name of the session is its title.
func isShown(e *session.Entry) bool {
	return e.Type != session.TypeLabel && e.Type != session.TypeSessionInfo
}

// parent is the number of the entry that e goes on from, as far as it is on the page; 0 if
// none is.
func (p *page) parent(e *session.Entry) int {
	for range len(p.numbers) {
		if e = p.session.Entry(e.ParentID); e == nil {
			break
		}
		if p.written[e.ID] {
			return p.numbers[e.ID]
		}
	}
	return 0
}

// entry writes an entry, and with an answer the results of its calls, which are found in what
// follows it.
func (p *page) entry(original *session.Entry, rest iter.Seq[*session.Entry]) {
	if p.written[original.ID] || !isShown(original) {
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
	parent := p.parent(e)
	p.written[e.ID] = true
	p.w.Raw(begin)
	p.w.Raw(` id="m`)
	p.w.Int(p.numbers[e.ID])
	p.w.Raw(`" data-p="`)
	p.w.Int(parent)
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
