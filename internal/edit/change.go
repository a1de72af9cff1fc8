package edit

import (
	"slices"
	"strings"

	"pi/internal/cells"
)

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
	joins := k == b.last && (k == kindTyping || k == kindBackspace || k == kindDelete)
	b.undo.note(c, before, cursor, joins)
	b.last, b.recalled = k, false
	return true
}

// join makes a change of a replacement. Characters at its borders may become one
// with their neighbours, such as a letter and an accent typed behind it, or be seen or not
// because of them, such as a joiner. It also returns the place behind the new elements.
func (t *text) join(from, to place, elements []element) (c change, cursor place) {
	line, at := t.lines[from.line].elements, from
	for at.col > 0 && (at == from || line[at.col].within) {
		at.col--
	}
	joined := rejoined(slices.Concat(line[at.col:from.col], elements))
	size := sizeOf(joined)
	rest := t.lines[to.line].elements[to.col:]
	for len(rest) > 0 && (rest[0].within || !parted(joined, rest[0])) {
		n := 1
		for n < len(rest) && rest[n].within {
			n++
		}
		last, _ := lastCluster(joined)
		joined = append(joined[:last], rejoined(slices.Concat(joined[last:], rest[:n]))...)
		rest, to.col = rest[n:], to.col+n
	}
	behind := 0
	for n := 0; n < size; behind++ {
		n += sizeOf(joined[behind : behind+1])
	}
	cursor = endOf(at, joined[:behind])
	c = change{at: at, removed: t.between(at, to), inserted: joined}
	for c.at.col < from.col && c.at.line == from.line && len(c.inserted) > 0 && len(c.removed) > 0 && c.inserted[0] == c.removed[0] {
		c.at.col++
		c.inserted, c.removed = c.inserted[1:], c.removed[1:]
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

// rejoined are elements anew: those of which others were made, or which now follow each other.
func rejoined(elements []element) (joined []element) {
	for len(elements) > 0 {
		n := slices.IndexFunc(elements, func(e element) bool { return e.token != nil })
		switch n {
		case 0:
			joined, elements = append(joined, elements[0]), elements[1:]
			continue
		case -1:
			n = len(elements)
		}
		begun := len(joined)
		joined = append(joined, elementsOf(textOf(elements[:n]))...)
		takeOrigins(joined[begun:], elements[:n])
		elements = elements[n:]
	}
	return joined
}

// textOf is the text of elements of which none is a token, or of one that is: none.
func textOf(elements []element) string {
	var text strings.Builder
	for _, e := range elements {
		text.WriteString(e.text)
	}
	return text.String()
}

// takeOrigins gives elements the origins of those with the same text that they are made of. What
// is made of several is typed only if they all are.
func takeOrigins(elements, from []element) {
	end := 0 // of the first of from, in what is left of the text
	for i := range elements {
		for left := len(elements[i].text); left > 0; {
			if end == 0 {
				end = len(from[0].text)
			}
			elements[i].origin = max(elements[i].origin, from[0].origin)
			n := min(left, end)
			if left, end = left-n, end-n; end == 0 {
				from = from[1:]
			}
		}
	}
}

// lastCluster is where the last cluster of elements begins, and its text; that of a token is
// empty.
func lastCluster(elements []element) (at int, cluster string) {
	at = max(0, len(elements)-1)
	for at > 0 && elements[at].within {
		at--
	}
	return at, textOf(elements[at:])
}

// parted reports whether elements stay as they are when another one follows, which begins a
// cluster.
func parted(elements []element, e element) bool {
	_, cluster := lastCluster(elements)
	if cluster == "" || e.token != nil || strings.HasSuffix(cluster, "\n") {
		return true
	}
	if e.text[0] < 0x80 && cluster[len(cluster)-1] < 0x80 {
		return true
	}
	if strings.HasSuffix(cluster, "\u200c") || strings.HasSuffix(cluster, "\u200d") {
		return false // a joiner may belong to what follows
	}
	first := ""
	for first = range cells.Clusters(cluster + e.text) {
		break
	}
	return first == cluster
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
