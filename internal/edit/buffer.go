// Package edit is the text of an input of several rows while a user types it: where
// the cursor is, what the editing keys do, what it looks like, and undo. It knows no
// keys, no terminal and no clock; whoever reads keys calls [Buffer.Insert],
// [Buffer.Paste] and [Buffer.Do], and whoever paints calls [Buffer.Window].
//
// The text is a sequence of elements. An element is what a user counts as one
// character (a letter with its accents, a flag, a family of emoji), a character that nobody
// would see (it is drawn as <U+E0041>, and sent as it was), a line end, or a token: a label
// such as [paste #1: 23 lines, 1.2 kB] that stands for a whole text. The cursor is always
// between two elements, and Backspace removes one.
//
// There are two ways to speak of a part of the text. [Buffer.Text], and with it [Draft],
// is the exact text with everything that tokens stand for. [Buffer.Plain] has
// one character, [TokenRune], in the place of each token; completion works on that.
// Positions in either are bytes.
//
//	Buffer    the text with its cursor, undo and kills
//	Draft     a text to keep and to put back: what history and queues have
//	View      the rows to draw
//	Field     one row of text, for filters and dialogs
//	Box       several rows of it
//
// A user removes text in two ways: what kill actions remove can be put back with
// "yank", and everything can be undone. Nothing here is safe for concurrent use.
package edit

import "strings"

// Buffer is a text that is being edited. Use [New] to make one.
type Buffer struct {
	text   text
	cursor place

	known   []*token // that were in the text since Reset
	sent    []Draft  // that were the text at a Reset, the newest last
	actions map[string]action
	last    kind // of the newest change or movement, which the next one may go on with
	goal    int  // the column that up and down aim at
	kills   killRing
	undo    history

	geometry geometry
	paint    func(label string) string
	top      int  // the first row of the window
	recalled bool // nothing was typed or moved since Recall
}

// New returns an empty buffer.
func New() *Buffer {
	b := &Buffer{actions: actions(), text: text{[]*line{{}}}}
	b.Reset()
	return b
}

// sentKept is how many texts that were sent are known as such when they come back.
const sentKept = 20

// Reset empties the buffer for the next input: undo ends here and pastes are numbered
// from 1 again. What was killed can still be yanked, and a draft that has nothing but a
// text that was sent is that one again, with its tokens and with what was typed of it.
func (b *Buffer) Reset() {
	if !b.Empty() {
		b.sent = append(b.sent[max(0, len(b.sent)-sentKept+1):], b.Save())
	}
	b.text, b.cursor = text{[]*line{{}}}, place{}
	b.known, b.last, b.undo = nil, kindOther, history{}
	b.top, b.recalled = 0, false
}

// Insert types text at the cursor. CR and CR LF become LF, invalid UTF-8 becomes U+FFFD,
// and everything else stays as it is. Texts that are typed one after the other are
// undone together.
func (b *Buffer) Insert(text string) {
	if text == "" {
		return
	}
	b.edit(kindTyping, b.cursor, b.cursor, elementsOf(normal(text)))
}

// Paste puts a pasted text at the cursor, changed as by Insert. A text of more than
// three lines or 1,000 characters becomes a token. A paste is undone by itself.
func (b *Buffer) Paste(text string) {
	if text == "" {
		return
	}
	text = normal(text)
	if isLarge(text, pasteLines, pasteRunes) {
		b.edit(kindOther, b.cursor, b.cursor, withOrigin([]element{b.newToken("", text)}, pasted))
		return
	}
	b.edit(kindOther, b.cursor, b.cursor, withOrigin(elementsOf(text), pasted))
}

// InsertToken puts a token with a label of its own at the cursor, such as one for an
// image. The label is shown as it is and must have no control characters.
func (b *Buffer) InsertToken(label, text string) {
	b.edit(kindOther, b.cursor, b.cursor, withOrigin([]element{b.newToken(label, normal(text))}, pasted))
}

// Text is the exact text, with the texts that tokens stand for.
func (b *Buffer) Text() string {
	var out strings.Builder
	out.Grow(b.text.size(element.textSize))
	b.text.each(place{}, b.text.end(), func(e element) { out.WriteString(e.exact()) })
	return out.String()
}

// Position is where the cursor is in Text, in bytes.
func (b *Buffer) Position() int { return b.text.sizeBefore(b.cursor, element.textSize) }

// Set replaces the whole text, as a program does. The cursor goes to a position in bytes,
// or to the end if that is negative. A text that a token stood for is still that token, if
// it is still there, and what the text begins and ends with as before was typed as before.
// It can be undone.
func (b *Buffer) Set(text string, position int) { b.set(text, position, placed) }

// SetTyped is Set for a text that a user wrote elsewhere, such as in an editor.
func (b *Buffer) SetTyped(text string, position int) { b.set(text, position, typed) }

func (b *Buffer) set(text string, position int, o origin) {
	text = normal(text)
	d := b.Save().changedTo(text, o)
	d.Tokens, d.Position = spansIn(text, b.text.tokens()), position
	b.Restore(d)
}

// Empty reports whether there is no text.
func (b *Buffer) Empty() bool { return len(b.text.lines) == 1 && len(b.text.lines[0].elements) == 0 }

// Clear removes the whole text, which can be undone. It reports false if there was none.
func (b *Buffer) Clear() bool {
	if b.Empty() {
		return false
	}
	b.edit(kindOther, place{}, b.text.end(), nil)
	return true
}
