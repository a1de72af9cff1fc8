package record

import (
	"strings"

	"pi/agent"
	"pi/session"
	"pi/session/message"
)

// summary is what a model writes outside of the conversation.
type summary struct {
	source string // compaction branchSummary; "": nothing
	reason string // of a compaction
	again  bool   // its call is made again
}

// overflow is a request that did not fit and was sent again after a compaction.
type overflow struct {
	text      string // what the provider said; "": none
	recovered bool   // the compaction was made
}

// isRecovery reports whether e takes the failed answer of the turn out of the context, which
// is how the agent begins to make room for a request that did not fit. That belongs behind
// the low-level run of the request.
func (t *Translator) isRecovery(e *session.Entry) bool {
	if e.Type != session.TypeContextEdit || t.run.entry == "" || !isFailed(t.run.said) {
		return false
	}
	edit, err := session.Body[session.ContextEdit](e)
	return err == nil && edit.Replacement == nil && edit.TargetID == t.run.entry
}

// startCompaction writes that a compaction begins. One for a request that did not fit comes
// behind the low-level run of that, which is still open if its answer was not stored.
func (t *Translator) startCompaction(e *agent.CompactionStart) {
	if e.Reason == agent.CompactOverflow && t.run.phase == phaseOpen {
		t.failOverflow(e.Failed)
	}
	t.summary = summary{source: "compaction", reason: e.Reason}
	t.out(CompactionStart(e.Reason))
}

// failOverflow ends the low-level run of a request that did not fit. failed is its answer,
// if that was not written before.
func (t *Translator) failOverflow(failed *message.Message) {
	if t.run.said == nil && failed != nil {
		if t.answer == nil {
			t.startAnswer(failed)
		}
		t.finishAnswer(failed)
	}
	if said := t.run.said; said != nil {
		t.overflow.text = said.ErrorMessage
	}
	t.closeRun(false)
}

// endCompaction writes how a compaction ended. If the request that did not fit is sent
// again, another low-level run begins.
func (t *Translator) endCompaction(e *agent.CompactionEnd) {
	t.summaryRetryEnd()
	t.summary = summary{}
	t.out(CompactionEnd(e))
	if e.Reason == agent.CompactOverflow && e.WillRetry && t.run.phase == phaseSplit {
		t.overflow.recovered = true
		t.startRun()
		t.run.turn = turnWaits
	}
}

// again returns the error of a low-level run that ended as the one did that a compaction
// was made for; "" if it ended in another way.
func (o overflow) again(added []*message.Message) string {
	if !o.recovered || len(added) == 0 {
		return ""
	}
	last := added[len(added)-1]
	if last.StopReason != message.StopError || withoutDigits(last.ErrorMessage) != withoutDigits(o.text) {
		return ""
	}
	return last.ErrorMessage
}

// withoutDigits removes numbers from what a provider said: those of tokens differ each
// time.
func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// beginBranch notes that a branch is left that is to be summed up.
func (s *summary) beginBranch(e *agent.SessionBeforeTree) {
	*s = summary{}
	if e.Preparation.UserWantsSummary && !e.Cancel && e.Summary == nil {
		s.source = "branchSummary"
	}
}

// summaryRetryStarts writes that the call for a summary is made again. Nothing is told of
// calls that hooks make.
func (t *Translator) summaryRetryStarts(e *agent.AutoRetryStart) {
	if t.summary.source != "" {
		t.summary.again = true
		t.write(t.retryRecord("summarization_retry_scheduled", e))
	}
}

// summaryRetryBegins writes that the call for a summary is made again now.
func (t *Translator) summaryRetryBegins() {
	if t.summary.again {
		t.write(t.begin("summarization_retry_attempt_start").text("source", t.summary.source).optional("reason", t.summary.reason))
	}
}

// summaryRetryEnds notes that a call has ended that was made again. A compaction may make
// several; a branch needs one.
func (t *Translator) summaryRetryEnds() {
	if t.summary.source == "branchSummary" {
		t.summaryRetryEnd()
	}
}

// summaryRetryEnd writes once that no call for the summary is made again any more.
func (t *Translator) summaryRetryEnd() {
	if t.summary.again {
		t.summary.again = false
		t.write(t.begin("summarization_retry_finished"))
	}
}
