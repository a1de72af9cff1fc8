package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// helpCommand returns /help, which lists the commands that all returns when it runs.
func helpCommand(all func() []Command) Command {
	return Command{
		Name: "help", Args: "[command]", Help: "list the commands, or tell about one",
		Complete: func(prefix string) []string {
			var names []string
			for _, c := range all() {
				names = append(names, c.Name)
			}
			return withPrefix(names, prefix)
		},
		Describe: func(name string) string {
			c, _ := find(all(), name)
			return c.Help
		},
		Run: func(_ context.Context, args string) (Outcome, error) {
			if args == "" {
				listed := slices.DeleteFunc(slices.Clone(all()), func(c Command) bool { return c.Unlisted })
				return Outcome{Status: table(listed)}, nil
			}
			name, _ := Split(args)
			c, ok := find(all(), name)
			if !ok {
				return Outcome{}, unknown(name, all())
			}
			text := table([]Command{c})
			if c.More != "" {
				text += "\n" + c.More
			}
			return Outcome{Status: text}, nil
		},
	}
}

// The usage of a command is left of its help, or above it if it is longer than
// usageWidth. No line is wider than a terminal of old.
const (
	usageWidth = 25
	tableWidth = 79
)

// table formats commands as lines: how each is typed, and behind it what it does. A long
// left column has a line of its own.
func table(commands []Command) string {
	width := 0
	for _, c := range commands {
		if n := len(usage(c)); n <= usageWidth {
			width = max(width, n)
		}
	}
	var lines []string
	for _, c := range commands {
		left, help := usage(c), c.Help
		if c.Hook != "" {
			help += " (hook " + c.Hook + ")"
		}
		if c.Origin != "" {
			help += " (" + c.Origin + ")"
		}
		if len(left) > width {
			lines, left = append(lines, left), ""
		}
		for _, part := range wrapped(help, tableWidth-width-2) {
			lines = append(lines, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, left, part), " "))
			left = ""
		}
	}
	return strings.Join(lines, "\n")
}

// wrapped divides text into lines of at most columns characters. A longer word has a line
// of its own. There is at least one line, which may be empty.
func wrapped(text string, columns int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}

// usage returns how a command is typed: its name, its aliases and its arguments.
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
