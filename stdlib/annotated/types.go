package annotated

import "strings"

// Kind is what a type is.
type Kind uint8

const (
	Any      Kind = iota
	Basic         // nil, string, number, boolean, userdata; integers are numbers
	Literal       // one string, or true or false; Name is its text
	Table         // any table; a list if Of has one type, a map if it has two
	Function      // Fn says what it takes, or is nil
	Named         // a class or an alias
	Union
)

// Type is the type of a value.
type Type struct {
	Kind Kind
	Name string
	Of   []*Type
	Fn   *Func
}

// Func is what a function takes and gives back.
type Func struct {
	Name      string // as an author writes it, such as "pi.exec"; "" for a parameter
	Params    []Param
	Variadic  bool
	Returns   []*Type
	Overloads []*Func
}

// Param is a parameter of a function.
type Param struct {
	Name     string
	Optional bool
	Type     *Type
}

// typeReader reads the type that a text begins with.
type typeReader struct{ rest string }

// parseType reads a type and returns what stands behind it.
func parseType(text string) (t *Type, rest string) {
	r := &typeReader{text}
	t = r.union()
	return t, strings.TrimPrefix(r.rest, " ")
}

// eat reports whether the rest begins with a text, and moves behind it.
func (r *typeReader) eat(text string) bool {
	rest, ok := strings.CutPrefix(r.rest, text)
	r.rest = rest
	return ok
}

// union is one or more types with | between them.
func (r *typeReader) union() *Type {
	parts := []*Type{r.postfixed()}
	for r.eat("|") {
		parts = append(parts, r.postfixed())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &Type{Kind: Union, Of: parts}
}

// postfixed is a type with [] or ? behind it.
func (r *typeReader) postfixed() *Type {
	t := r.primary()
	for {
		switch {
		case r.eat("[]"):
			t = &Type{Kind: Table, Of: []*Type{t}}
		case r.eat("?"):
			t = &Type{Kind: Union, Of: []*Type{t, {Kind: Basic, Name: "nil"}}}
		default:
			return t
		}
	}
}

func (r *typeReader) primary() *Type {
	switch {
	case r.eat("("):
		t := r.union()
		r.eat(")")
		return t
	case r.eat(`"`):
		text, rest, _ := strings.Cut(r.rest, `"`)
		r.rest = rest
		return &Type{Kind: Literal, Name: text}
	case r.eat("fun("):
		return &Type{Kind: Function, Fn: r.function()}
	case r.eat("table<"):
		key := r.union()
		r.eat(",")
		r.eat(" ")
		value := r.union()
		r.eat(">")
		return &Type{Kind: Table, Of: []*Type{key, value}}
	}
	return named(r.word())
}

// named is the type of a name.
func named(name string) *Type {
	switch name {
	case "any", "":
		return &Type{}
	case "integer", "number":
		return &Type{Kind: Basic, Name: "number"}
	case "nil", "string", "boolean", "userdata":
		return &Type{Kind: Basic, Name: name}
	case "true", "false":
		return &Type{Kind: Literal, Name: name}
	case "table":
		return &Type{Kind: Table}
	case "function":
		return &Type{Kind: Function}
	}
	return &Type{Kind: Named, Name: name}
}

// word is a name, with dots in it.
func (r *typeReader) word() string {
	n := 0
	for n < len(r.rest) && (isNameByte(r.rest[n]) || r.rest[n] == '.') {
		n++
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

func isNameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// function is what stands behind fun(: parameters, and the types of the results.
func (r *typeReader) function() *Func {
	f := new(Func)
	for !r.eat(")") && r.rest != "" {
		p := Param{Name: r.word(), Type: &Type{}}
		p.Optional = r.eat("?")
		if r.eat(": ") {
			p.Type = r.union()
		}
		f.add(p)
		if !r.eat(", ") && !strings.HasPrefix(r.rest, ")") {
			break
		}
	}
	if r.eat(": ") {
		f.Returns = []*Type{r.union()}
	}
	return f
}

// add adds a parameter; ... makes the function variadic.
func (f *Func) add(p Param) {
	if p.Name == "..." {
		f.Variadic = true
		return
	}
	f.Params = append(f.Params, p)
}
