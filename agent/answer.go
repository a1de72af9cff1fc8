package agent

import (
	"context"
	"errors"
	"fmt"

	"pi/session"
)

// answer is a finished assistant message.
type answer struct {
	message *session.Message
	broken  map[string]string // calls whose arguments never became JSON, by id
	paused  bool              // the provider wants to be asked again
}

// answer asks the model once. The message is in the session whatever happened;
// an error or an interrupt is recorded as one.
func (r *run) answer(ctx context.Context) (answer, error) {
	request, client, err := r.request(ctx)
	if err != nil {
		return answer{}, r.recordFailure(ctx, err)
	}
	s := &stream{run: r, model: request.Model}
	err = s.consume(ctx, client, request)
	return r.finish(ctx, s, err)
}

// request is the next model call, as the session and the listeners have it.
func (r *run) request(ctx context.Context) (*Request, Provider, error) {
	model := r.Model()
	client, err := r.models.Client(model)
	if err != nil {
		return nil, nil, err
	}
	key, err := r.models.Key(ctx, model)
	if err != nil {
		return nil, nil, &ProviderError{Provider: model.Provider, Message: err.Error(), Err: err,
			Hint: fmt.Sprintf("check api_key of [providers.%s] in config.toml", model.Provider)}
	}
	return &Request{
		Model: model, System: r.system, Messages: session.ForModel(r.Context(ctx)), Tools: r.toolSpecs(),
		Thinking: r.Thinking(), MaxTokens: model.MaxTokens, SessionID: r.Session().ID(), APIKey: key,
	}, client, nil
}

// stream is one answer on its way in.
type stream struct {
	*run
	model    *Model
	assembly Assembly
	started  bool
}

func (s *stream) consume(ctx context.Context, client Provider, request *Request) error {
	updates := s.wants(KindMessageUpdate)
	for d, err := range client.Stream(ctx, request) {
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
			s.emit(ctx, &MessageUpdate{Delta: d, partial: s.message})
		}
	}
	if s.assembly.Stop().Reason == "" {
		return errors.Join(ctx.Err(), fmt.Errorf("%s ended the answer without saying so", s.model.Ref()))
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
	m := s.newAssistant(s.model)
	m.Content, m.Usage = content, s.assembly.Usage()
	return m
}

func (a *Agent) newAssistant(model *Model) *session.Message {
	return &session.Message{Role: session.RoleAssistant, API: model.API, Provider: model.Provider, Model: model.ID,
		Timestamp: a.now().UnixMilli(), Usage: &session.Usage{}}
}

// finish turns what came into the message that is stored, and says whether the
// run may go on.
func (r *run) finish(ctx context.Context, s *stream, failure error) (answer, error) {
	m := s.message()
	if m.Usage == nil {
		m.Usage = &session.Usage{}
	}
	_, broken := s.assembly.Content()
	stop := s.assembly.Stop()
	switch {
	case ctx.Err() != nil:
		m.StopReason, m.ErrorMessage, failure = session.StopAborted, "interrupted", ErrAborted
	case failure != nil:
		m.StopReason, m.ErrorMessage = session.StopError, failure.Error()
	case stop.Reason == StopRefusal || stop.Reason == session.StopError:
		m.StopReason, m.ErrorMessage = session.StopError, refusal(stop)
		failure = &ProviderError{Provider: s.model.Provider, Type: stop.Raw, Message: m.ErrorMessage}
	case stop.Reason == StopPause:
		m.StopReason = session.StopEnd
	default:
		m.StopReason = stop.Reason
	}
	if failure != nil {
		dropCalls(m)
	}
	m = r.ended(ctx, s, m)
	addUsage(&r.usage, m.Usage)
	if err := r.append(context.WithoutCancel(ctx), m); err != nil {
		return answer{}, err
	}
	return answer{m, broken, stop.Reason == StopPause}, failure
}

func refusal(stop Stop) string {
	if stop.Message != "" {
		return stop.Message
	}
	return fmt.Sprintf("the model ended its answer with %q", stop.Raw)
}

// dropCalls takes out the calls of a failed answer: they will never run.
func dropCalls(m *session.Message) {
	kept := m.Content[:0:0]
	for _, b := range m.Content {
		if b.Type != session.BlockToolCall {
			kept = append(kept, b)
		}
	}
	m.Content = kept
}

// ended lets listeners replace the final message; another role is not taken.
func (r *run) ended(ctx context.Context, s *stream, m *session.Message) *session.Message {
	s.start(context.WithoutCancel(ctx))
	if !r.wants(KindMessageEnd) {
		return m
	}
	e := &MessageEnd{Message: m}
	r.emit(context.WithoutCancel(ctx), e)
	if e.Message == nil || e.Message.Role != m.Role {
		return m
	}
	return e.Message
}

// recordFailure stores a failure that happened before anything was sent.
func (r *run) recordFailure(ctx context.Context, err error) error {
	_, err = r.finish(ctx, &stream{run: r, model: r.Model()}, err)
	return err
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
