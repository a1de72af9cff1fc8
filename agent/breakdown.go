package agent

import (
	"slices"

	"pi/agent/instructions"
	"pi/agent/prefix"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// Breakdown is what the model sees, by where it comes from.
type Breakdown struct {
	ContextUsage
	Counted int      // of Tokens: what the provider counted with the last answer
	Sources []Source // in the order of a request; their tokens add up to Tokens
	Hooks   []HookEffect
	Unsent  []Source // what the session holds and no request carries; without tokens
	Break   *prefix.Break
}

// Source is one of the origins of what the model sees. If it has parts, these add
// up to its tokens.
type Source struct {
	Name   string
	Note   string
	Tokens int // estimated
	Count  int // messages, or tools
	Parts  []Source
}

// Names of the sources.
const (
	SourceSystem    = "system prompt"
	SourceTools     = "tools"
	SourceSummaries = "summaries"
	SourceUser      = "you"
	SourceModel     = "model"
	SourceResults   = "tool results"
	SourceCommands  = "commands"
	SourceHooks     = "hooks"
	SourceRest      = "beyond the estimates" // what the provider counted more, or (negative) less
)

// Breakdown says what the model was shown last, and what came since.
func (m *Meter) Breakdown() Breakdown {
	items, chain := m.conversation.seen()
	counted, estimated := m.contextTokens(items)
	b := Breakdown{Counted: counted, Sources: append([]Source{m.promptSource(), m.toolSource()}, messageSources(items, chain)...)}
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
		b.Hooks = append(b.Hooks, effect(stage.By, before, stage.Value))
		before = stage.Value
	}
	b.Unsent, b.Break = unsent(items), m.PrefixBreak()
	return b
}

// ownSections are the sections that no hook has added.
var ownSections = []string{SectionRole, SectionTools, SectionGuidelines, SectionAppend, SectionInstructions, SectionEnvironment}

// promptSource is the system prompt by its sections, the instruction files each
// by itself.
func (m *Meter) promptSource() Source {
	p := m.system.last(m.sent.of(m.conversation.current()))
	s := Source{Name: SourceSystem}
	if p.text != joinSections(p.sections) {
		s.part(Source{Name: "all of it", Note: changedBy(p), Tokens: textTokens(p.text)})
		return s
	}
	for _, section := range p.sections {
		switch {
		case section.Name == SectionInstructions && section.Text == instructions.Text(m.system.source.Files):
			for _, f := range m.system.source.Files {
				s.part(Source{Name: f.Path, Tokens: textTokens(instructions.Text([]instructions.File{f}))})
			}
		case slices.Contains(ownSections, section.Name):
			s.part(Source{Name: section.Name, Tokens: textTokens(section.Text)})
		default:
			s.part(Source{Name: section.Name, Note: changedBy(p), Tokens: textTokens(section.Text)})
		}
	}
	return s
}

// changedBy names the hooks that had a hand in a system prompt.
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

// toolSource is the descriptions of the tools as they are sent.
func (m *Meter) toolSource() Source {
	s := Source{Name: SourceTools}
	for _, t := range m.tools.active() {
		spec := t.Spec()
		one := Source{Name: spec.Name, Count: 1, Tokens: textTokens(spec.Name + spec.Description + string(spec.Parameters))}
		if hook := sourceOf(t); hook != "" {
			one.Note = "of " + hook
		}
		s.part(one)
	}
	return s
}

func (s *Source) part(p Source) {
	s.Parts = append(s.Parts, p)
	s.Tokens += p.Tokens
	s.Count += p.Count
}

func textTokens(text string) int {
	return compaction.EstimateTokens(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}})
}

// ledger books messages under the sources.
type ledger struct {
	sources []Source
	makers  map[*message.Message]string // hooks, by the messages that they made
}

// messageSources are the messages that are sent.
func messageSources(items []session.Item, chain chained) []Source {
	l := ledger{makers: makersIn(chain)}
	for _, name := range []string{SourceSummaries, SourceUser, SourceModel, SourceResults, SourceCommands, SourceHooks} {
		l.sources = append(l.sources, Source{Name: name})
	}
	for _, it := range items {
		if tokens := compaction.EstimateTokens(it.Message); tokens > 0 {
			l.book(it, tokens)
		}
	}
	return l.sources
}

// makersIn says which hook of a chain made a message that comes from no entry.
func makersIn(chain chained) map[*message.Message]string {
	makers := map[*message.Message]string{}
	for _, stage := range chain.stages {
		for _, it := range stage.Value {
			if it.Entry == nil && makers[it.Message] == "" {
				makers[it.Message] = stage.By
			}
		}
	}
	return makers
}

func (l *ledger) book(it session.Item, tokens int) {
	m := it.Message
	if it.Entry == nil {
		l.add(SourceHooks, hookName(l.makers[m]), tokens)
		return
	}
	switch m.Role {
	case message.RoleCompactionSummary:
		l.add(SourceSummaries, "compaction", tokens)
	case message.RoleBranchSummary:
		l.add(SourceSummaries, "branch", tokens)
	case message.RoleAssistant:
		l.addAnswer(m, tokens)
	case message.RoleToolResult:
		l.add(SourceResults, m.ToolName, tokens)
	case message.RoleBashExecution:
		l.add(SourceCommands, "", tokens)
	case message.RoleCustom:
		l.add(SourceHooks, m.CustomType, tokens)
	default:
		l.add(SourceUser, "", tokens)
	}
}

// addAnswer tells thoughts and calls apart from what was said.
func (l *ledger) addAnswer(m *message.Message, tokens int) {
	s := l.source(SourceModel)
	s.Count++
	s.Tokens += tokens
	left := tokens
	for _, part := range []struct {
		name string
		kind message.BlockType
	}{{"thinking", message.BlockThinking}, {"calls", message.BlockToolCall}} {
		blocks, n := blocksOf(m, part.kind)
		if n > 0 {
			share := min(n, left)
			left -= share
			s.under(part.name, share, blocks)
		}
	}
	if left > 0 {
		s.under("text", left, 1)
	}
}

// blocksOf is how many blocks of a kind a message has, and their tokens.
func blocksOf(m *message.Message, kind message.BlockType) (blocks, tokens int) {
	only := message.Message{Role: message.RoleAssistant}
	for _, b := range m.Content {
		if b.Type == kind {
			only.Content = append(only.Content, b)
		}
	}
	return len(only.Content), compaction.EstimateTokens(&only)
}

func (l *ledger) source(name string) *Source {
	for i := range l.sources {
		if l.sources[i].Name == name {
			return &l.sources[i]
		}
	}
	return nil
}

// add books a message; part may be "".
func (l *ledger) add(source, part string, tokens int) {
	s := l.source(source)
	s.Count++
	s.Tokens += tokens
	if part != "" {
		s.under(part, tokens, 1)
	}
}

// under adds to a part of s, whose own tokens count it already.
func (s *Source) under(part string, tokens, count int) {
	for i := range s.Parts {
		if s.Parts[i].Name == part {
			s.Parts[i].Tokens += tokens
			s.Parts[i].Count += count
			return
		}
	}
	s.Parts = append(s.Parts, Source{Name: part, Tokens: tokens, Count: count})
}

// unsent are the messages that no request carries, and why.
func unsent(items []session.Item) []Source {
	var s Source
	for _, it := range items {
		switch m := it.Message; {
		case m.Role == message.RoleSystem:
			s.under("system messages of another program", 0, 1)
		case m.Role == message.RoleAssistant && (m.StopReason == message.StopError || m.StopReason == message.StopAborted):
			s.under("failed or interrupted answers", 0, 1)
		case m.Role == message.RoleBashExecution && m.ExcludeFromContext:
			s.under("commands kept out of the context", 0, 1)
		}
	}
	return s.Parts
}

// HookEffect is what one handler of the context event did to the list of the one
// before it.
type HookEffect struct {
	Hook                    string
	Removed, Added, Changed Amount
	ChangedTo               int // tokens of the changed ones now
}

// Amount is a number of messages and their tokens.
type Amount struct{ Messages, Tokens int }

func (a *Amount) count(m *message.Message) {
	a.Messages++
	a.Tokens += compaction.EstimateTokens(m)
}

// effect compares by the entries that messages come from, and those that come from
// none by themselves.
func effect(hook string, before, after []session.Item) HookEffect {
	e := HookEffect{Hook: hook}
	was := map[any]*message.Message{}
	for _, it := range before {
		was[identity(it)] = it.Message
	}
	for _, it := range after {
		m, known := was[identity(it)]
		delete(was, identity(it))
		switch {
		case !known:
			e.Added.count(it.Message)
		case m != it.Message:
			e.Changed.count(m)
			e.ChangedTo += compaction.EstimateTokens(it.Message)
		}
	}
	for _, m := range was {
		e.Removed.count(m)
	}
	return e
}

func identity(it session.Item) any {
	if it.Entry != nil {
		return it.Entry
	}
	return it.Message
}
