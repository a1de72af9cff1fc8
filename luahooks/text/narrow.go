package text

import (
	"strings"

	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// A handler mostly begins with the tool that it is about: if event.tool_name ~= "bash" then
// return end. From there on the input of the event is that of this tool.

// narrowed is an inner scope in which a condition holds, or with holds false does not.
func (s *scope) narrowed(condition ast.Expr, holds bool) *scope {
	inner := s.inner()
	inner.narrow(condition, holds)
	return inner
}

// narrow notes what is known of events where a condition holds, or does not.
func (s *scope) narrow(condition ast.Expr, holds bool) {
	switch n := condition.(type) {
	case *ast.UnaryNotOpExpr:
		s.narrow(n.Expr, !holds)
	case *ast.LogicalOpExpr: // both sides hold of an "and" that does, and neither of an "or" that does not
		if (n.Operator == "and") == holds {
			s.narrow(n.Lhs, holds)
			s.narrow(n.Rhs, holds)
		}
	case *ast.RelationalOpExpr:
		if (n.Operator == "==") != holds || n.Operator != "==" && n.Operator != "~=" {
			return
		}
		left, right := n.Lhs, n.Rhs
		if textOf(left, s) != nil {
			left, right = right, left
		}
		tool := textOf(right, s)
		if of, field, isField := strings.Cut(pathOf(left), "."); isField && field == "tool_name" && tool != nil {
			if event := s.find(of); event != nil {
				if s.tools == nil {
					s.tools = map[*variable]string{}
				}
				s.tools[event] = tool.Value
			}
		}
	}
}

// leaves reports whether nothing behind these statements runs after them.
func leaves(stmts []ast.Stmt) bool {
	if len(stmts) == 0 {
		return false
	}
	switch n := stmts[len(stmts)-1].(type) {
	case *ast.ReturnStmt, *ast.BreakStmt:
		return true
	case *ast.FuncCallStmt:
		call, ok := n.Expr.(*ast.FuncCallExpr)
		return ok && pathOf(call.Func) == "error"
	}
	return false
}

// inputOf is the type of event.input where it is known to be that of a tool of the program; nil
// for anything else.
func (w *walk) inputOf(n *ast.AttrGetExpr, object *annotated.Type, s *scope) *annotated.Type {
	event, isName := n.Object.(*ast.IdentExpr)
	if !isName || keyOf(n) != "input" || object.Name != "pi.ToolCallEvent" && object.Name != "pi.ToolResultEvent" {
		return nil
	}
	tool := s.toolOf(s.find(event.Value))
	isOwn := w.brings[tool] || w.brings[computed] || w.brings[""]
	if tool == "" || tool != strings.ToLower(tool) || isOwn || w.check.types.Class(inputClass(tool)) == nil {
		return nil
	}
	return named(inputClass(tool))
}

// inputOf begins what messages call the input of a tool of the program.
const inputOf = "the input of "

// inputClass is the class of what a tool of the program takes.
func inputClass(tool string) string {
	return "pi." + strings.ToUpper(tool[:1]) + tool[1:] + "Input"
}

// textOf is a text, or a local that is one; nil for anything else.
func textOf(e ast.Expr, s *scope) *ast.StringExpr {
	switch e := e.(type) {
	case *ast.StringExpr:
		return e
	case *ast.IdentExpr:
		if v := s.find(e.Value); v != nil {
			return v.text
		}
	}
	return nil
}
