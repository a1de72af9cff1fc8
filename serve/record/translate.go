package record

import (
	"cmp"
	"encoding/json"
	"strings"

	"pi/agent"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// Translator makes records of events. It is for one goroutine at a time.
type Translator struct {
	out func(record []byte)

	inRun     bool               // agent_start is written, and agent_end is not
	inTurn    bool               // the same of turn_start
	turnWaits bool               // a turn has begun whose turn_start is not written yet, see write
	waiting   []*message.Message // that stand behind the next turn_start
	added     []*message.Message // since agent_start
	said      *message.Message   // the answer of the turn, when it has ended
	saidEntry string             // its id in the session; "": not stored
	answer    *answer            // that streams; nil: none
	calls     map[string]string  // of tools, that run: their parents, by their ids

	attempt   int                 // of the call in the conversation that is made again; 0: none is
	retryEnd  *agent.AutoRetryEnd // that is written behind agent_end
	recovered bool                // a request that did not fit is made again, after a compaction
	summary   summary             // that is being written
}

// NewTranslator returns a Translator that hands each record to out: valid JSON on one line,
// without its end.
func NewTranslator(out func(record []byte)) *Translator {
	return &Translator{out: out, calls: map[string]string{}}
}

// Wants reports whether Handle makes something of events of kind k.
func (t *Translator) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindAgentStart, agent.KindAgentEnd, agent.KindAgentSettled, agent.KindTurnStart, agent.KindTurnEnd,
		agent.KindMessageStart, agent.KindMessageUpdate, agent.KindMessageEnd, agent.KindEntryAppended,
		agent.KindToolExecutionStart, agent.KindToolExecutionUpdate, agent.KindToolExecutionEnd,
		agent.KindQueueChanged, agent.KindSessionInfoChanged, agent.KindThinkingLevelSelect, agent.KindHookError,
		agent.KindCompactionStart, agent.KindCompactionEnd, agent.KindSessionBeforeTree, agent.KindSessionTree,
		agent.KindAutoRetryStart, agent.KindAutoRetryWaited, agent.KindAutoRetryEnd,
		agent.KindChildStart, agent.KindChildEnd:
		return true
	}
	return false
}

// Handle writes the records that e leads to.
func (t *Translator) Handle(e agent.Event) {
	switch e := e.(type) {
	case *agent.AgentStart:
		t.summary = summary{} // of a move in the tree that came to nothing no event tells
		t.startRun()
	case *agent.TurnStart:
		t.startTurn()
	case *agent.MessageStart:
		t.startAnswer(e.Message)
	case *agent.MessageUpdate:
		t.update(e)
	case *agent.MessageEnd:
		t.beginLate(e.Message)
	case *agent.EntryAppended:
		t.appended(e)
	case *agent.ToolExecutionStart:
		t.startCall(e)
	case *agent.ToolExecutionUpdate:
		t.updateCall(e)
	case *agent.ToolExecutionEnd:
		t.endCall(e)
	case *agent.TurnEnd:
		t.endTurn(e)
	case *agent.AgentEnd:
		t.endRun(e)
	case *agent.AgentSettled:
		t.write(begin("agent_settled").flag("aborted", e.Aborted))
	case *agent.QueueChanged:
		t.write(begin("queue_update").texts("steering", e.Steering).texts("followUp", e.FollowUp))
	case *agent.SessionInfoChanged:
		t.write(begin("session_info_changed").optional("name", e.Name))
	case *agent.ThinkingLevelSelect:
		t.write(begin("thinking_level_changed").text("level", cmp.Or(e.Level, "off")))
	case *agent.HookFailed:
		t.write(extensionError(e))
	case *agent.SessionBeforeTree:
		t.beginBranch(e)
	case *agent.SessionTree:
		t.summary = summary{}
	case *agent.CompactionStart:
		t.startCompaction(e)
	case *agent.CompactionEnd:
		t.endCompaction(e)
	case *agent.AutoRetryStart:
		t.startRetry(e)
	case *agent.AutoRetryWaited:
		t.endWait(e)
	case *agent.AutoRetryEnd:
		t.endRetry(e)
	case *agent.ChildStart:
		t.write(begin("child_start").text("name", e.Name).number("depth", e.Depth).text("prompt", e.Prompt).optional("toolCallId", e.Call))
	case *agent.ChildEnd:
		l := begin("child_end").text("name", e.Name).text("stopReason", e.StopReason).raw("usage", encodeUsage(&e.Usage)).text("text", e.Text)
		t.write(l.optional("errorMessage", e.Error).optional("toolCallId", e.Call))
	}
}

// write hands a record out. A turn_start that waits stands in front of it, unless it is one
// of a compaction: that stands between the turns.
func (t *Translator) write(l line) {
	if t.summary.reason == "" {
		t.openTurn()
	}
	t.out(l.end())
}

// openTurn writes the turn_start that waits, if one does, and the messages that stand behind
// it.
func (t *Translator) openTurn() {
	if !t.turnWaits {
		return
	}
	t.turnWaits, t.inTurn = false, true
	t.write(begin("turn_start"))
	t.writeWaiting()
}

// startRun begins a low-level run.
func (t *Translator) startRun() {
	t.inRun, t.inTurn, t.turnWaits = true, false, false
	t.added, t.said = nil, nil
	t.write(begin("agent_start"))
}

// startTurn notes that a turn has begun. Its record waits, unless messages have waited for it.
func (t *Translator) startTurn() {
	if !t.inRun {
		t.startRun()
	}
	t.turnWaits = true
	if len(t.waiting) > 0 {
		t.openTurn()
	}
}

// appended writes the record of an entry: a message, or one that hooks and recoveries make.
func (t *Translator) appended(e *agent.EntryAppended) {
	switch m := e.Message; {
	case m == nil && isTold(e.Entry):
		if t.isRecovery(e.Entry) {
			t.failOverflow(nil)
		}
		t.write(begin("entry_appended").raw("entry", Entry(e.Entry)))
	case m == nil:
	case m.Role == message.RoleUser, m.Role == message.RoleCustom:
		t.addMessage(m)
	case m.Role == message.RoleAssistant && t.answer != nil:
		t.finishAnswer(m)
		t.saidEntry = e.Entry.ID
	}
}

// isTold reports whether programs are told of an entry that is no message.
func isTold(e *session.Entry) bool {
	switch {
	case e == nil:
		return false
	case e.Type == session.TypeContextEdit, e.Type == session.TypeUsage:
		return true
	case e.Type == session.TypeCustom:
		body, err := session.Body[session.Custom](e)
		return err != nil || body.CustomType != session.LeafMove && body.CustomType != session.GitBranch
	}
	return !session.Reserved(e.Type)
}

// addMessage writes a message of a user or a hook. In a run it stands in front of the answer
// of a turn, so that behind one it waits for the next turn.
func (t *Translator) addMessage(m *message.Message) {
	hasPlace := t.inTurn && t.said == nil && t.answer == nil || t.turnWaits && t.summary.reason == ""
	if t.inRun && !hasPlace {
		t.waiting = append(t.waiting, m)
		return
	}
	t.writeMessage(m)
}

// writeWaiting writes the messages that waited for a turn.
func (t *Translator) writeWaiting() {
	waiting := t.waiting
	t.waiting = nil
	for _, m := range waiting {
		t.writeMessage(m)
	}
}

// writeMessage writes a message that is complete when it begins.
func (t *Translator) writeMessage(m *message.Message) {
	raw := Message(m)
	t.write(begin("message_start").raw("message", raw))
	t.write(begin("message_end").raw("message", raw))
	t.added = append(t.added, m)
}

// endTurn writes the results of the calls and the end of a turn. One that ended with its
// low-level run has none.
func (t *Translator) endTurn(e *agent.TurnEnd) {
	if !t.inTurn && !t.turnWaits {
		return
	}
	t.openTurn()
	if t.answer != nil && e.Message != nil { // it could not be stored
		t.finishAnswer(e.Message)
	}
	t.closeTurn(cmp.Or(t.said, e.Message), e.ToolResults)
}

// closeTurn ends a turn whose turn_start is written. said is nil if it failed before a model
// was asked.
func (t *Translator) closeTurn(said *message.Message, results []*message.Message) {
	for _, m := range results {
		t.writeMessage(m)
	}
	if said == nil {
		said = &message.Message{Role: message.RoleAssistant, StopReason: message.StopError}
	}
	t.write(begin("turn_end").raw("message", Message(said)).raw("toolResults", Messages(results)))
	t.inTurn, t.answer, t.said, t.saidEntry = false, nil, nil, ""
}

// closeRun ends the low-level run, if there is one, and a turn that is open in it.
func (t *Translator) closeRun(willRetry bool) {
	if !t.inRun {
		return
	}
	t.turnWaits = false
	if t.inTurn {
		t.closeTurn(t.said, nil)
	}
	if !willRetry {
		t.writeWaiting()
	}
	t.write(begin("agent_end").raw("messages", Messages(t.added)).flag("willRetry", willRetry))
	t.inRun = false
}

// endRun ends the last low-level run, and writes what stands behind it. A request that did
// not fit after a compaction has the end of a second one that does not begin.
func (t *Translator) endRun(e *agent.AgentEnd) {
	if len(t.waiting) > 0 && !t.inRun {
		t.startRun()
	}
	said := len(t.added) - 1 // the answer that did not fit, if any did not
	t.closeRun(false)
	if t.recovered && e.Overflow && said >= 0 {
		t.write(compactionEnd(&agent.CompactionEnd{Reason: agent.CompactOverflow, ErrorMessage: t.added[said].ErrorMessage}))
	}
	if t.retryEnd != nil {
		t.writeRetryEnd(t.retryEnd)
	}
	t.recovered, t.attempt, t.retryEnd = false, 0, nil
}

// startCall writes the start of a call, be it of the model or of a hook. Where another call
// made it, its id begins with that of its parent.
func (t *Translator) startCall(e *agent.ToolExecutionStart) {
	parent := ""
	if i := strings.LastIndexByte(e.ID, '/'); i > 0 {
		if _, runs := t.calls[e.ID[:i]]; runs {
			parent = e.ID[:i]
		}
	}
	t.calls[e.ID] = parent
	l := aboutCall("tool_execution_start", e.ID, e.Name).raw("args", arguments(e.Input))
	t.write(l.optional("parentToolCallId", parent))
}

// updateCall writes the progress of a call, unless that has ended.
func (t *Translator) updateCall(e *agent.ToolExecutionUpdate) {
	parent, runs := t.calls[e.ID]
	if !runs {
		return
	}
	l := aboutCall("tool_execution_update", e.ID, e.Name).raw("args", arguments(e.Input)).raw("partialResult", result(e.Partial))
	t.write(l.optional("parentToolCallId", parent))
}

// endCall writes the result of a call.
func (t *Translator) endCall(e *agent.ToolExecutionEnd) {
	l := aboutCall("tool_execution_end", e.ID, e.Name).raw("result", result(e.Result)).flag("isError", e.Result.IsError)
	t.write(l.number("durationMs", int(e.Took.Milliseconds())).optional("parentToolCallId", t.calls[e.ID]))
	delete(t.calls, e.ID)
}

// aboutCall begins a record about a call.
func aboutCall(kind, id, name string) line {
	return begin(kind).text("toolCallId", id).text("toolName", name)
}

// arguments are those of a call, as the model sent them.
func arguments(sent json.RawMessage) []byte {
	if len(sent) == 0 {
		return []byte("{}")
	}
	return clean(rawjson.OrNull(sent))
}
