package acptest

import (
	"strings"
)

// shape is what a value may look like.
type shape struct {
	kind    kind
	name    string   // of a shape or a type, or the text of a constant
	of      []shape  // the shapes of a union; that of the elements
	members []member // of an object
}

type kind int

const (
	kindName kind = iota
	kindConst
	kindUnion
	kindList
	kindMap
	kindObject
)

type member struct {
	name     string
	optional bool
	shape    shape
}

// isMeant reports whether v has the constants of the object s.
func (s shape) isMeant(v any) bool {
	all, ok := v.(map[string]any)
	if !ok || s.kind != kindObject {
		return false
	}
	meant := false
	for _, m := range s.members {
		if m.shape.kind == kindConst {
			if all[m.name] != m.shape.name {
				return false
			}
			meant = true
		}
	}
	return meant
}

// parseTable reads the table. It panics where that is wrong, for it is part of the program.
func parseTable(text string) map[string]shape {
	shapes := map[string]shape{}
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	p := &parser{rest: strings.Join(lines, "")}
	for p.space(); p.rest != ""; p.space() {
		name := p.word()
		p.need("=")
		shapes[name] = p.union()
	}
	return shapes
}

type parser struct{ rest string }

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take goes behind token if that is next.
func (p *parser) take(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *parser) need(token string) {
	if !p.take(token) {
		panic("the table lacks " + token + " before " + p.rest[:min(len(p.rest), 40)])
	}
}

// word reads a name.
func (p *parser) word() string {
	p.space()
	end := strings.IndexFunc(p.rest, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if end < 0 {
		end = len(p.rest)
	}
	if end == 0 {
		panic("the table lacks a name before " + p.rest[:min(len(p.rest), 40)])
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

func (p *parser) union() shape {
	of := []shape{p.single()}
	for p.take("|") {
		of = append(of, p.single())
	}
	if len(of) == 1 {
		return of[0]
	}
	return shape{kind: kindUnion, of: of}
}

func (p *parser) single() shape {
	switch {
	case p.take(`"`):
		text, rest, _ := strings.Cut(p.rest, `"`)
		p.rest = rest
		return shape{kind: kindConst, name: text}
	case p.take("["):
		s := shape{kind: kindList, of: []shape{p.union()}}
		p.need("]")
		return s
	case p.take("<"):
		s := shape{kind: kindMap, of: []shape{p.union()}}
		p.need(">")
		return s
	case p.take("{"):
		return p.object()
	}
	return shape{name: p.word()}
}

func (p *parser) object() shape {
	s := shape{kind: kindObject}
	for !p.take("}") {
		if len(s.members) > 0 {
			p.need(",")
		}
		m := member{name: p.word()}
		m.optional = p.take("?")
		p.need(":")
		m.shape = p.union()
		s.members = append(s.members, m)
	}
	return s
}
