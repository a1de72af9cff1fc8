package command

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"pi/agent"
	"pi/agent/children"
	"pi/agent/definitions"
	"pi/internal/printable"
	"pi/session/message"
)

// What /agents shows where it has no list: rows, one definition, what an agent did so far.

// agentRows are a line for each agent that works: what it does, and what it has used.
func agentRows(working []*children.Child) []string {
	rows := [][]string{{"at work", "", "", "", ""}}
	for _, child := range working {
		s := child.State()
		rows = append(rows, []string{shownAgent(s), usedTokens(s), printable.Seconds(s.Ran), usedCost(s), s.Doing})
	}
	return columns(rows)
}

// definitionRows are a line for each agent that can be used.
func definitionRows(all []definitions.Definition) (lines []string) {
	name, from := len("agent"), len("from")
	for _, d := range all {
		name, from = max(name, utf8.RuneCountInString(d.Name)), max(from, utf8.RuneCountInString(d.From))
	}
	row := func(a, b, c string) {
		line := fmt.Sprintf("%-*s  %-*s  ", name, a, from, b)
		lines = append(lines, strings.TrimRight(line+printable.Cut(c, max(20, tableWidth-utf8.RuneCountInString(line))), " "))
	}
	row("agent", "from", "")
	for _, d := range all {
		about := d.Description
		if d.Err != nil {
			about = "not used, see below"
		}
		row(d.Name, d.From, about)
	}
	return lines
}

// problemRows are what is wrong with files that define agents: what keeps one from being used
// first.
func problemRows(set definitions.Set) (lines []string) {
	for _, d := range set.All {
		if d.Err != nil {
			lines = append(lines, "! "+printable.VisibleLine(d.Err.Error()))
		}
	}
	for _, p := range set.Problems {
		lines = append(lines, "! "+printable.VisibleLine(p.Error()))
	}
	return lines
}

// definitionText is all there is to know about an agent that can be used. What a terminal would take
// for a command, and what a user would not see, is made visible.
func definitionText(d definitions.Definition, set definitions.Set) string {
	lines := []string{fmt.Sprintf("%s · %s · %s", d.Name, d.From, d.Shown)}
	if d.Long != d.Name {
		lines = append(lines, "also       "+d.Long)
	}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("%-10s %s", what, text))
		}
	}
	add("for", d.Description)
	switch {
	case d.Err != nil:
	case d.HasTools && len(d.Tools) == 0:
		add("tools", "none")
	case d.HasTools:
		add("tools", strings.Join(d.Tools, ", "))
	default:
		add("tools", "all that the agent above has")
	}
	add("model", d.Model)
	add("thinking", d.Thinking)
	if d.MaxTurns > 0 {
		add("max turns", strconv.Itoa(d.MaxTurns))
	}
	if d.MaxCost > 0 {
		add("max cost", fmt.Sprintf("$%g", d.MaxCost))
	}
	if d.Err != nil {
		lines = append(lines, "! "+printable.VisibleLine(d.Err.Error()))
	}
	for _, p := range set.Problems {
		if p.Path == d.Shown {
			lines = append(lines, "! "+printable.VisibleLine(p.Error()))
		}
	}
	if d.Role != "" {
		lines = append(lines, "", strings.TrimRight(printable.Visible(d.Role), "\n"))
	}
	return strings.Join(lines, "\n")
}

// mostResultRows is how many rows of a result a transcript of an agent has.
const mostResultRows = 12

// agentTranscript is what was said to an agent and what it did so far, as far as it is in its session.
func agentTranscript(child *children.Child) string {
	lines := agentRows([]*children.Child{child})[1:]
	said := child.Messages()
	if len(said) == 0 {
		return strings.Join(append(lines, "nothing was said yet"), "\n")
	}
	for _, m := range said {
		if text := saidText(m); text != "" {
			lines = append(lines, "", text)
		}
	}
	return strings.Join(lines, "\n")
}

// saidText is a message in a transcript: words, the calls of an answer, the first rows of a result.
func saidText(m *message.Message) string {
	text := strings.TrimSpace(printable.Text(m.Text()))
	switch m.Role {
	case message.RoleAssistant:
		parts := []string{text}
		for _, call := range m.ToolCalls() {
			parts = append(parts, "· "+printable.FirstLine(printable.Line(call.Name)+" "+agent.CallTarget(call.Arguments), tableWidth))
		}
		return strings.TrimSpace(strings.Join(parts, "\n"))
	case message.RoleToolResult:
		return indented(firstRows(text, mostResultRows))
	}
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// firstRows are the first rows of a text, and how many follow.
func firstRows(text string, most int) string {
	rows := strings.Split(text, "\n")
	if len(rows) <= most {
		return text
	}
	return strings.Join(append(rows[:most:most], "… "+printable.Count(len(rows)-most, "row")+" more"), "\n")
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
