package stdlib

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Names of programs, separated by blanks.
const (
	shells   = "sh bash dash ash ksh mksh zsh fish rbash yash posh csh tcsh elvish nu xonsh oksh pdksh ksh93"
	bashLike = "sh bash dash ash ksh mksh"
	awks     = "awk gawk mawk nawk"

	// interpreters run code in other languages; a version may follow the name.
	interpreters = "python pypy ipython perl ruby irb node nodejs deno bun php lua luajit Rscript R osascript tclsh wish expect pwsh powershell cmd guile racket scala " +
		"groovy julia elixir erl ghci jshell gdb vi vim nvim emacs"

	// hiders read, name or put off other commands.
	hiders = ". source ed ex dc m4 alias unalias hash enable bind shopt complete compgen fc history at batch crontab ssh rsh mosh screen tmux unshare nsenter " +
		"systemd-run pkexec run0 capsh setpriv firejail bwrap proot fakeroot start-stop-daemon daemonize entr expect socat ncat run-parts ld.so ld-linux.so.2 " +
		"ld-linux-x86-64.so.2 rlwrap dbus-run-session xvfb-run wine chpst softlimit setarch linux64 linux32 numactl cpulimit prlimit choom newgrp sg gosu " +
		"su-exec dumb-init tini direnv uvx uv npx pipx bunx pnpx"
)

// isAmong reports whether name is one of the names of a list.
func isAmong(names, name string) bool { return slices.Contains(strings.Fields(names), name) }

// unwrapShell handles the commands that are no wrappers: it lists what sh -c runs, and
// marks a command as unknown that may run others by itself, such as ssh or an
// interpreter with code.
func (r *shellReader) unwrapShell(c *shellCommand, name string) {
	switch {
	case isAmong(shells, strings.TrimPrefix(name, "-")):
		r.shell(c, name)
	case isAmong(interpreters, strings.TrimRight(name, "-.0123456789")):
		if !runsProgram(c.words[1:]) {
			c.doubtful(c.text, "code for "+name+" is not read")
		}
	case isAmong(awks, name):
		if awkRuns(c.words[1:]) {
			c.doubtful(c.text, "awk may run commands or write files here")
		}
	case name == "sed" || name == "gsed":
		if sedRuns(c.words[1:]) {
			c.doubtful(c.text, "sed may run commands or write files here")
		}
	case isAmong(hiders, name):
		c.doubtful(c.text, name+" may run what is not listed")
	default:
		c.builtin(name)
	}
}

// shell lists the commands of the script that a shell is given with -c or as a
// here-document. With a script in a file, or none that is known, the shell is unknown,
// and so is one whose language is not that of bash.
func (r *shellReader) shell(c *shellCommand, name string) {
	script, fromArgs, known := shellScript(c.words[1:])
	if known && !fromArgs && c.stdin != nil {
		script = *c.stdin
	}
	if !known || !script.known {
		c.doubtful(c.text, theScript)
		return
	}
	if !isAmong(bashLike, name) {
		c.doubtful(c.text, name+" has a language of its own")
	}
	defer func(posix bool) { r.posix = posix }(r.posix)
	if r.posix = name != "bash"; r.posix && strings.Contains(script.value, "$'") {
		c.doubtful(c.text, "shells differ about $'…'")
	}
	r.nestedScript(script.value, name)
}

const theScript = "the script that it runs is not in the line"

// shellScript finds the script among the words of a shell. fromArgs: it is script, given
// with -c; else the shell reads standard input. known is false if neither can be said,
// as for a script in a file or an option that is not known.
func shellScript(words []shellWord) (script shellWord, fromArgs, known bool) {
	command := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.known:
			return shellWord{}, command, command
		case w.value == "--" || w.value == "-":
			return scriptAt(words, i+1, command)
		case w.value == "--version" || w.value == "--help":
			return plainWord(""), true, true
		case strings.HasPrefix(w.value, "--"):
			if !slices.Contains([]string{"--norc", "--noprofile", "--posix", "--login", "--verbose", "--noediting"}, w.value) {
				return shellWord{}, false, false
			}
		case len(w.value) > 1 && (w.value[0] == '-' || w.value[0] == '+'):
			if strings.Trim(w.value[1:], "abcefhlmnopstuvxBCEPT") != "" {
				return shellWord{}, false, false
			}
			command = command || w.value[0] == '-' && strings.Contains(w.value, "c")
			for range strings.Count(w.value, "o") {
				if i++; i < len(words) && !isAmong(settings, words[i].value) {
					return shellWord{}, false, false
				}
			}
		default:
			return scriptAt(words, i, command)
		}
	}
	return shellWord{}, false, !command
}

// scriptAt returns the results of shellScript for a shell whose first word that is no
// option is the i-th: the script with -c (command), else a file; without one the script
// is standard input.
func scriptAt(words []shellWord, i int, command bool) (shellWord, bool, bool) {
	if !command || i >= len(words) {
		return shellWord{}, false, !command && i >= len(words)
	}
	return words[i], true, true
}

// runsProgram reports whether an interpreter runs a program in a file or a module, or
// says its version, and is not given code as an argument or on its input.
func runsProgram(words []shellWord) bool {
	if len(words) == 0 || !words[0].known {
		return false
	}
	switch first := words[0].value; {
	case first == "--version", first == "-V", first == "--help":
		return len(words) == 1
	case first == "-m":
		return len(words) > 1 && words[1].known
	default:
		return first != "" && first[0] != '-' && first[0] != '+'
	}
}

// awkRuns reports whether the words of awk may run commands, write files or read them.
func awkRuns(words []shellWord) bool {
	for _, w := range words {
		if !w.known || strings.HasPrefix(w.value, "-") && !strings.HasPrefix(w.value, "-F") && !strings.HasPrefix(w.value, "-v") {
			return true
		}
		if strings.Contains(w.value, "system") || strings.ContainsAny(w.value, "|>@") || strings.Contains(w.value, "getline") {
			return true
		}
	}
	return len(words) == 0
}

// sedCommand is where a script of sed may run a command, read or write a file.
var sedCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[;{}\n!,$0-9/\s])[ \t]*[erwRW]([ \t;}\n]|$)|[^A-Za-z0-9\s][gpiImM0-9]*[ew][gpiImM0-9]*([ \t;}\n]|$)`)
})

// sedRuns reports whether the words of sed may run a command, read or write a file.
// It looks at names of files too, which it cannot distinguish from scripts.
func sedRuns(words []shellWord) bool {
	for _, w := range words {
		script := strings.TrimPrefix(strings.TrimPrefix(w.value, "--expression="), "-e")
		if !w.known || strings.HasPrefix(w.value, "-f") || strings.HasPrefix(w.value, "--file") {
			return true
		}
		if !strings.HasPrefix(script, "-") && sedCommand().MatchString(script) {
			return true
		}
	}
	return false
}
