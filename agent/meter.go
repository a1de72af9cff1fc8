package agent

import (
	"slices"

	"pi/agent/instructions"
	"pi/agent/llm"
	"pi/agent/prefix"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// Meter counts what the session has used and how full its context is. All methods may
// be called from any goroutine.
type Meter struct {
	conversation *conversation
	choice       *choice
	tools        *toolset
	system       *systemPrompts
	sent         *lastSent
	spending     *spending
}

// Totals is what the session has used so far, all branches together, for that is
// what was paid, and how full the context of this branch is.
type Totals struct {
	message.Usage
	ContextUsage
	Priced bool          // the prices of all that was used are known
	Break  *prefix.Break // see [Meter.PrefixBreak]
}

// Spent returns what the session has cost so far in dollars. all is false if something
// that it used has no known price, so that the real cost is higher.
func (m *Meter) Spent() (cost float64, all bool) {
	u, all := m.spending.used()
	return u.Cost.Total, all
}

// ReadyUsage returns how full the context is. ready is false before the first request of a
// session, when the answer would need a walk over the whole branch.
func (m *Meter) ReadyUsage() (_ ContextUsage, ready bool) {
	if m.sent.of(m.conversation.current()) == nil {
		return ContextUsage{}, false
	}
	return m.contextUsage(), true
}

// contextUsage returns how full the window of the model is with what it sees now.
func (m *Meter) contextUsage() ContextUsage {
	return fullness(m.tokensSeen(), m.choice.chosen().model)
}

// fullness returns how full the context window of m is with so many tokens. Window and
// Percent are 0 if the window is not known.
func fullness(tokens int, m *llm.Model) ContextUsage {
	c := ContextUsage{Tokens: tokens, Window: m.ContextWindow}
	if c.Window > 0 {
		c.Percent = 100 * float64(tokens) / float64(c.Window)
	}
	return c
}

// contextTokens returns the tokens of a context: those that the provider counted with
// the last good answer, and an estimate of the others, which may be negative: messages
// behind that answer, and changes since then of those before it. Without such an answer
// all is estimated, with the system prompt and the tools, which an answer counts too.
func (m *Meter) contextTokens(items []session.Item) (counted, estimated int) {
	r := m.conversation.view.tokens(items)
	if r.At < 0 {
		return 0, r.Rest + m.promptSource().Tokens + m.toolSource().Tokens
	}
	if then, known := m.seenBy(items[r.At]); known {
		r.Rest += compaction.Difference(then, items[:r.At])
	}
	return r.Counted, max(r.Rest, -r.Counted)
}

// tokensOf returns how many tokens a context has, counted or estimated.
func (m *Meter) tokensOf(items []session.Item) int {
	counted, estimated := m.contextTokens(items)
	return counted + estimated
}

// tokensSeen returns how many tokens the context has that the model sees now.
func (m *Meter) tokensSeen() int {
	items, _ := m.conversation.seen()
	return m.tokensOf(items)
}

// seenBy returns the messages that the model was sent before it gave an answer, if they
// are known: from the last request of this process, else from the session, if no hook
// changes its context and an edit has changed it since.
func (m *Meter) seenBy(answer session.Item) ([]session.Item, bool) {
	s := m.conversation.current()
	if last := m.sent.of(s); last != nil && answer.Entry != nil && last.answer == answer.Entry.ID {
		return last.chain.items, true
	}
	path := s.Branch()
	isEdit := func(e *session.Entry) bool { return e.Type == session.TypeContextEdit }
	if m.conversation.events.wants(KindContext) || answer.Index < 0 || answer.Index >= len(path) || !slices.ContainsFunc(path[answer.Index:], isEdit) {
		return nil, false
	}
	return session.ContextOf(path[:answer.Index]), true
}

// PrefixBreak returns the break of the last request of this session; nil if that
// began with the one before it, or was the first.
func (m *Meter) PrefixBreak() *prefix.Break { return m.sent.prefix.BreakOf(m.conversation.current()) }

// Breakdown says where everything comes from that the model sees.
type Breakdown struct {
	ContextUsage
	Counted int      // of Tokens: what the provider counted with the last answer
	Sources []Source // in the order of a request; their tokens add up to Tokens
	Hooks   []HookEffect
	Unsent  []Source // what the session holds and no request carries; without tokens
	Break   *prefix.Break
}

// Breakdown returns what the context consists of: what the model was shown in the last
// request, and what was added since, in tokens by source.
func (m *Meter) Breakdown() Breakdown {
	items, chain := m.conversation.seen()
	counted, estimated := m.contextTokens(items)
	b := Breakdown{Counted: counted, Sources: append([]Source{m.promptSource(), m.toolSource()}, messagesBySource(items, chain.stages)...)}
	b.ContextUsage = fullness(counted+estimated, m.choice.model())
	rest := b.Tokens
	for _, s := range b.Sources {
		rest -= s.Tokens
	}
	if rest != 0 {
		b.Sources = append(b.Sources, Source{Name: SourceRest, Tokens: rest, Note: "what the provider counted otherwise"})
	}
	before := chain.core
	for _, stage := range chain.stages {
		b.Hooks = append(b.Hooks, effectOf(stage.By, before, stage.Value))
		before = stage.Value
	}
	b.Unsent, b.Break = unsentBySource(items), m.PrefixBreak()
	return b
}

// ownSections are the sections that no hook has added.
var ownSections = []string{sectionRole, sectionTools, sectionGuidelines, sectionDocs, sectionAppend, sectionInstructions, sectionSkills, sectionEnvironment, sectionMode}

// promptSource returns the system prompt, divided into its sections and instruction files.
// Where a hook replaced the whole text, that is one part.
func (m *Meter) promptSource() Source {
	p := m.system.last(m.sent.of(m.conversation.current()))
	s := Source{Name: SourceSystem}
	if p.text != joinSections(p.sections) {
		s.Add(Source{Name: "all of it", Note: changedBy(p), Tokens: textTokens(p.text)})
		return s
	}
	for _, section := range p.sections {
		switch {
		case section.Name == sectionInstructions && section.Text == instructions.Text(m.system.source.Files):
			for _, f := range m.system.source.Files {
				s.Add(Source{Name: f.Path, Tokens: textTokens(instructions.Text([]instructions.File{f}))})
			}
		case slices.Contains(ownSections, section.Name):
			s.Add(Source{Name: section.Name, Tokens: textTokens(section.Text)})
		default:
			s.Add(Source{Name: section.Name, Note: changedBy(p), Tokens: textTokens(section.Text)})
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
	s := Source{Name: SourceTools}
	for _, t := range m.tools.active() {
		spec := t.Spec()
		one := Source{Name: spec.Name, Count: 1, Tokens: textTokens(spec.Name + spec.Description + string(spec.Parameters))}
		if hook := sourceOf(t); hook != "" {
			one.Note = "of " + hook
		}
		s.Add(one)
	}
	return s
}
