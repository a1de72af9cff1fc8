package edit

import "slices"

// change is one replacement in the text: the elements removed at a place, and those that
// are there instead.
type change struct {
	at                place
	removed, inserted []element
}

// edit replaces the elements between two places, puts the cursor behind the new ones, and
// notes the change for undo. Changes of one kind that follow each other are one step. It
// reports false if there was nothing to change.
func (b *Buffer) edit(k kind, from, to place, elements []element) bool {
	before := b.cursor
	c, cursor := b.text.join(from, to, elements)
	b.cursor = cursor
	if len(c.removed) == 0 && len(c.inserted) == 0 {
		return false
	}
	b.text.splice(c.at, endOf(c.at, c.removed), c.inserted)
	b.undo.note(c, before, cursor, k != kindOther && k == b.last && k.joins())
	b.last, b.recalled = k, false
	return true
}

// join makes a change of a replacement. Characters at its borders may become one
// with their neighbours, such as a letter and an accent typed behind it. It also
// returns the place behind the new elements.
func (t *text) join(from, to place, elements []element) (c change, cursor place) {
	var joined []element
	at := from
	if from.col > 0 {
		at.col--
		joined = append(joined, t.lines[at.line].elements[at.col])
	}
	for _, e := range elements {
		joined = appendJoined(joined, e)
	}
	size := sizeOf(joined)
	rest := t.lines[to.line].elements[to.col:]
	for len(joined) > 0 && len(rest) > 0 && !parted(joined[len(joined)-1], rest[0]) {
		joined = appendJoined(joined, rest[0])
		rest, to.col = rest[1:], to.col+1
	}
	behind := 0
	for n := 0; n < size; behind++ {
		n += sizeOf(joined[behind : behind+1])
	}
	cursor = endOf(at, joined[:behind])
	c = change{at: at, removed: t.between(at, to), inserted: joined}
	if at != from && len(c.inserted) > 0 && len(c.removed) > 0 && c.inserted[0] == c.removed[0] {
		c.at, c.inserted, c.removed = from, c.inserted[1:], c.removed[1:]
	}
	return c, cursor
}

// sizeOf is what elements take in the plain text.
func sizeOf(elements []element) (size int) {
	for _, e := range elements {
		size += e.plainSize()
	}
	return size
}

// parted reports whether two elements stay two when one follows the other.
func parted(a, b element) bool {
	if a.token != nil || b.token != nil || a.isLineEnd() || b.isLineEnd() {
		return true
	}
	if b.text[0] < 0x80 && a.text[len(a.text)-1] < 0x80 {
		return true
	}
	return elementsOf(a.text + b.text)[0].text == a.text
}

// appendJoined appends an element, which may become one with the last one.
func appendJoined(elements []element, e element) []element {
	n := len(elements)
	if n == 0 || parted(elements[n-1], e) {
		return append(elements, e)
	}
	return append(elements[:n-1], withOrigin(elementsOf(elements[n-1].text+e.text), max(elements[n-1].origin, e.origin))...)
}

// endOf is the place behind elements that begin at a place.
func endOf(at place, elements []element) place {
	for _, e := range elements {
		if at.col++; e.isLineEnd() {
			at = place{at.line + 1, 0}
		}
	}
	return at
}

// splice puts elements in the place of those between two places.
func (t *text) splice(from, to place, elements []element) {
	first := t.lines[from.line]
	if from.line == to.line && !slices.ContainsFunc(elements, element.isLineEnd) {
		first.elements = slices.Replace(first.elements, from.col, to.col, elements...)
		first.layout = lineLayout{}
		return
	}
	tail := t.lines[to.line].elements[to.col:]
	lines := []*line{{elements: slices.Clone(first.elements[:from.col])}}
	for _, e := range elements {
		if e.isLineEnd() {
			lines = append(lines, &line{})
			continue
		}
		last := lines[len(lines)-1]
		last.elements = append(last.elements, e)
	}
	last := lines[len(lines)-1]
	last.elements = append(last.elements, tail...)
	t.lines = slices.Replace(t.lines, from.line, to.line+1, lines...)
}
