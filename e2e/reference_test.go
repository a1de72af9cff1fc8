//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/luahooks/event"
)

// The tables of the reference are made of the annotations and of the table of
// events, so that an editor, the page and the program say the same. Between its
// marks nothing is written by hand.

const (
	referenceBegin = "<!-- reference -->\n"
	referenceEnd   = "<!-- /reference -->\n"
)

func TestTheReferenceOfTheGuideIsMadeOfTheAnnotations(t *testing.T) {
	generated(t, "docs/reference.md", referenceBegin, referenceEnd, reference(t, readAnnotations(t)))
}

// reference is the whole of it.
func reference(t *testing.T, a *annotations) string {
	r := &referenceWriter{t: t, a: a}
	r.heading("ctx")
	r.file("context.lua")
	r.heading("pi")
	r.file("pi.lua")
	r.heading("ctx.ui")
	r.file("ui.lua")
	for _, name := range ownModules() {
		module := a.modules[name]
		if module == nil {
			t.Errorf("%s is not annotated", name)
			continue
		}
		r.heading(name)
		r.file(module.file)
	}
	r.heading("What each event carries")
	r.events()
	r.heading("Records")
	r.file("records.lua")
	return r.b.String()
}

type referenceWriter struct {
	t *testing.T
	a *annotations
	b strings.Builder
}

func (r *referenceWriter) heading(title string) { fmt.Fprintf(&r.b, "\n### %s\n", title) }

// file lists the classes of a file. Options stand with their function.
func (r *referenceWriter) file(file string) {
	for _, c := range r.a.order {
		if c.file != file || r.isOptions(c) {
			continue
		}
		r.class(c)
	}
	for _, name := range slices.Sorted(maps.Keys(r.a.aliases)) {
		if alias := r.a.aliases[name]; alias.file == file {
			r.alias(alias)
		}
	}
}

// alias lists the values of an alias.
func (r *referenceWriter) alias(alias *annotatedAlias) {
	fmt.Fprintf(&r.b, "\n`%s`: %s\n", alias.name, alias.doc)
	if len(alias.values) == 0 {
		fmt.Fprintf(&r.b, "It is %s.\n", code(alias.typ))
		return
	}
	var values []string
	for _, v := range alias.values {
		text := "`" + v.name + "`"
		if v.doc != "" {
			text += " (" + v.doc + ")"
		}
		values = append(values, text)
	}
	fmt.Fprintf(&r.b, "It is %s.\n", strings.Join(values, ", "))
}

// isOptions reports whether a class only says what the last table of a function
// may have. Others of such a name, which a field or a function of the hook has, and those
// whose fields are too many for a row, stand for themselves.
func (r *referenceWriter) isOptions(c *annotatedClass) bool {
	return strings.HasSuffix(c.name, "Options") && c.name != "pi.RendererOptions" && c.name != "pi.SchemaOptions" && r.takenByAFunction(c)
}

func (r *referenceWriter) takenByAFunction(c *annotatedClass) bool {
	for _, class := range r.a.order {
		for _, m := range class.members {
			if m.fn != nil && slices.ContainsFunc(m.fn.params, func(p annotatedValue) bool { return isOneOf(c, p.typ) }) {
				return true
			}
		}
	}
	return false
}

// isOneOf reports whether a type is a class, or may be it beside others.
func isOneOf(c *annotatedClass, typ string) bool {
	return slices.Contains(strings.Split(typ, "|"), c.name)
}

func (r *referenceWriter) class(c *annotatedClass) {
	title := "`" + c.name + "`"
	switch {
	case r.a.modules[c.name] != nil:
		title = "`local " + strings.TrimPrefix(c.name, "pi.") + " = require \"" + c.name + "\"`"
	case c.parent != "":
		title += ", a `" + c.parent + "` with more"
	}
	fmt.Fprintf(&r.b, "\n%s: %s\n\n| | |\n|---|---|\n", title, c.doc)
	for _, m := range firstOn(c.members) {
		if m.fn != nil {
			r.row(signature(m), r.functionText(m))
			continue
		}
		r.row("`"+m.name+"` "+code(m.as()), m.doc)
	}
}

// firstOn puts pi.on, whose annotation is the longest, where readers look first.
func firstOn(members []*annotatedMember) []*annotatedMember {
	first := slices.Clone(members)
	slices.SortStableFunc(first, func(a, b *annotatedMember) int {
		switch {
		case a.name == "on" && b.name != "on":
			return -1
		case b.name == "on" && a.name != "on":
			return 1
		}
		return 0
	})
	return first
}

func (r *referenceWriter) row(left, right string) {
	fmt.Fprintf(&r.b, "| %s | %s |\n", inCell(left), inCell(right))
}

// inCell escapes what would end the cell of a table.
func inCell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func code(typ string) string {
	return "*" + strings.NewReplacer("*", "\\*", "<", "\\<", "_", "\\_", "[", "\\[").Replace(typ) + "*"
}

// signature is how a function is called: `name(a, b?)` → what it returns.
func signature(m *annotatedMember) string {
	var params []string
	for _, p := range m.fn.params {
		name := p.name
		if p.optional {
			name += "?"
		}
		params = append(params, name)
	}
	s := "`" + m.name + "(" + strings.Join(params, ", ") + ")`"
	var returns []string
	for _, v := range m.fn.returns {
		if v.name != "message" {
			returns = append(returns, code(v.typ))
			if v.name == "..." {
				returns = append(returns, "…")
			}
		}
	}
	if len(returns) > 0 {
		s += " → " + strings.Join(returns, ", ")
	}
	return s
}

// functionText is what a function does, with what its parameters mean, the
// options it takes, and when it fails.
func (r *referenceWriter) functionText(m *annotatedMember) string {
	parts := []string{m.doc}
	for _, p := range m.fn.params {
		if text := r.parameter(p); text != "" {
			parts = append(parts, fmt.Sprintf("`%s`: %s.", p.name, text))
		}
		for _, c := range r.a.order {
			if r.isOptions(c) && isOneOf(c, p.typ) {
				parts = append(parts, r.options(p.name, c))
			}
		}
	}
	for _, v := range m.fn.returns {
		if v.name == "message" {
			parts = append(parts, strings.TrimSuffix("Or nil and a message: "+v.doc, ": ")+".")
		}
	}
	return strings.Join(parts, " ")
}

// parameter says what a parameter is, as far as its name does not.
func (r *referenceWriter) parameter(p annotatedValue) string {
	c, typ := r.a.classes[strings.TrimSuffix(p.typ, "[]")], ""
	if c != nil && !r.isOptions(c) || r.a.aliases[p.typ] != nil || strings.HasPrefix(p.typ, "fun(") && !strings.Contains(p.typ, "fun()") {
		typ = code(p.typ)
	}
	return strings.Trim(typ+", "+p.doc, ", ")
}

func (r *referenceWriter) options(param string, c *annotatedClass) string {
	var options []string
	for _, m := range r.a.all(c) {
		text := "`" + m.name + "` " + code(m.as())
		if m.doc != "" {
			text += " " + m.doc
		}
		options = append(options, text)
	}
	return "`" + param + "`: " + strings.Join(options, "; ") + "."
}

// events says of each event what is in it, in the order of the table, and then
// what its parts are.
func (r *referenceWriter) events() {
	for _, e := range event.Infos() {
		event, result := r.a.classes[className(e.Name)+"Event"], r.a.classes[className(e.Name)+"Result"]
		if event == nil {
			r.t.Errorf("%s is not annotated", e.Name)
			continue
		}
		types := "`" + event.name + "`"
		if result != nil {
			types += " → `" + result.name + "`"
		}
		fmt.Fprintf(&r.b, "\n#### %s\n\n%s: %s\n", e.Name, types, event.doc)
		if len(e.Fields)+len(e.Results) == 0 {
			continue
		}
		r.b.WriteString("\n| | |\n|---|---|\n")
		r.eventFields("", event)
		r.eventFields("returns ", result)
	}
	for _, c := range r.a.order {
		if c.file == "event_records.lua" {
			r.class(c)
		}
	}
}

func (r *referenceWriter) eventFields(lead string, c *annotatedClass) {
	if c == nil {
		return
	}
	for _, m := range c.members {
		if m.name != "type" || m.fn != nil {
			r.row(lead+"`"+m.name+"` "+code(m.as()), m.doc)
		}
	}
}

// A reader who comes upon the name of a type finds it on the page: whatever a field, a
// parameter or a result is said to be.
func TestTheReferenceDefinesEveryTypeThatItNames(t *testing.T) {
	page := mustRead(t, inModule("docs/reference.md"))
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^`(?:local \\w+ = require \")?(pi[.\\w]*)\"?`(?: → `([.\\w]+)`)?[:,]").FindAllStringSubmatch(page, -1) {
		defined[m[1]], defined[m[2]] = true, true
	}
	if len(defined) < 100 {
		t.Fatalf("only %d types are defined", len(defined))
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\*[^*\n]*\*`).FindAllString(page, -1) {
		for _, name := range regexp.MustCompile(`\bpi\.\w+`).FindAllString(m, -1) {
			if !defined[name] && !seen[name] {
				t.Errorf("%s is nowhere defined", name)
			}
			seen[name] = true
		}
	}
	if len(seen) < 80 {
		t.Errorf("only %d types are named", len(seen))
	}
}

// Who reads "the value of each" takes a list for granted, and keeps the first value only.
func TestTheReferenceSaysWhichFunctionGivesSeveralValues(t *testing.T) {
	page := mustRead(t, inModule("docs/reference.md"))
	for _, row := range []string{"| `all(functions, opts?)` → *any*, … | "} {
		if !strings.Contains(page, row) {
			t.Errorf("there is no %q", row)
		}
	}
}
