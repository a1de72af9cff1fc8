package stdlib

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellWord is a word with quotes and escapes taken away, if it can be known
// without a shell.
type shellWord struct {
	value string
	known bool
	why   string // it is not known; "" where that is said of the command
}

// String returns the word as Lua sees it: "?" if only the shell can know it.
func (w shellWord) String() string {
	if !w.known {
		return "?"
	}
	return w.value
}

// readWord reads a word of a command, with quotes and escapes taken away. It is not
// known if the shell may make something else of it, or several words: a variable, a
// pattern, ~, braces.
func readWord(w *syntax.Word) shellWord {
	if w == nil {
		return shellWord{known: true}
	}
	p := &wordReader{escapes: "$`\"\\\n"}
	p.parts(w.Parts)
	switch {
	case p.tildes("=:"):
		p.lose(theTilde)
	case p.pattern():
		p.lose("a pattern may stand for any files")
	case p.braces():
		p.lose("braces may make several words of one")
	}
	return p.word()
}

// readAssigned is readWord for the value of an assignment, in which patterns and braces
// are text, and ~ counts after every colon too.
func readAssigned(w *syntax.Word) shellWord {
	p := &wordReader{escapes: "$`\"\\\n"}
	p.parts(w.Parts)
	if p.tildes(":") {
		p.lose(theTilde)
	}
	return p.word()
}

const theTilde = "only the shell knows what ~ is"

// readHeredoc reads the text of a here-document, which is literal if any part of its end
// word is quoted.
func readHeredoc(body, end *syntax.Word) shellWord {
	if body == nil {
		return shellWord{known: true}
	}
	p := &wordReader{escapes: "$`\\\n"}
	for _, part := range end.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			p.escapes = ""
		}
	}
	p.quotedParts(body.Parts)
	return p.word()
}

// wordReader puts the parts of a word together.
type wordReader struct {
	value   []byte
	bare    []bool // for each byte of value: it was neither quoted nor escaped
	lost    string // why only the shell knows
	escapes string // what a backslash takes the meaning of between quotes
}

// word returns what was read; a word that is not known if any part was not.
func (p *wordReader) word() shellWord {
	if p.lost != "" {
		return shellWord{why: p.lost}
	}
	return plainWord(string(p.value))
}

// plainWord is a word that is known.
func plainWord(value string) shellWord { return shellWord{value: value, known: true} }

// lose marks the word as not known. What is said first counts.
func (p *wordReader) lose(why string) {
	if p.lost == "" {
		p.lost = why
	}
}

// loseTo marks the word as not known because of a part of it that the shell expands.
func (p *wordReader) loseTo(part syntax.WordPart) {
	switch part.(type) {
	case *syntax.ParamExp:
		p.lose("only the shell knows what the variable holds")
	case *syntax.CmdSubst, *syntax.ProcSubst:
		p.lose("only the shell knows what the substitution gives")
	case *syntax.ArithmExp:
		p.lose(theArithmetic)
	default:
		p.lose("only the shell knows what this stands for")
	}
}

func (p *wordReader) add(c byte, bare bool) {
	p.value = append(p.value, c)
	p.bare = append(p.bare, bare)
}

func (p *wordReader) addText(s string) {
	for i := range len(s) {
		p.add(s[i], false)
	}
}

// parts reads the parts of a word that is not quoted as a whole.
func (p *wordReader) parts(parts []syntax.WordPart) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			p.spliced(part)
			p.lit(part.Value)
		case *syntax.SglQuoted:
			p.single(part)
		case *syntax.DblQuoted:
			if part.Dollar {
				p.lose("the shell translates it")
			}
			p.quotedParts(part.Parts)
		default:
			p.loseTo(part)
		}
	}
}

// spliced marks the word as not known if its text has a $ and a backslash at the end of
// a line was removed from it: the shell joins the lines first, and may see a variable
// then.
func (p *wordReader) spliced(l *syntax.Lit) {
	if p.escapes != "" && strings.Contains(l.Value, "$") && int(l.End().Offset()-l.Pos().Offset()) != len(l.Value) {
		p.lose("the shell joins its lines")
	}
}

// lit adds text outside of quotes, in which a backslash takes the next character
// literally.
func (p *wordReader) lit(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				p.add(s[i], false)
			}
		case c == '\\':
			p.lose("nothing follows its backslash")
		default:
			p.add(c, true)
		}
	}
}

// single reads '…' and $'…'.
func (p *wordReader) single(q *syntax.SglQuoted) {
	if q.Dollar && strings.Contains(q.Value, `\`) {
		s, ok := unescape(q.Value)
		if !ok {
			p.lose("it has an escape that is not read")
		}
		p.addText(s)
		return
	}
	p.addText(q.Value)
}

// unescape decodes the escapes \n \t \\ \' and \" of $'…'; false if there are others.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		at := strings.IndexByte(`nt\'"`, s[i])
		if at < 0 {
			return "", false
		}
		b.WriteByte("\n\t\\'\""[at])
	}
	return b.String(), true
}

// quotedParts reads what is between double quotes, or in a here-document.
func (p *wordReader) quotedParts(parts []syntax.WordPart) {
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			p.loseTo(part)
			continue
		}
		p.spliced(lit)
		p.quoted(lit.Value)
	}
}

// quoted reads text between double quotes, or of a here-document.
func (p *wordReader) quoted(s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(p.escapes, s[i+1]) >= 0 {
			if i++; s[i] != '\n' {
				p.add(s[i], false)
			}
			continue
		}
		p.add(s[i], false)
	}
}

// tildes reports whether the shell would replace a ~ by a home directory: one outside of
// quotes, at the beginning or after one of these characters.
func (p *wordReader) tildes(after string) bool {
	for i, c := range p.value {
		if c == '~' && p.bare[i] && (i == 0 || strings.IndexByte(after, p.value[i-1]) >= 0) {
			return true
		}
	}
	return false
}

// pattern reports whether there is a * or ? or […] outside of quotes, for which names of
// files may come.
func (p *wordReader) pattern() bool {
	open := false
	for i, c := range p.value {
		switch {
		case !p.bare[i]:
		case c == '*', c == '?', c == ']' && open:
			return true
		case c == '[':
			open = true
		}
	}
	return false
}

// braces reports whether there is a { outside of quotes that may make several words of
// one, as {a,b} does; {} does not.
func (p *wordReader) braces() bool {
	for i, c := range p.value {
		if c == '{' && p.bare[i] && (i+1 == len(p.value) || p.value[i+1] != '}' || !p.bare[i+1]) {
			return true
		}
	}
	return false
}
