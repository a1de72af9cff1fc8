package llm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/internal/suggest"
)

// ErrNoModel is wrapped by the errors of [Models.Match].
var ErrNoModel = errors.New("no such model")

// AmbiguousError is a name that fits several models equally well.
type AmbiguousError struct {
	Ref        string
	Candidates []string // provider/id, sorted, at most ten
	More       int      // so many besides
}

func (e *AmbiguousError) Error() string {
	list := strings.Join(e.Candidates, ", ")
	if e.More > 0 {
		list += fmt.Sprintf(" and %d more", e.More)
	}
	return fmt.Sprintf("%q may be any of %s; name more of it", e.Ref, list)
}

// Unwrap makes it an ErrNoModel: there is not one such model.
func (e *AmbiguousError) Unwrap() error { return ErrNoModel }

// Match finds the model that ref means: provider/id, a bare id, a prefix or a
// part of one, or words of it, in whatever case, each optionally followed by
// :level for thinking; the name of a provider alone means the model to begin
// with there. level is "" when ref names none.
//
// The first of these that fits anything decides: exactly provider/id; exactly an
// id, or one but for its date and punctuation; what stands behind the last slash
// of one; a prefix; a part, with any punctuation taken for any other; words in
// their order; words in any order. Models that can be used come before the others,
// but for an id that is exactly that.
// Of a model with dated and undated ids the undated one is meant, else the newest.
// If several are left, the error is an *[AmbiguousError].
//
// If ref begins with the name of a provider and a slash, that provider's models
// come first, with an id that it does not list behind those whose names begin
// with it or contain it. A provider whose exact name and id are given is the
// only one that is asked for its models.
func (m *Models) Match(ref string) (model *Model, level string, err error) {
	ref = strings.TrimSpace(ref)
	readings := readingsOf(ref)
	for _, find := range []func(reading) (*Model, error){m.named, m.exact} {
		for _, r := range readings {
			if model, err := find(r); model != nil || err != nil {
				return found(model, r.level, err)
			}
		}
	}
	for _, r := range slices.Backward(readings) {
		if model, err := m.meant(r); model != nil || err != nil {
			return found(model, r.level, err)
		}
	}
	if base, suffix, cut := cutLast(ref, ':'); cut && len(readings) == 1 {
		if model, _, err := m.Match(base); err == nil {
			return nil, "", noLevel(model, suffix)
		}
	}
	return nil, "", m.unknown(ref)
}

// reading is one way to read a reference. If it has a level, that is cut off.
type reading struct{ name, level string }

func readingsOf(ref string) []reading {
	readings := []reading{{name: ref}}
	if base, level, ok := cutLast(ref, ':'); ok && ValidThinking(level) {
		readings = append(readings, reading{base, level})
	}
	return readings
}

func found(model *Model, level string, err error) (*Model, string, error) {
	if err != nil {
		return nil, "", err
	}
	return model, level, nil
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i <= 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func noLevel(model *Model, level string) error {
	return fmt.Errorf("%w: %s has no thinking level %q; levels are %s", ErrNoModel, model.Ref(), level,
		strings.Join(OfferedLevels(model), ", "))
}

// qualified splits a name that begins with a provider's; s is nil for another.
func (m *Models) qualified(name string) (s *ProviderSpec, id string) {
	provider, id, _ := strings.Cut(name, "/")
	if id == "" {
		return nil, ""
	}
	return m.specFold(provider), id
}

// specFold is spec for a name in whatever case.
func (m *Models) specFold(name string) *ProviderSpec {
	if s := m.spec(name); s != nil {
		return s
	}
	for _, s := range m.providers() {
		if slices.ContainsFunc(append([]string{s.Name}, s.Aliases...), func(n string) bool { return strings.EqualFold(n, name) }) {
			return s
		}
	}
	return nil
}

// named finds exactly provider/id among what that provider lists.
func (m *Models) named(r reading) (*Model, error) {
	s, id := m.qualified(r.name)
	if s == nil {
		return nil, nil
	}
	return one(r.name, withID(m.list(s), id))
}

// withID returns the candidates of an id: as it is written, else in any case,
// else but for a date and punctuation.
func withID(candidates []*Model, id string) []*Model {
	plain := plainName(id)
	for _, alike := range []func(model string) bool{
		func(model string) bool { return model == id },
		func(model string) bool { return strings.EqualFold(model, id) },
		func(model string) bool {
			base, _ := dated(model)
			return plain != "" && plainName(base) == plain
		},
	} {
		if found := having(candidates, alike); len(found) > 0 {
			return found
		}
	}
	return nil
}

// behindSlash returns the candidates whose id ends in a slash and name, but for
// its punctuation: routers put the maker of a model before its name.
func behindSlash(candidates []*Model, name string) []*Model {
	plain := plainName(name)
	return having(candidates, func(id string) bool {
		i := strings.LastIndexByte(id, '/')
		return plain != "" && i >= 0 && plainName(id[i+1:]) == plain
	})
}

// having returns the candidates with an id that fits.
func having(candidates []*Model, fits func(id string) bool) (found []*Model) {
	for _, model := range candidates {
		if fits(model.ID) {
			found = append(found, model)
		}
	}
	return found
}

// exact finds a bare id at any provider. Where it looks like one of a provider
// that there is, only those count that can be used.
func (m *Models) exact(r reading) (*Model, error) {
	usable := m.Available()
	if model, err := one(r.name, withID(usable, r.name)); model != nil || err != nil {
		return model, err
	}
	if s, _ := m.qualified(r.name); s != nil {
		return nil, nil
	}
	if model, err := m.provider(r.name, usable); model != nil || err != nil {
		return model, err
	}
	if model, err := one(r.name, behindSlash(usable, r.name)); model != nil || err != nil {
		return model, err
	}
	return one(r.name, withID(m.All(), r.name))
}

// provider finds the model to begin with of the provider that is called name. Of
// one that cannot be used it counts only where the name means nothing else.
func (m *Models) provider(name string, usable []*Model) (*Model, error) {
	s := m.specFold(strings.TrimSuffix(name, "/"))
	if s == nil || s.Default == "" {
		return nil, nil
	}
	if !s.usable() {
		if model, err := best(name, usable, name, closeFit); model != nil || err != nil {
			return model, err
		}
	}
	return m.Find(s.Name, s.Default), nil
}

// meant finds what a name means that is no exact one.
func (m *Models) meant(r reading) (*Model, error) {
	s, id := m.qualified(r.name)
	if s == nil {
		return m.anywhere(r.name)
	}
	if model, err := best(r.name, m.list(s), id, closeFit); model != nil || err != nil {
		return model, err
	}
	if opened := s.open(id, r.level != ""); opened != nil {
		return opened, nil
	}
	if model, err := best(r.name, m.list(s), id, looseFit); model != nil || err != nil {
		return model, err
	}
	return m.anywhere(r.name)
}

// open makes a model of an unlisted id. One that may have a level at its end is
// not taken for an id, unless another level was cut off already. No id has blanks.
func (s *ProviderSpec) open(id string, cut bool) *Model {
	_, level, _ := cutLast(id, ':')
	if s.Open == nil || strings.ContainsAny(id, " \t\n") || ValidThinking(level) && !cut {
		return nil
	}
	return s.Open(id)
}

func (m *Models) anywhere(name string) (*Model, error) {
	unusable := func(s *ProviderSpec) bool { return !s.usable() }
	for _, fits := range []fitness{closeFit, looseFit} {
		for _, wanted := range []func(*ProviderSpec) bool{(*ProviderSpec).usable, unusable} {
			if model, err := best(name, m.listed(wanted), name, fits); model != nil || err != nil {
				return model, err
			}
		}
	}
	return nil, nil
}

// best returns the candidate that name fits best, nil if it fits none.
func best(ref string, candidates []*Model, name string, fits fitness) (*Model, error) {
	n := readName(name)
	if n.plain == "" {
		return nil, nil
	}
	var found []*Model
	grade := 0
	for _, model := range candidates {
		switch g := fits(n, model); {
		case g == 0 || grade != 0 && g > grade:
		case g == grade:
			found = append(found, model)
		default:
			found, grade = []*Model{model}, g
		}
	}
	return one(ref, found)
}

// one is the model that is meant if all of these fit.
func one(ref string, fitting []*Model) (*Model, error) {
	fitting = undatedOnly(fitting)
	switch len(fitting) {
	case 0:
		return nil, nil
	case 1:
		return fitting[0], nil
	}
	const shown = 10
	e := &AmbiguousError{Ref: ref}
	for _, model := range fitting {
		e.Candidates = append(e.Candidates, model.Ref())
	}
	slices.Sort(e.Candidates)
	if e.More = max(0, len(e.Candidates)-shown); e.More > 0 {
		e.Candidates = e.Candidates[:shown]
	}
	return nil, e
}

// unknown is the error for a name that nothing has, with those most like it.
func (m *Models) unknown(ref string) error {
	if near := m.nearest(ref); near != "" {
		return fmt.Errorf("%w: %q; did you mean %s? (/model or `pi models` lists them)", ErrNoModel, ref, near)
	}
	return fmt.Errorf("%w: %q (/model or `pi models` lists them)", ErrNoModel, ref)
}

// nearest is the model whose name is most like ref, one that can be used rather
// than another; "" if none is.
func (m *Models) nearest(ref string) string {
	name := strings.ToLower(ref)
	for _, candidates := range [][]*Model{m.Available(), m.All()} {
		near, least := "", len(name)/4+2
		for _, model := range candidates {
			for _, known := range []string{model.Ref(), model.ID} {
				if len(known)-len(name) >= least || len(name)-len(known) >= least {
					continue // farther than that
				}
				if d := suggest.Distance(name, strings.ToLower(known)); d < min(least, len(model.ID)) {
					near, least = model.Ref(), d
				}
			}
		}
		if near != "" {
			return near
		}
	}
	return ""
}
