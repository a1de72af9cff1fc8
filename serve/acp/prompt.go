package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/printable"
	sessions "pi/session"
)

// cancelTime is how long a prompt that was cancelled may take to end. Then it is answered,
// and what still comes of it is dropped.
const cancelTime = 1500 * time.Millisecond

// activePrompt is the prompt that a session works on.
type activePrompt struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when it has been answered
}

// claim makes a prompt the one of the session. It fails while there is another.
func (s *session) claim() (*activePrompt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state.ended:
		return nil, noSession(s.id)
	case s.state.active != nil:
		return nil, newError(codeInvalid, "the session is already processing a prompt; session/cancel ends that")
	}
	p := &activePrompt{done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(s.ctx)
	s.state.active = p
	return p, nil
}

// free makes the session ready for the next prompt.
func (s *session) free(p *activePrompt) {
	p.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.active = nil
	close(p.done)
}

// beginPrompt begins to work on a prompt.
func (v *Server) beginPrompt(f fields) (handler, error) {
	s, err := v.need(f)
	if err != nil {
		return nil, err
	}
	a, err := readPrompt(f)
	if err != nil {
		return nil, err
	}
	p, err := s.claim()
	if err != nil {
		return nil, err
	}
	before, begun := s.begins.next()
	idle, ended := s.works.next()
	return func(ctx context.Context) (any, error) {
		defer s.free(p)
		defer context.AfterFunc(ctx, p.cancel)()
		finished := make(chan ending, 1)
		go func() {
			defer ended()
			defer s.out.mute(false)
			defer begun()
			finished <- s.process(p, a, before, idle, begun)
		}()
		e := s.await(p, finished)
		if e.err != nil {
			return nil, e.err
		}
		return prompted{e.reason}, nil
	}, nil
}

// ending is how a prompt ended: the reason, or what went wrong.
type ending struct {
	reason string
	err    error
}

// await waits for the end of a prompt; not long if that was cancelled.
func (s *session) await(p *activePrompt, finished <-chan ending) ending {
	select {
	case e := <-finished:
		return e
	case <-p.ctx.Done():
	}
	timer := time.NewTimer(cancelTime)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
		s.muteUntil(finished)
	}
	return ending{reason: endWasCancelled}
}

// muteUntil drops what a prompt still sends. process lifts that at its end, which may have come
// just before.
func (s *session) muteUntil(finished <-chan ending) {
	s.out.mute(true)
	select {
	case <-finished:
		s.out.mute(false)
	default:
	}
}

// process works on a prompt when its turn has come. begun is called when later requests may
// begin.
func (s *session) process(p *activePrompt, a asked, before, idle <-chan struct{}, begun func()) (e ending) {
	s.prompt.Do(func() { close(s.prompted) }) // what came before may wait for an answer
	err := waitFor(p.ctx, before)
	if err == nil {
		err = s.waitStarted(p.ctx)
	}
	begun()
	if err == nil {
		err = waitFor(p.ctx, idle)
	}
	if err == nil {
		err = s.server.guarded(func() { e = s.work(p.ctx, a) })
	}
	switch {
	case p.ctx.Err() != nil:
		return ending{reason: endWasCancelled}
	case err != nil:
		return ending{err: err}
	}
	return e
}

// waitFor waits until c is closed; the error is that of ctx, if that is done before.
func waitFor(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work tells the client what it may have missed, does what it asks, and then what hooks have
// submitted meanwhile.
func (s *session) work(ctx context.Context, a asked) ending {
	s.mu.Lock()
	first := !s.state.prompted
	s.state.prompted = true
	s.mu.Unlock()
	slash{s}.advertise(first)
	s.tellUntold()
	e := s.answer(ctx, a)
	if e.err == nil && ctx.Err() == nil {
		s.takeSubmitted(ctx)
	}
	slash{s}.advertise(false)
	menu{s}.tellNews()
	s.tellWaiting()
	return e
}

// answer runs a command, or has the agent work on a prompt.
func (s *session) answer(ctx context.Context, a asked) ending {
	x := slash{s}
	for line, rest := range a.lines {
		if x.isCommand(line) && !x.isPrompt(line) {
			return x.command(ctx, line, rest)
		}
	}
	l := command.Driver{Agent: s.agent(), Commands: s.run.Commands}.ReadLine(ctx, a.prompt(), "")
	switch {
	case l.Is == command.HandledLine && ctx.Err() != nil:
		return ending{reason: endWasCancelled}
	case l.Is == command.HandledLine:
		return ending{reason: endTurn}
	case l.Is == command.RefusedLine:
		return ending{err: failedWith(l.Err)}
	case l.Is == command.CommandLine:
		return x.run(ctx, l.Prompt, nil)
	case l.Text != a.text:
		return s.ask(ctx, l.Prompt)
	}
	for line, rest := range a.lines {
		if x.isCommand(line) {
			return x.command(ctx, line, rest)
		}
	}
	return s.ask(ctx, l.Prompt)
}

// ask has the agent work on a prompt.
func (s *session) ask(ctx context.Context, p agent.Prompt) ending {
	s.mu.Lock()
	chosen := s.state.chosen
	s.mu.Unlock()
	if err := s.run.Ready(chosen); err != nil {
		return ending{err: err}
	}
	before := s.agent().Session().Leaf()
	s.speaker.begin()
	err := s.agent().Prompt(ctx, p)
	s.calls.sweep("not run: the answer ended before")
	return s.endOf(err, before)
}

// endOf says how a run ended. before is the entry that it began behind.
func (s *session) endOf(err error, before string) ending {
	limit, isLimit := errors.AsType[*agent.LimitError](err)
	terminated, isTerminated := errors.AsType[*agent.TerminatedError](err)
	failed, isFailure := errors.AsType[*llm.ProviderError](err)
	unsaved, isUnsaved := errors.AsType[*sessions.SaveError](err)
	switch {
	case isUnsaved:
		s.notify(unsaved.Error(), agent.LevelError)
	case isLimit && limit.Limit == "max_turns":
		return ending{reason: endMaxRequests}
	case isTerminated:
		s.notify(terminated.Error(), agent.LevelInfo)
	case isFailure && failed.Refused:
		s.takeOut(before)
		return ending{reason: endRefusal}
	case errors.Is(err, agent.ErrAborted): // a hook did it
		return ending{reason: endWasCancelled}
	case err != nil:
		return ending{err: failedWith(err)}
	}
	if s.speaker.wasCut() {
		return ending{reason: endMaxTokens}
	}
	return ending{reason: endTurn}
}

// takeOut takes what came behind an entry out of the next request: a prompt that the model
// has refused, and all after it. Clients do the same with what they show.
func (s *session) takeOut(before string) {
	all := s.agent().Session().Branch()
	at := 0
	for i, e := range all {
		if e.ID == before {
			at = i + 1
		}
	}
	for _, e := range all[at:] {
		if m := e.Message(); m == nil || !sessions.Editable(m.Role) {
			continue
		}
		if _, err := s.agent().EditContext(s.ctx, e.ID, nil); err != nil {
			s.notify(err.Error(), agent.LevelError)
		}
	}
}

// runSubmitted runs, until the session ends, what hooks submit while the client asks nothing.
func (s *session) runSubmitted() {
	shutdown := s.agent().ShutdownRequested()
	for {
		select {
		case <-s.agent().Inbox().Submitted():
		case <-shutdown:
			s.notify("a hook wants the program to end; here the client decides that", agent.LevelWarning)
			shutdown = nil // once
			continue
		case <-s.ctx.Done():
			return
		}
		idle, ended := s.works.next()
		select {
		case <-idle:
			_ = s.server.guarded(func() { s.takeSubmitted(s.ctx) })
		case <-s.ctx.Done():
		}
		ended()
	}
}

// takeSubmitted runs what hooks have submitted.
func (s *session) takeSubmitted(ctx context.Context) {
	e := ending{}
	d := s.driver(&e, nil)
	d.Prepare = func(p agent.Prompt) agent.Prompt { // the client has not seen it
		if p.Custom == nil {
			s.out.send(chunk{userChunk, newID(), textOf(p.Text)})
		}
		return p
	}
	for p := range d.Submitted() {
		if ctx.Err() != nil {
			return
		}
		e = ending{reason: endTurn}
		err := d.Run(ctx, p)
		if failed, ok := errors.AsType[*command.FailedError](err); ok {
			err = failedWith(failed)
		}
		if err = cmp.Or(err, e.err); err != nil {
			s.notify(err.Error(), agent.LevelError)
		}
	}
}

// driver runs commands, shows what they have to say, and asks the model; e is how the last
// prompt ended. rest goes along with the prompt that a command makes.
func (s *session) driver(e *ending, rest []part) command.Driver {
	e.reason = endTurn
	act := func(ctx context.Context, _ string, run command.Action) (command.Outcome, error) {
		outcome, err := run(ctx)
		for _, text := range []string{outcome.Status, outcome.Draft} {
			s.tellText(printable.Text(text))
		}
		switch {
		case ctx.Err() != nil:
			e.reason = endWasCancelled
			return command.Outcome{}, nil
		case errors.Is(err, agent.ErrCancelled):
			s.tellText(err.Error())
			return command.Outcome{}, nil
		}
		return outcome, err
	}
	ask := func(ctx context.Context, p agent.Prompt) error {
		*e = s.ask(ctx, withParts(p, rest))
		return e.err
	}
	await := func(ctx context.Context, p agent.Prompt) error {
		s.out.send(chunk{userChunk, newID(), textOf(p.Text)}) // the client has not seen it
		*e = s.ask(ctx, p)
		return e.err
	}
	return command.Driver{Agent: s.agent(), Commands: s.run.Commands, Act: act, Ask: ask, Await: await}
}

// refusals say why commands do not run here. They need a terminal, or would put another
// session instead of the one that the client knows.
func refusals() map[string]string {
	const (
		session  = "the client decides which session this is: begin or open one there"
		terminal = "it needs a terminal"
	)
	return map[string]string{
		"quit": "the client decides when this ends: close the session there", "exit": "the client decides when this ends: close the session there",
		"new": session, "clear": session, "resume": session, "branch": session, "fork": session,
		"tree": "the client shows one branch of the session; run pi in a terminal to move in its tree",
		"copy": terminal, "login": terminal + "; run pi login in one, or put the key into the environment",
		"settings": terminal + "; the client shows what can be chosen here, and config.toml has the rest",
		"hotkeys":  terminal, "expand": terminal,
	}
}

// slash runs the commands of a session.
type slash struct{ session *session }

// advertised returns the commands that the client may offer.
func (x slash) advertised() (all []command.Command) {
	refused := refusals()
	for _, c := range x.session.run.Commands.All() {
		if _, no := refused[c.Name]; !no {
			all = append(all, c)
		}
	}
	return all
}

// advertise tells the client which commands there are, if they are others than it was told
// last or with always.
func (x slash) advertise(always bool) {
	u := commandsUpdate{SessionUpdate: "available_commands_update", Commands: []availableCommand{}}
	for _, c := range x.advertised() {
		shown := availableCommand{Name: c.Name, Description: printable.Line(c.Help)}
		if hint := printable.Line(c.Args); hint != "" {
			shown.Input = &commandInput{hint}
		}
		u.Commands = append(u.Commands, shown)
	}
	if x.session.shown.isNews("commands", u) || always {
		x.session.out.send(u)
	}
}

// isCommand reports whether a line is a command that the client may send, or one that is
// refused in words.
func (x slash) isCommand(line string) bool {
	if !strings.HasPrefix(line, "/") || !agent.IsCommandLine(line) {
		return false
	}
	name, _ := command.Split(line)
	if _, refused := refusals()[name]; refused {
		return true
	}
	if x.session.run.Commands.Refresh != nil && !x.isAdvertised(name) {
		x.session.run.Commands.Refresh()
	}
	_, isKnown := x.session.run.Commands.Lookup(name) // such as a prompt of a server that has not run yet
	return isKnown
}

// isPrompt reports whether a command is a template or a skill.
func (x slash) isPrompt(line string) bool {
	name, _ := command.Split(line)
	c, ok := x.session.run.Commands.Lookup(name)
	return ok && c.Origin != ""
}

func (x slash) isAdvertised(name string) bool {
	return slices.ContainsFunc(x.advertised(), func(c command.Command) bool { return c.Name == name })
}

// command runs a command of the client. rest is what came with it, which goes along with
// the prompt that the command makes, if it makes one.
func (x slash) command(ctx context.Context, line string, rest []part) ending {
	return x.run(ctx, agent.Prompt{Text: line, Source: "acp"}, rest)
}

// run is command for a prompt that is one.
func (x slash) run(ctx context.Context, p agent.Prompt, rest []part) ending {
	name, _ := command.Split(p.Text)
	if why, refused := refusals()[name]; refused {
		x.session.tellText(fmt.Sprintf("/%s is not available here: %s", name, why))
		return ending{reason: endTurn}
	}
	e := ending{}
	err := x.session.driver(&e, rest).RunCommand(ctx, p)
	if err != nil && e.err == nil {
		e.err = failedWith(err)
	}
	return e
}

// withParts adds what came along with a command to the prompt that it made.
func withParts(p agent.Prompt, parts []part) agent.Prompt {
	text, rest := assemble(parts)
	if strings.TrimSpace(text) != "" {
		p.Text = strings.TrimRight(p.Text, "\n") + "\n" + text
	}
	p.Attachments = append(p.Attachments, rest...)
	return p
}
