package agent

import (
	"slices"

	"pi/agent/prefix"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

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
		all.under(name, 0, 0)
	}
	for _, it := range items {
		tokens := compaction.EstimateTokens(it.Message)
		if tokens == 0 {
			continue
		}
		name, part := sourceOfMessage(it, makers)
		s := all.under(name, tokens, 1)
		switch {
		case name == SourceModel:
			s.addAnswer(it.Message, tokens)
		case part != "":
			s.under(part, tokens, 1)
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
			s.under(part.name, min(n, rest), len(only.Content))
			rest -= min(n, rest)
		}
	}
	if rest > 0 {
		s.under("text", rest, 1)
	}
}

// under finds or adds the part of s with this name, adds tokens and count to it, and
// returns it. The sums of s itself do not change: they have the tokens already.
func (s *Source) under(part string, tokens, count int) *Source {
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
