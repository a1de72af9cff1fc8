package edit

// Plain is the text with [TokenRune] in the place of each token, and where the cursor is
// in it, in bytes.
func (b *Buffer) Plain() (text string, cursor int) {
	cursor = b.text.sizeBefore(b.cursor, element.plainSize)
	out := make([]byte, 0, b.text.size(element.plainSize))
	b.text.each(place{}, b.text.end(), func(e element) { out = append(out, e.plain()...) })
	return string(out), cursor
}

// Word is the word that the cursor is in or at the end of, and where it is in Plain, in
// bytes. Words are parted by blanks, line ends and tokens.
func (b *Buffer) Word() (word string, from, to int) {
	inWord := func(e element) bool { return !e.isBlank() && e.token == nil }
	start, end := b.text.back(b.cursor, inWord), b.text.on(b.cursor, inWord)
	from = b.text.sizeBefore(start, element.plainSize)
	b.text.each(start, end, func(e element) { word += e.text })
	return word, from, from + len(word)
}

// Replace puts a text in the place of a part of Plain, given in bytes, and the cursor
// behind it. A border inside a character or token goes behind that. It is one step
// for undo.
func (b *Buffer) Replace(from, to int, text string) {
	start := b.text.placeAt(max(from, 0), element.plainSize)
	end := later(start, b.text.placeAt(max(to, 0), element.plainSize))
	b.edit(kindOther, start, end, elementsOf(normal(text)))
}
