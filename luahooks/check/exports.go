package check

import (
	"fmt"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// checkExports finds what a hook returns that registers nothing: a table of functions named for
// events, as files of other programs do. Nobody calls them, so that a gate among them is none.
func checkExports(w *walk, chunk []ast.Stmt) {
	if len(chunk) == 0 || len(w.report.Listens) > 0 {
		return
	}
	last, ok := chunk[len(chunk)-1].(*ast.ReturnStmt)
	if !ok || len(last.Exprs) != 1 {
		return
	}
	switch returned := last.Exprs[0].(type) {
	case *ast.TableExpr:
		for _, field := range returned.Fields {
			if fn, ok := field.Value.(*ast.FunctionExpr); ok {
				checkExport(w, field.Key, fn)
			}
		}
	case *ast.IdentExpr:
		for _, stmt := range chunk {
			if def, ok := stmt.(*ast.FuncDefStmt); ok {
				if of, ok := def.Name.Func.(*ast.AttrGetExpr); ok && isNamed(of.Object, returned.Value) {
					checkExport(w, of.Key, def.Func)
				}
			}
		}
	}
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.IdentExpr)
	return ok && ident.Value == name
}

// checkExport says that nobody calls a function, if its name is that of an event.
func checkExport(w *walk, key ast.Expr, fn *ast.FunctionExpr) {
	if name, ok := key.(*ast.StringExpr); ok && slices.Contains(eventsOf(w.check), name.Value) {
		w.problem(fn.Line(), fmt.Sprintf("nobody calls %s of the table that the file returns; a handler is registered: pi.on(%q, fn)", name.Value, name.Value))
	}
}
