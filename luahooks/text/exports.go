package text

import (
	"fmt"
	"slices"
	"strings"

	"pi/luavm"

	"github.com/yuin/gopher-lua/ast"
)

// checkExports finds what a hook returns that registers nothing: a table of functions named for
// events, as files of other programs do. Nobody calls them, so that a gate among them is none.
func (w *walk) checkExports(chunk []ast.Stmt) {
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
				w.checkExport(field.Key, fn)
			}
		}
	case *ast.IdentExpr:
		for _, stmt := range chunk {
			if def, ok := stmt.(*ast.FuncDefStmt); ok {
				if of, ok := def.Name.Func.(*ast.AttrGetExpr); ok && isNamed(of.Object, returned.Value) {
					w.checkExport(of.Key, def.Func)
				}
			}
		}
	}
}

// checkIdle warns of a hook that registers nothing: it returns a table, or only defines a function.
// Where pi goes where it is not followed, nothing is said.
func (w *walk) checkIdle(chunk []ast.Stmt) {
	r := w.report
	if len(chunk) == 0 || len(r.Listens)+len(r.Unread)+len(r.Problems) > 0 || slices.ContainsFunc(r.Calls, isRegistering) {
		return
	}
	if last, ok := chunk[len(chunk)-1].(*ast.ReturnStmt); ok && len(last.Exprs) > 0 {
		switch returned := last.Exprs[0].(type) {
		case *ast.TableExpr:
			w.warn(last.Line(), ReturnedTable)
		case *ast.IdentExpr:
			if isTableIn(chunk, returned.Value) {
				w.warn(last.Line(), ReturnedTable)
			}
		}
		return
	}
	for _, stmt := range chunk {
		if def, ok := stmt.(*ast.FuncDefStmt); ok {
			if name := pathOf(def.Name.Func); isNamed(def.Name.Func, name) && !mentions(chunk, name) {
				w.warn(def.Line(), Uncalled(name))
			}
		}
	}
}

// isRegistering reports whether a function of pi registers something.
func isRegistering(name string) bool {
	name, ok := strings.CutPrefix(strings.Replace(name, "marvin.", "pi.", 1), "pi.")
	return ok && (registering(name) && name != "log" || strings.HasPrefix(name, "register_"))
}

// isTableIn reports whether a variable of a file is declared as a table.
func isTableIn(chunk []ast.Stmt, name string) bool {
	for _, stmt := range chunk {
		local, ok := stmt.(*ast.LocalAssignStmt)
		if !ok {
			continue
		}
		if i := slices.Index(local.Names, name); i >= 0 && i < len(local.Exprs) {
			_, isTable := local.Exprs[i].(*ast.TableExpr)
			return isTable
		}
	}
	return false
}

// isNamed reports whether an expression is a variable of a name.
func isNamed(e luavm.Node, name string) bool {
	ident, ok := e.(*ast.IdentExpr)
	return ok && ident.Value == name
}

// checkExport says that nobody calls a function, if its name is that of an event.
func (w *walk) checkExport(key ast.Expr, fn *ast.FunctionExpr) {
	if name, ok := key.(*ast.StringExpr); ok && slices.Contains(eventsOf(w.check), name.Value) {
		w.problem(fn.Line(), fmt.Sprintf("nobody calls %s of the table that the file returns; a handler is registered: pi.on(%q, fn)", name.Value, name.Value))
	}
}
