package text

import (
	"slices"

	"pi/luavm"

	"github.com/yuin/gopher-lua/ast"
)

// A gate is shut when its handler raises. One that catches the error itself has to shut itself,
// and a handler that calls pcall and does nothing where that is false is open when it fails.

// openGate is what is said of one.
const openGate = "this gate is open when pcall catches an error: block where it is false, or leave pcall out"

// gates looks at the handlers that a call of pi.on or pi.mode registers for gates.
func (w *walk) gates(n *ast.FuncCallExpr, name string, s *scope) {
	var event string
	var handler ast.Expr
	if len(n.Args) > 1 && name == "pi.on" {
		handler = n.Args[1]
		if text, ok := n.Args[0].(*ast.StringExpr); ok {
			event = text.Value
		}
	}
	if sys := w.check.systems.byOn[w.functionOf(w.typeOf(n.Func, s))]; sys != nil {
		event = sys.ours(event)
	}
	if name == "pi.mode" && len(n.Args) > 0 {
		if t, ok := n.Args[0].(*ast.TableExpr); ok {
			event, handler = "tool_call", valueOf(t, "gate")
		}
	}
	if !slices.Contains([]string{"tool_call", "user_bash", "shell", "project_trust"}, event) {
		return
	}
	g := &gate{walk: w, scope: s, seen: map[*ast.FunctionExpr]bool{}}
	g.handler(handler)
}

// valueOf is the field of a table; nil for none.
func valueOf(t *ast.TableExpr, name string) ast.Expr {
	for _, f := range t.Fields {
		if key, ok := f.Key.(*ast.StringExpr); ok && key.Value == name {
			return f.Value
		}
	}
	return nil
}

// gate is one handler that decides, with the functions of the file that it calls.
type gate struct {
	walk  *walk
	scope *scope
	seen  map[*ast.FunctionExpr]bool
}

// handler looks at what is registered: a function, its name, or what a function of the file
// makes of one.
func (g *gate) handler(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FunctionExpr:
		g.function(e)
	case *ast.IdentExpr:
		g.named(e.Value)
	case *ast.FuncCallExpr:
		if name, ok := e.Func.(*ast.IdentExpr); ok {
			g.named(name.Value)
		}
		for _, arg := range e.Args {
			g.handler(arg)
		}
	}
}

// named looks at a function of the file.
func (g *gate) named(name string) {
	if v := g.scope.find(name); v != nil && v.fn != nil {
		g.function(v.fn)
	} else if fn := g.walk.globals[name]; fn != nil && v == nil {
		g.function(fn)
	}
}

// function looks at a function, at those in it, and at those of the file that it calls.
func (g *gate) function(fn *ast.FunctionExpr) {
	if g.seen[fn] {
		return
	}
	g.seen[fn] = true
	g.block(fn.Stmts, nil)
	luavm.Walk(fn.Stmts, func(n luavm.Node) bool {
		switch n := n.(type) {
		case *ast.FunctionExpr:
			g.function(n)
			return false
		case *ast.FuncCallExpr:
			if name, ok := n.Func.(*ast.IdentExpr); ok {
				g.named(name.Value)
			}
		}
		return true
	})
}

// block looks for calls of pcall in statements; after is what follows on them in the function.
func (g *gate) block(stmts, after []ast.Stmt) {
	for i, stmt := range stmts {
		rest := slices.Concat(stmts[i+1:], after)
		switch n := stmt.(type) {
		case *ast.FuncCallStmt:
			if call := protected(n.Expr); call != nil {
				g.warn(call, false)
			}
		case *ast.LocalAssignStmt:
			if call := protectedIn(n.Exprs); call != nil && len(n.Names) > 0 {
				g.warn(call, shutsWithout(n.Names[0], rest))
			}
		case *ast.AssignStmt:
			if call := protectedIn(n.Rhs); call != nil {
				name := pathOf(n.Lhs[0])
				g.warn(call, shutsWithout(name, rest))
			}
		case *ast.IfStmt:
			g.condition(n, rest)
		case *ast.FuncDefStmt:
			continue // it runs when it is called
		}
		for _, inner := range luavm.Blocks(stmt) {
			g.block(inner, rest)
		}
	}
}

// condition looks at if pcall(f) and if not pcall(f).
func (g *gate) condition(n *ast.IfStmt, rest []ast.Stmt) {
	if not, ok := n.Condition.(*ast.UnaryNotOpExpr); ok {
		if call := protected(not.Expr); call != nil {
			g.warn(call, shuts(n.Then))
		}
		return
	}
	if call := protected(n.Condition); call != nil {
		g.warn(call, shuts(n.Else) || alwaysShuts("", rest))
	}
}

func (g *gate) warn(call *ast.FuncCallExpr, isShut bool) {
	if !isShut {
		g.walk.warn(call.Line(), openGate)
	}
}

// protected is a call of pcall or xpcall; nil for another expression.
func protected(e ast.Expr) *ast.FuncCallExpr {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok {
		return nil
	}
	if path := pathOf(call.Func); path == "pcall" || path == "xpcall" {
		return call
	}
	return nil
}

// protectedIn is the call of pcall that the first of some values comes from.
func protectedIn(values []ast.Expr) *ast.FuncCallExpr {
	if len(values) == 0 {
		return nil
	}
	return protected(values[0])
}

// shutsWithout reports whether statements shut the gate, or raise, where a variable is false.
func shutsWithout(ok string, stmts []ast.Stmt) bool {
	for i, stmt := range stmts {
		switch n := stmt.(type) {
		case *ast.IfStmt:
			if !mentions([]ast.Expr{n.Condition}, ok) {
				if shutsWithout(ok, n.Then) || shutsWithout(ok, n.Else) {
					return true
				}
				continue
			}
			if negates(ok, n.Condition) {
				return shuts(n.Then)
			}
			return shuts(n.Else) || alwaysShuts(ok, stmts[i+1:])
		case *ast.ReturnStmt:
			return mentions(n.Exprs, ok) && !isNilWithout(ok, n.Exprs[0])
		case *ast.FuncCallStmt:
			if call, isCall := n.Expr.(*ast.FuncCallExpr); isCall && pathOf(call.Func) == "assert" && mentions(call.Args, ok) {
				return true
			}
		}
	}
	return false
}

// isNilWithout reports whether a value is nil where a variable is false: ok and r or nil.
func isNilWithout(name string, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NilExpr:
		return true
	case *ast.LogicalOpExpr:
		return e.Operator == "or" && isFalseWithout(name, e.Lhs) && isNilWithout(name, e.Rhs)
	}
	return false
}

// isFalseWithout reports whether a value is nil or false where a variable is false.
func isFalseWithout(name string, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return e.Value == name
	case *ast.FalseExpr:
		return true
	case *ast.LogicalOpExpr:
		if e.Operator == "and" {
			return isFalseWithout(name, e.Lhs) || isFalseWithout(name, e.Rhs)
		}
	}
	return isNilWithout(name, e)
}

// mentions reports whether a variable stands in statements or expressions.
func mentions[N luavm.Node](nodes []N, name string) (found bool) {
	luavm.Walk(nodes, func(n luavm.Node) bool {
		found = found || isNamed(n, name)
		return !found
	})
	return found
}

// negates reports whether a condition holds where a variable is false: not ok, ok == false,
// and what is joined to them with or.
func negates(name string, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.UnaryNotOpExpr:
		return mentions([]ast.Expr{e.Expr}, name)
	case *ast.RelationalOpExpr:
		_, isFalse := e.Rhs.(*ast.FalseExpr)
		_, isTrue := e.Rhs.(*ast.TrueExpr)
		return mentions([]ast.Expr{e.Lhs}, name) && (e.Operator == "==" && isFalse || e.Operator == "~=" && isTrue)
	case *ast.LogicalOpExpr:
		return e.Operator == "or" && (negates(name, e.Lhs) || negates(name, e.Rhs))
	}
	return false
}

// shuts reports whether statements return an answer or raise, somewhere.
func shuts(stmts []ast.Stmt) (found bool) {
	luavm.Walk(stmts, func(n luavm.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			found = found || isAnswer(n)
		case *ast.FuncCallExpr:
			found = found || pathOf(n.Func) == "error"
		}
		return !found
	})
	return found
}

// isAnswer reports whether a return gives back something else than nil.
func isAnswer(n *ast.ReturnStmt) bool {
	if len(n.Exprs) == 0 {
		return false
	}
	_, isNil := n.Exprs[0].(*ast.NilExpr)
	return !isNil
}

// alwaysShuts reports whether statements end with an answer where a variable is false, or
// raise.
func alwaysShuts(ok string, stmts []ast.Stmt) bool {
	for _, stmt := range stmts {
		switch n := stmt.(type) {
		case *ast.ReturnStmt:
			return isAnswer(n) && !isNilWithout(ok, n.Exprs[0])
		case *ast.FuncCallStmt:
			if call, isCall := n.Expr.(*ast.FuncCallExpr); isCall && pathOf(call.Func) == "error" {
				return true
			}
		}
	}
	return false
}
