package record

import (
	"pi/agent"
	"pi/session/message"
)

// retry is a call of the model in the conversation that failed and is made again.
type retry struct {
	attempt   int
	waits     bool                // for the next attempt; nothing of that has come
	cancelled bool                // the wait was interrupted
	told      bool                // auto_retry_end is written
	late      *agent.AutoRetryEnd // that is written behind agent_end
}

// retryStarts ends the low-level run of an attempt that failed. Of a call for a summary it
// says that this is made again.
func (t *Translator) retryStarts(e *agent.AutoRetryStart) {
	if e.Aside {
		t.summaryRetryStarts(e)
		return
	}
	m := t.failedAttempt(e)
	if t.answer == nil {
		t.retry.waits = false // this is the end of the attempt that was waited for
		t.startAnswer(m)
	}
	t.finishAnswer(m)
	t.closeRun(true)
	t.write(t.retryRecord("auto_retry_start", e))
	t.retry = retry{attempt: e.Attempt, waits: true}
}

// failedAttempt returns what came of an attempt.
func (t *Translator) failedAttempt(e *agent.AutoRetryStart) *message.Message {
	if e.Failed != nil {
		return e.Failed
	}
	return &message.Message{Role: message.RoleAssistant, StopReason: message.StopError, ErrorMessage: e.ErrorMessage}
}

// retryRecord begins a record about a call that is made again.
func (t *Translator) retryRecord(kind string, e *agent.AutoRetryStart) line {
	l := t.begin(kind).number("attempt", int64(e.Attempt)).number("maxAttempts", int64(e.MaxAttempts))
	return l.number("delayMs", int64(e.DelayMS)).text("errorMessage", e.ErrorMessage)
}

// retryWaited notes the end of a wait.
func (t *Translator) retryWaited(e *agent.AutoRetryWaited) {
	switch {
	case !e.Aside:
		t.retry.cancelled = e.Cancelled
	case !e.Cancelled:
		t.summaryRetryBegins()
	}
}

// cancelRetry tells that a wait was interrupted, before the answer of that is written.
func (t *Translator) cancelRetry() {
	if t.retry.waits && t.retry.cancelled {
		t.writeRetryEnd(false, t.retry.attempt, "Retry cancelled")
		t.retry.told = true
	}
	t.retry.waits = false
}

// retryEnds writes how a call ended that was made again. A failure stands behind the
// low-level run that it ends.
func (t *Translator) retryEnds(e *agent.AutoRetryEnd) {
	switch {
	case e.Aside:
		t.summaryRetryEnds()
		return
	case t.retry.waits:
		t.cancelRetry()
	}
	switch {
	case t.retry.told:
		t.retry = retry{}
	case e.Success || t.run.phase != phaseOpen:
		t.writeRetryEnd(e.Success, e.Attempt, e.FinalError)
		t.retry = retry{}
	default:
		t.retry.late = e
	}
}

// writeRetryEnd writes how a call ended that was made again.
func (t *Translator) writeRetryEnd(success bool, attempt int, finalError string) {
	t.write(t.begin("auto_retry_end").flag("success", success).number("attempt", int64(attempt)).optional("finalError", finalError))
}
