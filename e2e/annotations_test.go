package e2e

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/stdlib"
)

// The annotations of stdlib/meta, read as a language server reads them, as far
// as they use its language. A line that this reader does not understand fails the
// test, so that nothing in them goes unchecked.

// annotations are all classes and aliases by name.
type annotations struct {
	classes map[string]*annotatedClass
	order   []*annotatedClass
	aliases map[string]*annotatedAlias
	modules map[string]*annotatedClass
}

type annotatedClass struct {
	name, parent, doc, file string
	members                 []*annotatedMember
}

// annotatedAlias is a name for a type, mostly for one of several strings.
type annotatedAlias struct {
	name, typ, doc, file string
	values               []annotatedValue // where each has a line of its own
}

// annotatedMember is a field or a function of a class.
type annotatedMember struct {
	name, typ, doc string
	optional       bool
	fn             *annotatedFunction // nil: a field
}

type annotatedFunction struct {
	params    []annotatedValue
	returns   []annotatedValue
	overloads []string
}

// annotatedValue is a parameter or a result.
type annotatedValue struct {
	name, typ, doc string
	optional       bool
}

// as is the type as the table of events writes it.
func (m *annotatedMember) as() string {
	if m.optional && m.typ != "any" {
		return m.typ + "?"
	}
	return m.typ
}

func (c *annotatedClass) member(name string) *annotatedMember {
	for _, m := range c.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// all are the members of a class and of those it extends.
func (a *annotations) all(c *annotatedClass) []*annotatedMember {
	if c == nil {
		return nil
	}
	return append(slices.Clone(a.all(a.classes[c.parent])), c.members...)
}

func readAnnotations(t *testing.T) *annotations {
	t.Helper()
	a := &annotations{classes: map[string]*annotatedClass{}, aliases: map[string]*annotatedAlias{}, modules: map[string]*annotatedClass{}}
	files, err := fs.Glob(stdlib.Annotations(), "*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no annotations: %v", err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(stdlib.Annotations(), file)
		if err != nil {
			t.Fatal(err)
		}
		r := &annotationReader{a: a, file: file, locals: map[string]*annotatedClass{}}
		for i, line := range strings.Split(string(text), "\n") {
			if err := r.line(line); err != nil {
				t.Errorf("%s:%d: %v", file, i+1, err)
			}
		}
	}
	return a
}

// annotationReader reads one file, line by line. What stands above a function is
// kept until the function comes.
type annotationReader struct {
	a      *annotations
	file   string
	module string // of ---@meta
	locals map[string]*annotatedClass
	doc    []string
	class  *annotatedClass
	alias  *annotatedAlias
	fn     annotatedFunction
}

var (
	classLine    = regexp.MustCompile(`^---@class ([\w.]+)(?:: ([\w.]+))?$`)
	fieldLine    = regexp.MustCompile(`^---@field (\[string\]|\[integer\]|\w+)(\?)? (.+)$`)
	aliasLine    = regexp.MustCompile(`^---@alias ([\w.]+)( .+)?$`)
	paramLine    = regexp.MustCompile(`^---@param (\w+|\.\.\.)(\?)? (.+)$`)
	functionLine = regexp.MustCompile(`^function (\w+)\.(\w+)\(([^)]*)\) end$`)
	localLine    = regexp.MustCompile(`^(?:local )?(\w+) = \{\}$`)
)

func (r *annotationReader) line(line string) error {
	switch {
	case strings.HasPrefix(line, "---@meta "):
		r.module = strings.TrimPrefix(line, "---@meta ")
	case strings.HasPrefix(line, "---@class "):
		return r.readClass(line)
	case strings.HasPrefix(line, "---@field "):
		return r.readField(line)
	case strings.HasPrefix(line, "---@alias "):
		m := aliasLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("not an alias: %s", line)
		}
		r.alias = &annotatedAlias{name: m[1], typ: strings.TrimSpace(m[2]), doc: r.takeDoc(), file: r.file}
		r.a.aliases[m[1]] = r.alias
	case r.alias != nil && strings.HasPrefix(line, `---| "`):
		value, doc, _ := strings.Cut(strings.TrimPrefix(line, "---| "), " # ")
		r.alias.values = append(r.alias.values, annotatedValue{name: strings.Trim(value, `"`), doc: doc})
	case strings.HasPrefix(line, "---@param "):
		m := paramLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("not a parameter: %s", line)
		}
		typ, doc := cutType(m[3])
		r.fn.params = append(r.fn.params, annotatedValue{m[1], typ, doc, m[2] != ""})
	case strings.HasPrefix(line, "---@return "):
		typ, rest := cutType(strings.TrimPrefix(line, "---@return "))
		name, doc, _ := strings.Cut(rest, " ")
		r.fn.returns = append(r.fn.returns, annotatedValue{name: name, typ: typ, doc: doc})
	case strings.HasPrefix(line, "---@overload "):
		r.fn.overloads = append(r.fn.overloads, strings.TrimPrefix(line, "---@overload "))
	case strings.HasPrefix(line, "--- "):
		r.doc = append(r.doc, strings.TrimPrefix(line, "--- "))
	case strings.HasPrefix(line, "function "):
		return r.readFunction(line)
	case localLine.MatchString(line):
		name := localLine.FindStringSubmatch(line)[1]
		if r.class == nil {
			return fmt.Errorf("%s has no class", name)
		}
		r.locals[name], r.class = r.class, nil
	case strings.HasPrefix(line, "return "):
		c := r.locals[strings.TrimPrefix(line, "return ")]
		if c == nil {
			return fmt.Errorf("returns something without a class")
		}
		r.a.modules[r.module] = c
	case line == "":
		r.class, r.alias = nil, nil
		if len(r.doc) > 0 || len(r.fn.params) > 0 {
			return fmt.Errorf("a description of nothing stands above")
		}
	case strings.HasPrefix(line, "-- "): // for readers of the file
	default:
		return fmt.Errorf("not understood: %s", line)
	}
	return nil
}

func (r *annotationReader) takeDoc() string {
	doc := strings.Join(r.doc, " ")
	r.doc = nil
	return doc
}

func (r *annotationReader) readClass(line string) error {
	m := classLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("not a class: %s", line)
	}
	if r.a.classes[m[1]] != nil {
		return fmt.Errorf("%s is there twice", m[1])
	}
	r.class = &annotatedClass{name: m[1], parent: m[2], doc: r.takeDoc(), file: r.file}
	r.a.classes[m[1]] = r.class
	r.a.order = append(r.a.order, r.class)
	return nil
}

func (r *annotationReader) readField(line string) error {
	m := fieldLine.FindStringSubmatch(line)
	switch {
	case m == nil:
		return fmt.Errorf("not a field: %s", line)
	case r.class == nil:
		return fmt.Errorf("a field without a class: %s", line)
	case r.class.member(m[1]) != nil:
		return fmt.Errorf("%s is there twice", m[1])
	case strings.HasPrefix(m[1], "["):
		return nil
	}
	typ, doc := cutType(m[3])
	r.class.members = append(r.class.members, &annotatedMember{name: m[1], typ: typ, doc: doc, optional: m[2] != ""})
	return nil
}

func (r *annotationReader) readFunction(line string) error {
	m := functionLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("not a function: %s", line)
	}
	c := r.locals[m[1]]
	switch {
	case c == nil:
		return fmt.Errorf("%s has no class", m[1])
	case c.member(m[2]) != nil:
		return fmt.Errorf("%s.%s is there twice", m[1], m[2])
	}
	fn := r.fn
	r.fn = annotatedFunction{}
	c.members = append(c.members, &annotatedMember{name: m[2], typ: "function", doc: r.takeDoc(), fn: &fn})
	var names []string
	for _, p := range fn.params {
		names = append(names, p.name)
	}
	if got := strings.Join(names, ", "); got != m[3] {
		return fmt.Errorf("%s takes %q, and %q is annotated", m[2], m[3], got)
	}
	return nil
}

// cutType cuts the type that text begins with from the description behind it.
func cutType(text string) (typ, rest string) {
	depth, quoted := 0, false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.ContainsRune("([{<", c):
			depth++
		case strings.ContainsRune(")]}>", c):
			depth--
		case c == ' ' && depth == 0 && !strings.HasSuffix(text[:i], ":"):
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}
