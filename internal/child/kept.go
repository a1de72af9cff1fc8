package child

import "sync"

// Kept has children by name for owners that follow each other: the next takes what the one
// before has started. The zero value has none.
type Kept struct {
	mu     sync.Mutex
	byName map[string]kept
}

type kept struct {
	child *Child
	owner any
}

// Add adds a child of an owner; false if there is one of that name.
func (k *Kept) Add(name string, c *Child, owner any) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, taken := k.byName[name]; taken {
		return false
	}
	if k.byName == nil {
		k.byName = map[string]kept{}
	}
	k.byName[name] = kept{c, owner}
	return true
}

// Has reports whether there is a child of a name.
func (k *Kept) Has(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.byName[name]
	return ok
}

// Claim makes owner the owner of the child of a name and returns it; nil if there is none.
func (k *Kept) Claim(name string, owner any) *Child {
	k.mu.Lock()
	defer k.mu.Unlock()
	one, ok := k.byName[name]
	if !ok {
		return nil
	}
	k.byName[name] = kept{one.child, owner}
	return one.child
}

// Drop forgets a child; one of that name that is another stays.
func (k *Kept) Drop(name string, c *Child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName[name].child == c {
		delete(k.byName, name)
	}
}

// TakeOthers removes and returns the children that do not belong to owner; nil: all.
func (k *Kept) TakeOthers(owner any) (others []*Child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, one := range k.byName {
		if owner == nil || one.owner != owner {
			others = append(others, one.child)
			delete(k.byName, name)
		}
	}
	return others
}
