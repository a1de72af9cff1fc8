package repair

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua compiles the values of a multiple assignment straight into the
// local variables on its left, before it has read them all: a, b = b, a gives b
// twice. Such an assignment is rewritten: the tables and keys on its left are
// evaluated into locals, then the values on its right, then each variable is
// assigned.

// assignsTogether reports whether an assignment may be compiled wrongly. Fields
// of tables alone are safe.
func assignsTogether(s *ast.AssignStmt) bool {
	if len(s.Lhs) < 2 {
		return false
	}
	for _, target := range s.Lhs {
		if _, ok := target.(*ast.IdentExpr); ok {
			return true
		}
	}
	return false
}

// separated returns the statements that replace a multiple assignment: do local (value
// 1), … = values; last = (value n); … end. Before them it evaluates the tables and keys
// on the left.
func separated(s *ast.AssignStmt) *ast.DoBlockStmt {
	line := s.Line()
	block := &ast.DoBlockStmt{}
	block.SetLine(line)
	block.SetLastLine(max(line, s.LastLine()))
	keep := func(names []string, values []ast.Expr) {
		assign := &ast.LocalAssignStmt{Names: names, Exprs: values}
		assign.SetLine(line)
		block.Stmts = append(block.Stmts, assign)
	}
	for i, target := range s.Lhs {
		field, ok := target.(*ast.AttrGetExpr)
		if !ok {
			continue
		}
		object := fmt.Sprintf("(object %d)", i+1)
		keep([]string{object}, []ast.Expr{field.Object})
		field.Object = hidden(object, line)
		if _, isName := field.Key.(*ast.StringExpr); !isName {
			key := fmt.Sprintf("(key %d)", i+1)
			keep([]string{key}, []ast.Expr{field.Key})
			field.Key = hidden(key, line)
		}
	}
	var names []string
	for i := range s.Lhs {
		names = append(names, fmt.Sprintf("(value %d)", i+1))
	}
	keep(names, s.Rhs)
	for i := len(s.Lhs) - 1; i >= 0; i-- {
		assign := &ast.AssignStmt{Lhs: s.Lhs[i : i+1], Rhs: []ast.Expr{hidden(names[i], line)}}
		assign.SetLine(line)
		block.Stmts = append(block.Stmts, assign)
	}
	return block
}

// hidden returns a use of a local variable whose name no script can write.
func hidden(name string, line int) *ast.IdentExpr {
	ident := &ast.IdentExpr{Value: name}
	ident.SetLine(line)
	return ident
}
