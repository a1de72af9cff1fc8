package record

import (
	"pi/agent"
	"pi/session"
	"pi/session/message"
)

// What is done again ends one low-level run and begins another: an attempt that failed, and a
// request that did not fit and is made after a compaction.

// summary is what a model writes outside of the conversation.
type summary struct {
	source string // compaction branchSummary; "": nothing
	reason string // of a compaction
	again  bool   // its call is made again
}

// startRetry ends the low-level run of an attempt that failed. Of a call for a summary it says
// that this is made again; nothing is told of calls that hooks make.
func (t *Translator) startRetry(e *agent.AutoRetryStart) {
	kind := "auto_retry_start"
	switch {
	case e.Aside && t.summary.source == "":
		return
	case e.Aside:
		t.summary.again = true
		kind = "summarization_retry_scheduled"
	default:
		failed := e.Failed
		if failed == nil {
			failed = &message.Message{Role: message.RoleAssistant, StopReason: message.StopError, ErrorMessage: e.ErrorMessage}
		}
		t.failAnswer(failed)
		t.closeRun(true)
		t.attempt = e.Attempt
	}
	l := begin(kind).number("attempt", e.Attempt).number("maxAttempts", e.MaxAttempts).number("delayMs", e.DelayMS)
	t.write(l.text("errorMessage", e.ErrorMessage))
}

// endWait tells that a wait was interrupted, or that the call for a summary is made again now.
func (t *Translator) endWait(e *agent.AutoRetryWaited) {
	switch {
	case !e.Aside && e.Cancelled:
		t.writeRetryEnd(&agent.AutoRetryEnd{Attempt: t.attempt, FinalError: "Retry cancelled"})
		t.attempt = 0
	case e.Aside && !e.Cancelled && t.summary.again:
		t.write(begin("summarization_retry_attempt_start").text("source", t.summary.source).optional("reason", t.summary.reason))
	}
}

// endRetry writes how a call ended that was made again, unless that is told already. A failure
// stands behind the low-level run that it ends. For a branch one call is made; a compaction may
// make several.
func (t *Translator) endRetry(e *agent.AutoRetryEnd) {
	switch {
	case e.Aside && t.summary.source == "branchSummary":
		t.endSummaryRetry()
	case e.Aside || t.attempt == 0:
	case e.Success:
		t.writeRetryEnd(e)
	default:
		t.retryEnd = e
	}
	if !e.Aside {
		t.attempt = 0
	}
}

// writeRetryEnd writes how a call ended that was made again.
func (t *Translator) writeRetryEnd(e *agent.AutoRetryEnd) {
	t.write(begin("auto_retry_end").flag("success", e.Success).number("attempt", e.Attempt).optional("finalError", e.FinalError))
}

// endSummaryRetry writes once that no call for the summary is made again any more.
func (t *Translator) endSummaryRetry() {
	if t.summary.again {
		t.summary.again = false
		t.write(begin("summarization_retry_finished"))
	}
}

// beginBranch notes that a branch is left that is to be summed up.
func (t *Translator) beginBranch(e *agent.SessionBeforeTree) {
	t.summary = summary{}
	if e.Preparation.UserWantsSummary && !e.Cancel && e.Summary == nil {
		t.summary.source = "branchSummary"
	}
}

// isRecovery reports whether e takes the failed answer of the turn out of the context, which
// is how the agent begins to make room for a request that did not fit. That belongs behind
// the low-level run of the request.
func (t *Translator) isRecovery(e *session.Entry) bool {
	if e.Type != session.TypeContextEdit || t.saidEntry == "" || !isFailed(t.said) {
		return false
	}
	edit, err := session.Body[session.ContextEdit](e)
	return err == nil && edit.Replacement == nil && edit.TargetID == t.saidEntry
}

// failOverflow ends the low-level run of a request that did not fit. failed is its answer,
// if that was not written before.
func (t *Translator) failOverflow(failed *message.Message) {
	if t.said == nil && failed != nil {
		t.failAnswer(failed)
	}
	t.closeRun(false)
	t.recovered = false
}

// startCompaction writes that a compaction begins. One for a request that did not fit comes
// behind the low-level run of that, which is still open if its answer was not stored. One that
// nobody asked for is told twice; the second time does not count.
func (t *Translator) startCompaction(e *agent.CompactionStart) {
	if e.Auto {
		return
	}
	if e.Reason == agent.CompactOverflow && t.inRun {
		t.failOverflow(e.Failed)
	}
	t.summary = summary{source: "compaction", reason: e.Reason}
	t.write(begin("compaction_start").text("reason", e.Reason))
}

// NoCompaction writes the records of a compaction that failed before it began, of which no event
// tells. Whatever else goes on meanwhile is not touched by it.
func (t *Translator) NoCompaction(e *agent.CompactionEnd) {
	t.out(begin("compaction_start").text("reason", e.Reason).end())
	t.out(compactionEnd(e).end())
}

// endCompaction writes how a compaction ended. If the request that did not fit is sent
// again, another low-level run begins.
func (t *Translator) endCompaction(e *agent.CompactionEnd) {
	if e.Auto {
		return
	}
	t.endSummaryRetry()
	t.write(compactionEnd(e))
	t.summary = summary{}
	if e.Reason == agent.CompactOverflow && e.WillRetry && !t.inRun {
		t.recovered = true
		t.startRun()
		t.turnWaits = true
	}
}
