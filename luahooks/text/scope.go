package text

import (
	"pi/luavm"
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// scope is the variables of a block.
type scope struct {
	above *scope
	names map[string]*variable
	fn    *function            // the innermost function around it; nil in the file itself
	tools map[*variable]string // the tool that an event is about here, see narrowed
}

// variable is a local, a parameter or a function of the file.
type variable struct {
	typ  *annotated.Type   // nil: nothing is known
	fn   *ast.FunctionExpr // that it is; nil: none, or nothing is known
	text *ast.StringExpr   // likewise

	called   *annotated.Func // of a parameter: how its function is called; nil: not known
	isAbsent bool            // nothing is given for the parameter
	declared declaration     // of a local without a value
}

// function is a function while it is read.
type function struct {
	returns *result // what its results are checked against; nil: nothing
	guarded bool    // it is given to pcall, so it may raise
	loads   bool    // it is called while the file loads
}

func (s *scope) inner() *scope { return &scope{above: s, names: map[string]*variable{}, fn: s.fn} }

// toolOf is the tool that an event is about here; "" if that is not known.
func (s *scope) toolOf(event *variable) string {
	for ; s != nil; s = s.above {
		if tool := s.tools[event]; tool != "" {
			return tool
		}
	}
	return ""
}

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
		if !w.assigned[name] {
			v.text, _ = e.(*ast.StringExpr)
		}
	}
	s.names[name] = v
}

// declare notes the functions that the file makes global, those in tables, the tools that it
// registers, and the variables that it assigns to, before it is read in its order: a function may
// run behind one that stands below it.
func (w *walk) declare(chunk []ast.Stmt) {
	luavm.Walk(chunk, func(n luavm.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok {
			for _, left := range assign.Lhs {
				w.assigned[pathOf(left)] = true
			}
		}
		if call, ok := n.(*ast.FuncCallExpr); ok && pathOf(call.Func) == "pi.tool" {
			w.brings[optionText(call, "name")] = true
		}
		def, ok := n.(*ast.FuncDefStmt)
		if !ok || def.Name.Receiver != nil {
			return true
		}
		if name, ok := def.Name.Func.(*ast.IdentExpr); ok {
			w.globals[name.Value] = def.Func
		} else if path := pathOf(def.Name.Func); path != "" {
			w.inferred.members[path] = true
		}
		return true
	})
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
