package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent/instructions"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// systemPrompts are the system prompts of an agent, and what a session retains of its
// own, so that requests begin alike. All methods may be called from any goroutine.
type systemPrompts struct {
	source *SystemPrompt
	tools  *toolset
	mode   func() string // the section of the mode that is on; "" for none
	cwd    string
	begin  *Sent            // whose system prompt takes the place of all; nil: there is none
	began  func() time.Time // of the session; the zero time if nobody knows
	now    func() time.Time

	mu      sync.Mutex // guards what follows
	skills  *string    // the skills in it, fixed per session
	servers *string    // and the servers
	running promptText // of the run in progress; empty without one
}

// sections returns the sections of the system prompt that the next prompt starts with. The
// date in it is that of the session, and skills and servers are fixed at the first call for it, so
// that requests begin alike.
func (p *systemPrompts) sections() []Section {
	skills := func() string { return p.list(&p.skills, p.source.Skills) }
	servers := func() string { return p.list(&p.servers, p.source.Servers) }
	return p.source.sections(specsOf(p.tools.active()), skills, servers, dateOf(p.began(), p.now()), p.cwd)
}

// list returns a list of this session, which find finds if kept is not known yet.
func (p *systemPrompts) list(kept **string, find func() string) string {
	p.mu.Lock()
	known := *kept
	p.mu.Unlock()
	switch {
	case known != nil:
		return *known
	case find == nil:
		return ""
	}
	found := find() // without the lock: files are read, and people are told
	p.mu.Lock()
	defer p.mu.Unlock()
	if *kept == nil {
		*kept = &found
	}
	return **kept
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
// is asked for with each request, since the mode may change while a prompt is worked on. An agent that
// goes on from another one has the prompt of that.
func (p *systemPrompts) inMode(system promptText) promptText {
	if p.begin != nil {
		return p.begin.system
	}
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
		sections: append(slices.Clip(system.sections), Section{Name: sectionMode, Text: section})}
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

// forgetSession has the next system prompt have the skills and servers that there are then. It is called
// when another session becomes current.
func (p *systemPrompts) forgetSession() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skills, p.servers = nil, nil
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

// SystemPrompt is what the system prompt is made of beside the active tools,
// which the agent knows itself.
type SystemPrompt struct {
	Replace string // instead of role, tools and guidelines; "" for the usual text
	Role    string // in the place of the role alone, be it the usual one or Replace; "": that
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

// sections returns the sections of a system prompt for these tools, in their order, without
// those that would be empty. skills is called only for a model that can read their files, servers
// for one that can find their tools.
func (p *SystemPrompt) sections(tools []llm.ToolSpec, skills, servers func() string, today, cwd string) []Section {
	lines, guidelines := "", commonGuidelines()
	canRun, canRead, canFind := false, false, false
	for _, t := range tools {
		line := t.Snippet
		if line == "" {
			line, _, _ = strings.Cut(t.Description, "\n")
		}
		lines += fmt.Sprintf("\n- %s: %s", t.Name, line)
		for _, g := range t.Guidelines {
			if !slices.Contains(guidelines, g) {
				guidelines = append(guidelines, g)
			}
		}
		canRun = canRun || t.Name == "bash"
		canRead = canRead || t.Name == "bash" || t.Name == "read"
		canFind = canFind || t.Name == "mcp"
	}
	all := []Section{{sectionRole, cmp.Or(p.Role, p.Replace, usualRole)}}
	if p.Replace == "" {
		if lines != "" {
			all = append(all, Section{sectionTools, "Tools:" + lines})
		}
		all = append(all, Section{sectionGuidelines, "Guidelines:\n- " + strings.Join(guidelines, "\n- ")})
		if canRun {
			all = append(all, Section{sectionDocs, p.Docs})
		}
	}
	all = append(all, Section{sectionAppend, p.Append}, Section{sectionInstructions, instructions.Text(p.Files)})
	if canRead {
		all = append(all, Section{sectionSkills, skills()})
	}
	if canFind {
		all = append(all, Section{sectionServers, servers()})
	}
	all = append(all, Section{sectionEnvironment, fmt.Sprintf("Date: %s\nWorking directory: %s", today, cwd)})
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

// The system prompt has the date on which the session began, so that all its requests begin
// alike: what a provider has cached stays of use, and thoughts that are bound to the prompt
// stay valid. When the day has changed, a message behind the next prompt says so.

// dateOf returns the day on which a session began, in the time zone of now; the present day
// if that is not known (the zero time). For somebody who travels it may become another day,
// which costs the cached prompt once.
func dateOf(began, now time.Time) string {
	if began.IsZero() {
		began = now
	}
	return began.In(now.Location()).Format(time.DateOnly)
}

// dateDetails are the details of the message that tells of another day.
type dateDetails struct {
	Date string `json:"date"`
}

// addDate adds a message behind a prompt that tells the model which day it is, if it sees
// another one: in the system prompt, or in the last such message of the context. Where a
// compaction or a hook took that away, it is told again.
func (r *run) addDate(ctx context.Context) error {
	now := r.now()
	today := now.Format(time.DateOnly)
	known := dateOf(r.conversation.current().Began(), now)
	seen, _ := r.conversation.seen()
	for _, it := range slices.Backward(seen) {
		if it.Message.Role != message.RoleCustom || it.Message.CustomType != session.DateChange {
			continue
		}
		var told dateDetails
		if json.Unmarshal(it.Message.Details, &told) == nil {
			known = cmp.Or(told.Date, known)
			break
		}
	}
	if known == today {
		return nil
	}
	details, _ := json.Marshal(dateDetails{today}) // a string always encodes
	_, err := r.appendCustom(ctx, &message.Message{Role: message.RoleCustom, CustomType: session.DateChange, Details: details,
		Content: []message.Block{message.TextBlock(fmt.Sprintf("The date has changed: it is %s now.", today))}})
	return err
}
