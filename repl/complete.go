package repl

import (
	"os"
	"path/filepath"
	"strings"

	"pi/internal/printable"
)

// completionsShown is the most candidates offered at once; with more of them the
// editor would ask whether to show them.
const completionsShown = 100

// suggest returns what the word before the cursor may become: a command, an
// argument of one, or a path after @.
func (r *REPL) suggest(line string, pos int) (head string, words []string, tail string) {
	runes := []rune(line)
	before, tail := string(runes[:pos]), string(runes[pos:])
	head, words = r.candidates(before)
	if len(words) > completionsShown {
		words = words[:completionsShown]
	}
	for i, w := range words {
		words[i] = printable.Text(w)
	}
	return head, words, tail
}

// candidates returns what the word at the end of before may become, behind head.
func (r *REPL) candidates(before string) (head string, words []string) {
	if _, word := lastWord(before); strings.HasPrefix(word, "@") {
		return before[:len(before)-len(word)+1], paths(word[1:], r.agent.Cwd())
	}
	if !strings.HasPrefix(before, "/") {
		return before, nil
	}
	name, rest, hasArgs := strings.Cut(before[1:], " ")
	if !hasArgs {
		return "/", r.commandNames(name)
	}
	c, ok := r.commands.Lookup(name)
	if !ok || c.Complete == nil {
		return before, nil
	}
	args := strings.TrimLeft(rest, " ")
	return before[:len(before)-len(args)], matchingTyped(args, c.Complete(args))
}

// matchingTyped selects the candidates for an argument that contain every typed
// character, in order, whatever their case, so that Tab loses nothing. A
// candidate may replace the whole argument or its last word. Those that begin with
// the typed text come first.
func matchingTyped(typed string, candidates []string) []string {
	head, last := lastWord(typed)
	var first, rest []string
	for _, c := range candidates {
		switch {
		case containsInOrder(c, typed):
		case containsInOrder(c, last):
			c = head + c
		default:
			continue
		}
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(typed)) {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}

// lastWord cuts a line before its last word.
func lastWord(line string) (head, word string) {
	word = line[strings.LastIndexAny(line, " \t\n")+1:]
	return line[:len(line)-len(word)], word
}

// containsInOrder reports whether text contains the characters of typed in their
// order.
func containsInOrder(text, typed string) bool {
	left := []rune(strings.ToLower(typed))
	for _, c := range strings.ToLower(text) {
		if len(left) > 0 && left[0] == c {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// commandNames lists the names and aliases of commands that begin with prefix, each
// with a space behind it if arguments may follow.
func (r *REPL) commandNames(prefix string) (names []string) {
	for _, c := range r.commands.All() {
		end := ""
		if c.Args != "" || c.Hook != "" {
			end = " " // arguments follow
		}
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name+end)
			}
		}
	}
	return names
}

// paths lists the files whose path begins with prefix. Hidden ones are offered
// only when asked for by their dot.
func paths(prefix, cwd string) (found []string) {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(namedFrom(cwd).Path(dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || name[0] == '.' && base == "" || strings.ContainsAny(name, " \t\n") {
			continue
		}
		if e.IsDir() {
			name += string(filepath.Separator)
		}
		found = append(found, dir+name)
	}
	return found
}
