package record

import (
	"pi/agent"
	"pi/session/message"
)

// run is the low-level run that the records are in, from agent_start to agent_end.
type run struct {
	phase phase
	turn  turn
	added []*message.Message // since agent_start
	said  *message.Message   // the answer of the turn, when it has ended
	entry string             // its id in the session; "": not stored
}

type phase uint8

const (
	phaseIdle  phase = iota // the agent does not work
	phaseOpen               // agent_start is written
	phaseSplit              // the agent works, but agent_end is written: another low-level run may follow
)

type turn uint8

const (
	turnNone  turn = iota
	turnWaits      // turn_start is not written yet
	turnOpen
)

// startRun begins a low-level run.
func (t *Translator) startRun() {
	t.run = run{phase: phaseOpen}
	t.write(t.begin("agent_start"))
}

// startTurn notes that a turn has begun. Its record waits.
func (t *Translator) startTurn() {
	if t.run.phase != phaseOpen {
		t.startRun()
	}
	t.run.turn = turnWaits
	if len(t.waiting) > 0 {
		t.releaseTurn()
	}
}

// releaseTurn writes the turn_start that waits, if one does, and the messages that stand
// behind it.
func (t *Translator) releaseTurn() {
	if t.run.turn != turnWaits {
		return
	}
	t.run.turn = turnOpen
	t.write(t.begin("turn_start"))
	t.writeWaiting()
}

// writeWaiting writes the messages that waited for a turn.
func (t *Translator) writeWaiting() {
	waiting := t.waiting
	t.waiting = nil
	for _, m := range waiting {
		t.writeMessage(m)
	}
}

// enterTurn makes sure that what is written next stands in a turn that has no answer yet.
func (t *Translator) enterTurn() {
	if t.run.said != nil {
		t.closeTurn(t.run.said, nil)
		t.run.turn = turnWaits
	}
	if t.run.phase == phaseSplit {
		t.startRun()
		t.run.turn = turnWaits
	}
	t.releaseTurn()
}

// addMessage writes a message of a user or a hook. In a run it stands in front of the
// answer of a turn, so that behind one it waits for the next turn.
func (t *Translator) addMessage(m *message.Message) {
	isBetween := t.run.turn == turnNone && t.run.phase == phaseOpen
	if isBetween || t.run.said != nil || t.answer != nil {
		t.waiting = append(t.waiting, m)
		return
	}
	t.releaseTurn()
	t.writeMessage(m)
}

// writeMessage writes a message that is complete when it begins.
func (t *Translator) writeMessage(m *message.Message) {
	raw := Message(m)
	t.write(t.begin("message_start").raw("message", raw))
	t.write(t.begin("message_end").raw("message", raw))
	t.run.added = append(t.run.added, m)
}

// endTurn writes the results of the calls and the end of a turn.
func (t *Translator) endTurn(e *agent.TurnEnd) {
	if t.run.phase != phaseOpen || t.run.turn == turnNone {
		return // it ended with its low-level run
	}
	said := t.run.said
	if said == nil {
		said = e.Message
	}
	t.releaseTurn()
	t.closeTurn(said, e.ToolResults)
}

// closeTurn ends a turn whose turn_start is written.
func (t *Translator) closeTurn(said *message.Message, results []*message.Message) {
	for _, m := range results {
		t.writeMessage(m)
	}
	if said == nil { // the turn failed before a model was asked
		said = &message.Message{Role: message.RoleAssistant, StopReason: message.StopError}
	}
	t.write(t.begin("turn_end").raw("message", Message(said)).raw("toolResults", Messages(results)))
	t.run.turn, t.run.said, t.run.entry = turnNone, nil, ""
}

// closeRun ends the low-level run, if there is one, and a turn that is open in it.
func (t *Translator) closeRun(willRetry bool) {
	if t.run.phase != phaseOpen {
		return
	}
	t.answer = nil
	if t.run.turn == turnOpen {
		t.closeTurn(t.run.said, nil)
	}
	if !willRetry {
		t.writeWaiting()
	}
	t.write(t.begin("agent_end").raw("messages", Messages(t.run.added)).flag("willRetry", willRetry))
	t.run = run{phase: phaseSplit}
}

// endRun ends the last low-level run, and writes what stands behind it.
func (t *Translator) endRun() {
	if len(t.waiting) > 0 && t.run.phase == phaseSplit {
		t.startRun()
	}
	failed := t.overflow.again(t.run.added)
	t.closeRun(false)
	t.run = run{}
	if failed != "" {
		t.out(CompactionEnd(&agent.CompactionEnd{Reason: agent.CompactOverflow, ErrorMessage: failed}))
	}
	if t.retry.late != nil {
		t.writeRetryEnd(t.retry.late.Success, t.retry.late.Attempt, t.retry.late.FinalError)
	}
	t.retry = retry{}
}
