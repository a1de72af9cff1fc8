package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/mcp"
	"pi/internal/printable"
	"pi/internal/suggest"
	"pi/session/message"
)

// serverPrompts makes commands of the prompts of servers, /mcp:SERVER:PROMPT. They are listed as
// far as they are known; whoever types the name of one starts the server.
type serverPrompts struct {
	servers *mcp.Servers
	prompts *command.Prompts // sends them
}

const (
	promptPrefix = "mcp:"
	mostPrompts  = 500 // of one server that are listed
)

// addServerPrompts makes the prompts of the servers of the run commands.
func (r *run) addServerPrompts() {
	s := serverPrompts{r.mcp.Servers, r.prompts}
	r.prompts.More, r.prompts.Named = s.commands, s.named
}

// typable is the name of a prompt as it can be typed in a command: what cannot stand there is _.
func typable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || printable.Hidden(r) || r == '/' || r == '.' {
			return '_'
		}
		return r
	}, name)
}

// commands are those of the prompts that are known. Of two with one name the first counts.
func (s serverPrompts) commands() (all []command.Command) {
	listed, seen := map[string]int{}, map[string]bool{}
	for _, p := range s.servers.Prompts() {
		c := s.command(p.Server, typable(p.Name), p)
		if listed[p.Server]++; listed[p.Server] <= mostPrompts && !seen[c.Name] {
			seen[c.Name] = true
			all = append(all, c)
		}
	}
	return all
}

// named is the command that a name stands for if it is of a server; there may be no such prompt.
func (s serverPrompts) named(name string) (command.Command, bool) {
	rest, ok := strings.CutPrefix(name, promptPrefix)
	server, prompt, both := strings.Cut(rest, ":")
	if !ok || !both {
		return command.Command{}, false
	}
	return s.command(server, prompt, mcp.Prompt{}), true
}

// command is the one of a prompt, of which p says what is known.
func (s serverPrompts) command(server, name string, p mcp.Prompt) command.Command {
	c := command.Command{
		Name: promptPrefix + server + ":" + name, Args: promptArguments(p), Help: printable.Line(printable.FirstLine(cmp.Or(p.Description, p.Title), 120)),
		Origin: "template, MCP server " + server, Unlisted: true,
		Run: func(ctx context.Context, args string) (command.Outcome, error) { return s.run(ctx, server, name, args) },
	}
	if status, err := s.servers.Server(server); err == nil {
		c.From = command.Provenance{Path: status.Entry.Source.Path, OfProject: status.Entry.Source.Kind == mcp.FromProject}
	}
	about := map[string]string{}
	for _, a := range p.Arguments {
		about[a.Name+"="] = printable.Line(a.Description)
		c.More += strings.TrimRight(fmt.Sprintf("%s: %s", a.Name, about[a.Name+"="]), ": ") + "\n"
	}
	c.More = strings.TrimSuffix(c.More, "\n")
	c.Complete = func(prefix string) []string { return missingArguments(p, prefix) }
	c.Describe = func(candidate string) string { return about[candidate[strings.LastIndexByte(candidate, ' ')+1:]] }
	return c
}

// promptArguments is how the arguments of a prompt are typed.
func promptArguments(p mcp.Prompt) string {
	var words []string
	for _, a := range p.Arguments {
		word := a.Name + "=…"
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return printable.Line(strings.Join(words, " "))
}

// missingArguments are the beginnings of the arguments that are not typed yet.
func missingArguments(p mcp.Prompt, typed string) (words []string) {
	for _, a := range p.Arguments {
		is := func(word string) bool { return strings.HasPrefix(word, a.Name+"=") }
		if !slices.ContainsFunc(command.Words(typed), is) {
			words = append(words, a.Name+"=")
		}
	}
	return words
}

// run makes the prompt with what is typed behind its name, and sends it.
func (s serverPrompts) run(ctx context.Context, server, name, args string) (command.Outcome, error) {
	p, err := s.find(ctx, server, name)
	if err != nil {
		return command.Outcome{}, err
	}
	values, err := promptValues(p, command.Words(args))
	if err != nil {
		usage := strings.TrimSpace("/" + promptPrefix + server + ":" + name + " " + promptArguments(p))
		return command.Outcome{}, UsageError{Err: &promptUsageError{err, usage}}
	}
	messages, err := s.servers.Prompt(ctx, server, p.Name, values)
	if err != nil {
		return command.Outcome{}, err
	}
	text, along, hidden := promptText(messages)
	if hidden > 0 {
		s.prompts.UI.Notify(fmt.Sprintf("%s taken out of the prompt %s of the MCP server %s", printable.Count(hidden, "hidden character"), name, server), agent.LevelWarning)
	}
	switch {
	case text == "" && len(along) == 0:
		return command.Outcome{}, fmt.Errorf("the server %s gives no text for the prompt %s", server, name)
	case text == "": // a prompt has a text in every front end
		text = "This is the prompt " + name + "."
	}
	return s.prompts.Send(ctx, text, args, along...), nil
}

// find returns the prompt of a name as it is typed. A server of which no such prompt is known is
// asked for its list. The error is a usage error where there is no such prompt.
func (s serverPrompts) find(ctx context.Context, server, name string) (mcp.Prompt, error) {
	status, err := s.servers.Server(server)
	if err != nil {
		return mcp.Prompt{}, UsageError{Err: err}
	}
	is := func(p mcp.Prompt) bool { return p.Server == server && typable(p.Name) == name }
	known := s.servers.Prompts()
	if i := slices.IndexFunc(known, is); i >= 0 {
		return known[i], nil
	}
	_, _, listed, err := s.servers.Definitions(ctx, status.Entry.Name)
	if err != nil {
		return mcp.Prompt{}, err
	}
	if i := slices.IndexFunc(listed, is); i >= 0 {
		return listed[i], nil
	}
	var names []string
	for _, p := range listed {
		names = append(names, typable(p.Name))
	}
	hint := suggest.Hint(name, names)
	switch {
	case len(names) == 0:
		hint = ", and no other"
	case hint == "":
		hint = "; it has " + printable.Short(strings.Join(names, ", "))
	}
	return mcp.Prompt{}, UsageError{Err: fmt.Errorf("server %s has no prompt %q%s", server, printable.Short(name), hint)}
}

// promptUsageError is a mistake in the arguments of a prompt.
type promptUsageError struct {
	err   error
	usage string
}

func (e *promptUsageError) Error() string { return e.err.Error() }

// Hint shows how the prompt is typed.
func (e *promptUsageError) Hint() string { return "usage: " + e.usage }

// promptValues are the arguments of a prompt as they are typed: name=value, the others in the
// order in which the prompt has them.
func promptValues(p mcp.Prompt, words []string) (map[string]string, error) {
	values := map[string]string{}
	var names, inOrder []string
	for _, a := range p.Arguments {
		names = append(names, a.Name)
	}
	for _, word := range words {
		name, value, isNamed := strings.Cut(word, "=")
		switch _, given := values[name]; {
		case !isNamed || !slices.Contains(names, name):
			inOrder = append(inOrder, word)
		case given:
			return nil, fmt.Errorf("%s is given twice", name)
		default:
			values[name] = value
		}
	}
	for _, name := range names {
		if _, given := values[name]; !given && len(inOrder) > 0 {
			values[name], inOrder = inOrder[0], inOrder[1:]
		}
	}
	if len(inOrder) > 0 {
		if name, _, isNamed := strings.Cut(inOrder[0], "="); isNamed && suggest.Nearest(name, names) != "" {
			return nil, fmt.Errorf("there is no argument %q%s", printable.Short(name), suggest.Hint(name, names))
		}
		return nil, fmt.Errorf("it takes %s, and %q is one more; a value with blanks goes into quotes", printable.Count(len(names), "argument"), printable.Short(inOrder[0]))
	}
	for _, a := range p.Arguments {
		if a.Required && values[a.Name] == "" {
			return nil, fmt.Errorf("%s is missing", a.Name)
		}
	}
	return values, nil
}

// promptText makes one text of the messages of a prompt, with what goes along with it. Where
// there are messages of the assistant too, each says whose it is: a session has only those answers
// that a model has given.
func promptText(messages []mcp.Message) (text string, along []message.Block, hidden int) {
	both := slices.ContainsFunc(messages, func(m mcp.Message) bool { return m.Role == string(message.RoleAssistant) })
	var parts []string
	for _, m := range messages {
		var texts []string
		for _, b := range m.Content {
			if b.Type != message.BlockText {
				along = append(along, b)
			} else if b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
		hidden += m.Hidden
		part := strings.Join(texts, "\n\n")
		if both && part != "" {
			part = "[" + m.Role + "]\n" + part
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n")), along, hidden
}
