package definitions

import (
	"slices"
	"strings"

	"pi/internal/frontmatter"
	"pi/internal/printable"
	"pi/internal/suggest"
)

// Tools are the tools of Claude Code and those that do the same here; "" for one that has no
// counterpart. A tool that is called so here is that one.
func Tools() map[string]string {
	return map[string]string{
		"Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "Grep": "grep", "Glob": "find", "LS": "ls",
		"Agent": "", "Task": "", "TaskOutput": "", "TaskStop": "", "TaskCreate": "", "TaskGet": "", "TaskList": "", "TaskUpdate": "",
		"WebFetch": "", "WebSearch": "", "TodoWrite": "", "TodoRead": "", "NotebookEdit": "", "NotebookRead": "", "BashOutput": "",
		"KillShell": "", "KillBash": "", "AskUserQuestion": "", "EnterPlanMode": "", "ExitPlanMode": "", "Skill": "", "SlashCommand": "",
		"ListMcpResourcesTool": "", "ReadMcpResourceTool": "", "LSP": "", "ToolSearch": "",
	}
}

// ofServer is how the name of a tool of an MCP server begins. Which there are is known when the
// server runs.
const ofServer = "mcp__"

// toolOfServers is the tool by which all of those are called.
const toolOfServers = "mcp"

// allTools is what Claude Code writes for all tools.
const allTools = "*"

// readTools takes the tools that the agent may have: those of the field tools, without those of
// disallowedTools.
func (r *reader) readTools(d *Definition) {
	if f, ok := r.doc.Field(fieldTools); ok && f.Text != allTools {
		d.Tools, d.HasTools = r.named(f), true
	}
	f, ok := r.doc.Field(foreignWithout)
	if !ok {
		return
	}
	without := r.named(f)
	if !d.HasTools {
		d.Tools, d.HasTools = slices.Clone(r.checks.Tools), r.checks.Tools != nil
	}
	d.Tools = slices.DeleteFunc(d.Tools, func(name string) bool { return slices.Contains(without, name) })
}

// named returns the tools that a field names, by their names here. One that there is not keeps
// the definition from being used: misspelt, it would bound nothing, or everything.
func (r *reader) named(f frontmatter.Field) []string {
	tools := []string{}
	words := wordsOf(f)
	if len(words) == 0 && f.List == nil {
		r.refuse(f.Name, "it names no tool: [] is for none, and without the field there are all")
	}
	for _, word := range words {
		name, ok := r.tool(word)
		switch {
		case !ok && strings.Contains(word, "("):
			r.refuse(f.Name, "%q: a tool is given whole or not at all; a gate says what it may be used for", printable.Line(word))
		case !ok:
			r.refuse(f.Name, "there is no tool %q%s", printable.Line(word), suggest.Hint(word, r.checks.Tools))
		case name == "":
			r.warn(f.Line, "%s: %s of Claude Code has no counterpart here", f.Name, word)
		case !slices.Contains(tools, name):
			tools = append(tools, name)
		}
	}
	return tools
}

// tool returns what a tool is called here, "" for one of Claude Code without a counterpart. It is
// false if there is none.
func (r *reader) tool(word string) (name string, ok bool) {
	if slices.Contains(r.checks.Tools, word) {
		return word, true
	}
	if name, ok := Tools()[word]; ok {
		return name, true
	}
	known := r.checks.Tools == nil || strings.HasPrefix(word, ofServer)
	return word, known && !strings.Contains(word, "(")
}

// wordsOf returns the items of a list, or the words of a text between which commas or blanks are.
func wordsOf(f frontmatter.Field) (words []string) {
	if f.List != nil {
		for _, item := range f.List {
			if item = strings.TrimSpace(item); item != "" {
				words = append(words, item)
			}
		}
		return words
	}
	for part := range strings.SplitSeq(f.Text, ",") {
		if part = strings.TrimSpace(part); strings.Contains(part, "(") {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
