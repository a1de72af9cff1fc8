package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pi/agent/instructions"
	"pi/agent/llm"
)

// SystemPrompt is what the system prompt is made of beside the active tools,
// which the agent knows itself.
type SystemPrompt struct {
	Replace string // instead of role, tools and guidelines; "" for the usual text
	Append  string
	Files   []instructions.File

	// Docs tells a model that can run commands where it finds how hooks are written; "" for
	// nothing.
	Docs string

	// Skills, if set, returns the list of skills; "" for none. It is called before the first
	// prompt of a session, and what it returns stays for that session.
	Skills func() string

	// Servers, if set, returns the list of servers whose tools the tool mcp finds; "" for none. It is
	// called like Skills, and what it returns stays, too.
	Servers func() string
}

// usualRole is what the model is told first, unless the user replaces it.
const usualRole = `You are an expert coding agent working in a terminal on the user's machine. You read files, run commands, change code and write new files through the tools below, and you say briefly what you did.`

// commonGuidelines are those for work with any tools.
func commonGuidelines() []string {
	return []string{
		"Be concise. Show file paths clearly when you work with files.",
		"Look before you change: read the relevant code first, and check the result of what you did.",
	}
}

// The sections of the system prompt, in their order. Listeners know them by
// these names; those without text are not there.
const (
	sectionRole         = "role"         // who the model is; what replaces the usual text
	sectionTools        = "tools"        // the active tools, one line each
	sectionGuidelines   = "guidelines"   // how to work, as it fits the active tools
	sectionDocs         = "docs"         // how the model finds the guides of the program, if it can run commands
	sectionAppend       = "append"       // what the user added
	sectionInstructions = "instructions" // the instruction files of the directories
	sectionSkills       = "skills"       // the skills that the model may use, if it can read files
	sectionServers      = "mcp"          // the servers whose tools the model may find, if it has the tool mcp
	sectionEnvironment  = "environment"  // date and working directory
	sectionMode         = "mode"         // of the mode that is on; always the last, and listeners do not get it
)

// Section is a named part of the system prompt.
type Section struct{ Name, Text string }

// listed are the lists that stay for a session.
type listed struct{ skills, servers string }

// sections returns the sections of a system prompt for these tools and lists, in their
// order, without those that would be empty.
func (p *SystemPrompt) sections(tools []llm.ToolSpec, lists listed, today, cwd string) []Section {
	all := []Section{{sectionRole, p.Replace}}
	if p.Replace == "" {
		all = []Section{{sectionRole, usualRole}, {sectionTools, toolLines(tools)}, {sectionGuidelines, guidelines(tools)}}
		if canRun(tools) {
			all = append(all, Section{sectionDocs, p.Docs})
		}
	}
	all = append(all,
		Section{sectionAppend, p.Append},
		Section{sectionInstructions, instructions.Text(p.Files)},
		Section{sectionSkills, lists.skills},
		Section{sectionServers, lists.servers},
		Section{sectionEnvironment, fmt.Sprintf("Date: %s\nWorking directory: %s", today, cwd)})
	return slices.DeleteFunc(all, func(s Section) bool { return s.Text == "" })
}

// joinSections returns the text that the sections make.
func joinSections(sections []Section) string {
	texts := make([]string, len(sections))
	for i, s := range sections {
		texts[i] = s.Text
	}
	return strings.Join(texts, "\n\n")
}

// toolLines returns the section that lists the tools, one line each; "" without tools.
func toolLines(tools []llm.ToolSpec) string {
	if len(tools) == 0 {
		return ""
	}
	text := "Tools:"
	for _, t := range tools {
		line := t.Snippet
		if line == "" {
			line, _, _ = strings.Cut(t.Description, "\n")
		}
		text += fmt.Sprintf("\n- %s: %s", t.Name, line)
	}
	return text
}

// guidelines returns the section with the common guidelines and those of the tools, each
// once.
func guidelines(tools []llm.ToolSpec) string {
	all := commonGuidelines()
	for _, t := range tools {
		for _, g := range t.Guidelines {
			if !slices.Contains(all, g) {
				all = append(all, g)
			}
		}
	}
	return "Guidelines:\n- " + strings.Join(all, "\n- ")
}

// canRead reports whether a model with these tools can read the file of a skill.
func canRead(tools []llm.ToolSpec) bool {
	return slices.ContainsFunc(tools, func(t llm.ToolSpec) bool { return t.Name == "read" || t.Name == "bash" })
}

// canFind reports whether a model with these tools can find those of servers.
func canFind(tools []llm.ToolSpec) bool {
	return slices.ContainsFunc(tools, func(t llm.ToolSpec) bool { return t.Name == "mcp" })
}

// canRun reports whether a model with these tools can run commands.
func canRun(tools []llm.ToolSpec) bool {
	return slices.ContainsFunc(tools, func(t llm.ToolSpec) bool { return t.Name == "bash" })
}

// Prompts returns the system prompt and its sections as the listeners so far left them. If
// one replaced the whole text, that is the prompt, whatever the sections are; else it is the
// sections, with the changed ones in their places and new ones at the end, in the order of
// their names.
func (e *BeforeAgentStart) Prompts() (system string, sections []Section) {
	for _, s := range e.Sections {
		if text, changed := e.Changed[s.Name]; !changed {
			sections = append(sections, s)
		} else if text != nil {
			sections = append(sections, Section{s.Name, *text})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Changed)) {
		isOld := slices.ContainsFunc(e.Sections, func(s Section) bool { return s.Name == name })
		if text := e.Changed[name]; text != nil && !isOld {
			sections = append(sections, Section{name, *text})
		}
	}
	if e.SystemPrompt != joinSections(e.Sections) {
		return e.SystemPrompt, sections
	}
	return joinSections(sections), sections
}
