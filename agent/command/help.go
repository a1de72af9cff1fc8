package command

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"pi/internal/cells"
)

// Topic is what a command is about: /help lists commands by their topics.
type Topic uint8

// The topics. Commands of hooks, templates and skills have their own.
const (
	TopicProgram Topic = iota
	TopicModel
	TopicSession
	TopicBranches
	topicHooks
	topicPrompts
)

// Front is what /help says of a front end before it lists the commands.
type Front struct {
	Rows    []HelpRow // what one needs first: what is typed, and what it does
	More    string    // a line below them; "" for none
	Columns int       // of the window
}

// HelpRow is a row of /help.
type HelpRow struct{ Typed, Meaning string }

// helpCommand returns /help, which lists the commands that s has when it runs.
func helpCommand(s *Set) Command {
	return Command{
		Name: "help", Args: "[command|all]", Help: "say what one needs first, tell about a command, or list all",
		Complete: func(prefix string) []string {
			var names []string
			for _, c := range s.All() {
				names = append(names, c.Name)
			}
			return withPrefix(append(names, allOfHelp), prefix)
		},
		Describe: func(name string) string {
			if name == allOfHelp {
				return "all commands, and what they do"
			}
			c, _ := find(s.All(), name)
			return c.Help
		},
		Run: func(_ context.Context, args string) (Outcome, error) {
			front := s.front()
			name, _ := Split(args)
			switch name {
			case "":
				return Outcome{Status: firstPage(front, s.All())}, nil
			case allOfHelp:
				return Outcome{Status: allCommands(front, s.All())}, nil
			}
			c, ok := find(s.All(), name)
			if !ok {
				return Outcome{}, unknown(name, s.All())
			}
			row := []HelpRow{rowOf(c)}
			text := table(row, typedWidth(row, front.Columns), front.Columns)
			if c.More != "" {
				text += "\n" + c.More
			}
			return Outcome{Status: text}, nil
		},
	}
}

// The left column of a table is at most usageWidth wide, and at most a third of the
// window; what is longer stands above its right column. No line is wider than a terminal
// of old, or than the window.
const (
	usageWidth = 25
	tableWidth = 79
)

// front is what the front end says, with columns that can be used.
func (s *Set) front() (f Front) {
	if s.Front != nil {
		f = s.Front()
	}
	if f.Columns <= 0 || f.Columns > tableWidth {
		f.Columns = tableWidth
	}
	return f
}

// allOfHelp is the argument of /help that lists all commands.
const allOfHelp = "all"

// firstPage is what one needs first, then the names of the commands, by topic: no more than a
// small window has rows for. Commands of hooks and templates may be many, and are counted.
func firstPage(front Front, commands []Command) string {
	rows := slices.Clone(front.Rows)
	if len(rows) > 0 {
		rows = append(rows, HelpRow{})
	}
	for _, g := range grouped(commands) {
		rows = append(rows, HelpRow{g.title, g.names()})
	}
	more := "/help all says what they do."
	if front.More != "" {
		more = front.More + " " + more
	}
	return HelpTable(rows, front.Columns) + "\n" + strings.Join(cells.Wrap(more, front.Columns), "\n")
}

// allCommands are the commands that are listed, by topic, and what they do.
func allCommands(front Front, commands []Command) string {
	groups := grouped(commands)
	var all []HelpRow
	for _, g := range groups {
		all = append(all, g.rows()...)
	}
	width := typedWidth(all, front.Columns)
	var parts []string
	for _, g := range groups {
		title := strings.Join(cells.Wrap(g.title, front.Columns), "\n")
		parts = append(parts, title+"\n"+table(g.rows(), width, front.Columns))
	}
	return strings.Join(parts, "\n\n")
}

// group is the commands of a topic.
type group struct {
	topic    Topic
	title    string
	commands []Command
}

// grouped divides the commands that are listed; each group has at least one.
func grouped(commands []Command) []group {
	groups := []group{
		{topic: TopicModel, title: "The model"},
		{topic: TopicSession, title: "Sessions"},
		{topic: TopicBranches, title: "Places in a session"},
		{topic: TopicProgram, title: "The program"},
		{topic: topicHooks, title: "Of hooks"},
		{topic: topicPrompts, title: "Templates"},
	}
	for i := range groups {
		g := &groups[i]
		for _, c := range commands {
			if !c.Unlisted && c.topic() == g.topic {
				g.commands = append(g.commands, c)
			}
		}
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.commands) == 0 })
}

// names are the commands as they are typed, without their arguments, or how many there are
// of hooks and of templates.
func (g group) names() string {
	if g.topic == topicHooks || g.topic == topicPrompts {
		return strconv.Itoa(len(g.commands))
	}
	names := make([]string, len(g.commands))
	for i, c := range g.commands {
		names[i] = "/" + c.Name
	}
	return strings.Join(names, " ")
}

// rows are how the commands are typed, and what they do.
func (g group) rows() (rows []HelpRow) {
	for _, c := range g.commands {
		rows = append(rows, rowOf(c))
	}
	return rows
}

// topic is where the command is listed.
func (c Command) topic() Topic {
	switch {
	case c.Hook != "":
		return topicHooks
	case c.Origin != "":
		return topicPrompts
	}
	return c.Topic
}

// rowOf is how a command is typed and what it does.
func rowOf(c Command) HelpRow {
	help := c.Help
	if c.Hook != "" {
		help += " (hook " + c.Hook + ")"
	}
	if c.Origin != "" {
		help += " (" + c.Origin + ")"
	}
	return HelpRow{usage(c), help}
}

// HelpTable formats rows as lines of at most so many columns: what is typed, and behind it
// what it does. What is typed and long has a line of its own.
func HelpTable(rows []HelpRow, columns int) string {
	return table(rows, typedWidth(rows, columns), columns)
}

// typedWidth is how wide the left column of some rows is.
func typedWidth(rows []HelpRow, columns int) (width int) {
	for _, r := range rows {
		if n := cells.Width(r.Typed); n <= min(usageWidth, columns/3) {
			width = max(width, n)
		}
	}
	return width
}

// table formats rows as lines of at most so many columns, the left column width wide.
func table(rows []HelpRow, width, columns int) string {
	var lines []string
	for _, r := range rows {
		left := r.Typed
		if cells.Width(left) > width {
			lines, left = append(lines, cells.Wrap(left, columns)...), ""
		}
		for _, part := range cells.Wrap(strings.Join(strings.Fields(r.Meaning), " "), columns-width-2) {
			fill := strings.Repeat(" ", width+2-cells.Width(left))
			lines, left = append(lines, strings.TrimRight(left+fill+part, " ")), ""
		}
	}
	return strings.Join(lines, "\n")
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
