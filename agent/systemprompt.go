package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SystemPrompt is what the system prompt is made of beside the active tools,
// which the agent knows itself.
type SystemPrompt struct {
	Replace string // instead of role, tools and guidelines; "" for the usual text
	Append  string
	Files   []ContextFile
}

const role = `You are an expert coding agent working in a terminal on the user's machine. You read files, run commands, change code and write new files through the tools below, and you say briefly what you did.`

var commonGuidelines = []string{
	"Be concise. Show file paths clearly when you work with files.",
	"Look before you change: read the relevant code first, and check the result of what you did.",
}

// SystemPrompt returns the text that the next prompt starts with.
func (a *Agent) SystemPrompt() string {
	a.mu.Lock()
	if a.today == "" {
		a.today = a.now().Format(time.DateOnly)
	}
	today := a.today
	a.mu.Unlock()
	return a.prompt.build(a.toolSpecs(), today, a.cwd)
}

func (p *SystemPrompt) build(tools []ToolSpec, today, cwd string) string {
	var b strings.Builder
	if p.Replace != "" {
		b.WriteString(p.Replace)
	} else {
		writeRole(&b, tools)
	}
	if p.Append != "" {
		b.WriteString("\n\n" + p.Append)
	}
	if len(p.Files) > 0 {
		b.WriteString("\n\n# Project instructions\n")
		for _, f := range p.Files {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", f.Path, strings.TrimSpace(f.Text))
		}
	}
	fmt.Fprintf(&b, "\n\nDate: %s\nWorking directory: %s", today, cwd)
	return b.String()
}

func writeRole(b *strings.Builder, tools []ToolSpec) {
	b.WriteString(role)
	if len(tools) > 0 {
		b.WriteString("\n\nTools:")
	}
	guidelines := commonGuidelines[:len(commonGuidelines):len(commonGuidelines)]
	for _, t := range tools {
		line := t.Snippet
		if line == "" {
			line, _, _ = strings.Cut(t.Description, "\n")
		}
		fmt.Fprintf(b, "\n- %s: %s", t.Name, line)
		for _, g := range t.Guidelines {
			if !slices.Contains(guidelines, g) {
				guidelines = append(guidelines, g)
			}
		}
	}
	b.WriteString("\n\nGuidelines:")
	for _, g := range guidelines {
		b.WriteString("\n- " + g)
	}
}
