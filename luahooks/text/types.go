package text

import (
	"strings"

	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// typeOf is the type of an expression; nil if it is not known.
func (w *walk) typeOf(e ast.Expr, s *scope) *annotated.Type {
	switch n := e.(type) {
	case *ast.StringExpr, *ast.StringConcatOpExpr:
		return &annotated.Type{Kind: annotated.Basic, Name: "string"}
	case *ast.IdentExpr:
		if v := s.find(n.Value); v != nil {
			return v.typ
		}
		if n.Value == "pi" {
			return &annotated.Type{Kind: annotated.Named, Name: "pi"}
		}
	case *ast.AttrGetExpr:
		return w.typeOfField(n, s)
	case *ast.FuncCallExpr:
		return w.typeOfCall(n, s)
	case *ast.LogicalOpExpr:
		if left := w.only(w.typeOf(n.Lhs, s)); n.Operator == "or" && left != nil {
			return left
		}
		if n.Operator == "and" {
			return w.typeOf(n.Rhs, s)
		}
	}
	return nil
}

func (w *walk) typeOfField(n *ast.AttrGetExpr, s *scope) *annotated.Type {
	if of, ok := n.Object.(*ast.IdentExpr); ok && s.find(of.Value) == nil {
		switch {
		case of.Value == "_G" && keyOf(n) == "pi":
			return named("pi")
		case of.Value == "os" && keyOf(n) == "getenv":
			return calling(&annotated.Func{Name: "os.getenv", Variadic: true})
		}
	}
	object := w.only(w.typeOf(n.Object, s))
	if object == nil {
		return nil
	}
	if input := w.inputOf(n, object, s); input != nil {
		return input
	}
	if class := w.check.types.Class(object.Name); object.Kind == annotated.Named && class != nil {
		if m := w.check.types.Find(class, keyOf(n)); m != nil {
			return m.Type
		}
	}
	if object.Kind == annotated.Table && len(object.Of) > 0 && keyOf(n) == "" {
		return object.Of[len(object.Of)-1]
	}
	return nil
}

func (w *walk) typeOfCall(n *ast.FuncCallExpr, s *scope) *annotated.Type {
	path := pathOf(n.Func)
	if name := required(n); name != "" {
		if class := w.check.types.Module(name); class != nil {
			return &annotated.Type{Kind: annotated.Named, Name: class.Name}
		}
		return nil
	}
	if path == "assert" && len(n.Args) > 0 {
		return w.typeOf(n.Args[0], s)
	}
	if fn := w.functionOf(w.typeOf(n.Func, s)); n.Func != nil && fn != nil && len(fn.Returns) > 0 {
		return fn.Returns[0]
	}
	return nil
}

// required is the module of require "name"; "" for another call, and for a name that is computed.
func required(n *ast.FuncCallExpr) string {
	if isNamed(n.Func, "require") && len(n.Args) > 0 {
		if module, ok := n.Args[0].(*ast.StringExpr); ok {
			return module.Value
		}
	}
	return ""
}

// isCompat reports whether a module has the names of another system.
func isCompat(module string) bool { return strings.HasPrefix(module, "pi.compat") }

// only is the one type that a value has if it is not nil; nil if there are several.
func (w *walk) only(t *annotated.Type) *annotated.Type {
	var found *annotated.Type
	for _, part := range w.check.types.Parts(t) {
		if part.Kind == annotated.Basic && part.Name == "nil" {
			continue
		}
		if found != nil {
			return nil
		}
		found = part
	}
	return found
}

// functionOf is what a value of a type takes if it is called; nil if it is no function.
func (w *walk) functionOf(t *annotated.Type) *annotated.Func {
	if only := w.only(t); only != nil && only.Kind == annotated.Function {
		return only.Fn
	}
	return nil
}

// classOf is the class of a value of a type, if that is not nil; nil for none. Of a union it is
// the only class in it.
func (w *walk) classOf(t *annotated.Type) (class *annotated.Class) {
	for _, part := range w.check.types.Parts(t) {
		c := w.check.types.Class(part.Name)
		switch {
		case part.Kind == annotated.Named && c != nil && class == nil:
			class = c
		case part.Kind == annotated.Named && c != nil, part.Kind == annotated.Table, part.Kind == annotated.Any:
			return nil
		}
	}
	return class
}

// handlerOf is how the handlers of an event are called; nil for one that is not annotated.
func handlerOf(c *Checker, event string) *annotated.Func {
	on := c.types.Find(c.types.Class("pi"), "on")
	if on == nil {
		return nil
	}
	for _, overload := range on.Type.Fn.Overloads {
		if len(overload.Params) == 2 && overload.Params[0].Type.Name == event {
			return overload.Params[1].Type.Fn
		}
	}
	return nil
}

// eventsOf lists the events of the program.
func eventsOf(c *Checker) (names []string) {
	if on := c.types.Find(c.types.Class("pi"), "on"); on != nil {
		for _, overload := range on.Type.Fn.Overloads {
			if len(overload.Params) == 2 && overload.Params[0].Type.Kind == annotated.Literal {
				names = append(names, overload.Params[0].Type.Name)
			}
		}
	}
	return names
}
