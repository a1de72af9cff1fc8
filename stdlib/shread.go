package stdlib

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
	"pi/internal/printable"
)

// shellCommand is a simple command, as far as it can be known without a shell.
type shellCommand struct {
	words     []shellWord
	assigns   []shellAssign
	redirects []shellRedirect
	stdin     *shellWord // the text of a here-document or here-string
	text, via string
	doubt     *shellDoubt // it is unknown
}

// shellDoubt is why a command, or a line, is unknown: a piece of it, and what is the
// matter with that.
type shellDoubt struct{ text, why string }

// doubtful marks the command as unknown. What is said first counts.
func (c *shellCommand) doubtful(text, why string) {
	if c.doubt == nil {
		c.doubt = &shellDoubt{text, why}
	}
}

// sets marks the command as unknown if the variable that it sets may change what runs.
func (c *shellCommand) sets(name string) {
	if changesCommands(name) {
		c.doubtful(c.text, setting(name))
	}
}

// setting is why a command that sets such a variable is unknown.
func setting(name string) string { return name + " decides what runs" }

type shellAssign struct {
	name  string
	value shellWord
}

type shellRedirect struct {
	op, fd string
	path   shellWord
}

// name returns the program that the command runs, without a directory; "" if there is no
// word, or only the shell can know it.
func (c *shellCommand) name() string {
	if len(c.words) == 0 || !c.words[0].known || c.words[0].value == "" {
		return ""
	}
	if strings.HasSuffix(c.words[0].value, "/") {
		return c.words[0].value
	}
	return path.Base(c.words[0].value)
}

// readShell lists the commands of a command line. doubt is not nil if others may run too.
// The error is one of syntax, or the line is too long or nested too deep.
func readShell(line string) (commands []*shellCommand, doubt *shellDoubt, err error) {
	r := &shellReader{bodies: map[*syntax.Word]bool{}}
	if err := r.script(line, ""); err != nil {
		return nil, &shellDoubt{line, err.Error()}, err
	}
	return r.commands, r.doubt, nil
}

// maxScripts bounds how deep command lines inside of command lines are read.
const maxScripts = 8

// shellReader gathers commands.
type shellReader struct {
	commands []*shellCommand
	doubt    *shellDoubt // the line is unknown
	depth    int
	read     int                   // bytes
	bodies   map[*syntax.Word]bool // of here-documents
	posix    bool                  // the shell may be another than bash
}

// doubtful marks the line as unknown. What is said first counts.
func (r *shellReader) doubtful(text, why string) {
	if r.doubt == nil {
		r.doubt = &shellDoubt{text, why}
	}
}

// script adds the commands of a command line, which the command via runs ("" for the
// line itself). Lines inside lines are read to a bounded depth and length; what is
// beyond is not read, and the whole is unknown then.
func (r *shellReader) script(src, via string) error {
	if len(src) > maxLine {
		return fmt.Errorf("parse command line: it is longer than %s", printable.Bytes(maxLine))
	}
	if r.read += len(src); r.depth >= maxScripts || r.read > 4*maxLine {
		r.doubtful(src, "lines inside of lines go too deep")
		return nil
	}
	if brackets := strings.Count(src, "(") + strings.Count(src, "{") + strings.Count(src, "["); brackets > maxNesting {
		return fmt.Errorf("parse command line: it has more than %d brackets", maxNesting)
	}
	file, err := r.parse(src)
	if err != nil {
		return fmt.Errorf("parse command line: %w", err)
	}
	if text, why := strangeText(src); why != "" {
		r.doubtful(text, why)
	}
	r.depth++
	defer func() { r.depth-- }()
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			return false
		}
		if why := r.misunderstood(n, src); why != "" {
			r.doubtful(slice(src, n), why)
		}
		if s, ok := n.(*syntax.Stmt); ok {
			r.statement(s, src, via)
		}
		arithmetic, ok := n.(*syntax.ArithmCmd)
		return !ok || !isNumbers(arithmetic, src)
	})
	return nil
}

// parse returns the syntax tree of a command line. The parser takes a backslash at the
// end of a comment for one that joins lines, the shell does not: such a line is parsed
// again without it.
func (r *shellReader) parse(src string) (*syntax.File, error) {
	for range maxScripts {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(src), "")
		if err != nil {
			return nil, err
		}
		plain := withoutJoins(file, src)
		if plain == src {
			return file, nil
		}
		src = plain
	}
	return nil, errors.New("too many comments end in a backslash")
}

// withoutJoins returns the line with a blank for each backslash at the end of a comment.
func withoutJoins(file *syntax.File, src string) string {
	text := []byte(src)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			from := int(c.Pos().Offset())
			if end := strings.IndexByte(src[from:], '\n'); end > 0 && src[from+end-1] == '\\' {
				text[from+end-1] = ' '
			}
		}
		return true
	})
	return string(text)
}

// maxNesting is how many brackets a line may have, so that the parser goes no
// deeper than a stack should: a level of brackets needs up to 8 KiB.
const maxNesting = 6000

// nestedScript adds the commands of a command line that the command via runs. If it cannot be
// parsed, the whole is unknown.
func (r *shellReader) nestedScript(src, via string) {
	if err := r.script(src, via); err != nil {
		r.doubtful(src, err.Error())
	}
}

// statement adds the simple command of a statement, or one without a name if there are
// only redirections. The statements in a group, a loop or a function are visited by
// themselves.
func (r *shellReader) statement(s *syntax.Stmt, src, via string) {
	c := &shellCommand{via: via}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		c.text = slice(src, cmd)
		for _, w := range cmd.Args {
			c.word(w, src)
		}
		for _, a := range cmd.Assigns {
			c.assign(a, src)
		}
	case *syntax.DeclClause:
		c.text = slice(src, cmd)
		c.declaration(cmd, src)
	default:
		if len(s.Redirs) == 0 {
			return
		}
		c.text = slice(src, s.Redirs[0])
	}
	for _, redirect := range s.Redirs {
		c.redirect(redirect, src)
	}
	r.add(c)
}

// add appends a command to the list, and then the commands that it runs.
func (r *shellReader) add(c *shellCommand) {
	for _, w := range c.words {
		if !w.known {
			c.doubtful(c.text, cmp.Or(w.why, c.via+" puts a word into it"))
		}
	}
	r.commands = append(r.commands, c)
	before := r.doubt
	r.unwrap(c)
	if c.doubt != nil && before == nil {
		r.doubt = c.doubt
	}
}

// word adds a word to the command.
func (c *shellCommand) word(n *syntax.Word, src string) {
	w := readWord(n)
	if !w.known {
		c.doubtful(slice(src, n), w.why)
	}
	c.words = append(c.words, w)
}

// slice is the text of a node.
func slice(src string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(src) {
		return ""
	}
	return src[from:to]
}

// assign adds an assignment before a command or in a declaration.
func (c *shellCommand) assign(a *syntax.Assign, src string) {
	if a.Name == nil {
		return
	}
	value := plainWord("")
	switch {
	case a.Array != nil:
		value = shellWord{why: "arrays are not followed"}
	case a.Append:
		value = shellWord{why: "only the shell knows what it is added to"}
	case a.Value != nil:
		value = readAssigned(a.Value)
	}
	c.assigns = append(c.assigns, shellAssign{a.Name.Value, value})
	c.sets(a.Name.Value)
	if !value.known {
		c.doubtful(slice(src, a), value.why)
	}
}

// declaration reads export, declare, local and the like, whose words may be assignments:
// each becomes both, an assignment and a word.
func (c *shellCommand) declaration(d *syntax.DeclClause, src string) {
	c.words = append(c.words, plainWord(d.Variant.Value))
	for _, a := range d.Args {
		switch {
		case a.Naked && a.Name == nil:
			c.word(a.Value, src)
		case a.Naked:
			c.words = append(c.words, plainWord(a.Name.Value))
		default:
			c.assign(a, src)
			last := c.assigns[len(c.assigns)-1]
			c.words = append(c.words, shellWord{last.name + "=" + last.value.value, last.value.known, last.value.why})
		}
	}
}

// redirect adds a redirection. A here-document or here-string is remembered as what the
// command reads, another source for its input makes that forgotten.
func (c *shellCommand) redirect(n *syntax.Redirect, src string) {
	r := shellRedirect{op: n.Op.String(), path: readWord(n.Word)}
	if n.N != nil {
		r.fd = n.N.Value
	}
	input := strings.Trim(r.fd, "0") == ""
	if r.fd == "" && !isAmong("< <> <& << <<- <<<", r.op) {
		input = false
	}
	why := oddRedirect(n, r.path, src)
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text := readHeredoc(n.Hdoc, n.Word)
		r.path = shellWord{value: r.path.value, known: true} // the word that ends it is never expanded
		why = cmp.Or(why, text.why)
		if input {
			c.stdin = &text
		}
	case syntax.WordHdoc:
		text := r.path
		text.value += "\n"
		r.path = plainWord("")
		why = cmp.Or(why, text.why)
		if input {
			c.stdin = &text
		}
	default:
		if input {
			c.stdin = nil
		}
	}
	if why = cmp.Or(why, r.path.why); why != "" {
		c.doubtful(slice(src, n), why)
	}
	c.redirects = append(c.redirects, r)
}

// maxLine is the longest command line that is read; systems take no longer ones.
const maxLine = 128 << 10
