package luavm

import "github.com/yuin/gopher-lua/ast"

// Node is a statement or an expression of a syntax tree.
type Node = ast.PositionHolder

// Walk calls visit with each of some statements or expressions and, where it returns true, with all
// that is inside of that, in the order in which it runs. What a function does is inside of the
// expression or the statement that defines it; its name and its parameters are not visited. How
// deep a tree may be is bounded by [CheckSource].
func Walk[N Node](nodes []N, visit func(n Node) bool) {
	for _, n := range nodes {
		if any(n) != nil && visit(n) {
			walkInside(n, visit)
		}
	}
}

// walkInside is Walk for what is inside of one statement or expression.
func walkInside(n Node, visit func(n Node) bool) {
	exprs := func(all ...ast.Expr) { Walk(all, visit) }
	switch n := n.(type) {
	case *ast.AssignStmt:
		exprs(n.Lhs...)
		exprs(n.Rhs...)
	case *ast.LocalAssignStmt:
		exprs(n.Exprs...)
	case *ast.FuncCallStmt:
		exprs(n.Expr)
	case *ast.WhileStmt:
		exprs(n.Condition)
	case *ast.IfStmt:
		exprs(n.Condition)
	case *ast.NumberForStmt:
		exprs(n.Init, n.Limit, n.Step)
	case *ast.GenericForStmt:
		exprs(n.Exprs...)
	case *ast.ReturnStmt:
		exprs(n.Exprs...)
	case *ast.AttrGetExpr:
		exprs(n.Object, n.Key)
	case *ast.TableExpr:
		for _, field := range n.Fields {
			exprs(field.Key, field.Value)
		}
	case *ast.FuncCallExpr:
		exprs(n.Func, n.Receiver)
		exprs(n.Args...)
	case *ast.LogicalOpExpr:
		exprs(n.Lhs, n.Rhs)
	case *ast.RelationalOpExpr:
		exprs(n.Lhs, n.Rhs)
	case *ast.StringConcatOpExpr:
		exprs(n.Lhs, n.Rhs)
	case *ast.ArithmeticOpExpr:
		exprs(n.Lhs, n.Rhs)
	case *ast.UnaryMinusOpExpr:
		exprs(n.Expr)
	case *ast.UnaryNotOpExpr:
		exprs(n.Expr)
	case *ast.UnaryLenOpExpr:
		exprs(n.Expr)
	}
	for _, block := range Blocks(n) {
		Walk(block, visit)
	}
	if loop, ok := n.(*ast.RepeatStmt); ok {
		exprs(loop.Condition)
	}
}

// Blocks are the statements that are right inside of a statement or of a function.
func Blocks(n Node) [][]ast.Stmt {
	switch n := n.(type) {
	case *ast.DoBlockStmt:
		return [][]ast.Stmt{n.Stmts}
	case *ast.WhileStmt:
		return [][]ast.Stmt{n.Stmts}
	case *ast.RepeatStmt:
		return [][]ast.Stmt{n.Stmts}
	case *ast.IfStmt:
		return [][]ast.Stmt{n.Then, n.Else}
	case *ast.NumberForStmt:
		return [][]ast.Stmt{n.Stmts}
	case *ast.GenericForStmt:
		return [][]ast.Stmt{n.Stmts}
	case *ast.FuncDefStmt:
		return [][]ast.Stmt{n.Func.Stmts}
	case *ast.FunctionExpr:
		return [][]ast.Stmt{n.Stmts}
	}
	return nil
}
