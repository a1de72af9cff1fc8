package agent

import (
	"context"
	"sync"

	"pi/session"
	"pi/session/message"
)

// announcer emits [EntryAppended] for the entries that come into one session, whoever
// appends them: each once, in their order, one at a time. All methods may be called from
// any goroutine, but not by a listener to EntryAppended, which must not append either.
type announcer struct {
	events  *listeners
	session *session.Session

	mu     sync.Mutex        // guards what follows, and is locked while a listener has an entry
	told   int               // of the entries of the session
	paused bool              // what comes in waits for resume
	before map[string]func() // is called right before an entry is told, by its id
}

// announce returns the announcer of a session, whose present entries nobody is told of.
func announce(events *listeners, s *session.Session) *announcer {
	a := &announcer{events: events, session: s, told: len(s.Entries())}
	s.Watch(a.tell)
	return a
}

// stop ends the watch: of what is appended later nobody is told.
func (a *announcer) stop() { a.session.Watch(nil) }

// tell emits what has come in since the last call.
func (a *announcer) tell() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.paused {
		a.tellRest(func(*session.Entry) bool { return true })
	}
}

// tellRest emits the new entries that are wanted; the caller has the lock.
func (a *announcer) tellRest(wanted func(*session.Entry) bool) {
	entries := a.session.Entries()
	fresh := entries[min(a.told, len(entries)):]
	a.told = len(entries)
	wants := a.events.wants(KindEntryAppended)
	for _, e := range fresh {
		if f := a.before[e.ID]; f != nil {
			delete(a.before, e.ID)
			f()
		}
		if wants && wanted(e) {
			a.events.emit(context.Background(), &EntryAppended{Entry: e, Message: messageOf(e)})
		}
	}
}

// messageOf returns the message that an entry is, a custom one too; nil for entries of
// other kinds, also for those that the model sees as a message, such as a summary.
func messageOf(e *session.Entry) *message.Message {
	if e.Type == session.TypeMessage || e.Type == session.TypeCustomMessage {
		return e.Message()
	}
	return nil
}

// pause makes what comes in wait for resume or refuse: messages that open a turn are told
// behind the event that begins it.
func (a *announcer) pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = true
}

// resume ends a pause and emits what came in meanwhile.
func (a *announcer) resume() {
	a.mu.Lock()
	a.paused = false
	a.mu.Unlock()
	a.tell()
}

// refuse ends a pause like resume, but passes over the messages: those of a prompt that
// was refused in the end.
func (a *announcer) refuse() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = false
	a.tellRest(func(e *session.Entry) bool { return messageOf(e) == nil })
}

// precede has f called right before the entry id is told. It may be called in a pause
// only, for later the entry is told already.
func (a *announcer) precede(id string, f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.before == nil {
		a.before = map[string]func(){}
	}
	a.before[id] = f
}
