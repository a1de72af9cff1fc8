package repl

import (
	"os"
	"path/filepath"
	"strings"

	"pi/agent/command"
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
		words[i] = toSigns(printable.Text(w))
	}
	return head, words, tail
}

func (r *REPL) candidates(before string) (head string, words []string) {
	if word := before[strings.LastIndexAny(before, " \t"+signNewline)+1:]; strings.HasPrefix(word, "@") {
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
	return before[:len(before)-len(args)], c.Complete(args)
}

func (r *REPL) commandNames(prefix string) (names []string) {
	for _, c := range r.commands.All() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name+spaceIfArgs(c))
			}
		}
	}
	return names
}

func spaceIfArgs(c command.Command) string {
	if c.Args != "" || c.Hook != "" {
		return " "
	}
	return ""
}

// paths lists the files whose path begins with prefix. Hidden ones are offered
// only when asked for by their dot.
func paths(prefix, cwd string) (found []string) {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(absolute(dir, cwd))
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
