package stdlib

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// What is understood whole stands in this file, as lists: of syntax, of redirections, of
// tests, of options. What is in none of them makes a line unknown, whether anybody has
// thought of it or not. Where bash and the parser may read a line differently, it is
// unknown too.

const (
	theSyntax     = "this syntax is not followed"
	theArithmetic = "arithmetic may run what its names hold"
)

// misunderstood says why a part of a line may run commands, or change what runs, in a
// way that is not followed. It is "" for one that is understood, but for its own parts.
func (r *shellReader) misunderstood(n syntax.Node, src string) string {
	understood, why := false, theSyntax
	switch n := n.(type) {
	case *syntax.File, *syntax.Comment, *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.DeclClause, *syntax.ParenTest, *syntax.Lit, *syntax.SglQuoted:
		understood = true
	case *syntax.Stmt:
		understood = !n.Coprocess && !n.Disown
	case *syntax.CallExpr:
		understood, why = !misreadName(n), "the shell may take its first word for something else"
	case *syntax.Assign:
		understood, why = n.Index == nil, theArithmetic
	case *syntax.Redirect:
		if n.Hdoc != nil {
			r.bodies[n.Hdoc] = true
		}
		understood = true // see oddRedirect
	case *syntax.BinaryCmd: // after a pipe, time is a program with options of its own and no keyword
		_, timed := n.Y.Cmd.(*syntax.TimeClause)
		understood = !timed && isAmong("&& || | |&", n.Op.String())
	case *syntax.TimeClause: // bash takes -- for an option
		understood = n.Stmt == nil || !strings.HasPrefix(slice(src, n.Stmt), "-")
	case *syntax.ForClause:
		understood = !n.Select && !n.Braces
	case *syntax.WordIter:
		understood, why = !changesCommands(n.Name.Value), setting(n.Name.Value)
	case *syntax.CaseClause:
		understood = !n.Braces
	case *syntax.CaseItem:
		understood = isAmong(";; ;& ;;&", n.Op.String())
	case *syntax.TestClause:
		understood = !r.posix // there it is a program, and && ends it
	case *syntax.UnaryTest:
		understood, why = isAmong("-e -f -d -c -b -p -S -L -h -k -g -u -G -O -N -r -w -x -s -t -z -n -o !", n.Op.String()), theArithmetic
	case *syntax.BinaryTest:
		understood, why = readsTest(n, src), "this comparison is not followed"
	case *syntax.ArithmCmd:
		understood, why = !r.posix && isNumbers(n, src), theArithmetic
	case *syntax.Word:
		understood, why = r.bodies[n] || readsWord(n, src), "this word is not followed"
	case *syntax.DblQuoted:
		understood = !n.Dollar && quotes(n)
	case *syntax.ParamExp: // ${x@P} runs what is in x, ${x:y} computes y
		understood, why = plainVariable().MatchString(slice(src, n)), "only $x and ${x} are followed"
	case *syntax.CmdSubst: // backquotes remove a level of backslashes before anything else
		understood, why = !n.Backquotes && !n.TempFile && !n.ReplyVar, "only $( ) is followed"
	case *syntax.FuncDecl:
		why = "functions are not followed"
	case *syntax.LetClause, *syntax.CStyleLoop, *syntax.ArithmExp:
		why = theArithmetic
	}
	if understood {
		return ""
	}
	return why
}

var plainVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\$([A-Za-z_]\w*|[0-9@*#?$!-]|\{([A-Za-z_]\w*|[0-9]+|[@*#?$!-])\})$`)
})

// assigning is the beginning of a word that bash takes for an assignment.
var assigning = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*(\+?=|\[)`) })

// misreadName reports whether the name of a command looks like a keyword or an
// assignment, which the parser did not see: bash may, as where lines are joined in it.
func misreadName(n *syntax.CallExpr) bool {
	if len(n.Args) == 0 {
		return false
	}
	lit, ok := n.Args[0].Parts[0].(*syntax.Lit)
	if !ok {
		return false
	}
	whole := len(n.Args[0].Parts) == 1 && lit.Value != "time"
	return whole && isAmong(reserved+" { } ! [[ ]]", lit.Value) || assigning().MatchString(lit.Value)
}

// readsTest reports whether a comparison in [[ ]] compares texts, files or numbers.
func readsTest(n *syntax.BinaryTest, src string) bool {
	if isAmong("= == != < > -nt -ot -ef && ||", n.Op.String()) {
		return true
	}
	_, err := strconv.Atoi(slice(src, n.X))
	_, err2 := strconv.Atoi(slice(src, n.Y))
	return isAmong("-eq -ne -lt -le -gt -ge", n.Op.String()) && err == nil && err2 == nil
}

// isNumbers reports whether (( )) has nothing but numbers in it.
func isNumbers(n *syntax.ArithmCmd, src string) bool {
	return strings.Trim(slice(src, n), "0123456789 \t+-*/%<>=!&|()") == ""
}

// readsWord reports whether a word is made of text, quotes, variables and patterns, or is
// a substitution as a whole. Bash makes several words of one with braces before it reads
// it any further, so one with them has no other sign.
func readsWord(w *syntax.Word, src string) bool {
	braces := false
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ParamExp:
		case *syntax.CmdSubst:
			if len(w.Parts) > 1 {
				return false
			}
		case *syntax.Lit:
			text := slice(src, part)
			if expands().MatchString(part.Value) || strings.Contains(part.Value, "$") && strings.Contains(text, "\\\n") {
				return false
			}
			braces = braces || strings.Contains(strings.ReplaceAll(text, "{}", ""), "{")
		default:
			return false
		}
	}
	return !braces || !strings.Contains(slice(src, w), "$")
}

// expands finds what bash would expand or end a word at, and the parser took for text.
var expands = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(^|[^\\\\])(\\\\\\\\)*(\\$[A-Za-z0-9_{(\\['\"@*#?!-]|[`()<>&|;])")
})

// quotes reports whether double quotes have text, variables and substitutions in them.
func quotes(q *syntax.DblQuoted) bool {
	for _, part := range q.Parts {
		switch part.(type) {
		case *syntax.Lit, *syntax.ParamExp, *syntax.CmdSubst:
		default:
			return false
		}
	}
	return true
}

// oddRedirect says why a redirection to this path is not understood; "" if it is.
func oddRedirect(n *syntax.Redirect, to shellWord, src string) string {
	op, fd := n.Op.String(), ""
	if n.N != nil {
		fd = n.N.Value
	}
	switch {
	case !isAmong("< > >> >| <> &> &>> >& <& << <<- <<<", op), !fileNumber().MatchString(fd):
		return "this redirection is not followed"
	case op == "<<" || op == "<<-":
		return oddHeredoc(n, src)
	case (op == ">&" || op == "<&") && to.known && !copied().MatchString(to.value) && (op == "<&" || fd != "" || to.value == "" || strings.ContainsAny(to.value[:1], "0123456789-")):
		return "what it copies is not followed"
	case strings.HasPrefix(path.Clean(to.value), "/dev/tcp") || strings.HasPrefix(path.Clean(to.value), "/dev/udp"):
		return "the shell opens a connection"
	}
	return ""
}

// A larger number of a file is a word of the command for bash.
var (
	fileNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{0,4}$`) })
	copied     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,4}-?|-)$`) })
	delimiter  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\\?[\w.!@%+-]+|'[\w.!@%+ -]+'|"[\w.!@%+ -]+")$`) })
)

// oddHeredoc is oddRedirect for a here-document. Where its text is no literal, bash joins
// lines before it looks for the one that ends it.
func oddHeredoc(n *syntax.Redirect, src string) string {
	end := slice(src, n.Word)
	if !delimiter().MatchString(end) {
		return "what ends this here-document is not followed"
	}
	if n.Hdoc == nil || strings.ContainsAny(end, `'"\`) {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(slice(src, n.Hdoc), "\n"), "\n")
	for i, line := range lines {
		start, joined := strings.CutSuffix(line, `\`)
		if joined && (i == len(lines)-1 || strings.HasPrefix(end, strings.TrimLeft(start, "\t"))) {
			return "its lines are joined where it may end"
		}
	}
	return ""
}

// strangeText finds what the parser skips and the shell does not, such as a carriage
// return, and where shells differ. The results are empty if there is nothing.
func strangeText(src string) (text, why string) {
	if !utf8.ValidString(src) {
		return strings.ToValidUTF8(src, "\uFFFD"), "it is no UTF-8"
	}
	at := strings.IndexFunc(src, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f })
	if at >= 0 {
		return strconv.Quote(src[at : at+1]), "a control character"
	}
	if text = joinedSign().FindString(src); text != "" {
		return text, "the shell may join the signs on both sides of a line's end"
	}
	return "", ""
}

var joinedSign = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[<>&|;($!](\\\\\n)+[<>&|;(){!-]") })

// commandVariables decide what runs when other commands are called by their names, or
// how bash reads them. What is assigned to the last ones is computed.
const commandVariables = "PATH IFS ENV BASH_ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 SHELL SHELLOPTS BASHOPTS CDPATH EXECIGNORE HOME EDITOR VISUAL PAGER MANPAGER LESSOPEN BROWSER " +
	"PERL5OPT PERL5LIB PYTHONSTARTUP PYTHONPATH RUBYOPT NODE_OPTIONS " +
	"BASH_CMDS BASH_COMPAT BASH_LOADABLES_PATH POSIXLY_CORRECT FCEDIT INPUTRC ZDOTDIR FPATH auto_resume histchars " +
	"RANDOM SRANDOM SECONDS OPTIND HISTCMD LINENO BASHPID EUID UID PPID"

// changesCommands reports whether setting this variable may change which programs run.
func changesCommands(name string) bool {
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return isAmong(commandVariables, name)
}

// settings are the names that set -o and bash -o may have.
const settings = "allexport errexit errtrace functrace hashall monitor noclobber noexec noglob notify nounset pipefail verbose xtrace"

// setterOptions are the options that are understood, of the builtins that set variables.
var setterOptions = sync.OnceValue(func() map[string]*regexp.Regexp {
	declare := regexp.MustCompile(`^([-+][aAfFgIlprtux]+|--)$`) // -i computes values, -n makes a variable stand for another
	mapfile := regexp.MustCompile(`^-(t*([dnOsu].*)?|-)$`)      // -C calls back
	return map[string]*regexp.Regexp{
		"declare": declare, "typeset": declare, "local": declare, "export": declare, "readonly": declare, "mapfile": mapfile, "readarray": mapfile,
		"read":    regexp.MustCompile(`^-([ers]*([adinNptu]|[dinNptu].*)?|-)$`),
		"unset":   regexp.MustCompile(`^-([fnv]+|-)$`),
		"wait":    regexp.MustCompile(`^-([fn]+|-)$`),
		"getopts": regexp.MustCompile(`^--$`),
	}
})

// builtin marks the command as unknown if it is a builtin of bash that changes what runs
// later, or that computes: what is in the brackets of a[x] may run commands, however x got
// its value.
func (c *shellCommand) builtin(name string) {
	words := c.words[1:]
	has := func(options string) bool {
		return slices.ContainsFunc(words, func(w shellWord) bool { return isAmong(options, w.value) })
	}
	switch name {
	case "let":
		c.doubtful(c.text, theArithmetic)
	case "test", "[":
		if has("-v -R") {
			c.doubtful(c.text, theArithmetic)
		}
	case "printf":
		if len(words) > 0 && strings.HasPrefix(words[0].value, "-v") {
			c.doubtful(c.text, theArithmetic)
		}
	case "jobs":
		if len(words) > 0 && strings.Contains(words[0].value, "x") {
			c.doubtful(c.text, "jobs -x runs a command")
		}
	case "set":
		if !readsSet(words) {
			c.doubtful(c.text, "this option of the shell is not followed")
		}
	default:
		if options, ok := setterOptions()[name]; ok {
			c.setter(name, options)
		}
	}
}

// setter is builtin for one that sets variables, with the options that are understood.
func (c *shellCommand) setter(name string, options *regexp.Regexp) {
	for _, w := range c.words[1:] {
		if w.value != "" && strings.Contains("-+", w.value[:1]) && !options.MatchString(w.value) {
			c.doubtful(c.text, name+" is not followed with this option")
		}
		variable, value, _ := strings.Cut(w.value, "=")
		c.sets(strings.TrimSuffix(variable, "+"))
		if strings.HasSuffix(assigning().FindString(w.value), "[") || strings.HasPrefix(value, "(") {
			c.doubtful(c.text, theArithmetic)
		}
	}
}

// readsSet reports whether the words of set are options that are understood, or words
// behind them. set -k makes assignments of later words.
func readsSet(words []shellWord) bool {
	for i := 0; i < len(words); i++ {
		w := words[i].value
		if w == "" || w == "-" || w == "--" || !strings.Contains("-+", w[:1]) {
			return true
		}
		if strings.Trim(w[1:], "abefhmnouvxCEPT") != "" {
			return false
		}
		for range strings.Count(w, "o") {
			if i++; i < len(words) && !isAmong(settings, words[i].value) {
				return false
			}
		}
	}
	return true
}
