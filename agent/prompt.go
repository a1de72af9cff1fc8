package agent

import (
	"fmt"
	"os"
	"path/filepath"
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

// ContextFile is an instruction file. It is data: read, shown to the model,
// never executed.
type ContextFile struct {
	Path string
	Text string
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
		guidelines = append(guidelines, t.Guidelines...)
	}
	b.WriteString("\n\nGuidelines:")
	for _, g := range guidelines {
		b.WriteString("\n- " + g)
	}
}

// FindContextFiles returns the instruction files for a working directory: the
// agent directory's, then one per directory from the root of the file system
// down to cwd. In each, AGENTS.md counts, and CLAUDE.md where there is none. A
// file that cannot be read is returned as a problem.
func FindContextFiles(agentDir, cwd string) (files []ContextFile, problems []error) {
	seen := map[string]bool{}
	for _, dir := range append([]string{agentDir}, ancestors(cwd)...) {
		if dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		f, err := contextFile(dir)
		if err != nil {
			problems = append(problems, err)
		}
		if f != nil && strings.TrimSpace(f.Text) != "" {
			files = append(files, *f)
		}
	}
	return files, problems
}

func contextFile(dir string) (*ContextFile, error) {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read instructions: %w", err)
		}
		return &ContextFile{Path: path, Text: strings.ToValidUTF8(string(b), "\uFFFD")}, nil
	}
	return nil, nil
}

// ancestors lists cwd and the directories above it, the root first.
func ancestors(cwd string) []string {
	var dirs []string
	for {
		dirs = append([]string{cwd}, dirs...)
		parent := filepath.Dir(cwd)
		if parent == cwd {
			return dirs
		}
		cwd = parent
	}
}
