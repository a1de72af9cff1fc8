package edit

import "slices"

// killsKept is how many kills can be yanked.
const killsKept = 20

// killRing has what was killed, the newest last.
type killRing struct {
	texts  [][]element
	at     int   // of the text that was yanked, from the newest
	yanked place // where it begins
}

// killed are the actions that kill, with the place up to which they do.
func killed() map[string]func(*Buffer) place {
	return map[string]func(*Buffer) place{
		"delete_word_back":  (*Buffer).wordStart,
		"delete_word":       (*Buffer).wordEnd,
		"delete_blank_back": (*Buffer).blankStart,
		"kill_row_start": func(b *Buffer) place {
			if b.cursor.col == 0 {
				return b.previous()
			}
			return place{b.cursor.line, 0}
		},
		"kill_row_end": func(b *Buffer) place {
			if end := len(b.text.lines[b.cursor.line].elements); b.cursor.col < end {
				return place{b.cursor.line, end}
			}
			return b.next()
		},
	}
}

// delete removes the element between the cursor and a place beside it.
func (b *Buffer) delete(k kind, to func(*Buffer) place) bool {
	at := to(b)
	if at == b.cursor {
		return false
	}
	b.edit(k, earlier(at, b.cursor), later(at, b.cursor), nil)
	return true
}

// kill removes the text between the cursor and a place, and keeps it for yank.
func (b *Buffer) kill(to place) bool {
	if to == b.cursor {
		return false
	}
	from, to, backwards := earlier(to, b.cursor), later(to, b.cursor), to.before(b.cursor)
	b.kills.keep(b.text.between(from, to), b.last == kindKill, backwards)
	b.edit(kindKill, from, to, nil)
	return true
}

func earlier(p, q place) place {
	if p.before(q) {
		return p
	}
	return q
}

func later(p, q place) place {
	if p.before(q) {
		return q
	}
	return p
}

// keep stores what was killed, joined to what was killed just before.
func (k *killRing) keep(text []element, joined, backwards bool) {
	k.at = 0
	n := len(k.texts)
	switch {
	case !joined || n == 0:
		k.texts = append(k.texts, text)
		k.texts = k.texts[max(0, len(k.texts)-killsKept):]
	case backwards:
		k.texts[n-1] = append(text, k.texts[n-1]...)
	default:
		k.texts[n-1] = append(k.texts[n-1], text...)
	}
}

// yank puts the newest kill at the cursor.
func (b *Buffer) yank() bool {
	if len(b.kills.texts) == 0 {
		return false
	}
	b.kills.at = 0
	b.putKill(b.cursor, b.cursor)
	return true
}

// yankPop replaces what was just yanked by the kill before it.
func (b *Buffer) yankPop() bool {
	if b.last != kindYank || len(b.kills.texts) < 2 {
		return false
	}
	b.kills.at = (b.kills.at + 1) % len(b.kills.texts)
	b.putKill(b.kills.yanked, b.cursor)
	return true
}

func (b *Buffer) putKill(from, to place) {
	b.kills.yanked = from
	b.edit(kindYank, from, to, slices.Clone(b.kills.texts[len(b.kills.texts)-1-b.kills.at]))
}

// transpose exchanges the elements before and behind the cursor, or at the end of a row
// the two before it.
func (b *Buffer) transpose() bool {
	p, elements := b.cursor, b.text.lines[b.cursor.line].elements
	if p.col == len(elements) {
		p.col--
	}
	if p.col < 1 {
		return false
	}
	swapped := []element{elements[p.col], elements[p.col-1]}
	b.edit(kindOther, place{p.line, p.col - 1}, place{p.line, p.col + 1}, swapped)
	return true
}
