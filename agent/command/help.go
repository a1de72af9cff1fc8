package command

import (
	"context"
	"fmt"
	"strings"
)

// help is the command that prints the set it is in.
func (s *Set) help() Command {
	return Command{
		Name: "help", Args: "[command]", Help: "list the commands, or tell about one",
		Complete: func(prefix string) []string {
			var names []string
			for _, c := range s.All() {
				names = append(names, c.Name)
			}
			return withPrefix(names, prefix)
		},
		Run: func(_ context.Context, args string) (Outcome, error) {
			if args == "" {
				return Outcome{Status: table(s.All())}, nil
			}
			name, _ := Split(args)
			c, ok := s.Lookup(name)
			if !ok {
				return Outcome{}, &UnknownError{Name: name, Nearest: s.nearest(name)}
			}
			text := table([]Command{c})
			if c.More != "" {
				text += "\n" + c.More
			}
			return Outcome{Status: text}, nil
		},
	}
}

// table prints one line per command.
func table(commands []Command) string {
	width := 0
	for _, c := range commands {
		width = max(width, len(usage(c)))
	}
	var lines []string
	for _, c := range commands {
		line := fmt.Sprintf("%-*s  %s", width, usage(c), c.Help)
		if c.Hook != "" {
			line += " (hook " + c.Hook + ")"
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

func usage(c Command) string {
	text := "/" + c.Name
	for _, alias := range c.Aliases {
		text += ", /" + alias
	}
	if c.Args != "" {
		text += " " + c.Args
	}
	return text
}

func withPrefix(words []string, prefix string) []string {
	var found []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			found = append(found, w)
		}
	}
	return found
}
