package annotated

import (
	"fmt"
	"io/fs"
	"strings"
)

// Read reads the annotations in files.
func Read(files fs.FS) (*Set, error) {
	s := &Set{classes: map[string]*Class{}, aliases: map[string]*Type{}, modules: map[string]*Class{}}
	names, err := fs.Glob(files, "*.lua")
	if err != nil {
		return nil, fmt.Errorf("read the annotations: %w", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read the annotations: %w", err)
		}
		r := &reader{set: s, locals: map[string]*Class{}}
		for line := range strings.Lines(string(text)) {
			r.line(strings.TrimSuffix(line, "\n"))
		}
	}
	return s, nil
}

// reader reads one file, line by line. What stands above a function is kept until the
// function comes.
type reader struct {
	set    *Set
	module string
	locals map[string]*Class // by the variable of the file
	class  *Class            // that was begun
	alias  string            // whose values follow
	fn     *Func             // of the lines above a function
}

func (r *reader) line(line string) {
	rest, isTag := strings.CutPrefix(line, "---@")
	tag, rest, _ := strings.Cut(rest, " ")
	switch {
	case isTag:
		r.tag(tag, rest)
	case strings.HasPrefix(line, `---| "`) && r.set.aliases[r.alias] != nil:
		value, _, _ := strings.Cut(strings.TrimPrefix(line, `---| "`), `"`)
		a := r.set.aliases[r.alias]
		a.Of = append(a.Of, &Type{Kind: Literal, Name: value})
	case strings.HasPrefix(line, "function "):
		r.function(strings.TrimPrefix(line, "function "))
	case strings.HasSuffix(line, " = {}"):
		r.locals[strings.TrimPrefix(strings.TrimSuffix(line, " = {}"), "local ")] = r.class
	case strings.HasPrefix(line, "return "):
		r.set.modules[r.module] = r.locals[strings.TrimPrefix(line, "return ")]
	}
}

// tag reads a line that begins with ---@.
func (r *reader) tag(tag, rest string) {
	switch tag {
	case "meta":
		r.module = rest
	case "class":
		name, parent, _ := strings.Cut(rest, ": ")
		r.class = &Class{Name: name, Parent: parent}
		r.set.classes[name] = r.class
	case "field":
		r.field(rest)
	case "alias":
		name, typ, _ := strings.Cut(rest, " ")
		r.alias = name
		if t, _ := parseType(typ); typ != "" {
			r.set.aliases[name] = t
		} else {
			r.set.aliases[name] = &Type{Kind: Union}
		}
	case "param":
		name, typ, _ := strings.Cut(rest, " ")
		p := Param{Name: strings.TrimSuffix(name, "?"), Optional: strings.HasSuffix(name, "?")}
		p.Type, _ = parseType(typ)
		r.current().add(p)
	case "return":
		t, _ := parseType(rest)
		r.current().Returns = append(r.current().Returns, t)
	case "overload":
		if t, _ := parseType(rest); t.Kind == Function {
			r.current().Overloads = append(r.current().Overloads, t.Fn)
		}
	}
}

// current is the function that the lines before it describe.
func (r *reader) current() *Func {
	if r.fn == nil {
		r.fn = new(Func)
	}
	return r.fn
}

// field reads a field: its name, then its type.
func (r *reader) field(rest string) {
	if r.class == nil {
		return
	}
	if strings.HasPrefix(rest, "[") {
		r.class.Open = true
		return
	}
	name, typ, _ := strings.Cut(rest, " ")
	m := &Member{Name: strings.TrimSuffix(name, "?"), Optional: strings.HasSuffix(name, "?")}
	m.Type, _ = parseType(typ)
	r.class.Members = append(r.class.Members, m)
}

// function reads "ui.confirm(title, message, opts) end".
func (r *reader) function(text string) {
	object, rest, _ := strings.Cut(text, ".")
	name, _, _ := strings.Cut(rest, "(")
	fn, class := r.current(), r.locals[object]
	r.fn = nil
	if class == nil {
		return
	}
	fn.Name = r.written(object, class.Name) + "." + name
	class.Members = append(class.Members, &Member{Name: name, Type: &Type{Kind: Function, Fn: fn}})
}

// written is how an author calls a table of a class: ctx.ui, fs. One that is no module has the
// variable of the file, which has the name that handlers give it.
func (r *reader) written(object, class string) string {
	switch class {
	case "pi":
		return "pi"
	case "pi.Context", "pi.SettledContext", "pi.CommandContext":
		return "ctx"
	case "pi.UI":
		return "ctx.ui"
	case "pi.Session":
		return "ctx.session"
	case r.module:
		return strings.ToLower(strings.TrimPrefix(class, "pi."))
	}
	return object
}
