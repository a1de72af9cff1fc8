package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"pi/session"
)

// answer is a finished assistant message.
type answer struct {
	message *session.Message
	broken  map[string]string // calls whose arguments never became JSON, by id
	paused  bool              // the model wants to go on with this very answer
}

// answer asks the model once. There is a message in the session whatever
// happened; an error or an interrupt is recorded as one.
func (r *run) answer(ctx context.Context) (answer, error) {
	s := &stream{run: r, model: r.Model()}
	return s.finish(ctx, s.ask(ctx))
}

// stream is one answer on its way in.
type stream struct {
	*run
	model    *Model
	assembly Assembly
	started  bool
}

// ask sends the request and takes the answer in. Its errors are *[ProviderError]
// or the context's.
func (s *stream) ask(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the client crashed: %v", p)
		}
		err = s.typed(err)
	}()
	client, err := s.models.Client(s.model)
	if err != nil {
		return err
	}
	key, err := s.models.Key(ctx, s.model)
	if err != nil {
		return s.noKey(err)
	}
	request := s.request(ctx, key)
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.consume(ctx, client.Stream(ctx, request))
}

// noKey is a key that could not be had; whoever knows better where it should
// come from returned a *[ProviderError] of its own.
func (s *stream) noKey(err error) error {
	var known *ProviderError
	if errors.As(err, &known) {
		return err
	}
	return &ProviderError{Provider: s.model.Provider, Message: err.Error(), Err: err,
		Hint: fmt.Sprintf("check api_key of [providers.%s] in config.toml", s.model.Provider)}
}

// request is the next model call, as the session and the listeners have it.
func (s *stream) request(ctx context.Context, key string) *Request {
	return &Request{
		Model: s.model, System: s.system, Messages: session.ForModel(s.Context(ctx)), Tools: s.toolSpecs(),
		Thinking: s.Thinking(), MaxTokens: s.model.MaxTokens, SessionID: s.Session().ID(), APIKey: key,
	}
}

// typed makes every failure of a model call one of its provider.
func (s *stream) typed(err error) error {
	var known *ProviderError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &ProviderError{Provider: s.model.Provider, Message: err.Error(), Err: err}
}

func (s *stream) consume(ctx context.Context, deltas iter.Seq2[Delta, error]) error {
	updates, partial := s.wants(KindMessageUpdate), s.message
	for d, err := range deltas {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.Kind == DeltaPing {
			continue
		}
		s.assembly.Add(d)
		s.start(ctx)
		if updates && shown(d.Kind) {
			s.emit(ctx, &MessageUpdate{Delta: d, partial: partial})
		}
	}
	if s.assembly.Stop().Reason == "" {
		return &ProviderError{Provider: s.model.Provider, Message: "the answer was cut off", Retryable: true, Err: ctx.Err()}
	}
	return nil
}

func shown(k DeltaKind) bool { return k == DeltaText || k == DeltaThinking || k == DeltaToolCall }

func (s *stream) start(ctx context.Context) {
	if !s.started {
		s.started = true
		s.emitIf(ctx, KindMessageStart, func() Event { return &MessageStart{Message: s.message()} })
	}
}

// message is the answer as far as it has come.
func (s *stream) message() *session.Message {
	content, _ := s.assembly.Content()
	m := &session.Message{Role: session.RoleAssistant, API: s.model.API, Provider: s.model.Provider, Model: s.model.ID,
		Content: content, Usage: s.assembly.Usage(), Timestamp: s.now().UnixMilli()}
	if m.Usage == nil {
		m.Usage = &session.Usage{}
	}
	return m
}

// finish stores what came as a message, and says whether the run may go on.
func (s *stream) finish(ctx context.Context, failure error) (answer, error) {
	if ctx.Err() != nil {
		failure = ErrAborted
	} else if failure == nil {
		failure = s.refused()
	}
	m := s.message()
	_, broken := s.assembly.Content()
	stop := s.assembly.Stop().Reason
	switch {
	case failure == ErrAborted:
		m.StopReason, m.ErrorMessage = session.StopAborted, failure.Error()
	case failure != nil:
		m.StopReason, m.ErrorMessage = session.StopError, failure.Error()
	case stop == StopPause:
		m.StopReason = session.StopEnd
	default:
		m.StopReason = stop
	}
	if failure != nil {
		m.Content = withoutCalls(m.Content)
	}
	m = s.ended(ctx, m)
	addUsage(&s.usage, m.Usage)
	if err := s.append(m); err != nil {
		return answer{message: m}, err
	}
	return answer{m, broken, stop == StopPause && len(m.Content) > 0}, failure
}

// refused is the failure that a finished answer may be.
func (s *stream) refused() error {
	stop := s.assembly.Stop()
	switch stop.Reason {
	case StopRefusal, session.StopError, session.StopAborted:
	default:
		return nil
	}
	message := cmp.Or(stop.Message, "the model ended its answer as "+string(stop.Reason))
	return &ProviderError{Provider: s.model.Provider, Type: stop.Raw, Message: message}
}

// withoutCalls takes out the calls of a failed answer: they will never run.
func withoutCalls(content []session.Block) []session.Block {
	return slices.DeleteFunc(content, func(b session.Block) bool { return b.Type == session.BlockToolCall })
}

// ended lets listeners replace the final message; another role is not taken.
func (s *stream) ended(ctx context.Context, m *session.Message) *session.Message {
	s.start(ctx)
	if !s.wants(KindMessageEnd) {
		return m
	}
	e := &MessageEnd{Message: m}
	s.emit(context.WithoutCancel(ctx), e)
	switch {
	case e.Message == nil || e.Message.Role != m.Role:
		return m
	case e.Message.Usage == nil:
		replaced := e.Message.Clone()
		replaced.Usage = m.Usage
		return replaced
	}
	return e.Message
}

func addUsage(total, u *session.Usage) {
	if u == nil {
		return
	}
	total.Input += u.Input
	total.Output += u.Output
	total.CacheRead += u.CacheRead
	total.CacheWrite += u.CacheWrite
	total.TotalTokens += u.TotalTokens
	total.Cost.Input += u.Cost.Input
	total.Cost.Output += u.Cost.Output
	total.Cost.CacheRead += u.Cost.CacheRead
	total.Cost.CacheWrite += u.Cost.CacheWrite
	total.Cost.Total += u.Cost.Total
}
