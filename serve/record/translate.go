package record

import (
	"pi/agent"
	"pi/session"
	"pi/session/message"
)

// Translator makes records of events. It is for one goroutine at a time.
type Translator struct {
	out  func(record []byte)
	line line // its memory is used for one record after the other

	run      run
	answer   *answer            // that streams; nil: none
	ended    *message.Message   // an answer at its end that may yet be stored as another one; nil: none
	calls    map[string]*call   // of tools, that run
	retry    retry              // of calls of the conversation
	summary  summary            // that is being written
	overflow overflow           // what did not fit
	usage    usageText          // of the answer that streams
	waiting  []*message.Message // that stand behind the next turn_start
}

// NewTranslator returns a Translator that hands each record to out: valid JSON on one line,
// without its end, which belongs to the Translator again when out returns.
func NewTranslator(out func(record []byte)) *Translator {
	return &Translator{out: out, calls: map[string]*call{}}
}

// Wants reports whether Handle makes something of events of kind k.
func (t *Translator) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindAgentStart, agent.KindAgentEnd, agent.KindAgentSettled, agent.KindTurnStart, agent.KindTurnEnd,
		agent.KindMessageStart, agent.KindMessageUpdate, agent.KindMessageEnd,
		agent.KindToolExecutionStart, agent.KindToolExecutionUpdate, agent.KindToolExecutionEnd,
		agent.KindEntryAppended, agent.KindQueueChanged, agent.KindSessionInfoChanged, agent.KindThinkingLevelSelect, agent.KindHookError,
		agent.KindCompactionStart, agent.KindCompactionEnd, agent.KindSessionBeforeTree, agent.KindSessionTree,
		agent.KindAutoRetryStart, agent.KindAutoRetryWaited, agent.KindAutoRetryEnd:
		return true
	}
	return false
}

// Handle writes the records that e leads to.
func (t *Translator) Handle(e agent.Event) {
	if update, ok := e.(*agent.MessageUpdate); ok { // by far the most
		t.update(update)
		return
	}
	t.endAnswer(e)
	switch e := e.(type) {
	case *agent.AgentStart:
		t.summary = summary{} // of a move in the tree that came to nothing no event tells
		t.startRun()
	case *agent.TurnStart:
		t.startTurn()
	case *agent.TurnEnd:
		t.endTurn(e)
	case *agent.AgentEnd:
		t.endRun()
	case *agent.AgentSettled:
		t.write(t.begin("agent_settled").flag("aborted", e.Aborted))
		t.overflow = overflow{}
	case *agent.MessageStart:
		t.startAnswer(e.Message)
	case *agent.MessageEnd:
		t.noteEnd(e)
	case *agent.ToolExecutionStart:
		t.startCall(e)
	case *agent.ToolExecutionUpdate:
		t.updateCall(e)
	case *agent.ToolExecutionEnd:
		t.endCall(e)
	case *agent.EntryAppended:
		t.appended(e)
	default:
		t.handleOther(e)
	}
}

// handleOther writes the records of events that are no part of a turn.
func (t *Translator) handleOther(e agent.Event) {
	switch e := e.(type) {
	case *agent.QueueChanged:
		t.writeOutside(QueueUpdate(e.Steering, e.FollowUp))
	case *agent.SessionInfoChanged:
		t.writeOutside(t.begin("session_info_changed").optional("name", e.Name).end())
	case *agent.ThinkingLevelSelect:
		t.writeOutside(t.begin("thinking_level_changed").text("level", level(e.Level)).end())
	case *agent.HookFailed:
		t.writeOutside(ExtensionError(e))
	case *agent.CompactionStart:
		if !e.Auto {
			t.startCompaction(e)
		}
	case *agent.CompactionEnd:
		if !e.Auto {
			t.endCompaction(e)
		}
	case *agent.SessionBeforeTree:
		t.summary.beginBranch(e)
	case *agent.SessionTree:
		t.summary = summary{}
	case *agent.AutoRetryStart:
		t.retryStarts(e)
	case *agent.AutoRetryWaited:
		t.retryWaited(e)
	case *agent.AutoRetryEnd:
		t.retryEnds(e)
	}
}

// level returns a thinking level as the wire has it.
func level(l string) string {
	if l == "" {
		return "off"
	}
	return l
}

// begin begins a record in the memory of the last one.
func (t *Translator) begin(kind string) line { return t.line.begin(kind) }

// write ends a record and hands it out.
func (t *Translator) write(l line) {
	t.line = l.end()
	t.out(t.line)
	if cap(t.line) > 1<<20 {
		t.line = nil // one large record is no reason to keep its memory
	}
}

// writeOutside hands out a record that is no part of a turn. Only one that comes with a
// compaction can stand in front of a turn_start that waits.
func (t *Translator) writeOutside(record []byte) {
	if t.summary.reason == "" && t.run.turn == turnWaits {
		record = append([]byte(nil), record...) // its memory is that of turn_start
		t.releaseTurn()
	}
	t.out(record)
}

// appended writes the record of an entry: a message, or one that hooks and recoveries make.
func (t *Translator) appended(e *agent.EntryAppended) {
	switch {
	case e.Message != nil && (e.Message.Role == message.RoleUser || e.Message.Role == message.RoleCustom):
		t.addMessage(e.Message)
	case e.Message != nil && e.Message.Role == message.RoleAssistant && t.run.said != nil:
		t.run.entry = e.Entry.ID
	case e.Message == nil && e.Entry != nil && isTold(e.Entry):
		if t.isRecovery(e.Entry) {
			t.failOverflow(nil)
		}
		t.writeOutside(append(t.begin("entry_appended").key("entry"), Entry(e.Entry)...).end())
	}
}

// isTold reports whether programs are told of an entry that is no message.
func isTold(e *session.Entry) bool {
	switch e.Type {
	case session.TypeCustom:
		body, err := session.Body[session.Custom](e)
		return err != nil || body.CustomType != session.LeafMove && body.CustomType != session.GitBranch
	case session.TypeContextEdit, session.TypeUsage:
		return true
	}
	return !session.Reserved(e.Type)
}
