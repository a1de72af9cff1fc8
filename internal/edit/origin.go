package edit

// origin is how an element came into the text. What a user typed is meant as it stands;
// what they pasted, or a program put there, may say things that they have not read.
type origin uint8

const (
	typed  origin = iota
	pasted        // with a paste
	placed        // by the program: recalled, taken back, set by a hook
)

// withOrigin sets the origin of elements.
func withOrigin(elements []element, o origin) []element {
	for i := range elements {
		elements[i].origin = o
	}
	return elements
}

// noteOrigin adds an element, which is the part of the text between two places, to those of
// its origin. A line end goes on with what is before it.
func (d *Draft) noteOrigin(e element, from, to int) {
	if e.isLineEnd() && (extendLast(d.Typed, from, to) || extendLast(d.Pasted, from, to)) {
		return
	}
	switch e.origin {
	case typed:
		d.Typed = appendSpan(d.Typed, from, to)
	case pasted:
		d.Pasted = appendSpan(d.Pasted, from, to)
	}
}

// extendLast makes the last span longer, if it ends where the next part begins.
func extendLast(spans []Span, from, to int) bool {
	n := len(spans)
	if n == 0 || spans[n-1].To != from {
		return false
	}
	spans[n-1].To = to
	return true
}

func appendSpan(spans []Span, from, to int) []Span {
	if extendLast(spans, from, to) {
		return spans
	}
	return append(spans, Span{From: from, To: to})
}

// IsTyped reports whether a user typed a part of the text, all of it.
func (d Draft) IsTyped(from, to int) bool { return covers(d.Typed, from, to) }

// IsPasted reports whether something of a part of the text was pasted.
func (d Draft) IsPasted(from, to int) bool {
	for _, s := range d.Pasted {
		if s.From < to && from < s.To {
			return true
		}
	}
	return false
}

// covers reports whether one of the spans has a part of the text in it.
func covers(spans []Span, from, to int) bool {
	for _, s := range spans {
		if s.From <= from && to <= s.To {
			return true
		}
	}
	return false
}

// originate gives elements that stand for the text of a draft the origins that it has.
func (d Draft) originate(elements []element) []element {
	at := 0
	for i := range elements {
		end := at + elements[i].textSize()
		switch {
		case d.IsPasted(at, end):
			elements[i].origin = pasted
		case covers(d.Typed, at, end):
			elements[i].origin = typed
		default:
			elements[i].origin = placed
		}
		at = end
	}
	return elements
}

// changedTo is a draft of another text in the place of this one. What both begin and end
// with has the origin that it had; what is between came in another way.
func (d Draft) changedTo(text string, o origin) Draft {
	front := 0
	for front < min(len(text), len(d.Text)) && text[front] == d.Text[front] {
		front++
	}
	back := 0
	for back < min(len(text), len(d.Text))-front && text[len(text)-1-back] == d.Text[len(d.Text)-1-back] {
		back++
	}
	end, by := len(text)-back, len(text)-len(d.Text)
	moved := func(spans []Span, between bool) (kept []Span) {
		for _, s := range spans {
			if s.From < front {
				kept = append(kept, Span{From: s.From, To: min(s.To, front)})
			}
		}
		if between && front < end {
			kept = appendSpan(kept, front, end)
		}
		for _, s := range spans {
			if from := max(s.From+by, end); from < s.To+by {
				kept = appendSpan(kept, from, s.To+by)
			}
		}
		return kept
	}
	return Draft{Text: text, Typed: moved(d.Typed, o == typed), Pasted: moved(d.Pasted, false)}
}
