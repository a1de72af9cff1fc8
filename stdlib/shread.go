package stdlib

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

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
	unknown   bool
}

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

// readShell lists the commands of a command line. unknown is true if others may run too.
// The error is one of syntax, or the line is too long or nested too deep.
func readShell(line string) (commands []*shellCommand, unknown bool, err error) {
	r := &shellReader{}
	if err := r.script(line, ""); err != nil {
		return nil, true, err
	}
	for _, c := range r.commands {
		r.unknown = r.unknown || c.unknown
	}
	return r.commands, r.unknown, nil
}

// maxScripts bounds how deep command lines inside of command lines are read.
const maxScripts = 8

// shellReader gathers commands.
type shellReader struct {
	commands []*shellCommand
	unknown  bool
	depth    int
	read     int // bytes
}

// script adds the commands of a command line, which the command via runs ("" for the
// line itself). Lines inside lines are read to a bounded depth and length; what is
// beyond is not read, and the whole is unknown then.
func (r *shellReader) script(src, via string) error {
	if len(src) > maxLine {
		return fmt.Errorf("parse command line: it is longer than %s", printable.Bytes(maxLine))
	}
	if r.read += len(src); r.depth >= maxScripts || r.read > 4*maxLine {
		r.unknown = true
		return nil
	}
	if brackets := strings.Count(src, "(") + strings.Count(src, "{") + strings.Count(src, "["); brackets > maxNesting {
		return fmt.Errorf("parse command line: it has more than %d brackets", maxNesting)
	}
	file, err := r.parse(src)
	if err != nil {
		return fmt.Errorf("parse command line: %w", err)
	}
	// The parser skips what the shell does not, such as a carriage return, and
	// shells differ about the rest.
	r.unknown = r.unknown || !utf8.ValidString(src) || strings.ContainsFunc(src, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' || c == 0x7f
	})
	r.depth++
	defer func() { r.depth-- }()
	syntax.Walk(file, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			r.statement(s, src, via)
		}
		r.unknown = r.unknown || needsShell(n, src)
		return true
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
	if r.script(src, via) != nil {
		r.unknown = true
	}
}

// needsShell reports whether a part of a command line may run commands, or change what
// runs, in a way that only the shell can find out.
func needsShell(n syntax.Node, src string) bool {
	switch n := n.(type) {
	case *syntax.CmdSubst: // backquotes remove a level of backslashes before anything else
		return n.Backquotes && strings.Contains(slice(src, n), `\`)
	case *syntax.ParamExp: // ${x@P} runs what is in x, ${!x} reads what x names
		return n.Excl || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps
	case *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop: // arithmetic: a value may have a subscript with a command substitution
		return hasNames(n)
	case *syntax.BinaryTest:
		return n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr && hasNames(n)
	case *syntax.UnaryTest:
		return n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
	case *syntax.BinaryCmd: // after a pipe, time is a program with options of its own and no keyword
		_, timed := n.Y.Cmd.(*syntax.TimeClause)
		return timed
	case *syntax.WordIter:
		return changesCommands(n.Name.Value)
	case *syntax.Assign:
		return n.Index != nil && hasNames(n.Index)
	}
	return false
}

// hasNames reports whether an arithmetic expression has more than numbers in it: a
// variable may hold a subscript with a command in it.
func hasNames(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			found = found || strings.Trim(n.Value, "0123456789") != ""
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.SglQuoted, *syntax.DblQuoted:
			found = true
		}
		return !found
	})
	return found
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
			c.words = append(c.words, readWord(w))
		}
		for _, a := range cmd.Assigns {
			c.assign(a)
		}
	case *syntax.DeclClause:
		c.text = slice(src, cmd)
		c.declaration(cmd)
	default:
		if len(s.Redirs) == 0 {
			return
		}
		c.text = slice(src, s.Redirs[0])
	}
	for _, redirect := range s.Redirs {
		c.redirect(redirect)
	}
	r.add(c)
}

// add appends a command to the list, and then the commands that it runs.
func (r *shellReader) add(c *shellCommand) {
	for _, w := range c.words {
		c.unknown = c.unknown || !w.known
	}
	r.commands = append(r.commands, c)
	r.unwrap(c)
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
func (c *shellCommand) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	value := shellWord{known: true}
	switch {
	case a.Array != nil, a.Append:
		value.known = false
	case a.Value != nil:
		value = readAssigned(a.Value)
	}
	c.assigns = append(c.assigns, shellAssign{a.Name.Value, value})
	if !value.known || changesCommands(a.Name.Value) {
		c.unknown = true
	}
}

// declaration reads export, declare, local and the like, whose words may be assignments:
// each becomes both, an assignment and a word.
func (c *shellCommand) declaration(d *syntax.DeclClause) {
	c.words = append(c.words, shellWord{d.Variant.Value, true})
	for _, a := range d.Args {
		switch {
		case a.Naked && a.Name == nil:
			c.words = append(c.words, readWord(a.Value))
		case a.Naked:
			c.words = append(c.words, shellWord{a.Name.Value, true})
		default:
			c.assign(a)
			last := c.assigns[len(c.assigns)-1]
			c.words = append(c.words, shellWord{last.name + "=" + last.value.value, last.value.known})
		}
	}
	for _, w := range c.words[1:] { // -i makes values arithmetic, -n makes a variable stand for another
		c.unknown = c.unknown || strings.HasPrefix(w.value, "-") && strings.ContainsAny(w.value, "in")
	}
	c.unknown = c.unknown || d.Variant.Value == "nameref"
}

// redirect adds a redirection. A here-document or here-string is remembered as what the
// command reads, another source for its input makes that forgotten.
func (c *shellCommand) redirect(n *syntax.Redirect) {
	r := shellRedirect{op: n.Op.String(), path: readWord(n.Word)}
	if n.N != nil {
		r.fd = n.N.Value
	}
	input := r.fd == "" || r.fd == "0"
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text := readHeredoc(n.Hdoc, n.Word)
		r.path.known = true // the word that ends it is never expanded
		c.reads(text, input)
	case syntax.WordHdoc:
		text := r.path
		text.value += "\n"
		r.path = shellWord{known: true}
		c.reads(text, input)
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
		if input {
			c.stdin = nil
		}
	}
	c.unknown = c.unknown || !r.path.known || strings.HasPrefix(r.fd, "{")
	c.redirects = append(c.redirects, r)
}

// reads remembers the text of a here-document, if it is for standard input (input). The
// command is unknown if the text is.
func (c *shellCommand) reads(text shellWord, input bool) {
	c.unknown = c.unknown || !text.known
	if input {
		c.stdin = &text
	}
}

// commandVariables decide what runs when other commands are called by their names.
const commandVariables = "PATH IFS ENV BASH_ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 SHELL SHELLOPTS BASHOPTS CDPATH EXECIGNORE HOME EDITOR VISUAL PAGER MANPAGER LESSOPEN BROWSER " +
	"PERL5OPT PERL5LIB PYTHONSTARTUP PYTHONPATH RUBYOPT NODE_OPTIONS"

// changesCommands reports whether setting this variable may change which programs run.
func changesCommands(name string) bool {
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return isAmong(commandVariables, name)
}

// maxLine is the longest command line that is read; systems take no longer ones.
const maxLine = 128 << 10
