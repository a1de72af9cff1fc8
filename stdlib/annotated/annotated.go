// Package annotated reads the annotations of stdlib/meta as types: what pi, ctx, the events
// and the modules have, what their functions take and give back. They are what editors are
// told, so what is said of a hook by them is what its author can look up.
//
//	annotated.go  the set of all types, and how to find one; read.go reads the files
//	types.go      a type, a function, and how a type is written
//
// [Read] reads all files each time, in about two milliseconds; a caller keeps the set.
package annotated

import (
	"maps"
	"slices"
	"strings"
)

// Set is all that is annotated. It is not changed after [Read].
type Set struct {
	classes map[string]*Class
	aliases map[string]*Type
	modules map[string]*Class
}

// Class is a table with known fields.
type Class struct {
	Name   string
	Parent string // "" for none
	// Open: it may have other fields than its members.
	Open    bool
	Members []*Member
}

// Member is a field or a function of a class.
type Member struct {
	Name     string
	Optional bool
	Type     *Type
}

// Class returns the class of a name such as "pi.Context"; nil for none.
func (s *Set) Class(name string) *Class { return s.classes[name] }

// Module returns the class of what require gives for a name such as "pi.fs"; nil for none.
func (s *Set) Module(name string) *Class { return s.modules[name] }

// Modules lists the names of the modules, sorted.
func (s *Set) Modules() []string { return slices.Sorted(maps.Keys(s.modules)) }

// Event returns the class of what a handler of an event gets, and that of what it may
// return; nil for an event that is not annotated, or that is only told.
func (s *Set) Event(name string) (event, result *Class) {
	var class strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word == "" {
			return nil, nil
		}
		class.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return s.classes["pi."+class.String()+"Event"], s.classes["pi."+class.String()+"Result"]
}

// With returns the set with more classes, or others in the place of those of the same names. The
// set itself stays as it is.
func (s *Set) With(classes ...*Class) *Set {
	more := &Set{classes: maps.Clone(s.classes), aliases: s.aliases, modules: maps.Clone(s.modules)}
	for _, c := range classes {
		more.classes[c.Name] = c
		if more.modules[c.Name] != nil {
			more.modules[c.Name] = c
		}
	}
	return more
}

// maxParents bounds how many classes extend each other.
const maxParents = 10

// line returns a class and those that it extends, itself first.
func (s *Set) line(c *Class) (all []*Class) {
	for ; c != nil && len(all) < maxParents; c = s.classes[c.Parent] {
		all = append(all, c)
	}
	return all
}

// Find returns the member of a class, or of one that it extends; nil for none.
func (s *Set) Find(c *Class, name string) *Member {
	for _, c := range s.line(c) {
		for _, m := range c.Members {
			if m.Name == name {
				return m
			}
		}
	}
	return nil
}

// All lists the members of a class, those of the classes that it extends first.
func (s *Set) All(c *Class) (all []*Member) {
	for _, c := range slices.Backward(s.line(c)) {
		all = append(all, c.Members...)
	}
	return all
}

// Names lists the names of the members of a class.
func (s *Set) Names(c *Class) (names []string) {
	for _, m := range s.All(c) {
		names = append(names, m.Name)
	}
	return names
}

// IsOpen reports whether tables of a class may have other fields than its members.
func (s *Set) IsOpen(c *Class) bool {
	return slices.ContainsFunc(s.line(c), func(c *Class) bool { return c.Open })
}

// Parts returns the types of which a value of t has one: those of a union, with aliases
// replaced by what they name.
func (s *Set) Parts(t *Type) []*Type { return s.parts(t, maxParents) }

func (s *Set) parts(t *Type, depth int) (all []*Type) {
	switch {
	case t == nil || depth == 0:
		return nil
	case t.Kind == Union:
		for _, part := range t.Of {
			all = append(all, s.parts(part, depth-1)...)
		}
		return all
	case t.Kind == Named && s.aliases[t.Name] != nil:
		return s.parts(s.aliases[t.Name], depth-1)
	}
	return []*Type{t}
}
