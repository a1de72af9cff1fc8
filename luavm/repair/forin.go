package repair

import (
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua compiles the expressions of a generic for into registers that it
// has already given to the loop's hidden variables. A call inside an operator
// there, as in
//
//	for line in (s:upper() .. "\n"):gmatch("(.-)\n") do
//
// is then compiled as one without a result, and the loop fails. Such a loop is rewritten:
// its expressions are first assigned to locals, which are compiled correctly.

var hiddenNames = []string{"(loop 1)", "(loop 2)", "(loop 3)"}

// hoisted returns what replaces a loop: do local (loop 1), … = exprs; for names in (loop
// 1), … do … end end. It changes the expressions of the loop itself.
func hoisted(loop *ast.GenericForStmt) *ast.DoBlockStmt {
	assign := &ast.LocalAssignStmt{Names: hiddenNames, Exprs: loop.Exprs}
	assign.SetLine(loop.Line())
	loop.Exprs = nil
	for _, name := range hiddenNames {
		loop.Exprs = append(loop.Exprs, hidden(name, loop.Line()))
	}
	block := &ast.DoBlockStmt{Stmts: []ast.Stmt{assign, loop}}
	block.SetLine(loop.Line())
	block.SetLastLine(loop.LastLine())
	return block
}

// callsInOperator reports whether one of the expressions is a method call on something
// other than a name, a text or a field, such as (a .. b):gmatch(…).
func callsInOperator(exprs []ast.Expr) bool {
	for _, e := range exprs {
		if call, ok := e.(*ast.FuncCallExpr); ok && call.Receiver != nil {
			switch call.Receiver.(type) {
			case *ast.IdentExpr, *ast.StringExpr, *ast.AttrGetExpr:
			default:
				return true
			}
		}
	}
	return false
}
