package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pi/session"
)

// Prompt is what a person, a program or a hook asks.
type Prompt struct {
	Text        string
	Attachments []session.Block
	Source      string // interactive print json rpc acp hook
}

var (
	// ErrNoRun is returned for what needs a running prompt.
	ErrNoRun = errors.New("the agent is not working")
	// ErrEmptyPrompt is returned for a prompt without text and attachments.
	ErrEmptyPrompt = errors.New("the prompt is empty")
	// ErrAborted is returned by a run that was interrupted.
	ErrAborted = errors.New("interrupted")
)

// Prompt runs one prompt to its end. The prompt is in the session file before
// anything is sent. The error says how the run ended: nil when the model had
// nothing more to do or a listener handled the prompt, ErrAborted, a
// *[ProviderError], a *[LimitError], a *[session.SaveError], or another failure;
// what happened until then is in the session.
func (a *Agent) Prompt(ctx context.Context, p Prompt) error {
	ctx, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer a.end()
	p, handled := a.input(ctx, p)
	if handled {
		return nil
	}
	if strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		return ErrEmptyPrompt
	}
	return a.run(ctx, p)
}

func (a *Agent) input(ctx context.Context, p Prompt) (Prompt, bool) {
	if !a.wants(KindInput) {
		return p, false
	}
	e := &Input{Text: p.Text, Attachments: p.Attachments, Source: p.Source}
	a.emit(ctx, e)
	p.Text, p.Attachments = e.Text, e.Attachments
	return p, e.Handled
}

func (a *Agent) run(ctx context.Context, p Prompt) error {
	r := &run{Agent: a, unsaved: a.Session().Unsaved() != nil}
	if err := r.open(ctx, p); err != nil {
		return err
	}
	a.emitIf(ctx, KindAgentStart, func() Event { return &AgentStart{} })
	err := r.turns(ctx)
	if ctx.Err() != nil && err == nil {
		err = ErrAborted
	}
	a.emitIf(context.WithoutCancel(ctx), KindAgentEnd, func() Event { return &AgentEnd{Messages: r.added, Usage: r.usage} })
	if syncErr := a.Session().Sync(); syncErr != nil {
		err = errors.Join(err, syncErr)
	}
	a.emitIf(context.WithoutCancel(ctx), KindAgentSettled, func() Event { return &AgentSettled{} })
	return errors.Join(err, r.saveErr)
}

func (a *Agent) emitIf(ctx context.Context, k Kind, build func() Event) {
	if a.wants(k) {
		a.emit(ctx, build())
	}
}

// run is the state of one prompt on its way.
type run struct {
	*Agent
	system  string // for this prompt only
	added   []*session.Message
	usage   session.Usage
	repeats repeatCounter
	unsaved bool
	saveErr error // the first failure to save; the answer is shown all the same
}

// open writes the prompt and lets listeners add to it.
func (r *run) open(ctx context.Context, p Prompt) error {
	if err := r.recordModel(); err != nil {
		r.saveFailed(ctx, err)
	}
	m := r.userMessage(promptContent(p.Text, p.Attachments))
	if err := r.append(ctx, m); err != nil {
		return err
	}
	r.system = r.SystemPrompt()
	if !r.wants(KindBeforeAgentStart) {
		return nil
	}
	e := &BeforeAgentStart{Prompt: p.Text, Attachments: p.Attachments, SystemPrompt: r.system}
	r.emit(ctx, e)
	r.system = e.SystemPrompt
	for _, m := range e.Messages {
		if err := r.appendCustom(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// append adds m to the session. A failure to save is kept for the end of the
// run, for the conversation goes on in memory; another failure ends the run.
func (r *run) append(ctx context.Context, m *session.Message) error {
	_, err := r.Session().AppendMessage(m)
	r.added = append(r.added, m)
	return r.saveFailed(ctx, err)
}

func (r *run) saveFailed(ctx context.Context, err error) error {
	var unsaved *session.SaveError
	if !errors.As(err, &unsaved) {
		return err
	}
	if r.saveErr == nil && !r.unsaved {
		r.saveErr = err
		r.notifyf(ctx, LevelError, "%v\nThe conversation goes on in memory; what was saved before is safe.", err)
	}
	return nil
}

func (r *run) turns(ctx context.Context) error {
	for turn := 0; ; turn++ {
		if limit := r.settings.MaxTurns; limit > 0 && turn >= limit {
			return &LimitError{"max_turns", fmt.Sprintf("stopped after %d turns (max_turns)", limit)}
		}
		goOn, err := r.turn(ctx, turn)
		if err != nil || ctx.Err() != nil {
			return err
		}
		waiting := r.due(!goOn)
		for _, m := range waiting {
			if err := r.append(ctx, r.userMessage(m.content)); err != nil {
				return err
			}
		}
		if !goOn && len(waiting) == 0 {
			return nil
		}
	}
}

// turn asks the model once and runs its calls; it reports whether the model is
// to be asked again.
func (r *run) turn(ctx context.Context, index int) (goOn bool, err error) {
	r.emitIf(ctx, KindTurnStart, func() Event { return &TurnStart{TurnIndex: index, Timestamp: r.now().UnixMilli()} })
	before := len(r.Session().Branch())
	answer, err := r.answer(ctx)
	if err != nil {
		return false, err
	}
	results, batch, err := r.batch(ctx, answer)
	r.emitIf(context.WithoutCancel(ctx), KindTurnEnd, func() Event {
		e := &TurnEnd{TurnIndex: index, Message: answer.message, ToolResults: results}
		for _, entry := range r.Session().Branch()[before:] {
			e.EntryIDs = append(e.EntryIDs, entry.ID)
		}
		if answer.message.Usage != nil {
			e.Usage = *answer.message.Usage
		}
		return e
	})
	if err != nil {
		return false, err
	}
	return !batch.terminate && (len(results) > 0 || answer.paused), nil
}

// userMessage is a user message of now.
func (a *Agent) userMessage(content []session.Block) *session.Message {
	return &session.Message{Role: session.RoleUser, Content: content, Timestamp: a.now().UnixMilli()}
}

func promptContent(text string, attachments []session.Block) []session.Block {
	var content []session.Block
	if text != "" {
		content = append(content, session.TextBlock(text))
	}
	return append(content, attachments...)
}

// appendCustom persists a custom message of a listener.
func (r *run) appendCustom(ctx context.Context, m *session.Message) error {
	_, err := r.Session().Append("custom_message", session.CustomMessage{
		CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details,
	})
	return r.saveFailed(ctx, err)
}

// recordModel notes model and thinking level in the session when they are not
// what the session says.
func (a *Agent) recordModel() error {
	s, model, thinking := a.Session(), a.Model(), a.Thinking()
	if provider, id := s.Model(); provider != model.Provider || id != model.ID {
		if _, err := s.Append("model_change", session.ModelChange{Provider: model.Provider, ModelID: model.ID}); err != nil {
			return err
		}
	}
	if s.ThinkingLevel() != thinking {
		_, err := s.Append("thinking_level_change", session.ThinkingLevelChange{ThinkingLevel: thinking})
		return err
	}
	return nil
}
