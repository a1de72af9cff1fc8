package agent

import (
	"slices"

	"pi/agent/breakdown"
	"pi/agent/instructions"
	"pi/agent/prefix"
)

// Breakdown says where everything comes from that the model sees.
type Breakdown struct {
	ContextUsage
	Counted int      // of Tokens: what the provider counted with the last answer
	Sources []Source // in the order of a request; their tokens add up to Tokens
	Hooks   []HookEffect
	Unsent  []Source // what the session holds and no request carries; without tokens
	Break   *prefix.Break
}

// Source is one of the origins of what the model sees.
type Source = breakdown.Source

// HookEffect is what one handler of the context event did.
type HookEffect = breakdown.HookEffect

// Breakdown returns what the context consists of: what the model was shown in the last
// request, and what was added since, in tokens by source.
func (m *Meter) Breakdown() Breakdown {
	items, chain := m.conversation.seen()
	counted, estimated := m.contextTokens(items)
	b := Breakdown{Counted: counted, Sources: append([]Source{m.promptSource(), m.toolSource()}, breakdown.Messages(items, chain.stages)...)}
	b.ContextUsage = fullness(counted+estimated, m.choice.model())
	rest := b.Tokens
	for _, s := range b.Sources {
		rest -= s.Tokens
	}
	if rest != 0 {
		b.Sources = append(b.Sources, Source{Name: breakdown.SourceRest, Tokens: rest, Note: "what the provider counted otherwise"})
	}
	before := chain.core
	for _, stage := range chain.stages {
		b.Hooks = append(b.Hooks, breakdown.Effect(stage.By, before, stage.Value))
		before = stage.Value
	}
	b.Unsent, b.Break = breakdown.Unsent(items), m.PrefixBreak()
	return b
}

// ownSections are the sections that no hook has added.
var ownSections = []string{SectionRole, SectionTools, SectionGuidelines, SectionAppend, SectionInstructions, SectionSkills, SectionEnvironment, SectionMode}

// promptSource returns the system prompt, divided into its sections and instruction files.
// Where a hook replaced the whole text, that is one part.
func (m *Meter) promptSource() Source {
	p := m.system.last(m.sent.of(m.conversation.current()))
	s := Source{Name: breakdown.SourceSystem}
	if p.text != joinSections(p.sections) {
		s.Add(Source{Name: "all of it", Note: changedBy(p), Tokens: breakdown.TextTokens(p.text)})
		return s
	}
	for _, section := range p.sections {
		switch {
		case section.Name == SectionInstructions && section.Text == instructions.Text(m.system.source.Files):
			for _, f := range m.system.source.Files {
				s.Add(Source{Name: f.Path, Tokens: breakdown.TextTokens(instructions.Text([]instructions.File{f}))})
			}
		case slices.Contains(ownSections, section.Name):
			s.Add(Source{Name: section.Name, Tokens: breakdown.TextTokens(section.Text)})
		default:
			s.Add(Source{Name: section.Name, Note: changedBy(p), Tokens: breakdown.TextTokens(section.Text)})
		}
	}
	return s
}

// changedBy names the hooks that changed a system prompt, as "of a, b"; "" if none did.
func changedBy(p promptText) string {
	names, seen := "", map[string]bool{}
	for _, stage := range p.stages {
		if !seen[stage.By] {
			names += ", " + stage.By
		}
		seen[stage.By] = true
	}
	if names == "" {
		return ""
	}
	return "of " + names[2:]
}

// toolSource returns the descriptions of the active tools, as requests carry them, one
// part for each tool.
func (m *Meter) toolSource() Source {
	s := Source{Name: breakdown.SourceTools}
	for _, t := range m.tools.active() {
		spec := t.Spec()
		one := Source{Name: spec.Name, Count: 1, Tokens: breakdown.TextTokens(spec.Name + spec.Description + string(spec.Parameters))}
		if hook := sourceOf(t); hook != "" {
			one.Note = "of " + hook
		}
		s.Add(one)
	}
	return s
}
