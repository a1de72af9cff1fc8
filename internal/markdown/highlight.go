package markdown

import (
	"iter"
	"slices"
	"strings"
)

// The styles of what is told apart in code.
const (
	styleComment = "muted"
	styleString  = "success"
	styleNumber  = "warning"
	styleKeyword = "accent"
)

// lexer colours code, line by line: strings, comments, numbers and keywords. It does not
// know more of a language, and never changes what the line says.
type lexer struct {
	language language
	keywords map[string]bool
	open     span // what goes on in the next line
}

// span is what reaches from one mark to another.
type span struct {
	begin, end string
	style      string
	escapes    bool // a backslash takes the meaning of the mark behind it
	isLong     bool // it may end in another line
}

// newLexer returns the lexer of the language that a block of code names; nothing is
// coloured if it is not known, or not to be coloured.
func (p Painter) newLexer(name string) lexer {
	if !p.Highlight {
		return lexer{}
	}
	return newLexer(name)
}

// newLexer returns the lexer of a language by its name.
func newLexer(name string) lexer {
	l := lexer{language: findLanguage(name), keywords: map[string]bool{}}
	for word := range strings.FieldsSeq(l.language.keywords) {
		l.keywords[word] = true
	}
	return l
}

func (l *lexer) isKeyword(word string) bool {
	return l.keywords[word] || l.language.anyCase && l.keywords[strings.ToLower(word)]
}

// paint returns a line in its colours.
func (l *lexer) paint(p Painter, line string) string {
	if l.language.spans == nil {
		return line
	}
	var out strings.Builder
	for piece, style := range l.pieces(line) {
		if style == "" {
			out.WriteString(piece)
		} else {
			out.WriteString(p.paint(piece, style))
		}
	}
	return out.String()
}

// pieces yields a line in pieces with their styles, "" for none.
func (l *lexer) pieces(line string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line != "" {
			n, style := l.next(line)
			if !yield(line[:n], style) {
				return
			}
			line = line[n:]
		}
	}
}

// next returns the length of the piece that a line begins with, and its style.
func (l *lexer) next(line string) (length int, style string) {
	if l.open.end != "" {
		return l.finish(l.open, line, 0)
	}
	for _, s := range l.language.spans {
		if strings.HasPrefix(line, s.begin) {
			return l.finish(s, line, len(s.begin))
		}
	}
	n := wordLen(line)
	word := line[:n]
	switch {
	case n == 0:
		return l.otherLen(line), ""
	case word[0] >= '0' && word[0] <= '9':
		return n, styleNumber
	case l.isKeyword(word):
		return n, styleKeyword
	}
	return n, ""
}

// finish returns how far a span reaches in a line, from behind its beginning on.
func (l *lexer) finish(s span, line string, from int) (length int, style string) {
	l.open = span{}
	if s.end == "" {
		return len(line), s.style
	}
	for i := from; i < len(line); i++ {
		switch {
		case s.escapes && line[i] == '\\':
			i++
		case strings.HasPrefix(line[i:], s.end):
			return i + len(s.end), s.style
		}
	}
	if s.isLong {
		l.open = s
	}
	return len(line), s.style
}

// wordLen is the length of the word or number at the head of a line.
func wordLen(line string) int {
	n := 0
	for n < len(line) && (isLetter(line[n]) || line[n] == '_' || line[n] >= 0x80) {
		n++
	}
	return n
}

// otherLen is the length of what is neither a word nor the beginning of a span.
func (l *lexer) otherLen(line string) int {
	for n := 1; n < len(line); n++ {
		if wordLen(line[n:n+1]) > 0 || slices.ContainsFunc(l.language.spans, func(s span) bool { return strings.HasPrefix(line[n:], s.begin) }) {
			return n
		}
	}
	return len(line)
}
