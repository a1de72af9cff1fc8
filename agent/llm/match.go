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

// Unwrap returns ErrNoModel, so that callers who only want to know whether a name means
// one model need no second check.
func (e *AmbiguousError) Unwrap() error { return ErrNoModel }

// match finds the model that ref means, see [Models.Match]. Unlike there, level may be set
// together with an error.
func (p providers) match(ref string) (model *Model, level string, err error) {
	ref = strings.TrimSpace(ref)
	if strings.HasPrefix(ref, ":") {
		return nil, "", fmt.Errorf("%w: %q has a level and no name", ErrNoModel, ref)
	}
	readings := readingsOf(ref)
	for _, find := range []func(reading) (*Model, error){p.findQualified, p.findExact} {
		for _, r := range readings {
			if model, err := find(r); model != nil || err != nil {
				return model, r.level, err
			}
		}
	}
	for _, r := range slices.Backward(readings) {
		if model, err := p.findLike(r); model != nil || err != nil {
			return model, r.level, err
		}
	}
	if base, suffix, cut := cutLast(ref, ':'); cut && len(readings) == 1 {
		if model, _, err := p.match(base); err == nil {
			return nil, "", fmt.Errorf("%w: %s has no thinking level %q; levels are %s", ErrNoModel, model.Ref(), suffix,
				strings.Join(OfferedLevels(model), ", "))
		}
	}
	return nil, "", fmt.Errorf("%w: %q%s (/model or `pi models` lists them)", ErrNoModel, ref, didYouMean(p.nearest(ref)))
}

// reading is one way to read a reference: as a name, or as a name and a level that is cut
// off it.
type reading struct{ name, level string }

// readingsOf returns how ref can be read: as a name, and, if it ends in a thinking level,
// as a name with that level.
func readingsOf(ref string) []reading {
	readings := []reading{{name: ref}}
	if base, level, ok := cutLast(ref, ':'); ok && ValidThinking(level) {
		readings = append(readings, reading{base, level})
	}
	return readings
}

// cutLast cuts s at its last sep. found is false if there is none, or nothing before it.
func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i <= 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// qualified splits a name of the form provider/id. s is nil if it has no such form, or the
// provider is not known.
func (p providers) qualified(name string) (s *ProviderSpec, id string) {
	provider, id, _ := strings.Cut(name, "/")
	if id == "" {
		return nil, ""
	}
	return p.findFold(provider), id
}

// findQualified finds exactly provider/id among what that provider lists.
func (p providers) findQualified(r reading) (*Model, error) {
	s, id := p.qualified(r.name)
	if s == nil {
		return nil, nil
	}
	return onlyOne(r.name, withID(s.list(), id))
}

// withID returns the candidates of an id: as it is written, else in any case,
// else but for a date and punctuation.
func withID(candidates []*Model, id string) []*Model {
	plain := plainName(id)
	for _, alike := range []func(model string) bool{
		func(model string) bool { return model == id },
		func(model string) bool { return strings.EqualFold(model, id) },
		func(model string) bool {
			base, _ := Dated(model)
			return plain != "" && plainName(base) == plain
		},
	} {
		if found := having(candidates, alike); len(found) > 0 {
			return found
		}
	}
	return nil
}

// having returns the candidates for whose id fits is true.
func having(candidates []*Model, fits func(id string) bool) (found []*Model) {
	for _, model := range candidates {
		if fits(model.ID) {
			found = append(found, model)
		}
	}
	return found
}

// findExact finds a bare id among the models that can be used.
func (p providers) findExact(r reading) (*Model, error) {
	usable := p.models((*ProviderSpec).isUsable)
	if model, err := onlyOne(r.name, withID(usable, r.name)); model != nil || err != nil {
		return model, err
	}
	if s, _ := p.qualified(r.name); s != nil {
		return nil, nil
	}
	if model, err := p.findDefault(r.name, usable); model != nil || err != nil {
		return model, err
	}
	plain := plainName(r.name)
	afterMaker := having(usable, func(id string) bool { // routers put the maker of a model before its name
		i := strings.LastIndexByte(id, '/')
		return plain != "" && i >= 0 && plainName(id[i+1:]) == plain
	})
	return onlyOne(r.name, afterMaker)
}

// findDefault returns the default model of the provider called name; nil if there is no
// such provider or it has no default. If that provider cannot be used, a usable model of
// another one that fits the name is preferred.
func (p providers) findDefault(name string, usable []*Model) (*Model, error) {
	s := p.findFold(strings.TrimSuffix(name, "/"))
	if s == nil || s.Default == "" {
		return nil, nil
	}
	if s.isUnusable() {
		if model, err := best(name, usable, name, anyFit); model != nil || err != nil {
			return model, err
		}
	}
	return s.model(s.Default), nil
}

// findLike finds the model that an inexact name fits best. An id of a known provider goes
// to that as it is written, if it is not plainly one of those listed.
func (p providers) findLike(r reading) (*Model, error) {
	if s, id := p.qualified(r.name); s != nil {
		if model, err := best(r.name, s.list(), id, closeFit); model != nil || err != nil {
			return model, err
		}
		if opened := s.open(id, r.level != ""); opened != nil {
			return opened, nil
		}
		if model, err := best(r.name, s.list(), id, anyFit); model != nil || err != nil {
			return model, err
		}
	}
	if model, err := best(r.name, p.models((*ProviderSpec).isUsable), r.name, anyFit); model != nil || err != nil {
		return model, err
	}
	unusable := p.models((*ProviderSpec).isUnusable)
	if model, err := onlyOne(r.name, withID(unusable, r.name)); model != nil || err != nil {
		return model, err
	}
	return best(r.name, unusable, r.name, anyFit)
}

// open asks the provider for a model whose id it does not list; nil if there is none. An
// id with a blank is refused, and so is one that ends in a thinking level, or is a listed one
// with a slip of a level, unless another level was cut off its end (cut).
func (s *ProviderSpec) open(id string, cut bool) *Model {
	base, level, _ := cutLast(id, ':')
	isLevel := ValidThinking(level) || isNearLevel(level) && len(withID(s.list(), base)) > 0
	if s.Open == nil || strings.ContainsAny(id, " \t\n") || isLevel && !cut {
		return nil
	}
	return s.Open(id)
}

// isNearLevel reports whether a word is spelt much like a thinking level, in whatever case.
func isNearLevel(word string) bool {
	const shortest, slips = 3, 2
	return len(word) >= shortest && slices.ContainsFunc(ThinkingLevels(), func(level string) bool {
		return suggest.Distance(strings.ToLower(word), level) < min(slips+1, len(level))
	})
}

// best returns the candidate that name fits best by the grades of fits; nil if it fits
// none. If several are equally good, the error is an *AmbiguousError.
func best(ref string, candidates []*Model, name string, fits fitness) (*Model, error) {
	n := piecesOf(name)
	if len(n) == 0 {
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
	return onlyOne(ref, found)
}

// onlyOne returns the only model of those that fit, after older dates of the same model
// are removed: nil if there is none, and an *AmbiguousError if there are several.
func onlyOne(ref string, fitting []*Model) (*Model, error) {
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
