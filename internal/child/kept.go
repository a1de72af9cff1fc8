package child

import "sync"

// Kept has children by name for owners that follow each other: the next takes what the one
// before has started. Owners are numbered in their order. The zero value has none.
type Kept struct {
	mu     sync.Mutex // guards what follows
	owners int
	byName map[string]kept
}

type kept struct {
	child *Child
	owner int
}

// NewOwner returns the number of the next owner.
func (k *Kept) NewOwner() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owners++
	return k.owners
}

// Add adds a child of an owner; false if there is one of that name.
func (k *Kept) Add(name string, c *Child, owner int) bool {
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

// Claim makes owner the owner of the child of a name and returns it; nil if there is none,
// or a later owner has it.
func (k *Kept) Claim(name string, owner int) *Child {
	k.mu.Lock()
	defer k.mu.Unlock()
	one, ok := k.byName[name]
	if !ok || one.owner > owner {
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

// TakeBefore removes and returns the children of the owners before one.
func (k *Kept) TakeBefore(owner int) []*Child {
	return k.take(func(one kept) bool { return one.owner < owner })
}

// TakeAll removes and returns all children.
func (k *Kept) TakeAll() []*Child { return k.take(func(kept) bool { return true }) }

func (k *Kept) take(which func(kept) bool) (children []*Child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, one := range k.byName {
		if which(one) {
			children = append(children, one.child)
			delete(k.byName, name)
		}
	}
	return children
}
