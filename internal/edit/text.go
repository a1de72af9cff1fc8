package edit

// text is the elements of a buffer, by lines.
type text struct {
	lines []*line // at least one
}

// line is a text between two line ends.
type line struct {
	elements []element
	layout   lineLayout
}

// place is between two elements: before the element at col of a line, or at the end
// of the line.
type place struct{ line, col int }

func (p place) before(q place) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// end is the place behind the last element.
func (t *text) end() place {
	last := len(t.lines) - 1
	return place{last, len(t.lines[last].elements)}
}

// each calls do for the elements between two places, line ends included.
func (t *text) each(from, to place, do func(element)) {
	for i := from.line; i <= to.line; i++ {
		elements := t.lines[i].elements
		if i == to.line {
			elements = elements[:to.col]
		}
		if i == from.line {
			elements = elements[from.col:]
		}
		for _, e := range elements {
			do(e)
		}
		if i < to.line {
			do(lineEnd())
		}
	}
}

// size adds up what of tells of each element.
func (t *text) size(of func(element) int) int { return t.sizeBefore(t.end(), of) }

func (t *text) sizeBefore(to place, of func(element) int) (size int) {
	t.each(place{}, to, func(e element) { size += of(e) })
	return size
}

// placeAt is the place that lies size before the end of the elements that add up to it,
// or the next one behind it if that is inside an element.
func (t *text) placeAt(size int, of func(element) int) place {
	for i, l := range t.lines {
		for j, e := range l.elements {
			if size <= 0 {
				return place{i, j}
			}
			size -= of(e)
		}
		if size <= 0 {
			return place{i, len(l.elements)}
		}
		size-- // the line end
	}
	return t.end()
}

// between copies the elements between two places.
func (t *text) between(from, to place) (elements []element) {
	t.each(from, to, func(e element) { elements = append(elements, e) })
	return elements
}

// tokens are those of the text, in their order.
func (t *text) tokens() (tokens []*token) {
	t.each(place{}, t.end(), func(e element) {
		if e.token != nil {
			tokens = append(tokens, e.token)
		}
	})
	return tokens
}

func (t *text) stepBack(p place) place {
	switch {
	case p.col > 0:
		p.col--
	case p.line > 0:
		p.line--
		p.col = len(t.lines[p.line].elements)
	}
	return p
}

func (t *text) stepOn(p place) place {
	switch {
	case p.col < len(t.lines[p.line].elements):
		p.col++
	case p.line < len(t.lines)-1:
		p = place{p.line + 1, 0}
	}
	return p
}

// at is the element behind a place; a line end where there is none.
func (t *text) at(p place) element {
	if elements := t.lines[p.line].elements; p.col < len(elements) {
		return elements[p.col]
	}
	return lineEnd()
}

// back goes back over elements as long as they are of a kind.
func (t *text) back(p place, are func(element) bool) place {
	for q := t.stepBack(p); q != p && are(t.at(q)); q = t.stepBack(p) {
		p = q
	}
	return p
}

// on goes on over elements as long as they are of a kind.
func (t *text) on(p place, are func(element) bool) place {
	for p != t.end() && are(t.at(p)) {
		p = t.stepOn(p)
	}
	return p
}
