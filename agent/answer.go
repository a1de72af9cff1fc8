package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// answer is a finished assistant message.
type answer struct {
	message *message.Message
	entry   *session.Entry    // nil: it could not be added to the session
	broken  map[string]string // calls whose arguments never became JSON, by id
	paused  bool              // the model wants to go on with this very answer
}

// ask asks the model until there is an answer that no listener stopped; a request
// that did not fit is sent once more after a compaction, one that failed for a passing
// reason after a while (see retry.go). A message is added to the session whatever
// happened; an error, an interrupt or a stop is recorded as one.
func (r *run) ask(ctx context.Context) (answer, error) {
	for {
		t := &tries{asker: r.asker}
		s, err := r.askWithRetry(ctx, t)
		a, err := s.finish(ctx, err)
		t.emitEnd(ctx, err)
		switch {
		case err == nil:
			r.compacting.state.tried.Store(false)
			return a, nil
		case ctx.Err() != nil:
			return a, err
		case s.abort != nil:
			err = r.noteAbort(ctx, s.abort)
		default:
			err = r.compacting.recover(ctx, err, a)
		}
		if err != nil {
			return a, err
		}
	}
}

// askWithRetry asks the model until it answers or no further attempt is made, and returns
// the last attempt. Each attempt sends the same context, unless model, tools or session
// changed during the wait before it: then the context is made anew.
func (r *run) askWithRetry(ctx context.Context, t *tries) (*stream, error) {
	var s *stream
	seen := r.compacting.contextForRequest(ctx, r.resumes)
	t.watch = func() func() error {
		was := r.basis()
		return func() error {
			if r.basis() == was {
				return nil
			}
			err := r.noteSaved(r.record())
			if err == nil {
				seen = r.compacting.contextForRequest(ctx, r.resumes)
			}
			return err
		}
	}
	t.failed = func(err error) *message.Message { return s.failed(err) }
	err := t.repeat(ctx, func() (*llm.Model, *llm.Assembly, error) {
		s = &stream{run: r, events: r.events, model: r.choice.model(), thinking: r.choice.thinking(), seen: seen, fresh: t.lost}
		s.partial, s.stop = s.message, s.stopLate
		return s.model, &s.assembly, s.ask(ctx)
	})
	return s, err
}

// basis is what a request is made from.
type basis struct {
	session  *session.Session
	leaf     string
	model    *llm.Model
	thinking string
}

// basis returns all that decides what the next request is made of. If it is equal later,
// the request need not be made anew.
func (r *run) basis() basis {
	s, is := r.conversation.current(), r.choice.chosen()
	return basis{s, s.Leaf(), is.model, is.level()}
}

// maxAborts is how often listeners may stop an answer in one prompt.
const maxAborts = 3

// noteAbort handles an answer that a listener stopped: it adds the text that the listener
// wants the model to read, if any, to the session. The error is a *[LimitError] if
// listeners stopped too many answers of this prompt.
func (r *run) noteAbort(ctx context.Context, abort *Abort) error {
	if r.aborts++; r.aborts > maxAborts {
		return &LimitError{"aborts", fmt.Sprintf("%s; hooks may stop %d answers per prompt", stopText(abort), maxAborts)}
	}
	if abort.Inject == "" {
		return nil
	}
	details, err := rawjson.Encode(map[string]string{"hook": abort.By, "reason": abort.Reason})
	if err != nil {
		return fmt.Errorf("note the stopped answer: %w", err)
	}
	_, err = r.appendCustom(ctx, &message.Message{Role: message.RoleCustom, CustomType: AbortType, Details: details,
		Content: []message.Block{message.TextBlock(abort.Inject)}})
	return err
}

// AbortType is the custom type of the message that tells the model why its
// answer was stopped. It is not shown; its details name hook and reason.
const AbortType = "pi.abort"

// stopText says who stopped an answer, and why.
func stopText(abort *Abort) string {
	text := "stopped by " + hookName(abort.By)
	if abort.Reason != "" {
		text += ": " + abort.Reason
	}
	return text
}

// stream is one answer on its way in.
type stream struct {
	run      *run
	events   *listeners
	model    *llm.Model
	seen     chained      // by the model
	asked    *llm.Request // nil: nothing yet
	fresh    bool         // not over the connection of the attempt before
	assembly llm.Assembly
	started  bool
	began    int64  // when it started, in milliseconds since the epoch
	thinking string // the level that the request asks for
	partial  func() *message.Message
	stop     func(*Abort)
	abort    *Abort                  // a listener stopped it
	late     atomic.Pointer[Abort]   // likewise, from another goroutine
	end      context.CancelCauseFunc // of the request
}

// stopLate stops the answer at any time and from any goroutine by ending its request. Only
// the first call has an effect.
func (s *stream) stopLate(abort *Abort) {
	if s.late.CompareAndSwap(nil, abort) {
		s.end(errStopped)
	}
}

// ask sends the request and adds up the answer. Listeners get each delta at once and
// may stop the answer; those that look at deltas behind the stream get a last update
// when it is over, whatever its end (see [MessageUpdate]). The errors are those of
// [asker.send], or errStopped.
func (s *stream) ask(ctx context.Context) error {
	streaming, end := context.WithCancelCause(ctx)
	defer end(nil)
	s.end = end
	ctx = context.WithValue(ctx, answerKey{}, s)
	build := func() *llm.Request {
		s.asked = s.request()
		s.run.shortfall.noteImages(ctx, s.run.conversation.current(), s.asked)
		return s.asked
	}
	err := s.run.asker.send(streaming, s.model, "", build, func(d llm.Delta) error { return s.add(ctx, d) })
	switch {
	case s.stopped():
		return errStopped
	case s.started && ctx.Err() == nil && s.update(ctx, llm.Delta{Kind: llm.DeltaStop, Stop: s.assembly.Stop()}):
		return errStopped
	}
	return err
}

// request builds the next model call from the session, the active tools and what the
// listeners made of them, and notes it as the request that was sent last.
func (s *stream) request() *llm.Request {
	tools, by := s.run.tools.toolsAndChooser()
	specs := specsOf(tools)
	current := s.run.conversation.current()
	system := s.run.prompts.inMode(s.run.system)
	is := s.run.choice.chosen()
	s.thinking = is.level()
	id := current.ID()
	if begin := s.run.begin; begin != nil {
		tools, by, specs, id = begin.tools, begin.by, begin.asked.Tools, begin.asked.SessionID
	}
	r := &llm.Request{
		Model: s.model, System: system.text, Messages: s.run.conversation.view.forModel(s.seen.items), Tools: specs,
		Thinking: s.thinking, Off: llm.AsksOff(s.model, is.wish), MaxTokens: s.model.MaxTokens, SessionID: id, Fresh: s.fresh,
	}
	s.run.sent.noteRequest(&sentRequest{session: current, system: system, chain: s.seen, asked: r, wish: is.wish, tools: tools, by: by})
	return r
}

// add adds a delta to the answer and emits it, if it is one that is shown. It returns
// errStopped once a listener has stopped the answer.
func (s *stream) add(ctx context.Context, d llm.Delta) error {
	if s.stopped() {
		return errStopped
	}
	if d.Kind == llm.DeltaPing {
		return nil
	}
	s.assembly.Add(d)
	s.start(ctx, nil)
	if d.Kind != llm.DeltaText && d.Kind != llm.DeltaThinking && d.Kind != llm.DeltaToolCall { // nothing to show
		return nil
	}
	d.Index = s.assembly.Position(d) // providers count in ways of their own
	d.Usage = s.assembly.Usage()
	if s.update(ctx, d) {
		return errStopped
	}
	return nil
}

// answerKey makes the context of each answer's updates another one.
type answerKey struct{}

// errStopped ends an answer that a listener wants no more of.
var errStopped = errors.New("stopped by a listener")

// update emits a delta and reports whether a listener has stopped the answer.
func (s *stream) update(ctx context.Context, d llm.Delta) (stop bool) {
	if !s.events.wants(KindMessageUpdate) {
		return false
	}
	e := &MessageUpdate{Delta: d, partial: s.partial, stop: s.stop}
	s.events.emit(ctx, e)
	s.abort = e.Abort
	return s.stopped()
}

// stopped reports whether a listener has stopped the answer, while it handled a delta or
// later from another goroutine.
func (s *stream) stopped() bool {
	if s.abort == nil {
		s.abort = s.late.Load()
	}
	return s.abort != nil
}

// start emits the start of the message, once. whole is the message if nothing more will
// come of it, else nil.
func (s *stream) start(ctx context.Context, whole *message.Message) {
	if s.started {
		return
	}
	s.started, s.began = true, s.run.now().UnixMilli()
	s.events.emitIf(ctx, KindMessageStart, func() Event {
		if whole == nil {
			return &MessageStart{Message: s.message()}
		}
		return &MessageStart{Message: whole}
	})
}

// message is the answer as far as it has come. Its time is that of its start.
func (s *stream) message() *message.Message {
	m := s.run.asker.assembled(s.model, &s.assembly)
	m.ThinkingLevel = s.thinking
	if s.asked != nil {
		m.ThinkingLevel = s.run.asker.unasked.LevelOf(s.asked)
	}
	if s.started {
		m.Timestamp = s.began
	}
	return m
}

// finish adds the answer to the session, also a failed or interrupted one, which loses its
// tool calls, and returns it. The error is failure, as it is recorded, or that of adding
// the answer.
func (s *stream) finish(ctx context.Context, failure error) (answer, error) {
	switch {
	case ctx.Err() != nil:
		failure, s.abort = ErrAborted, nil
	case s.abort != nil:
		failure = errStopped
	}
	var limit *LimitError
	if errors.As(failure, &limit) && limit.Limit == limitOfAnswer {
		s.assembly.Shorten(keptOfLong)
	}
	m := s.message()
	_, broken := s.assembly.Content()
	stop := s.assembly.Stop().Reason
	switch {
	case errors.Is(failure, ErrAborted):
		m.StopReason, m.ErrorMessage = message.StopAborted, failure.Error()
	case failure == errStopped:
		m.StopReason, m.ErrorMessage = message.StopAborted, stopText(s.abort)
	case failure != nil:
		m.StopReason, m.ErrorMessage = message.StopError, failure.Error()
	case stop == llm.StopPause:
		m.StopReason = message.StopEnd
	default:
		m.StopReason = stop
	}
	if failure != nil {
		m.Content = withoutCalls(m.Content)
	}
	m = s.askEnd(ctx, m)
	s.run.usage.Add(m.Usage)
	entry, err := s.run.append(m)
	if failure == nil {
		if entry != nil {
			s.run.sent.noteAnswer(entry.ID)
		}
		s.run.shortfall.noteCut(ctx, s.run.conversation.current(), s.asked, s.assembly.Usage())
	}
	return answer{m, entry, broken, stop == llm.StopPause && len(m.Content) > 0}, cmp.Or(err, failure)
}

// withoutCalls returns the content of an answer that failed: its calls will never run.
func withoutCalls(content []message.Block) []message.Block {
	return slices.DeleteFunc(content, func(b message.Block) bool { return b.Type == message.BlockToolCall })
}

// failed is what came of an attempt that is made again because of err.
func (s *stream) failed(err error) *message.Message {
	m := s.message()
	m.Content, m.StopReason, m.ErrorMessage = withoutCalls(m.Content), message.StopError, err.Error()
	return m
}

// askEnd emits the end of the message and returns the message that listeners put in its
// place. A replacement of another role is ignored, and one without usage or level of
// thinking gets that of m.
func (s *stream) askEnd(ctx context.Context, m *message.Message) *message.Message {
	s.start(ctx, m)
	if !s.events.wants(KindMessageEnd) {
		return m
	}
	e := &MessageEnd{Message: m, Abort: s.abort}
	s.events.emit(uncancelled(ctx), e)
	switch {
	case e.Message == nil || e.Message.Role != m.Role:
		return m
	case e.Message.Usage == nil || e.Message.ThinkingLevel == "":
		replaced := e.Message.Clone()
		replaced.Usage, replaced.ThinkingLevel = cmp.Or(e.Message.Usage, m.Usage), m.ThinkingLevel
		return replaced
	}
	return e.Message
}
