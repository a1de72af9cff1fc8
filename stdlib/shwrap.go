package stdlib

import (
	"slices"
	"strings"
	"sync"
)

// wrapper describes the words of a command that runs another: its options, and what
// precedes the other command. An option that is in none of the lists is not understood.
type wrapper struct {
	flags  string   // letters of options without a value
	values string   // letters of options with one
	quiet  string   // letters with which nothing is run
	long   []string // names of options: "name" without, "name=" with a value, "name!" runs nothing

	skip    int  // words before the command
	assigns bool // name=value may stand before the command
	vague   bool // the command gets more words, or others, than are written
}

// wrappers are the commands that run the one behind them.
var wrappers = sync.OnceValue(func() map[string]wrapper {
	xargs := wrapper{vague: true, flags: "0oprtx", values: "adEILnPsJRS",
		long: []string{"null", "arg-file=", "delimiter=", "eof", "max-lines", "max-args=", "max-procs=", "max-chars=", "no-run-if-empty", "open-tty", "interactive", "verbose", "exit", "show-limits", "replace", "process-slot-var=", "help!", "version!"}}
	timeout := wrapper{flags: "vf", values: "sk", skip: 1, long: []string{"signal=", "kill-after=", "preserve-status", "foreground", "verbose", "help!", "version!"}}
	strace := wrapper{flags: "cCfFhiqrtTvVxyzZDkw", values: "abeIoOpPsSuUEX"}
	return map[string]wrapper{
		"sudo": {flags: "AbEHnPSBNk", values: "ughpCDRTrtU", quiet: "lvKVe", assigns: true,
			long: []string{"user=", "group=", "host=", "prompt=", "close-from=", "chdir=", "chroot=", "command-timeout=", "role=", "type=", "other-user=", "non-interactive", "reset-timestamp", "preserve-env", "set-home", "stdin", "background", "askpass", "list!", "validate!", "version!", "help!", "edit!"}},
		"doas":       {flags: "n", values: "uC", quiet: "L"},
		"env":        {flags: "i0v", values: "uC", assigns: true, long: []string{"ignore-environment", "null", "unset=", "chdir=", "debug", "help!", "version!"}},
		"command":    {flags: "p", quiet: "vV"},
		"builtin":    {},
		"busybox":    {},
		"toybox":     {},
		"noglob":     {},
		"nocorrect":  {},
		"caffeinate": {},
		"unbuffer":   {},
		"exec":       {flags: "cl"}, // not -a: some programs do what their name says
		"nohup":      {long: []string{"help!", "version!"}},
		"setsid":     {flags: "cfw", quiet: "hV", long: []string{"ctty", "fork", "wait", "help!", "version!"}},
		"time":       {flags: "pavq", values: "fo", quiet: "V", long: []string{"portability", "append", "verbose", "quiet", "format=", "output=", "help!", "version!"}},
		"nice":       {flags: "0123456789", values: "n", long: []string{"adjustment=", "help!", "version!"}},
		"ionice":     {flags: "t", values: "cn", quiet: "pPuhV", long: []string{"class=", "classdata=", "ignore", "pid=", "help!", "version!"}},
		"chrt":       {flags: "abfiorRdv", values: "TPD", quiet: "pmhV", skip: 1},
		"taskset":    {flags: "ac", quiet: "phV", skip: 1},
		"timeout":    timeout,
		"gtimeout":   timeout,
		"stdbuf":     {values: "ioe", long: []string{"input=", "output=", "error=", "help!", "version!"}},
		"chroot":     {skip: 1, long: []string{"groups=", "userspec=", "skip-chdir", "help!", "version!"}},
		"strace":     strace,
		"ltrace":     strace,
		"xargs":      xargs,
		"gxargs":     xargs,
		"parallel":   {vague: true, flags: "0kqtuX", values: "jIadn", long: []string{"jobs=", "null", "keep-order", "quote", "line-buffer", "ungroup", "bar", "dry-run", "halt="}},
	}
})

// command returns the words of the command that the wrapper runs, and the name=value words
// before it. rest is empty if there are none or an option makes the wrapper run nothing.
// sure is false if an option was not known: then rest may begin at a wrong word.
func (w *wrapper) command(words []shellWord) (rest []shellWord, assigns []shellAssign, sure bool) {
	skip := w.skip
	sure = true
	for i := 1; i < len(words); {
		word := words[i]
		switch {
		case !word.known:
			if skip == 0 {
				return words[i:], assigns, sure
			}
			skip--
			i++
		case word.value == "--":
			rest, more := w.after(words[i+1:], skip)
			return rest, append(assigns, more...), sure
		case strings.HasPrefix(word.value, "--"):
			step, ok, quiet := w.longOption(word.value[2:])
			if quiet {
				return nil, nil, sure
			}
			sure = sure && ok
			i += step
		case len(word.value) > 1 && word.value[0] == '-':
			step, ok, quiet := w.letters(word.value[1:])
			if quiet {
				return nil, nil, sure
			}
			sure = sure && ok
			i += step
		case word.value == "-" && w.assigns:
			i++ // env - is env -i
		case w.assigns && strings.Contains(word.value, "="):
			assigns = append(assigns, assigned(word))
			i++
		case skip > 0:
			skip--
			i++
		default:
			return words[i:], assigns, sure
		}
	}
	return nil, assigns, sure
}

// assigned splits a word of the form name=value.
func assigned(w shellWord) shellAssign {
	name, value, _ := strings.Cut(w.value, "=")
	return shellAssign{name, plainWord(value)}
}

// after is command for the words that follow --, where no options are: it skips the words
// before the command and returns its words and the assignments.
func (w *wrapper) after(words []shellWord, skip int) (rest []shellWord, assigns []shellAssign) {
	words = words[min(skip, len(words)):]
	for w.assigns && len(words) > 0 && strings.Contains(words[0].value, "=") {
		assigns = append(assigns, assigned(words[0]))
		words = words[1:]
	}
	return words, assigns
}

// longOption reads an option like --name or --name=value, given without the dashes. It
// returns how many words it takes, whether it is known, and whether the wrapper runs no
// command with it, as `env --version` does (quiet).
func (w *wrapper) longOption(option string) (step int, known, quiet bool) {
	name, _, hasValue := strings.Cut(option, "=")
	for _, l := range w.long {
		switch l {
		case name:
			return 1, true, false
		case name + "!":
			return 1, true, true
		case name + "=":
			if hasValue {
				return 1, true, false
			}
			return 2, true, false
		}
	}
	return 1, false, false
}

// letters reads one word of one-letter options, as -iu is for env. It returns how many
// words the options take (2 if the value of the last one is the next word), whether all
// letters are known, and whether one of them makes the wrapper run no command at all, as
// `command -v` does (quiet).
func (w *wrapper) letters(letters string) (step int, known, quiet bool) {
	for i := range len(letters) {
		switch c := letters[i]; {
		case strings.IndexByte(w.flags, c) >= 0:
		case strings.IndexByte(w.quiet, c) >= 0:
			return 1, true, true
		case strings.IndexByte(w.values, c) >= 0:
			if i+1 < len(letters) {
				return 1, true, false
			}
			return 2, true, false
		default:
			return 1, false, false
		}
	}
	return 1, true, false
}

// unwrap lists the commands that a command runs: its arguments (sudo, find -exec), a
// script (sh -c), a text (eval). It marks the command as unknown if it may run others.
func (r *shellReader) unwrap(c *shellCommand) {
	name := c.name()
	if name == "" {
		return
	}
	if w, ok := wrappers()[name]; ok {
		r.unwrapWords(c, &w)
		return
	}
	switch name {
	case "find", "gfind":
		r.unwrapFind(c, "-exec", "-execdir", "-ok", "-okdir")
	case "fd", "fdfind":
		r.unwrapFind(c, "-x", "-X", "--exec", "--exec-batch")
	case "eval":
		r.runText(c, c.words[1:])
	case "trap":
		r.unwrapTrap(c)
	case "watch":
		r.unwrapWatch(c)
	case "su", "runuser", "script", "flock":
		r.unwrapOption(c)
	default:
		r.unwrapShell(c, name)
	}
}

// unwrapWords lists the command that follows the options of a wrapper such as sudo or
// env. Both are unknown if an option is; the wrapper also if it sets a variable that
// decides what runs.
func (r *shellReader) unwrapWords(c *shellCommand, w *wrapper) {
	rest, assigns, sure := w.command(c.words)
	for _, a := range assigns {
		c.sets(a.name)
	}
	inner := &shellCommand{words: rest, assigns: assigns, stdin: c.stdin, text: c.text, via: c.name()}
	if c.name() == "env" { // -u NAME
		for _, w := range c.words[1 : len(c.words)-len(rest)] {
			c.sets(strings.TrimPrefix(strings.TrimPrefix(w.value, "--unset="), "-u"))
		}
	}
	if !sure {
		c.doubtful(c.text, c.name()+" has an option that is not known")
		inner.doubtful(c.text, c.name()+" has an option that is not known")
	}
	if w.vague {
		c.doubtful(c.text, c.name()+" makes commands of what it reads")
		inner.words = append(inner.words[:len(inner.words):len(inner.words)], shellWord{})
	}
	if len(rest) > 0 {
		r.add(inner)
	}
}

// unwrapFind lists the commands of find and fd, which stand between one of the options
// and ; or +. Words with braces, in whose place a name comes, are not known.
func (r *shellReader) unwrapFind(c *shellCommand, options ...string) {
	for i := 1; i < len(c.words); i++ {
		if w := c.words[i]; !w.known || !slices.Contains(options, w.value) {
			continue
		}
		inner := &shellCommand{text: c.text, via: c.name()}
		for i++; i < len(c.words) && (!c.words[i].known || c.words[i].value != ";" && c.words[i].value != "+"); i++ {
			w := c.words[i]
			if w.known && strings.ContainsAny(w.value, "{}") {
				w = shellWord{}
			}
			inner.words = append(inner.words, w)
		}
		if strings.HasPrefix(c.name(), "fd") {
			inner.words = append(inner.words, shellWord{}) // fd appends the name if there is no {}
		}
		if len(inner.words) > 0 {
			r.add(inner)
		}
	}
}

// runText joins words to a command line that c runs, as eval does, and lists its
// commands. If a word is not known, c is marked as unknown.
func (r *shellReader) runText(c *shellCommand, words []shellWord) {
	if len(words) > 0 && words[0].known && words[0].value == "--" {
		words = words[1:]
	}
	parts := make([]string, len(words))
	for i, w := range words {
		if !w.known {
			c.doubtful(c.text, theScript)
			return
		}
		parts[i] = w.value
	}
	r.nestedScript(strings.Join(parts, " "), c.name())
}

// unwrapTrap lists the commands of trap 'commands' SIGNAL…; with - or an empty text in their
// place it runs none.
func (r *shellReader) unwrapTrap(c *shellCommand) {
	words := c.words[1:]
	if len(words) > 0 && words[0].known && words[0].value == "--" {
		words = words[1:]
	}
	if len(words) < 2 || words[0].known && (words[0].value == "-" || words[0].value == "") {
		return
	}
	r.runText(c, words[:1])
}

// unwrapWatch lists the commands of watch [options] commands…, which it gives to a
// shell.
func (r *shellReader) unwrapWatch(c *shellCommand) {
	w := &wrapper{flags: "bcdegptwx", values: "nq", quiet: "v", long: []string{"interval=", "differences", "no-title", "beep", "errexit", "chgexit", "color", "precise", "exec", "help!", "version!"}}
	rest, _, sure := w.command(c.words)
	if !sure {
		c.doubtful(c.text, "watch has an option that is not known")
	}
	if len(rest) > 0 {
		defer func(posix bool) { r.posix = posix }(r.posix)
		r.posix = true
		r.runText(c, rest)
	}
}

// unwrapOption lists the commands that su, runuser, script and flock are given with -c,
// and the one that flock has as its words. Without them what they run is unknown.
func (r *shellReader) unwrapOption(c *shellCommand) {
	for i, w := range c.words {
		if w.known && (w.value == "-c" || w.value == "--command") && i+1 < len(c.words) {
			r.runText(c, c.words[i+1:i+2])
		}
	}
	if c.name() == "flock" {
		w := &wrapper{flags: "sxenouF", values: "wE", skip: 1, long: []string{"shared", "exclusive", "unlock", "nonblock", "nb", "close", "no-fork", "timeout=", "wait="}}
		if rest, _, sure := w.command(c.words); sure && len(rest) > 0 && (!rest[0].known || rest[0].value != "-c") {
			r.add(&shellCommand{words: rest, stdin: c.stdin, text: c.text, via: "flock"})
			return
		}
	}
	c.doubtful(c.text, c.name()+" may run what is not listed")
}
