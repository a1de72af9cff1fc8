package text

import (
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// walk reads one file in its order.
type walk struct {
	check    *Checker
	report   *Report
	shown    string
	top      *scope
	requires []Place                      // modules beside the hook
	globals  map[string]*ast.FunctionExpr // functions that the file makes global
	brings   map[string]bool              // tools that the file registers, by their names; "" or computed: any
	assigned map[string]bool              // variables and fields that the file assigns to, by their paths
	inferred *inferred
	compat   string // the module for hooks of another program that it requires; "" for none
	isHook   bool   // what it returns is called
}

func newWalk(c *Checker, r *Report, shown string) *walk {
	k := &inferred{handlers: map[string]*annotated.Func{}, args: map[string][]*annotated.Type{}, variables: map[declaration]*annotated.Type{}, members: map[string]bool{}}
	return &walk{check: c, report: r, shown: shown, top: &scope{names: map[string]*variable{}}, globals: map[string]*ast.FunctionExpr{}, brings: map[string]bool{}, assigned: map[string]bool{}, inferred: k}
}

// place is what stands in a line of the file.
func (w *walk) place(line int, what string) Place { return Place{what, w.shown, line} }

func (w *walk) problem(line int, what string) {
	w.report.Problems = append(w.report.Problems, w.place(line, what))
}

func (w *walk) warn(line int, what string) {
	w.report.Warnings = append(w.report.Warnings, w.place(line, what))
}

func (w *walk) unread(line int, what string) {
	w.report.Unread = append(w.report.Unread, w.place(line, what))
}

// block reads statements in a scope of their own.
func (w *walk) block(stmts []ast.Stmt, s *scope) {
	for _, stmt := range stmts {
		w.statement(stmt, s)
	}
}

func (w *walk) statement(stmt ast.Stmt, s *scope) {
	switch n := stmt.(type) {
	case *ast.AssignStmt:
		w.assign(n, s)
	case *ast.LocalAssignStmt:
		w.local(n, s)
	case *ast.FuncCallStmt:
		w.expr(n.Expr, s)
	case *ast.DoBlockStmt:
		w.block(n.Stmts, s.inner())
	case *ast.WhileStmt:
		w.expr(n.Condition, s)
		w.block(n.Stmts, s.inner())
	case *ast.RepeatStmt:
		inner := s.inner()
		w.block(n.Stmts, inner)
		w.expr(n.Condition, inner)
	case *ast.IfStmt:
		w.expr(n.Condition, s)
		w.block(n.Then, s.narrowed(n.Condition, true))
		w.block(n.Else, s.narrowed(n.Condition, false))
		if len(n.Else) == 0 && leaves(n.Then) {
			s.narrow(n.Condition, false)
		}
	case *ast.NumberForStmt:
		w.exprs([]ast.Expr{n.Init, n.Limit, n.Step}, s)
		inner := s.inner()
		inner.names[n.Name] = &variable{}
		w.block(n.Stmts, inner)
	case *ast.GenericForStmt:
		w.generic(n, s)
	case *ast.FuncDefStmt:
		w.definition(n, s)
	case *ast.ReturnStmt:
		w.returned(n, s)
	}
}

// definition reads function a.b:c() end.
func (w *walk) definition(n *ast.FuncDefStmt, s *scope) {
	inner := s.inner()
	if n.Name.Receiver != nil {
		w.expr(n.Name.Receiver, s)
		inner.names["self"] = &variable{}
	} else if name, ok := n.Name.Func.(*ast.IdentExpr); ok {
		if v := s.find(name.Value); v != nil {
			v.fn = n.Func
		}
		w.function(n.Func, inner, w.inferred.called(name.Value), nil)
		return
	}
	w.function(n.Func, inner, w.inferred.called(pathOf(n.Name.Func)), nil)
}

// local reads local a, b = x, y.
func (w *walk) local(n *ast.LocalAssignStmt, s *scope) {
	for i, e := range n.Exprs {
		fn, isFunction := e.(*ast.FunctionExpr)
		if !isFunction || i >= len(n.Names) {
			w.expr(e, s)
			continue
		}
		w.bind(s, n.Names[i], e) // local function f() … f() … end
		w.function(fn, s, w.inferred.called(n.Names[i]), nil)
	}
	for i, name := range n.Names {
		var e ast.Expr
		if i < len(n.Exprs) {
			e = n.Exprs[i]
		}
		w.bind(s, name, e)
		if v := s.names[name]; e == nil {
			v.declared = declaration{n, i}
			v.typ = w.inferred.variables[v.declared]
		}
	}
}

// assign reads a, b.c = x, y. A variable that gets something else is not known any more.
func (w *walk) assign(n *ast.AssignStmt, s *scope) {
	for i, e := range n.Rhs {
		if fn, ok := e.(*ast.FunctionExpr); ok && i < len(n.Lhs) {
			w.function(fn, s, w.inferred.called(pathOf(n.Lhs[i])), nil)
			continue
		}
		w.expr(e, s)
	}
	for i, left := range n.Lhs {
		switch left := left.(type) {
		case *ast.IdentExpr:
			if v := s.find(left.Value); v != nil {
				v.typ, v.fn, v.text, v.isAbsent = nil, nil, nil, false
				if i < len(n.Rhs) {
					v.fn, _ = n.Rhs[i].(*ast.FunctionExpr)
					w.learnVariable(v, n.Rhs[i], s)
				}
			} else if w.globals[left.Value] == nil && !isStandard(left.Value) {
				w.problem(left.Line(), "assignment to undeclared global '"+left.Value+"' (use local)")
			}
		case *ast.AttrGetExpr:
			w.indexed(left.Object, keyOf(left), left.Line(), s)
			w.exprs([]ast.Expr{left.Object, left.Key}, s)
			if i < len(n.Rhs) {
				w.escapes(n.Rhs[i], s)
			}
		}
	}
}

// generic reads for a, b in …: of ipairs and pairs over a list the second is an element.
func (w *walk) generic(n *ast.GenericForStmt, s *scope) {
	w.exprs(n.Exprs, s)
	inner := s.inner()
	for _, name := range n.Names {
		inner.names[name] = &variable{}
	}
	if call, ok := n.Exprs[0].(*ast.FuncCallExpr); ok && len(n.Names) == 2 && len(call.Args) == 1 {
		if path := pathOf(call.Func); path == "ipairs" || path == "pairs" {
			if list := w.only(w.typeOf(call.Args[0], s)); list != nil && list.Kind == annotated.Table && len(list.Of) > 0 {
				inner.names[n.Names[1]].typ = list.Of[len(list.Of)-1]
			}
		}
	}
	w.block(n.Stmts, inner)
}

func (w *walk) exprs(all []ast.Expr, s *scope) {
	for _, e := range all {
		if e != nil {
			w.expr(e, s)
		}
	}
}

func (w *walk) expr(e ast.Expr, s *scope) {
	switch n := e.(type) {
	case *ast.IdentExpr:
		w.used(n, s)
		if isLoading(n.Value) && s.find(n.Value) == nil {
			w.unread(n.Line(), n.Value+" is handed on, so what it loads is not known")
		}
	case *ast.AttrGetExpr:
		w.indexed(n.Object, keyOf(n), n.Line(), s)
		w.exprs([]ast.Expr{n.Object, n.Key}, s)
		w.field(n, s)
	case *ast.TableExpr:
		for _, f := range n.Fields {
			w.exprs([]ast.Expr{f.Key, f.Value}, s)
			w.escapes(f.Value, s)
		}
	case *ast.FuncCallExpr:
		w.call(n, s)
	case *ast.LogicalOpExpr:
		w.expr(n.Lhs, s)
		w.expr(n.Rhs, s.narrowed(n.Lhs, n.Operator == "and"))
	case *ast.RelationalOpExpr:
		w.exprs([]ast.Expr{n.Lhs, n.Rhs}, s)
	case *ast.StringConcatOpExpr:
		w.operands("concat", n.Lhs, n.Rhs, s)
	case *ast.ArithmeticOpExpr:
		w.operands(n.Operator, n.Lhs, n.Rhs, s)
	case *ast.UnaryMinusOpExpr:
		w.expr(n.Expr, s)
	case *ast.UnaryNotOpExpr:
		w.expr(n.Expr, s)
	case *ast.UnaryLenOpExpr:
		w.expr(n.Expr, s)
	case *ast.FunctionExpr:
		w.function(n, s, nil, nil)
	}
}

// function reads a function that is called as called says, nil if that is not known; returns
// is what its results are checked against.
func (w *walk) function(n *ast.FunctionExpr, s *scope, called *annotated.Func, returns *result) {
	inner := s.inner()
	inner.fn = &function{returns: returns, guarded: s.fn != nil && s.fn.guarded, loads: w.check.mains[called]}
	if returns == nil && called != nil {
		inner.fn.returns = w.resultOf(called)
	}
	for i, name := range n.ParList.Names {
		inner.names[name] = w.parameter(name, i, called)
	}
	w.block(n.Stmts, inner)
	w.checkChanges(n, called)
}

// parameter is the i-th parameter of a function. Where nothing is known of what it gets, ctx and pi
// are what they are called.
func (w *walk) parameter(name string, i int, called *annotated.Func) *variable {
	v := &variable{}
	switch {
	case called != nil && i < len(called.Params) && called.Params[i].Type != nil:
		v.typ, v.called = called.Params[i].Type, called
	case called != nil && !called.Variadic:
		v.called, v.isAbsent = called, true
	case name == "ctx" && w.compat == "":
		v.typ = named("pi.CommandContext")
	case name == "ctx":
		v.typ = named(w.compat + ".Context")
	case name == "pi" && w.compat != "":
		v.typ = named(w.compat)
	case name == "pi":
		v.typ = named("pi")
	}
	return v
}

// keyOf is the literal key of a.key; "" for another.
func keyOf(n *ast.AttrGetExpr) string {
	if key, ok := n.Key.(*ast.StringExpr); ok {
		return key.Value
	}
	return ""
}
