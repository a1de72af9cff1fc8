package agent

import (
	"sync"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// account adds up the entries of a session. Each is looked at once, for a session
// has many, and its entries neither change nor go away. The zero value is ready;
// of may be called from any goroutine.
type account struct {
	mu      sync.Mutex // guards what follows
	session *session.Session
	counted int // entries
	total   message.Usage
	free    map[modelRef]*unpaid
	last    modelRef // that was chosen or has answered
}

// unpaid is the use of a model that cost nothing: it is free, or its price was not
// known.
type unpaid struct {
	message.Usage
	wholly bool // some of its answers cost nothing at all
}

// of returns what s has used in all, and whether a price is known for all of it. Only
// entries that are new since the last call are counted.
func (l *account) of(s *session.Session, models *llm.Models) (u message.Usage, priced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != s {
		l.session, l.counted, l.total, l.last = s, 0, message.Usage{}, modelRef{}
		l.free = map[modelRef]*unpaid{}
	}
	entries := s.Entries()
	for _, e := range entries[l.counted:] {
		ref, used := usedIn(e)
		if ref == (modelRef{}) { // a summary is by the model at hand
			ref = l.last
		}
		if e.Type != session.TypeUsage { // which is beside the conversation
			l.last = ref
		}
		l.add(ref, used)
	}
	l.counted = len(entries)
	return l.total, l.priced(models)
}

// add adds u, which ref has used, to the total. Tokens that cost nothing are also counted
// by model, because a price may be missing.
func (l *account) add(ref modelRef, u *message.Usage) {
	if u == nil || *u == (message.Usage{}) {
		return
	}
	l.total.Add(u)
	rest := unpaidOf(u)
	if ref == (modelRef{}) || rest == (message.Usage{}) {
		return
	}
	if l.free[ref] == nil {
		l.free[ref] = &unpaid{}
	}
	l.free[ref].Add(&rest)
	l.free[ref].wholly = l.free[ref].wholly || u.Cost.Total == 0
}

// unpaidOf returns the tokens of u for which no cost was recorded.
func unpaidOf(u *message.Usage) (rest message.Usage) {
	c := &u.Cost
	if c.Total > 0 && c.Input+c.Output+c.CacheRead+c.CacheWrite == 0 {
		return rest // only the sum was known
	}
	for _, bucket := range []struct {
		tokens, rest *int
		cost         float64
	}{{&u.Input, &rest.Input, c.Input}, {&u.Output, &rest.Output, c.Output},
		{&u.CacheRead, &rest.CacheRead, c.CacheRead}, {&u.CacheWrite, &rest.CacheWrite, c.CacheWrite}} {
		if bucket.cost == 0 {
			*bucket.rest = *bucket.tokens
		}
	}
	return rest
}

// priced reports whether every model that charged nothing is known to be free of charge. A
// model that is no longer registered has no price, unless its answers did cost something.
func (l *account) priced(models *llm.Models) bool {
	for ref, u := range l.free {
		m := models.Find(ref.Provider, ref.ID)
		if m == nil && u.wholly || m != nil && !m.Cost.Covers(&u.Usage) {
			return false
		}
	}
	return true
}

// modelRef names a model.
type modelRef struct{ Provider, ID string }

// usedIn returns the model and the usage that an entry records. The usage is nil for an
// entry that records the choice of a model; both are empty for entries of other kinds.
func usedIn(e *session.Entry) (modelRef, *message.Usage) {
	switch e.Type {
	case session.TypeModelChange:
		if body, err := session.Body[session.ModelChange](e); err == nil {
			return modelRef{body.Provider, body.ModelID}, nil
		}
	case session.TypeMessage:
		if m := e.Message(); m != nil {
			return modelRef{m.Provider, m.Model}, m.Usage
		}
	case session.TypeUsage:
		if body, err := session.Body[session.UsageEntry](e); err == nil {
			return modelRef{body.Provider, body.Model}, body.Usage
		}
	case session.TypeCompaction:
		if body, err := session.Body[session.Compaction](e); err == nil {
			return modelRef{}, body.Usage
		}
	case session.TypeBranchSummary:
		if body, err := session.Body[session.BranchSummary](e); err == nil {
			return modelRef{}, body.Usage
		}
	}
	return modelRef{}, nil
}
