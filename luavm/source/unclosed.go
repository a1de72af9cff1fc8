package source

import "bytes"

// Opened is a word that opens a block: "function", "if", "do", "for", "while" or "repeat",
// and the line in which it stands.
type Opened struct {
	Word string
	Line int
}

// opened is an Opened, or a bracket if it has no word, while it is open.
type opened struct {
	Opened
	indent int
}

// Unclosed returns the block that most likely lacks its end, in a text that the parser reads
// to the line upTo and no further; ok is false if none is open. It goes by what an author
// indents: an end that stands further left than the block that it would close belongs to
// another one.
func Unclosed(src []byte, upTo int) (block Opened, ok bool) {
	r := reader{src: src, line: 1, frames: []frame{{}}}
	var open []opened
	head := "" // for or while, before its do
	for t := r.next(); t.kind != end && r.line <= upTo; t = r.next() {
		switch {
		case t.kind == opening:
			open = append(open, opened{})
		case t.kind == closing:
			if top, isOpen := innermost(open); isOpen && len(open) > 0 && open[len(open)-1].Word != "" {
				return top, true
			}
			open = open[:max(len(open)-1, 0)]
		case t.kind != word:
		case string(t.text) == "for" || string(t.text) == "while":
			head = string(t.text)
		case bytes.Contains([]byte(" function if do repeat "), append(append([]byte(" "), t.text...), ' ')):
			name := string(t.text)
			if name == "do" && head != "" {
				name, head = head, ""
			}
			open = append(open, opened{Opened{name, r.line}, indentOf(src, r.pos)})
		case string(t.text) == "end" || string(t.text) == "until":
			if n := len(open); n > 0 {
				if top := open[n-1]; top.Word != "" && beginsLine(src, r.pos-len(t.text)) && indentOf(src, r.pos) < top.indent {
					return top.Opened, true
				}
				open = open[:n-1]
			}
		}
	}
	return innermost(open)
}

// innermost returns the block that was opened last and is no bracket.
func innermost(open []opened) (Opened, bool) {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].Word != "" {
			return open[i].Opened, true
		}
	}
	return Opened{}, false
}

// lineStart returns where the line of a position begins.
func lineStart(src []byte, pos int) int { return bytes.LastIndexByte(src[:pos], '\n') + 1 }

// indentOf counts the blanks and tabs at the beginning of the line of a position.
func indentOf(src []byte, pos int) int {
	line := src[lineStart(src, pos):]
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}

// beginsLine reports whether only blanks stand before a position in its line.
func beginsLine(src []byte, pos int) bool {
	return len(bytes.TrimSpace(src[lineStart(src, pos):pos])) == 0
}

// Bare returns the lines of a text without its comments, and with nothing in its strings.
func Bare(src []byte) [][]byte {
	r := reader{src: src, line: 1, frames: []frame{{}}}
	bare := bytes.Clone(src)
	for i, c := range bare {
		if c != '\n' {
			bare[i] = ' '
		}
	}
	for {
		t := r.next()
		if t.kind == end {
			return bytes.Split(bare, []byte("\n"))
		}
		from := r.from
		if t.kind == text {
			bare[from], bare[r.pos-1] = src[from], src[r.pos-1]
			continue
		}
		copy(bare[from:r.pos], src[from:r.pos])
	}
}
