package edit

import "unicode"

// move puts the cursor at a place and reports whether it was elsewhere.
func (b *Buffer) move(to place) bool {
	moved := to != b.cursor
	b.cursor = to
	return moved
}

// previous is the place one element before the cursor.
func (b *Buffer) previous() place { return b.text.stepBack(b.cursor) }

// next is the place one element behind the cursor.
func (b *Buffer) next() place { return b.text.stepOn(b.cursor) }

// wordStart is where the word before the cursor begins. A token is a word.
func (b *Buffer) wordStart() place {
	p := b.text.back(b.cursor, element.isGap)
	if p == (place{}) || b.text.at(b.text.stepBack(p)).token != nil {
		return b.text.stepBack(p)
	}
	return b.text.back(p, element.isWord)
}

// wordEnd is where the word behind the cursor ends.
func (b *Buffer) wordEnd() place {
	p := b.text.on(b.cursor, element.isGap)
	if b.text.at(p).token != nil {
		return b.text.stepOn(p)
	}
	return b.text.on(p, element.isWord)
}

// blankStart is where the text between blanks before the cursor begins.
func (b *Buffer) blankStart() place {
	return b.text.back(b.text.back(b.cursor, element.isBlank), func(e element) bool { return !e.isBlank() })
}

func (e element) isBlank() bool {
	return e.token == nil && (e.text == " " || e.text == "\t" || e.text == "\n" || e.text == "\u3000")
}

// isWord reports whether an element belongs to a word: it begins with a letter, a digit
// or _.
func (e element) isWord() bool {
	for _, r := range e.text {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return false
}

// isGap reports whether an element is between words.
func (e element) isGap() bool { return e.token == nil && !e.isWord() }

// rowStart is the start of the cursor's row, or of the text if the cursor is there.
func (b *Buffer) rowStart() place {
	if b.cursor.col == 0 {
		return place{}
	}
	return place{b.cursor.line, 0}
}

// rowEnd is the end of the cursor's row, or of the text if the cursor is there.
func (b *Buffer) rowEnd() place {
	if end := len(b.text.lines[b.cursor.line].elements); b.cursor.col < end {
		return place{b.cursor.line, end}
	}
	return b.text.end()
}
