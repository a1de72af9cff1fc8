package markdown

// lexer colours code, line by line.
type lexer struct{}

func newLexer(string) lexer { return lexer{} }

func (l *lexer) paint(_ Painter, line string) string { return line }
