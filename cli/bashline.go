package cli

import "strings"

// bashLine is a command line as bash hands it over to what completes: as text, which is cut here
// into words as bash would, but nothing in it is expanded or run.
type bashLine struct {
	words []string // behind the name of the program, without their quotes; the last is not all typed
	// before is the beginning of the last word that stays as it is: bash replaces what comes behind, such
	// as what follows the colon of a model.
	before string
	quote  byte // that is open where the replacement begins; 0: none
	listed bool // words are only shown, and have their descriptions
}

// What COMP_TYPE says of the key.
const (
	listsWords    = "63" // the second Tab
	listsAtOnce   = "33"
	listsNoChange = "64"
)

// readBashLine reads the line up to the cursor, what bash takes for the last word, and COMP_TYPE.
func readBashLine(args []string) (l bashLine) {
	if len(args) != 3 {
		return l
	}
	line, replaced := args[0], args[1]
	l.listed = args[2] == listsWords || args[2] == listsAtOnce || args[2] == listsNoChange
	words, last := cutShellWords(line)
	if len(words) < 2 {
		return l // the name of the program is being typed
	}
	l.words = words[1:]
	if kept, ok := strings.CutSuffix(line[last:], replaced); ok {
		r := readShell(kept)
		l.before, l.quote = r.word.String(), r.quote
	}
	return l
}

// cutShellWords cuts a line into its words, without their quotes, and returns where the last begins.
// That is empty at the end of the line if the line ends between words.
func cutShellWords(line string) (words []string, last int) {
	var r shellReader
	for i := 0; i < len(line); {
		if r.quote == 0 && strings.IndexByte(" \t\n", line[i]) >= 0 {
			if r.any {
				words = append(words, r.word.String())
			}
			r = shellReader{}
			i++
			last = i
			continue
		}
		i += r.step(line[i:])
	}
	return append(words, r.word.String()), last
}

// shellReader takes the quotes off a word.
type shellReader struct {
	word  strings.Builder
	quote byte // ' or " that is open, 0: none
	any   bool // something of a word was read, maybe only quotes
}

func readShell(text string) *shellReader {
	r := new(shellReader)
	for i := 0; i < len(text); {
		i += r.step(text[i:])
	}
	return r
}

// unquoteShell is a word, or the beginning of one, without its quotes.
func unquoteShell(word string) string { return readShell(word).word.String() }

// step reads the beginning of text, which is not empty, and returns how many bytes that was. What
// bash would expand stays as it was typed.
func (r *shellReader) step(text string) int {
	r.any = true
	c := text[0]
	switch {
	case c == r.quote:
		r.quote = 0
		return 1
	case r.quote == 0 && (c == '\'' || c == '"'):
		r.quote = c
		return 1
	case c == '\\' && r.quote == 0 && len(text) > 1,
		c == '\\' && r.quote == '"' && len(text) > 1 && strings.IndexByte("$`\"\\\n", text[1]) >= 0:
		if text[1] != '\n' {
			r.word.WriteByte(text[1])
		}
		return 2
	case r.quote != '\'' && strings.HasPrefix(text, "$("):
		n := substitution(text)
		r.word.WriteString(text[:n])
		return n
	}
	r.word.WriteByte(c)
	return 1
}

// substitution returns how long the $(…) is that text begins with; all of it if that is not closed.
func substitution(text string) int {
	depth := 0
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// reply is a word as bash puts it into the line, or lists it; false for one that does not begin as
// what stands there.
func (l bashLine) reply(c completionWord, several bool) (string, bool) {
	rest, ok := strings.CutPrefix(c.text, l.before)
	word := quoteForBash(rest, l.quote)
	if several && l.listed && l.quote == 0 && c.about != "" {
		word += "  (" + c.about + ")"
	}
	return word, ok
}

// quoteForBash writes text so that bash takes it as it is, behind a quote that is open.
func quoteForBash(text string, quote byte) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case quote == '\'' && r == '\'':
			b.WriteString(`'\''`)
		case quote == '"' && r == '!': // a backslash would stay in the word
			b.WriteString(`"'!'"`)
		case quote == '"' && strings.ContainsRune("$`\"\\", r), quote == 0 && !plainInBash(r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainInBash reports whether a character means nothing but itself.
func plainInBash(r rune) bool {
	return r >= 0x80 || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_./,:=@%+-", r)
}
