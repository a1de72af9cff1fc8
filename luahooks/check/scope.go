package check

import (
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// scope is the variables of a block.
type scope struct {
	above *scope
	names map[string]*variable
	fn    *function // the innermost function around it; nil in the file itself
}

// variable is a local, a parameter or a function of the file.
type variable struct {
	typ *annotated.Type   // nil: nothing is known
	fn  *ast.FunctionExpr // that it is; nil: none, or nothing is known
}

// function is a function while it is read.
type function struct {
	returns *result // what its results are checked against; nil: nothing
	guarded bool    // it is given to pcall, so it may raise
}

func (s *scope) inner() *scope { return &scope{above: s, names: map[string]*variable{}, fn: s.fn} }

func (s *scope) find(name string) *variable {
	for ; s != nil; s = s.above {
		if v := s.names[name]; v != nil {
			return v
		}
	}
	return nil
}

// all lists the names that can be used.
func (s *scope) all() (names []string) {
	for ; s != nil; s = s.above {
		for name := range s.names {
			names = append(names, name)
		}
	}
	return names
}

// bind declares a variable for what an expression gives.
func (w *walk) bind(s *scope, name string, e ast.Expr) {
	v := &variable{}
	if fn, ok := e.(*ast.FunctionExpr); ok {
		v.fn = fn
	} else if e != nil {
		v.typ = w.typeOf(e, s)
	}
	s.names[name] = v
}

// declare notes what the file makes global, and which of its functions are handlers, before it
// is read in its order.
func (w *walk) declare(chunk []ast.Stmt) {
	each(chunk, func(n any) {
		switch n := n.(type) {
		case *ast.FuncDefStmt:
			if name, ok := n.Name.Func.(*ast.IdentExpr); ok && n.Name.Receiver == nil {
				w.globals[name.Value] = n.Func
			}
		case *ast.FuncCallExpr:
			w.noteHandlers(n)
		}
	})
}

// noteHandlers notes the functions that a call of pi.on names, and those that stand in tables
// as handler or execute, by the name of the variable.
func (w *walk) noteHandlers(call *ast.FuncCallExpr) {
	if event, handler := listener(call); event != "" {
		if name, ok := handler.(*ast.IdentExpr); ok {
			w.note(name.Value, w.handlerOf(event))
		}
	}
	path := pathOf(call.Func)
	for _, arg := range call.Args {
		t, isTable := arg.(*ast.TableExpr)
		class := w.optionsOf(path, call, arg)
		if !isTable || class == nil {
			continue
		}
		for _, f := range t.Fields {
			key, isText := f.Key.(*ast.StringExpr)
			name, isName := f.Value.(*ast.IdentExpr)
			if isText && isName {
				if m := w.check.types.Find(class, key.Value); m != nil {
					w.note(name.Value, w.functionOf(m.Type))
				}
			}
		}
	}
}

// note notes that a function of the file is called as fn says; one that is called in two ways
// is not known.
func (w *walk) note(name string, fn *annotated.Func) {
	if fn == nil {
		return
	}
	if known, seen := w.handlers[name]; seen && known != fn {
		fn = nil
	}
	w.handlers[name] = fn
}

// listener returns the event and the handler of a call of pi.on with a literal name.
func listener(call *ast.FuncCallExpr) (event string, handler ast.Expr) {
	if pathOf(call.Func) != "pi.on" || len(call.Args) < 2 {
		return "", nil
	}
	if name, ok := call.Args[0].(*ast.StringExpr); ok {
		return name.Value, call.Args[1]
	}
	return "", nil
}

// pathOf is a name with dots as it is written; "" for anything else.
func pathOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return e.Value
	case *ast.AttrGetExpr:
		key, ok := e.Key.(*ast.StringExpr)
		if object := pathOf(e.Object); ok && object != "" {
			return object + "." + key.Value
		}
	case *ast.FuncCallExpr:
		if fn := pathOf(e.Func); fn != "" {
			return fn + "(…)"
		}
	}
	return ""
}
