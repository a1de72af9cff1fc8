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

// Used returns what the session has used so far, all branches together, and whether all of it
// has a known price.
func (m *Meter) Used() (u message.Usage, priced bool) { return m.spending.used() }

// ReadyUsage returns how full the context is. ready is false before the first request of a
// session, when the answer would need a walk over the whole branch.
func (m *Meter) ReadyUsage() (_ ContextUsage, ready bool) {
	if m.sent.requestOf(m.conversation.current()) == nil {
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
	if last := m.sent.requestOf(s); last != nil && answer.Entry != nil && last.answer == answer.Entry.ID {
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
var ownSections = []string{sectionRole, sectionTools, sectionGuidelines, sectionDocs, sectionAppend, sectionInstructions, sectionSkills, sectionServers, sectionEnvironment, sectionMode}

// promptSource returns the system prompt, divided into its sections and instruction files.
// Where a hook replaced the whole text, that is one part.
func (m *Meter) promptSource() Source {
	p := m.system.last(m.sent.requestOf(m.conversation.current()))
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

// Add appends p to the parts of s, and adds its tokens and its count to those of s.
func (s *Source) Add(p Source) {
	s.Parts = append(s.Parts, p)
	s.Tokens += p.Tokens
	s.Count += p.Count
}

// textTokens estimates the tokens of a text.
func textTokens(text string) int {
	return compaction.EstimateTokens(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}})
}

// messagesBySource divides the messages that are sent by who brought them: the user, the model,
// tools, hooks and so on. A message without an entry was made by the hook of stages, the
// list as each hook left it, that has it first.
func messagesBySource(items []session.Item, stages []prefix.Stage[[]session.Item]) []Source {
	makers := map[*message.Message]string{} // hooks, by the messages that they made
	for _, stage := range stages {
		for _, it := range stage.Value {
			if it.Entry == nil && makers[it.Message] == "" {
				makers[it.Message] = stage.By
			}
		}
	}
	var all Source
	for _, name := range []string{SourceSummaries, SourceUser, SourceModel, SourceResults, SourceCommands, SourceHooks} {
		all.addPart(name, 0, 0)
	}
	for _, it := range items {
		tokens := compaction.EstimateTokens(it.Message)
		if tokens == 0 {
			continue
		}
		name, part := sourceOfMessage(it, makers)
		s := all.addPart(name, tokens, 1)
		switch {
		case name == SourceModel:
			s.addAnswer(it.Message, tokens)
		case part != "":
			s.addPart(part, tokens, 1)
		}
	}
	return all.Parts
}

// sourceOfMessage returns the source that a message is counted under, and the part within that
// source; part is "" where it has none. makers has the hooks that made messages without an
// entry.
func sourceOfMessage(it session.Item, makers map[*message.Message]string) (source, part string) {
	m := it.Message
	if it.Entry == nil {
		return SourceHooks, hookName(makers[m])
	}
	switch m.Role {
	case message.RoleCompactionSummary:
		return SourceSummaries, "compaction"
	case message.RoleBranchSummary:
		return SourceSummaries, "branch"
	case message.RoleAssistant:
		return SourceModel, ""
	case message.RoleToolResult:
		return SourceResults, m.ToolName
	case message.RoleBashExecution:
		return SourceCommands, ""
	case message.RoleCustom:
		if m.CustomType != session.DateChange { // which goes with a prompt
			return SourceHooks, m.CustomType
		}
	}
	return SourceUser, ""
}

// addAnswer adds the thoughts, the calls and the text of an answer to the parts of s,
// whose own tokens count them already.
func (s *Source) addAnswer(m *message.Message, tokens int) {
	rest := tokens
	for _, part := range []struct {
		name string
		kind message.BlockType
	}{{"thinking", message.BlockThinking}, {"calls", message.BlockToolCall}} {
		only := message.Message{Role: message.RoleAssistant}
		for _, b := range m.Content {
			if b.Type == part.kind {
				only.Content = append(only.Content, b)
			}
		}
		if n := compaction.EstimateTokens(&only); n > 0 {
			s.addPart(part.name, min(n, rest), len(only.Content))
			rest -= min(n, rest)
		}
	}
	if rest > 0 {
		s.addPart("text", rest, 1)
	}
}

// addPart finds or adds the part of s with this name, adds tokens and count to it, and
// returns it. The sums of s itself do not change: they have the tokens already.
func (s *Source) addPart(part string, tokens, count int) *Source {
	i := slices.IndexFunc(s.Parts, func(p Source) bool { return p.Name == part })
	if i < 0 {
		i = len(s.Parts)
		s.Parts = append(s.Parts, Source{Name: part})
	}
	p := &s.Parts[i]
	p.Tokens += tokens
	p.Count += count
	return p
}

// unsentBySource counts the messages of the session that no request carries, by the reason.
func unsentBySource(items []session.Item) []Source {
	var s Source
	for _, it := range items {
		switch m := it.Message; {
		case m.Role == message.RoleSystem:
			s.addPart("system messages of another program", 0, 1)
		case m.Role == message.RoleAssistant && (m.StopReason == message.StopError || m.StopReason == message.StopAborted):
			s.addPart("failed or interrupted answers", 0, 1)
		case m.Role == message.RoleBashExecution && m.ExcludeFromContext:
			s.addPart("commands kept out of the context", 0, 1)
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

// effectOf returns how many messages a hook added, changed and removed, from the lists
// before and after it. A message of an entry is compared with that of the same entry; one
// without an entry is only the same if it is the very same message.
func effectOf(hook string, before, after []session.Item) HookEffect {
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

// identity returns a key that two messages share if one is a version of the other: the
// entry that they come from, or the message itself without one.
func identity(it session.Item) any {
	if it.Entry != nil {
		return it.Entry
	}
	return it.Message
}
