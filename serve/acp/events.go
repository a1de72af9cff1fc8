package acp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/printable"
	"pi/session/message"
)

// listener tells the client what the agent of a session does. It is the agent's last
// listener, so what it gets has been decided.
type listener struct{ s *session }

// Wants reports whether Handle uses events of this kind.
func (listener) Wants(k agent.Kind) bool {
	return slices.Contains([]agent.Kind{
		agent.KindMessageStart, agent.KindMessageUpdate, agent.KindMessageEnd,
		agent.KindToolExecutionStart, agent.KindToolCall, agent.KindToolExecutionUpdate, agent.KindToolExecutionEnd,
		agent.KindEntryAppended, agent.KindCustomShow, agent.KindNotice, agent.KindAutoRetryStart,
		agent.KindCompactionStart, agent.KindCompactionEnd,
		agent.KindModelSelect, agent.KindThinkingLevelSelect, agent.KindModeSelect, agent.KindSessionInfoChanged,
		agent.KindSessionBeforeSwitch, agent.KindSessionBeforeNew, agent.KindSessionBeforeBranch,
		agent.KindChildStart, agent.KindChildUpdate, agent.KindChildEnd,
	}, k)
}

// Handle tells the client of an event. It never fails. While the session is being opened only
// notices are told: the rest is in the answer.
func (l listener) Handle(_ context.Context, e agent.Event) error {
	s := l.s
	if e.Kind() != agent.KindNotice && !s.isReady() {
		return nil
	}
	switch e := e.(type) {
	case *agent.MessageStart:
		s.calls.sweep("not run: the answer broke off")
		s.speaker.start()
		s.tellWaiting()
	case *agent.MessageUpdate:
		s.delta(e.Delta)
	case *agent.MessageEnd:
		s.endMessage(e.Message)
	case *agent.ToolExecutionStart:
		s.calls.start(e)
	case *agent.ToolCall:
		s.calls.admit(e)
	case *agent.ToolExecutionUpdate:
		s.calls.progress(e)
	case *agent.ToolExecutionEnd:
		s.calls.end(e)
	case *agent.EntryAppended:
		switch m := e.Message; {
		case m == nil:
		case m.Role == message.RoleAssistant:
			s.tellUsage()
		case m.Role == message.RoleUser: // it may be the first
			s.tellTitle()
		}
	case *agent.CustomShow:
		s.showCustom(e)
	case *agent.Notice:
		s.notify(e.Text, e.Level)
	case *agent.AutoRetryStart:
		s.speaker.start() // what was said will be said anew
		s.notify(e.Text(e.Delay()), agent.LevelWarning)
	case *agent.CompactionStart:
		s.beginCompaction(e)
	case *agent.CompactionEnd:
		s.endCompaction(e)
	case *agent.ModelSelect, *agent.ThinkingLevelSelect:
		menu{s}.tellNews()
	case *agent.ModeSelect:
		if m := (menu{s}).modes(); m != nil {
			s.out.send(modeUpdate{"current_mode_update", m.Current})
		}
		menu{s}.tellNews()
	case *agent.SessionInfoChanged:
		s.tellTitle()
	case *agent.ChildStart:
		s.calls.childStarts(e)
	case *agent.ChildUpdate:
		s.calls.childWorks(e)
	case *agent.ChildEnd:
		s.calls.childEnds(e)
	case *agent.SessionBeforeSwitch:
		e.Cancel = s.refuseOther(e.Cancel)
	case *agent.SessionBeforeNew:
		e.Cancel = s.refuseOther(e.Cancel)
	case *agent.SessionBeforeBranch:
		e.Cancel = s.refuseOther(e.Cancel)
	}
	return nil
}

// refuseOther is the answer to who wants another session instead of this one: no. Whether
// somebody else said so before is cancelled.
func (s *session) refuseOther(cancelled bool) bool {
	if !cancelled {
		s.notify("the session stays: here the client decides which session this is", agent.LevelWarning)
	}
	return true
}

// speaker knows the message that the model writes.
type speaker struct {
	mu   sync.Mutex
	id   string
	said bool // a chunk of it was sent, and it has not ended
	cut  bool // the last one of the run was cut off at its limit
}

// begin forgets the run before.
func (p *speaker) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said, p.cut = false, false
}

// start begins another message.
func (p *speaker) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.said = newID(), false
}

// next returns the id of the message for a further chunk.
func (p *speaker) next() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		p.id = newID()
	}
	p.said = true
	return p.id
}

// end ends the message; cut says that it was cut off at its limit.
func (p *speaker) end(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said, p.cut = false, cut
}

// isSpeaking reports whether a message has begun, and not ended.
func (p *speaker) isSpeaking() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said
}

// wasCut reports whether the last message of the run was cut off.
func (p *speaker) wasCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

// delta sends a piece of an answer.
func (s *session) delta(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaText:
		s.piece(agentChunk, d.Text)
	case llm.DeltaThinking:
		s.piece(thoughtChunk, d.Text)
	case llm.DeltaToolCall:
		if d.Name != "" {
			s.calls.announce(d.ID, d.Name)
		}
	}
}

func (s *session) piece(kind, text string) {
	if text == "" {
		return
	}
	s.out.send(chunk{kind, s.speaker.next(), textOf(text)})
}

// endMessage sends an answer of which no piece has come, and notes how it ended.
func (s *session) endMessage(m *message.Message) {
	if !s.speaker.isSpeaking() {
		for _, b := range m.Content {
			switch {
			case b.Type == message.BlockText:
				s.piece(agentChunk, b.Text)
			case b.Type == message.BlockThinking && !b.Redacted:
				s.piece(thoughtChunk, b.Text)
			}
		}
	}
	s.speaker.end(m.StopReason == message.StopLength)
	s.tellWaiting()
}

// tellText sends a text of the program as words of the agent, a message of its own.
func (s *session) tellText(text string) {
	if strings.TrimSpace(text) != "" {
		s.out.send(chunk{agentChunk, newID(), textOf(text)})
	}
}

// showCustom sends a message that came into the session by a hook.
func (s *session) showCustom(e *agent.CustomShow) {
	kind, id := userChunk, newID()
	if e.Message.Role == message.RoleCustom {
		kind = agentChunk
	}
	for _, u := range contentChunks(kind, id, e.Message.Content) {
		s.out.send(u)
	}
}

// contentChunks returns the texts and images of a message as chunks.
func contentChunks(kind, id string, content []message.Block) (all []update) {
	for _, b := range content {
		switch {
		case b.Type == message.BlockText && b.Text != "":
			all = append(all, chunk{kind, id, textOf(b.Text)})
		case b.Type == message.BlockImage:
			all = append(all, chunk{kind, id, imageOf(b.Data, b.MimeType)})
		}
	}
	return all
}

// notify shows a notice. Where the client shows none, the conversation has it, once.
func (s *session) notify(text string, level agent.Level) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if s.server.capable().notices {
		title, rest, _ := strings.Cut(strings.TrimSpace(printable.Text(text)), "\n")
		s.out.send(notice{SessionUpdate: "notice", Severity: string(level), Title: cut(title, mostText), Description: cut(strings.TrimSpace(rest), mostText)})
		return
	}
	text = "[pi] " + strings.TrimSpace(printable.Text(text)) + "\n\n" // clients put chunks one behind the other
	s.mu.Lock()
	if !slices.Contains(s.state.untold, text) {
		s.state.untold = append(s.state.untold, text)
	}
	s.mu.Unlock()
	if !s.speaker.isSpeaking() {
		s.tellWaiting()
	}
}

// tellWaiting tells the notices that wait for the end of a message. Outside of a prompt they
// wait for the next one.
func (s *session) tellWaiting() {
	s.mu.Lock()
	atWork := s.state.prompted && s.state.active != nil
	s.mu.Unlock()
	if atWork {
		s.tellUntold()
	}
}

// tellUntold tells the notices that wait.
func (s *session) tellUntold() {
	s.mu.Lock()
	untold := s.state.untold
	s.state.untold = nil
	s.mu.Unlock()
	for _, text := range untold {
		s.tellText(text)
	}
}

// tellUsage tells how full the context is and what the session has cost, if that is known and
// no more as it was.
func (s *session) tellUsage() {
	if used, ready := s.agent().Meter().ReadyUsage(); ready {
		if u := s.usage(used); u != nil && s.shown.isNews("usage", *u) {
			s.out.send(*u)
		}
	}
}

// usage is what a client is told of how full the context is; nil if it cannot be told.
func (s *session) usage(used agent.ContextUsage) *usageUpdate {
	if used.Tokens < 0 || used.Window <= 0 {
		return nil
	}
	u := usageUpdate{SessionUpdate: "usage_update", Used: used.Tokens, Size: used.Window}
	if spent, all := s.agent().Meter().Spent(); all || spent > 0 {
		u.Cost = &cost{spent, "USD"}
	}
	return &u
}

// beginCompaction tells of a compaction where the client shows that.
func (s *session) beginCompaction(e *agent.CompactionStart) {
	if e.Auto || !s.server.capable().compaction {
		return
	}
	id := newID()
	s.mu.Lock()
	s.state.compacting = id
	s.mu.Unlock()
	s.out.send(compactionUpdate{SessionUpdate: "compaction_update", ID: id, Status: callRuns})
}

// endCompaction tells how it ended.
func (s *session) endCompaction(e *agent.CompactionEnd) {
	if e.Auto {
		return
	}
	s.tellUsage()
	s.mu.Lock()
	u := compactionUpdate{SessionUpdate: "compaction_update", ID: s.state.compacting, Status: callCompleted}
	s.state.compacting = ""
	s.mu.Unlock()
	if u.ID == "" {
		return
	}
	switch {
	case e.Done != nil:
		u.Summary = &[]textContent{textOf(e.Done.String())}
	case e.Aborted:
		u.Status = "cancelled"
	default:
		u.Status, u.Error = callFailed, printable.Line(e.ErrorMessage)
	}
	s.out.send(u)
}

// tellTitle tells what the session is called, if that is known and news.
func (s *session) tellTitle() {
	first := "" // prompt of the session
	for _, e := range s.agent().Session().Entries() {
		if m := e.Message(); m != nil && m.Role == message.RoleUser {
			first = m.Text()
			break
		}
	}
	title := titleOf(s.agent().Session().Name(), first)
	if title == "" || !s.shown.isNews("title", title) {
		return
	}
	s.out.send(infoUpdate{"session_info_update", title, timeText(time.Now())})
}
