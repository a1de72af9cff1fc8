package agent

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// systemPrompts are the system prompts of an agent, and what a session retains of its
// own, so that requests begin alike. All methods may be called from any goroutine.
type systemPrompts struct {
	source *SystemPrompt
	tools  *toolset
	mode   func() string // the section of the mode that is on; "" for none
	cwd    string
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
	tools := specsOf(p.tools.active())
	lists := listed{}
	if canRead(tools) {
		lists.skills = p.list(&p.skills, p.source.Skills)
	}
	if canFind(tools) {
		lists.servers = p.list(&p.servers, p.source.Servers)
	}
	return p.source.sections(tools, lists, dateOf(p.began(), p.now()), p.cwd)
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
