package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Matching goes back and forth, and some patterns on some texts do so for longer
// than anybody waits: it looks every now and then whether its job was stopped.

// matcher matches one pattern in one text.
type matcher struct {
	*pattern
	text  string
	spans [maxCaptures]span
	L     *lua.LState // whose job this is; nil in no job
	work  int         // that is left until the next look
	err   error       // why the job was stopped
}

func newMatcher(L *lua.LState, p *pattern, text string) matcher {
	return matcher{pattern: p, text: text, L: L, work: looksApart}
}

// span is what a capture matched; a place has only a beginning.
type span struct{ from, to int }

// spend counts n steps of work. It returns false if the job was stopped: every thousand
// steps or so it looks for that, and sets err.
func (m *matcher) spend(n int) bool {
	if m.work -= n; m.work > 0 {
		return true
	}
	if m.err == nil && m.L != nil {
		m.err = halted(m.L)
	}
	if m.err != nil {
		return false // work stays used up, so all later calls fail too
	}
	m.work = looksApart
	return true
}

// find returns the first match that begins at or behind a place of the text; from is -1
// if there is none, or if the job was stopped, in which case err is set.
func (m *matcher) find(at int) (from, to int) {
	if m.isPlain {
		return m.findPlain(at)
	}
	first := &m.items[0]
	leap := first.op == opByte && (first.repeat == 0 || first.repeat == '+') && !m.anchored
	for ; at <= len(m.text); at++ {
		if leap {
			skip := strings.IndexByte(m.text[at:], first.b)
			if skip < 0 || !m.spend(1+skip/16) {
				return -1, -1
			}
			at += skip
		}
		if to := m.match(at, 0); to >= 0 {
			return at, to
		}
		if m.anchored || m.err != nil {
			break
		}
	}
	return -1, -1
}

// findPlain is find for a pattern that is just a text.
func (m *matcher) findPlain(at int) (from, to int) {
	if m.anchored {
		if !strings.HasPrefix(m.text[at:], m.plain) {
			return -1, -1
		}
		return at, at + len(m.plain)
	}
	i := strings.Index(m.text[at:], m.plain)
	if i < 0 {
		return -1, -1
	}
	return at + i, at + i + len(m.plain)
}

// match matches the items from i on at a place of the text, and returns where the
// match ends, or -1. Captures of a try that failed are overwritten by the next.
func (m *matcher) match(at, i int) int {
	if !m.spend(1) {
		return -1
	}
	for ; ; i++ {
		item := &m.items[i]
		switch item.op {
		case opByte, opAny, opSet:
			if item.repeat != 0 {
				return m.repeated(at, i)
			}
			if at >= len(m.text) || !item.matches(m.text[at]) {
				return -1
			}
			at++
		case opOpen:
			m.spans[item.n].from = at
		case opPlace:
			m.spans[item.n] = span{at, at}
		case opClose:
			m.spans[item.n].to = at
		case opDone:
			return at
		default:
			if at = m.special(at, item); at < 0 {
				return -1
			}
		}
	}
}

// matches reports whether an item for one byte matches c.
func (i *patternItem) matches(c byte) bool {
	switch i.op {
	case opByte:
		return c == i.b
	case opSet:
		return i.set.has(c)
	}
	return true
}

// repeated matches the item i, which has a repetition, and all items behind it; it
// returns where that match ends, or -1.
func (m *matcher) repeated(at, i int) int {
	switch item := &m.items[i]; item.repeat {
	case '?':
		if at < len(m.text) && item.matches(m.text[at]) {
			if end := m.match(at+1, i+1); end >= 0 {
				return end
			}
		}
		return m.match(at, i+1)
	case '-':
		for m.err == nil {
			if end := m.match(at, i+1); end >= 0 {
				return end
			}
			if at >= len(m.text) || !item.matches(m.text[at]) {
				return -1
			}
			at++
		}
		return -1
	default:
		return m.most(at, i)
	}
}

// most is repeated for * and +: it matches the item as often as it can, and then less
// often until what follows matches too.
func (m *matcher) most(at, i int) int {
	item, next := &m.items[i], &m.items[i+1]
	end := at
	if item.op == opAny {
		end = len(m.text)
	}
	for end < len(m.text) && item.matches(m.text[end]) {
		end++
	}
	if !m.spend(1 + (end-at)/16) {
		return -1
	}
	least := at
	if item.repeat == '+' {
		least++
	}
	must := next.op == opByte && (next.repeat == 0 || next.repeat == '+')
	for ; end >= least; end-- {
		if must && (end >= len(m.text) || m.text[end] != next.b) {
			if m.work--; m.work <= 0 && !m.spend(0) {
				return -1
			}
			continue
		}
		if to := m.match(end, i+1); to >= 0 || m.err != nil {
			return to
		}
	}
	return -1
}

// special matches an item that is no single byte (%1, %b, %f, $) and returns the place
// behind it, or -1.
func (m *matcher) special(at int, item *patternItem) int {
	switch item.op {
	case opAgain:
		before := m.text[m.spans[item.n].from:m.spans[item.n].to]
		if !m.spend(1+len(before)/64) || !strings.HasPrefix(m.text[at:], before) {
			return -1
		}
		return at + len(before)
	case opBalance:
		return m.balanced(at, item)
	case opFrontier:
		before, here := byte(0), byte(0)
		if at > 0 {
			before = m.text[at-1]
		}
		if at < len(m.text) {
			here = m.text[at]
		}
		if item.set.has(before) || !item.set.has(here) {
			return -1
		}
		return at
	default: // opAtEnd
		if at < len(m.text) {
			return -1
		}
		return at
	}
}

// balanced matches %b() and returns the place behind the closing byte, or -1.
func (m *matcher) balanced(at int, item *patternItem) int {
	if at >= len(m.text) || m.text[at] != item.b {
		return -1
	}
	depth := 1
	for i := at + 1; i < len(m.text); i++ {
		switch m.text[i] {
		case item.to:
			if depth--; depth == 0 {
				m.spend((i - at) / 16)
				return i + 1
			}
		case item.b:
			depth++
		}
	}
	m.spend(len(m.text) - at)
	return -1
}
