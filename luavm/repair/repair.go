// Package repair works around what gopher-lua compiles wrongly. [Chunk] rewrites a
// syntax tree before it is compiled: multiple assignments whose sides depend on one
// another (assign.go), and loops over the result of a call inside an operator
// (forin.go). What a program means stays the same, and so do the lines in its errors.
package repair

import (
	"github.com/yuin/gopher-lua/ast"

	"pi/luavm/source"
)

// maxNested bounds the walk over the syntax tree, of which source.Check lets only
// shallow ones through. No program survives a Go stack that is exhausted.
const maxNested = 100_000

// repairer rewrites the statements of a syntax tree that gopher-lua would
// compile wrongly into others that mean the same. It looks at every statement,
// those of functions inside expressions included.
type repairer struct{ depth int }

// Chunk rewrites a chunk in place. The error is source.ErrTooDeep.
func Chunk(chunk []ast.Stmt) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != source.ErrTooDeep {
				panic(r)
			}
			err = source.ErrTooDeep
		}
	}()
	(&repairer{}).block(chunk)
	return nil
}

// block rewrites statements, and those inside of them, in place.
func (r *repairer) block(stmts []ast.Stmt) {
	for i, s := range stmts {
		r.stmt(s)
		if better := repaired(s); better != nil {
			stmts[i] = better
		}
	}
}

// enter counts a level of the tree. Too many end the walk with a panic, which Chunk
// makes an error; stmt and expr count down again.
func (r *repairer) enter() {
	if r.depth++; r.depth > maxNested {
		panic(source.ErrTooDeep)
	}
}

// stmt rewrites the statements inside of a statement, functions in its expressions
// included.
func (r *repairer) stmt(s ast.Stmt) {
	r.enter()
	switch s := s.(type) {
	case *ast.AssignStmt:
		r.exprs(s.Lhs...)
		r.exprs(s.Rhs...)
	case *ast.LocalAssignStmt:
		r.exprs(s.Exprs...)
	case *ast.FuncCallStmt:
		r.expr(s.Expr)
	case *ast.DoBlockStmt:
		r.block(s.Stmts)
	case *ast.WhileStmt:
		r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.RepeatStmt:
		r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.IfStmt:
		r.expr(s.Condition)
		r.block(s.Then)
		r.block(s.Else)
	case *ast.NumberForStmt:
		r.exprs(s.Init, s.Limit, s.Step)
		r.block(s.Stmts)
	case *ast.GenericForStmt:
		r.exprs(s.Exprs...)
		r.block(s.Stmts)
	case *ast.FuncDefStmt:
		r.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		r.exprs(s.Exprs...)
	}
	r.depth--
}

func (r *repairer) exprs(es ...ast.Expr) {
	for _, e := range es {
		r.expr(e)
	}
}

// expr rewrites the bodies of the functions inside of an expression.
func (r *repairer) expr(e ast.Expr) {
	r.enter()
	switch e := e.(type) {
	case *ast.FunctionExpr:
		r.block(e.Stmts)
	case *ast.FuncCallExpr:
		r.exprs(e.Func, e.Receiver)
		r.exprs(e.Args...)
	case *ast.AttrGetExpr:
		r.exprs(e.Object, e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			r.exprs(f.Key, f.Value)
		}
	case *ast.LogicalOpExpr:
		r.exprs(e.Lhs, e.Rhs)
	case *ast.RelationalOpExpr:
		r.exprs(e.Lhs, e.Rhs)
	case *ast.StringConcatOpExpr:
		r.exprs(e.Lhs, e.Rhs)
	case *ast.ArithmeticOpExpr:
		r.exprs(e.Lhs, e.Rhs)
	case *ast.UnaryMinusOpExpr:
		r.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		r.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		r.expr(e.Expr)
	}
	r.depth--
}

// repaired returns the statement that has to replace s; nil if gopher-lua compiles s
// correctly.
func repaired(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.GenericForStmt:
		if callsInOperator(s.Exprs) {
			return hoisted(s)
		}
	case *ast.AssignStmt:
		if assignsTogether(s) {
			return separated(s)
		}
	}
	return nil
}
