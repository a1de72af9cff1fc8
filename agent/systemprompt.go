package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent/instructions"
	"pi/agent/llm"
)

// SystemPrompt is what the system prompt is made of beside the active tools,
// which the agent knows itself.
type SystemPrompt struct {
	Replace string // instead of role, tools and guidelines; "" for the usual text
	Append  string
	Files   []instructions.File

	// Skills, if set, returns the list of skills; "" for none. It is called before the first
	// prompt of a session, and what it returns stays for that session.
	Skills func() string
}

const role = `You are an expert coding agent working in a terminal on the user's machine. You read files, run commands, change code and write new files through the tools below, and you say briefly what you did.`

var commonGuidelines = []string{
	"Be concise. Show file paths clearly when you work with files.",
	"Look before you change: read the relevant code first, and check the result of what you did.",
}

// The sections of the system prompt, in their order. Listeners know them by
// these names; those without text are not there.
const (
	SectionRole         = "role"         // who the model is; what replaces the usual text
	SectionTools        = "tools"        // the active tools, one line each
	SectionGuidelines   = "guidelines"   // how to work, as it fits the active tools
	SectionAppend       = "append"       // what the person added
	SectionInstructions = "instructions" // the instruction files of the directories
	SectionSkills       = "skills"       // the skills that the model may use, if it can read files
	SectionEnvironment  = "environment"  // date and working directory
	SectionMode         = "mode"         // of the mode that is on; always the last, and listeners do not get it
)

// systemPrompts are the system prompts of an agent, and what a session retains of its
// own, so that requests begin alike. All methods may be called from any goroutine.
type systemPrompts struct {
	source *SystemPrompt
	tools  *toolset
	mode   func() string // the section of the mode that is on; "" for none
	cwd    string
	now    func() time.Time

	mu      sync.Mutex // guards what follows
	today   string     // the date in it, fixed per session
	skills  *string    // the skills in it, fixed per session
	running promptText // of the run in progress; empty without one
}

// sections returns the sections of the system prompt that the next prompt starts with. The
// date and the skills in it are fixed at the first call for a session, so that requests
// begin alike.
func (p *systemPrompts) sections() []Section {
	tools := specsOf(p.tools.active())
	skills := ""
	if canRead(tools) {
		skills = p.skillList()
	}
	p.mu.Lock()
	if p.today == "" {
		p.today = p.now().Format(time.DateOnly)
	}
	today := p.today
	p.mu.Unlock()
	return p.source.sections(tools, skills, today, p.cwd)
}

// canRead reports whether a model with these tools can read the file of a skill.
func canRead(tools []llm.ToolSpec) bool {
	return slices.ContainsFunc(tools, func(t llm.ToolSpec) bool { return t.Name == "read" || t.Name == "bash" })
}

// skillList returns the list of skills of this session.
func (p *systemPrompts) skillList() string {
	p.mu.Lock()
	known := p.skills
	p.mu.Unlock()
	switch {
	case known != nil:
		return *known
	case p.source.Skills == nil:
		return ""
	}
	found := p.source.Skills() // without the lock: files are read, and people are told
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.skills == nil {
		p.skills = &found
	}
	return *p.skills
}

// last returns the system prompt of the run in progress. Without one it is that of sent,
// the last request, as listeners left it, or that of the next prompt, if that would start
// with another one than sent did.
func (p *systemPrompts) last(sent *sentRequest) promptText {
	next := p.inMode(plainPrompt(p.sections()))
	if running := p.ofRun(); running.text != "" {
		return p.inMode(running)
	}
	if sent != nil && sent.system.base == next.base {
		return sent.system
	}
	return next
}

// inMode returns system with the section of the mode that is on, behind everything else. It
// is asked for with each request, since the mode may change while a prompt is worked on.
func (p *systemPrompts) inMode(system promptText) promptText {
	section := p.mode()
	if section == "" {
		return system
	}
	with := func(text string) string { return strings.TrimPrefix(text+"\n\n"+section, "\n\n") }
	stages := slices.Clone(system.stages)
	for i := range stages {
		stages[i].Value = with(stages[i].Value)
	}
	return promptText{base: with(system.base), text: with(system.text), stages: stages,
		sections: append(slices.Clip(system.sections), Section{SectionMode, section})}
}

// ofRun returns the system prompt of the run in progress; it is empty if there is no run.
func (p *systemPrompts) ofRun() promptText {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running
}

// setOfRun notes the system prompt of the run in progress; an empty one ends it.
func (p *systemPrompts) setOfRun(system promptText) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = system
}

// forgetSession has the next system prompt have the date of its own day, and the skills
// there are then. It is called when another session becomes current.
func (p *systemPrompts) forgetSession() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.today, p.skills = "", nil
}

// sections returns the sections of a system prompt for these tools and skills, in their
// order, without those that would be empty.
func (p *SystemPrompt) sections(tools []llm.ToolSpec, skills, today, cwd string) []Section {
	all := []Section{{SectionRole, p.Replace}}
	if p.Replace == "" {
		all = []Section{{SectionRole, role}, {SectionTools, toolLines(tools)}, {SectionGuidelines, guidelines(tools)}}
	}
	all = append(all,
		Section{SectionAppend, p.Append},
		Section{SectionInstructions, instructions.Text(p.Files)},
		Section{SectionSkills, skills},
		Section{SectionEnvironment, fmt.Sprintf("Date: %s\nWorking directory: %s", today, cwd)})
	return slices.DeleteFunc(all, func(s Section) bool { return s.Text == "" })
}

// promptText is the system prompt of one prompt, and what it was made of.
type promptText struct {
	base     string // before the listeners
	text     string
	sections []Section // as the listeners left them; text may be another
	stages   []PromptStage
}

// plainPrompt returns the system prompt that is made of sections, as it is before any
// listener has changed it: base, which stays, and text, which listeners may replace, are
// the same.
func plainPrompt(sections []Section) promptText {
	text := joinSections(sections)
	return promptText{base: text, text: text, sections: sections}
}

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
	all := slices.Clone(commonGuidelines)
	for _, t := range tools {
		for _, g := range t.Guidelines {
			if !slices.Contains(all, g) {
				all = append(all, g)
			}
		}
	}
	return "Guidelines:\n- " + strings.Join(all, "\n- ")
}

// Prompts returns the system prompt and its sections as the listeners so far left
// them. If one replaced the whole text, that is the prompt, whatever the sections are;
// else it is the sections, with the changed ones in their places and new ones at the
// end, in the order of their names.
func (e *BeforeAgentStart) Prompts() (system string, sections []Section) {
	for _, s := range e.Sections {
		if text, changed := e.Changed[s.Name]; !changed {
			sections = append(sections, s)
		} else if text != nil {
			sections = append(sections, Section{s.Name, *text})
		}
	}
	known := func(name string) bool {
		return slices.ContainsFunc(e.Sections, func(s Section) bool { return s.Name == name })
	}
	for _, name := range slices.Sorted(maps.Keys(e.Changed)) {
		if text := e.Changed[name]; text != nil && !known(name) {
			sections = append(sections, Section{name, *text})
		}
	}
	if e.SystemPrompt != joinSections(e.Sections) {
		return e.SystemPrompt, sections
	}
	return joinSections(sections), sections
}
