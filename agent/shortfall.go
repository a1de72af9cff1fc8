package agent

import (
	"context"
	"sync"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// shortfall tells the user what of the conversation a model does not get, for neither the
// model nor its server says so: images that it does not take, and what a server cut off. All
// methods may be called from any goroutine. The models of hooks have no server.
type shortfall struct {
	events *listeners

	mu      sync.Mutex
	session *session.Session // what follows is of this one
	model   string           // that images was counted for
	images  int              // that the user knows to be left out
	cut     bool             // the user knows that the server cuts prompts
}

// beginSession begins anew with another session.
func (f *shortfall) beginSession(s *session.Session) {
	if f.session != s {
		f.session, f.model, f.images, f.cut = s, "", 0, false
	}
}

// noteImages tells how many images are left out of r, which is about to be sent, if they are
// more than before for that model.
func (f *shortfall) noteImages(ctx context.Context, s *session.Session, r *llm.Request) {
	if r.Model.TakesImages() || r.Model.API == "lua" {
		return
	}
	images := 0
	for _, m := range r.Messages {
		for i := range m.Content {
			if m.Content[i].Type == message.BlockImage {
				images++
			}
		}
	}
	f.mu.Lock()
	f.beginSession(s)
	more := images > f.images || f.model != r.Model.Ref() && images > 0
	f.model, f.images = r.Model.Ref(), images
	f.mu.Unlock()
	switch {
	case !more:
	case images == 1:
		f.events.notifyf(ctx, LevelWarning, "%s takes no images: the one of this conversation is left out", r.Model.Ref())
	default:
		f.events.notifyf(ctx, LevelWarning, "%s takes no images: the %d of this conversation are left out", r.Model.Ref(), images)
	}
}

// noteCut tells once that the server has read far less of r than was sent, going by the
// tokens that it counted. Servers that people run themselves cut a prompt that is longer than
// the window with which they were started, and say nothing; a service that takes money
// refuses it.
func (f *shortfall) noteCut(ctx context.Context, s *session.Session, r *llm.Request, used *message.Usage) {
	const enough = 1024 // tokens; less is what a server counts that leaves out what it had in its cache
	if r == nil || used == nil || r.Model.API == "lua" || r.Model.Cost.Known() && r.Model.Cost.Input > 0 {
		return
	}
	counted := used.Input + used.CacheRead + used.CacheWrite
	if counted < enough {
		return
	}
	sent := leastTokens(r)
	if sent < 2*counted {
		return
	}
	f.mu.Lock()
	f.beginSession(s)
	known := f.cut
	f.cut = true
	f.mu.Unlock()
	if !known {
		window := 8192
		for window < 2*sent { // there is room for the prompt, and as much again
			window *= 2
		}
		f.events.notifyf(ctx, LevelWarning, "the server of %s counted %d tokens of a prompt of about %d: it has probably cut the rest off. "+
			"Give it a larger window (Ollama: start it with OLLAMA_CONTEXT_LENGTH=%d, or set num_ctx of the model), and say so in context_window",
			r.Model.Ref(), counted, sent, window)
	}
}

// leastTokens is about how many tokens a request has, without what may not go along:
// thoughts, images, and the tools.
func leastTokens(r *llm.Request) int {
	tokens := textTokens(r.System)
	for _, m := range r.Messages {
		for i := range m.Content {
			switch b := &m.Content[i]; b.Type {
			case message.BlockText:
				tokens += textTokens(b.Text)
			case message.BlockToolCall:
				tokens += textTokens(b.Name + string(b.Arguments))
			}
		}
	}
	return tokens
}
