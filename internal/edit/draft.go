package edit

import (
	"slices"
	"sort"
	"strings"

	"pi/internal/cells"
)

// Draft is a text with what is needed to show it as it was: to keep what was typed while
// something else is in the line, to queue it, and to store it in a history.
type Draft struct {
	Text     string `json:"text"`
	Tokens   []Span `json:"tokens,omitempty"`   // in their order
	Typed    []Span `json:"typed,omitempty"`    // what a user typed, in its order
	Pasted   []Span `json:"pasted,omitempty"`   // and what they pasted; all else the program put there
	Position int    `json:"position,omitempty"` // of the cursor, in bytes; negative: at the end
}

// Span is a part of a text that is shown as a token, in bytes.
type Span struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Label string `json:"label,omitempty"` // "": that of a paste
}

// From which size on a text that nobody knows to be pasted is shown as a token when it is
// recalled. Nobody types that much; and what was typed is better edited as rows.
const (
	recalledLines = 20
	recalledRunes = 1000
)

// Save returns the text as it is now.
func (b *Buffer) Save() Draft {
	d := Draft{Text: b.Text(), Position: b.Position()}
	at := 0
	b.text.each(place{}, b.text.end(), func(e element) {
		n := e.textSize()
		if e.token != nil {
			s := Span{From: at, To: at + n}
			if e.token.named {
				s.Label = e.token.label
			}
			d.Tokens = append(d.Tokens, s)
		}
		d.noteOrigin(e, at, at+n)
		at += n
	})
	return d
}

// Restore replaces the whole text by a draft, which can be undone. A paste that the buffer
// had as a token since Reset keeps its number.
func (b *Buffer) Restore(d Draft) {
	if changed := b.edit(kindOther, place{}, b.text.end(), b.elementsOfDraft(d)); d.Position >= 0 {
		b.cursor = b.text.placeAt(d.Position, element.textSize)
		b.undo.moved(b.cursor, changed)
	}
	b.last, b.recalled = kindOther, false
}

// Recall is Restore for an entry of a history, with the cursor at the end. A large entry of
// which no token is known becomes one. Recalled reports true from then on until something
// is typed or the cursor moves.
func (b *Buffer) Recall(d Draft) {
	d = b.asSent(d)
	if len(d.Tokens) == 0 && isLarge(d.Text, recalledLines, recalledRunes) {
		d.Tokens = []Span{{To: len(d.Text)}}
	}
	d.Position = -1
	b.Restore(d)
	b.recalled = true
}

// Recalled reports whether the text and the cursor are as Recall put them.
func (b *Buffer) Recalled() bool { return b.recalled }

// Prepend puts a draft as rows above the text. The cursor stays where it is in the text,
// or goes behind the draft if there was none. It can be undone.
func (b *Buffer) Prepend(d Draft) {
	elements := b.elementsOfDraft(d)
	if len(elements) == 0 {
		return
	}
	if b.Empty() {
		b.edit(kindOther, place{}, place{}, elements)
		return
	}
	cursor := b.cursor
	b.edit(kindOther, place{}, place{}, append(elements, lineEnd()))
	b.cursor.line += cursor.line
	b.cursor.col = cursor.col
	b.undo.moved(b.cursor, true)
}

// asSent is a draft as it was sent, if nothing but its text is known: what was queued comes
// back as it looked, though queues keep nothing but text.
func (b *Buffer) asSent(d Draft) Draft {
	if len(d.Tokens)+len(d.Typed)+len(d.Pasted) > 0 {
		return d
	}
	for _, s := range slices.Backward(b.sent) {
		if s.Text == d.Text {
			s.Position = d.Position
			return s
		}
	}
	return d
}

// elementsOfDraft are the elements of a draft. Spans that are not in the text, or not in
// their order, are left out.
func (b *Buffer) elementsOfDraft(d Draft) (elements []element) {
	d = b.asSent(d)
	at := 0
	for _, s := range d.Tokens {
		if s.From < at || s.To <= s.From || s.To > len(d.Text) {
			continue
		}
		elements = append(elements, elementsOf(normal(d.Text[at:s.From]))...)
		elements = append(elements, b.tokenOf(normal(d.Text[s.From:s.To]), s.Label))
		at = s.To
	}
	return d.originate(append(elements, elementsOf(normal(d.Text[at:]))...))
}

// tokenOf is the token for a text: one that the buffer has or had, or a new one.
func (b *Buffer) tokenOf(text, label string) element {
	for _, t := range b.known {
		if t.text == text && (label == "" && !t.named || t.named && t.label == label) {
			return tokenElement(t)
		}
	}
	return b.newToken(label, text)
}

// spansIn finds the texts of tokens in a text, the longest first.
func spansIn(text string, tokens []*token) (spans []Span) {
	longest := slices.Clone(tokens)
	sort.SliceStable(longest, func(i, j int) bool { return len(longest[i].text) > len(longest[j].text) })
	for _, t := range longest {
		for at := 0; t.text != ""; {
			i := strings.Index(text[at:], t.text)
			if i < 0 {
				break
			}
			found := Span{From: at + i, To: at + i + len(t.text)}
			if at = found.To; slices.ContainsFunc(spans, func(s Span) bool { return s.From < found.To && found.From < s.To }) {
				continue
			}
			if t.named {
				found.Label = t.label
			}
			spans = append(spans, found)
		}
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].From < spans[j].From })
	return spans
}

// Row is the draft in one row of at most width cells, for a list: line ends as ⏎, tokens as
// their labels, and … where there is no room for the rest.
func (d Draft) Row(width int) string {
	b := New()
	b.Recall(d)
	var out strings.Builder
	used := 0
	b.text.each(place{}, b.text.end(), func(e element) {
		if used > width {
			return
		}
		sign := ""
		switch {
		case e.token != nil:
			sign = e.token.label
		case e.isLineEnd():
			sign = "⏎"
		case e.text == "\t":
			sign = " "
		default:
			sign = e.sign()
		}
		out.WriteString(sign)
		used += cells.Width(sign)
	})
	return cells.Cut(out.String(), width)
}
