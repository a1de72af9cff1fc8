package agent

import (
	"testing"

	"pi/session"
)

func TestTheResultOfAChainIsThatOfItsSession(t *testing.T) {
	one, other := &session.Session{}, &session.Session{}
	var l lastSeen
	l.edit(one, "a") // nothing was shown yet
	l.set(one, chained{branch: make([]*session.Entry, 3), items: make([]session.Item, 2)})
	l.edit(one, "b")
	l.edit(other, "c")
	if items, to, edited := l.of(one); len(items) != 2 || to != 3 || len(edited) != 1 || !edited["b"] {
		t.Errorf("%d items to %d, edited %v", len(items), to, edited)
	}
	if items, _, _ := l.of(other); items != nil {
		t.Error("another session has them too")
	}
	l.forget()
	if items, _, _ := l.of(one); items != nil || len(l.lastChain().branch) != 3 {
		t.Error("they are there though they were dropped, or the chain is not")
	}
}
