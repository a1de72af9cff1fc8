// Package replay runs a hook over recorded sessions, to see what it would have done: what it
// would have blocked or changed, where it raises, and how long it takes. Nothing is run,
// sent or written.
//
// A session is played entry by entry, on all its branches, as it came about. Each prompt goes
// through input, each answer is preceded by context, each tool call goes through tool_call,
// each result through tool_result, and each command of the user through user_bash.
// session_start, agent_start and turn_start are told in between, so that what a hook counts
// begins anew where it did. For each session the hook begins in a VM of its own, and at each
// event the session is as it was then.
//
// What a recording does not have is not there: arguments and results are those of the
// recording, whatever the hook would have changed before, and results of calls that another
// hook blocked look like those of calls that ran.
//
//	replay.go   one session, event by event
//	events.go   the events of an entry, and what the hook did to each
//	finding.go  what is told of an event: [Finding]
//	tally.go    counts and times of many: [Tally]
//	repeats.go  errors that come again: [Repeats]
//	patience.go when a hook is too slow to be asked again
//	run.go      many sessions side by side, in order: [Run]; compare.go: two hooks
//	host.go     what the hook sees of the program
//	confine.go  which functions of a hook work in a replay
package replay

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/agent/schema"
	"pi/luahooks"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// Options say what is replayed how.
type Options struct {
	Hook   string       // name or path of a hook of the chain
	Other  string       // one to compare it with; "" for none
	Events []string     // only these of [Events]; none: all that the hook listens to
	Tools  []agent.Tool // those of the program: arguments are checked with their schema, as before a gate
	Models *llm.Models  // what ctx knows of models

	box      toolbox              // of Tools
	patience map[string]*patience // with the hooks, by Hook and Other
}

// begin returns the options with what all sessions share.
func (o Options) begin() Options {
	o.box = newToolbox(o.Tools)
	o.patience = map[string]*patience{o.Hook: {}, o.Other: {}}
	return o
}

// Events are those of a recording that a hook can be asked about.
func Events() []string {
	var names []string
	for _, k := range replayed() {
		names = append(names, k.String())
	}
	return names
}

func replayed() []agent.Kind {
	return []agent.Kind{agent.KindToolCall, agent.KindToolResult, agent.KindInput, agent.KindContext, agent.KindUserBash}
}

// Played is what a hook did in one session.
type Played struct {
	Findings []Finding
	Tally    Tally
	Listens  bool // to an event that can be replayed
	Stopped  bool // the hook did not stop where it was told to, and was disabled
}

// player plays one session to one hook.
type player struct {
	ctx      context.Context
	chain    *luahooks.Chain
	host     *host
	tools    toolbox
	only     []string
	patience *patience
	playback *session.Playback

	entry  *session.Entry  // the one that is played; nil at the start
	number int             // of the event, in the order of all that the session has
	calls  map[string]call // by id, those that reached the gate
	turn   int             // of the run
	played Played
}

// call is a tool call of the recording with the arguments that a gate saw.
type call struct {
	name  string
	input json.RawMessage
}

// play runs a hook of base over a session that nobody else uses. The error says why the hook
// could not be loaded, or that ctx ended.
func play(ctx context.Context, base *luahooks.Chain, hook string, s *session.Session, o Options) (Played, error) {
	playback := session.NewPlayback(s)
	defer playback.Close()
	p := &player{ctx: ctx, tools: o.box, only: o.Events, patience: o.patience[hook], playback: playback, calls: map[string]call{}, played: Played{Tally: NewTally()}}
	p.host = newHost(playback, o)
	var err error
	p.chain, err = base.Rehearse(ctx, luahooks.Rehearsal{Hook: hook, Cwd: s.Cwd(), Confine: p.host.undone.confine})
	if err != nil {
		return Played{}, err
	}
	defer func() {
		now, cancel := context.WithCancel(ctx)
		cancel()
		p.chain.Close(now)
	}()
	p.chain.Attach(p.host, &user{host: p.host})
	p.all()
	for _, k := range replayed() {
		if p.asksAbout(k) {
			p.played.Listens = true
			p.played.Tally.Events[k.String()] += 0 // it could have been asked
		}
	}
	p.played.Tally.Sessions = 1
	p.played.Tally.Undone = p.host.undone.counts()
	return p.played, ctx.Err()
}

// all plays the session from its beginning to its end, or until the hook cannot go on.
func (p *player) all() {
	header := p.playback.Session().Header()
	p.tell(&agent.SessionStart{Reason: "startup", SessionID: header.ID, SessionFile: p.playback.Session().File()}, header.Timestamp)
	for p.entry = p.playback.Next(); p.entry != nil; p.entry = p.playback.Next() {
		if p.ctx.Err() != nil || p.played.Stopped {
			return
		}
		p.number += eventsOfAnEntry - p.number%eventsOfAnEntry
		m := p.message(p.entry)
		if m != nil {
			p.host.next()
			p.before(p.entry, m)
		}
		p.playback.Add()
		if m != nil {
			p.host.next()
			p.after(p.entry, m)
		}
	}
}

// eventsOfAnEntry is more than an entry has, so that the numbers of events do not depend on
// which entries a hook has no use for.
const eventsOfAnEntry = 1 << 16

// message returns the message of an entry; nil if there is none, or the hook listens to nothing
// that comes with it.
func (p *player) message(e *session.Entry) *message.Message {
	if e.Type != session.TypeMessage {
		return nil
	}
	role := message.Role(rawjson.Unquote(rawjson.Field(rawjson.Field(e.Raw(), "message"), "role")))
	if !slices.ContainsFunc(eventsWith(role), p.chain.Wants) {
		return nil
	}
	return e.Message()
}

// eventsWith are those for which messages of a role are looked at.
func eventsWith(role message.Role) []agent.Kind {
	switch role {
	case message.RoleUser:
		return []agent.Kind{agent.KindInput, agent.KindAgentStart, agent.KindTurnStart}
	case message.RoleAssistant:
		return []agent.Kind{agent.KindToolCall, agent.KindToolResult, agent.KindContext, agent.KindTurnStart}
	case message.RoleToolResult:
		return []agent.Kind{agent.KindToolResult}
	case message.RoleBashExecution:
		return []agent.Kind{agent.KindUserBash}
	}
	return nil
}

// tell emits an event that has no result.
func (p *player) tell(e agent.Event, timestamp string) {
	p.number++
	if p.chain.Wants(e.Kind()) && !p.patience.isOver(e.Kind()) {
		p.handle(e, Finding{Time: timestamp, number: p.number}, nil)
	}
}

// ask emits an event of the recording, unless the hook or the caller is not interested in it.
// effects returns what the hook did to the event; about says which it is.
func (p *player) ask(e agent.Event, about Finding, effects func() []Effect) {
	p.number++
	if p.played.Stopped || !p.asksAbout(e.Kind()) {
		return
	}
	if p.patience.isOver(e.Kind()) {
		p.played.Tally.LeftOut[e.Kind().String()]++
		return
	}
	p.played.Tally.Events[e.Kind().String()]++
	about.Time, about.number = p.entry.Timestamp, p.number
	p.handle(e, about, effects)
}

// asksAbout reports whether the hook is asked about events of a kind.
func (p *player) asksAbout(k agent.Kind) bool {
	return p.chain.Wants(k) && (len(p.only) == 0 || slices.Contains(p.only, k.String()))
}

// handle emits an event and adds a finding if the hook did something.
func (p *player) handle(e agent.Event, about Finding, effects func() []Effect) {
	began := time.Now()
	_ = p.chain.Handle(p.ctx, e) // an error is the end of the context
	took := time.Since(began)
	did, failed, late := p.host.takeEffects()
	if late {
		p.patience.add(e.Kind())
	}
	if effects != nil {
		p.played.Tally.times.add(took)
		did = append(did, effects()...)
	}
	if failed {
		did = blockedByError(did)
		p.played.Stopped = p.chain.Hooks()[0].State != "active"
	}
	if len(did) == 0 {
		return
	}
	if p.entry != nil {
		about.Entry = p.entry.ID
	}
	if about.input != nil {
		about.About = aboutInput(about.input)
	}
	about.Session, about.Event, about.Effects = p.playback.Session().ID(), e.Kind().String(), did
	about.File = p.playback.Session().File()
	p.played.Findings = append(p.played.Findings, about)
	for _, effect := range did {
		p.played.Tally.Effects[effect.Kind]++
		if effect.Blocks {
			p.played.Tally.Shut++
		}
	}
}

// blockedByError returns the effects of a hook that failed, with its error for the block that
// comes of it.
func blockedByError(did []Effect) []Effect {
	all := len(did)
	did = slices.DeleteFunc(did, func(x Effect) bool { return x.Kind == Blocked })
	if i := slices.IndexFunc(did, func(x Effect) bool { return x.Kind == Raised }); i >= 0 {
		did[i].Blocks = len(did) < all
	}
	return did
}

// toolbox is the tools of the program by name.
type toolbox map[string]checkedTool

type checkedTool struct {
	agent.Tool
	checker *schema.Checker // nil: any arguments are right
}

func newToolbox(tools []agent.Tool) toolbox {
	box := toolbox{}
	for _, t := range tools {
		checker, err := schema.Compile(t.Spec().Parameters)
		if err != nil {
			checker = nil
		}
		box[t.Spec().Name] = checkedTool{t, checker}
	}
	return box
}

// arguments returns those that the gate is asked about: as the model sent them, prepared and
// coerced. ok is false for those that are refused before it is asked.
func (b toolbox) arguments(ctx context.Context, name string, sent json.RawMessage) (input json.RawMessage, ok bool) {
	t, known := b[name]
	if !known || t.checker == nil {
		return sent, true
	}
	if p, prepares := t.Tool.(agent.Preparer); prepares {
		prepared, err := p.Prepare(ctx, sent)
		if err != nil {
			return nil, false
		}
		sent = prepared
	}
	input, err := t.checker.Check(sent)
	return input, err == nil
}
