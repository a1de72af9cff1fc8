package luavm

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// Works around what gopher-lua compiles wrongly: [repair] rewrites a syntax tree before it is
// compiled: multiple assignments whose sides depend on one another, and loops over the result
// of a call inside an operator. What a program means stays the same, and so do the lines in its errors.

// repair rewrites a chunk in place: those statements that gopher-lua would compile wrongly
// become others that mean the same.
func repair(chunk []ast.Stmt) {
	replace := func(block []ast.Stmt) {
		for i, s := range block {
			if better := repaired(s); better != nil {
				block[i] = better
			}
		}
	}
	replace(chunk)
	Walk(chunk, func(n Node) bool {
		for _, block := range Blocks(n) { // before they are walked
			replace(block)
		}
		return true
	})
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
