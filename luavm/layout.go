package luavm

import (
	"bytes"
	"fmt"
	"slices"

	"pi/internal/printable"

	lua "github.com/yuin/gopher-lua"
)

// Layout is how JSON is laid out for people. The zero value leaves it as it is.
type Layout struct {
	Indent int      // blanks for each level; 0: all in one line
	Keys   []string // that come first in each object, in this order
	Most   int      // bytes of the result
}

// LayOut lays out valid JSON. It raises as [Building] does, and the error says that the result is
// too large or nested too deep.
func LayOut(L *lua.LState, raw []byte, how Layout) ([]byte, error) {
	l := layouter{Layout: how, L: L, rank: map[string]int{}}
	for i, key := range how.Keys {
		l.rank[key] = i + 1
	}
	if err := l.value(bytes.TrimSpace(raw), 0); err != nil {
		return nil, err
	}
	return l.out, nil
}

type layouter struct {
	Layout
	L    *lua.LState
	rank map[string]int
	out  []byte
}

// part is a member of an object, or an element.
type part struct {
	key, value []byte
	rank       int
}

// value adds a value that stands in so many others.
func (l *layouter) value(raw []byte, depth int) error {
	switch {
	case len(l.out)+len(raw) > l.Most:
		return fmt.Errorf("the JSON is larger than %s", printable.Bytes(l.Most))
	case depth > maxJSONDepth:
		return fmt.Errorf("nested more than %d deep", maxJSONDepth)
	case raw[0] != '{' && raw[0] != '[':
		l.out = append(l.out, raw...)
		return nil
	}
	var parts []part
	eachPart(raw, func(key, value []byte) {
		countPart(l.L, len(parts), 0)
		p := part{key, value, len(l.rank) + 1}
		if key != nil && len(l.rank) > 0 {
			if rank := l.rank[unquote(key)]; rank > 0 {
				p.rank = rank
			}
		}
		parts = append(parts, p)
	})
	slices.SortStableFunc(parts, func(a, b part) int { return a.rank - b.rank })
	l.out = append(l.out, raw[0])
	for i, p := range parts {
		if i > 0 {
			l.out = append(l.out, ',')
		}
		l.line(depth + 1)
		if p.key != nil {
			l.out = append(append(l.out, p.key...), ':')
			if l.Indent > 0 {
				l.out = append(l.out, ' ')
			}
		}
		if err := l.value(p.value, depth+1); err != nil {
			return err
		}
	}
	if len(parts) > 0 {
		l.line(depth)
	}
	l.out = append(l.out, raw[len(raw)-1])
	return nil
}

// line begins a line.
func (l *layouter) line(depth int) {
	if l.Indent > 0 {
		l.out = append(append(l.out, '\n'), bytes.Repeat([]byte(" "), l.Indent*depth)...)
	}
}
