package text

import (
	"fmt"
	"slices"
	"strings"

	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// inferred is what is known of the functions and variables of a file, from all that stands in it.
type inferred struct {
	handlers  map[string]*annotated.Func      // how functions are called, by their variable; nil: in several ways
	args      map[string][]*annotated.Type    // pi and the like, where they are given to functions of the file
	variables map[declaration]*annotated.Type // that get their value later
	members   map[string]bool                 // functions in tables, as they are written
}

// declaration is the i-th variable of a local without a value.
type declaration struct {
	stmt *ast.LocalAssignStmt
	i    int
}

// size grows whenever more is known.
func (k *inferred) size() int {
	n := len(k.handlers) + len(k.variables)
	for _, types := range k.args {
		n += len(types)
		for _, t := range types {
			if t != nil {
				n++
			}
		}
	}
	return n
}

// called is how a function of the file is called; nil if nothing is known of that.
func (k *inferred) called(name string) *annotated.Func {
	if fn := k.handlers[name]; fn != nil {
		return fn
	}
	types := k.args[name]
	if len(types) == 0 {
		return nil
	}
	fn := &annotated.Func{Variadic: true} // it may get more
	for _, t := range types {
		fn.Params = append(fn.Params, annotated.Param{Type: t})
	}
	return fn
}

// learnHandler notes that a function of the file is called as fn says; one that is called in two ways is
// not known.
func (k *inferred) learnHandler(name string, fn *annotated.Func) {
	if fn == nil {
		return
	}
	if before, seen := k.handlers[name]; seen && before != fn {
		fn = nil
	}
	k.handlers[name] = fn
}

// learnArg notes what a function of the file gets for its i-th parameter.
func (k *inferred) learnArg(name string, i int, t *annotated.Type) {
	for len(k.args[name]) <= i {
		k.args[name] = append(k.args[name], nil)
	}
	if k.args[name][i] == nil {
		k.args[name][i] = t
	}
}

// learnHandlers notes the functions of the file that a call gives to functions of the API, by the
// name of the variable: handlers, and what stands in tables as handler or execute.
func (w *walk) learnHandlers(fn *annotated.Func, n *ast.FuncCallExpr) {
	if fn == nil {
		return
	}
	for i, arg := range n.Args {
		if i >= len(fn.Params) {
			return
		}
		if name, ok := arg.(*ast.IdentExpr); ok {
			w.inferred.learnHandler(name.Value, w.functionOf(fn.Params[i].Type))
		}
		t, isTable := arg.(*ast.TableExpr)
		class := w.classOf(fn.Params[i].Type)
		if !isTable || class == nil {
			continue
		}
		w.learnFields(class, t)
	}
}

// learnFields is learnHandlers for a table of a class.
func (w *walk) learnFields(class *annotated.Class, t *ast.TableExpr) {
	for _, f := range t.Fields {
		key, isText := f.Key.(*ast.StringExpr)
		if !isText {
			continue
		}
		m := w.check.types.Find(class, key.Value)
		if m == nil {
			continue
		}
		switch value := f.Value.(type) {
		case *ast.IdentExpr:
			w.inferred.learnHandler(value.Value, w.functionOf(m.Type))
		case *ast.TableExpr:
			if inner := w.classOf(m.Type); inner != nil {
				w.learnFields(inner, value)
			}
		}
	}
}

// learnVariable notes what a local gets after it was declared, if it is pi or the like.
func (w *walk) learnVariable(v *variable, e ast.Expr, s *scope) {
	t := w.typeOf(e, s)
	if !w.isAPI(t) {
		return
	}
	v.typ = t
	if v.declared.stmt != nil {
		w.inferred.variables[v.declared] = t
	}
}

// isAPI reports whether a value is pi, a module, or a function of them or of ctx: what a hook does
// outside of itself, it does with those.
func (w *walk) isAPI(t *annotated.Type) bool {
	only := w.only(t)
	switch {
	case only == nil:
		return false
	case only.Kind == annotated.Function:
		return only.Fn != nil && only.Fn.Name != ""
	case only.Kind != annotated.Named:
		return false
	}
	class := w.check.types.Class(only.Name)
	return class != nil && (class.Name == "pi" || w.check.types.Module(class.Name) == class)
}

// escapes says of pi and the like that it is given to what is not followed.
func (w *walk) escapes(e ast.Expr, s *scope) {
	if e == nil || !w.isAPI(w.typeOf(e, s)) {
		return
	}
	what := pathOf(e)
	if what == "" {
		what = "pi, or a module,"
	}
	w.unread(e.Line(), fmt.Sprintf("%s is handed on, so not all calls of it are followed", strings.ReplaceAll(what, "(…)", "")))
}

// learnArgs notes what a function of the file gets, and says of arguments that others get what
// is not followed there.
func (w *walk) learnArgs(n *ast.FuncCallExpr, s *scope) {
	path := pathOf(n.Func)
	if slices.Contains([]string{"assert", "type", "tostring", "print", "rawequal", "error"}, path) && s.find(path) == nil {
		return
	}
	v := s.find(path)
	isOfFile := v != nil && v.fn != nil || v == nil && w.globals[path] != nil || w.inferred.members[path]
	for i, arg := range n.Args {
		switch t := w.typeOf(arg, s); {
		case !w.isAPI(t), isProtected(path, s) && i == 0 && w.functionOf(t) != nil:
		case isOfFile:
			w.inferred.learnArg(path, i, t)
		default:
			w.escapes(arg, s)
		}
	}
}

// isProtected reports whether a path is that of pcall or xpcall.
func isProtected(path string, s *scope) bool {
	return (path == "pcall" || path == "xpcall") && s.find(path) == nil
}

// isLoading reports whether a function of Lua brings in code, or the names that it has.
func isLoading(name string) bool {
	return slices.Contains([]string{"require", "load", "loadstring", "getfenv", "setfenv"}, name)
}
