package luavm

import (
	"bytes"
	"reflect"

	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua compiles the expressions of a generic for into registers that it
// has already given to the loop's hidden variables. A call inside an operator
// there, as in
//
//	for line in (s:upper() .. "\n"):gmatch("(.-)\n") do
//
// is then taken to leave no value, and the loop dies. Such a loop is rewritten:
// its expressions are first assigned to locals, which are compiled correctly.

var hiddenNames = []string{"(loop 1)", "(loop 2)", "(loop 3)"}

func repairLoops(src []byte, chunk []ast.Stmt) {
	if mayHoldOne(src) {
		walkLoops(reflect.ValueOf(chunk))
	}
}

// mayHoldOne finds "in (" in source that may hold such a loop; nothing else is
// walked.
func mayHoldOne(src []byte) bool {
	for {
		i := bytes.Index(src, []byte("in"))
		if i < 0 {
			return false
		}
		src = src[i+2:]
		if next := bytes.TrimLeft(src, " \t\r\n"); len(next) > 0 && next[0] == '(' {
			return true
		}
	}
}

// walkLoops rewrites the loops in everything that v holds.
func walkLoops(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			walkLoops(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walkLoops(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkLoops(v.Index(i))
			if loop, ok := v.Index(i).Interface().(*ast.GenericForStmt); ok && callsInOperator(loop.Exprs) {
				v.Index(i).Set(reflect.ValueOf(hoisted(loop)))
			}
		}
	}
}

// hoisted is do local (loop 1), … = exprs; for names in (loop 1), … do … end end.
func hoisted(loop *ast.GenericForStmt) *ast.DoBlockStmt {
	assign := &ast.LocalAssignStmt{Names: hiddenNames, Exprs: loop.Exprs}
	assign.SetLine(loop.Line())
	loop.Exprs = nil
	for _, name := range hiddenNames {
		ident := &ast.IdentExpr{Value: name}
		ident.SetLine(loop.Line())
		loop.Exprs = append(loop.Exprs, ident)
	}
	block := &ast.DoBlockStmt{Stmts: []ast.Stmt{assign, loop}}
	block.SetLine(loop.Line())
	block.SetLastLine(loop.LastLine())
	return block
}

// callsInOperator reports whether the receiver of a method call is computed by
// an operator.
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
