package text

import (
	"fmt"
	"strings"

	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// What a handler changes in its event changes nothing: it looks at a copy, and what it returns
// counts. A handler that writes into what it might return, and does not use it from there on,
// meant to.

// checkChanges looks at a handler that is called as called says.
func checkChanges(w *walk, n *ast.FunctionExpr, called *annotated.Func) {
	if called == nil || len(called.Params) == 0 || len(n.ParList.Names) == 0 {
		return
	}
	returns := w.resultOf(called)
	if event := w.classOf(called.Params[0].Type); returns == nil || event == nil || !strings.HasSuffix(event.Name, "Event") {
		return
	}
	if _, isPorted := w.check.systems.results[returns.class.Name]; isPorted {
		return // where a change counts, the module says
	}
	c := &changes{event: n.ParList.Names[0], aliases: map[string]string{}, passed: map[any]bool{}, shared: map[string]bool{}}
	c.readAliases(n.Stmts)
	each(n.Stmts, func(node any) { c.visit(node, w.check.types, returns.class) })
	for _, change := range c.open {
		w.report.Warnings = append(w.report.Warnings, Place{fmt.Sprintf("this changes nothing: return { %s = … }", change.field), w.shown, change.line})
	}
}

// changes are those that a handler makes in its event.
type changes struct {
	event   string            // the parameter
	aliases map[string]string // locals that are a field of the event
	passed  map[any]bool      // expressions that are no use of a change: its own
	shared  map[string]bool   // fields that are kept elsewhere too
	open    []change          // not used so far
}

// change is a write into a field of the event.
type change struct {
	field string
	line  int
}

// readAliases finds the locals that are nothing but a field of the event. The event itself has
// to keep its name.
func (c *changes) readAliases(stmts []ast.Stmt) {
	declared := map[string]int{}
	each(stmts, func(node any) {
		for _, name := range namesIn(node) {
			declared[name]++
		}
		if local, ok := node.(*ast.LocalAssignStmt); ok && len(local.Names) == 1 && len(local.Exprs) == 1 {
			if of, field, isField := strings.Cut(pathOf(local.Exprs[0]), "."); isField && of == c.event && !strings.ContainsAny(field, ".(") {
				c.aliases[local.Names[0]] = field
			}
		}
	})
	for name := range c.aliases {
		if declared[name] > 1 {
			delete(c.aliases, name)
		}
	}
	if declared[c.event] > 0 {
		c.event = ""
	}
}

// namesIn lists the variables that a statement or a function declares or sets.
func namesIn(node any) (names []string) {
	switch n := node.(type) {
	case *ast.LocalAssignStmt:
		return n.Names
	case *ast.NumberForStmt:
		return []string{n.Name}
	case *ast.GenericForStmt:
		return n.Names
	case *ast.FunctionExpr:
		return n.ParList.Names
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if name, ok := left.(*ast.IdentExpr); ok {
				names = append(names, name.Value)
			}
		}
	}
	return names
}

// visit reads the next statement or expression of the handler. Where it names the event, or a
// field of it that was changed, what was changed before is used.
func (c *changes) visit(node any, types *annotated.Set, results *annotated.Class) {
	if c.passed[node] {
		return
	}
	switch n := node.(type) {
	case *ast.WhileStmt:
		c.passWrites(n.Stmts)
	case *ast.RepeatStmt:
		c.passWrites(n.Stmts)
	case *ast.NumberForStmt:
		c.passWrites(n.Stmts)
	case *ast.GenericForStmt:
		c.passWrites(n.Stmts)
	case *ast.AssignStmt:
		c.assigned(n, types, results)
	case *ast.AttrGetExpr:
		if field := c.fieldOf(n, false); field != "" {
			c.use(field)
			eachExpr(func(inner any) { c.passed[inner] = true }, n)
		}
	case *ast.IdentExpr:
		if field := c.aliases[n.Value]; field != "" {
			c.use(field)
		} else if n.Value == c.event {
			c.open = nil
		}
	}
}

// passWrites makes the writes of a loop no changes: what is used before them there is used after
// them in the next round.
func (c *changes) passWrites(stmts []ast.Stmt) {
	each(stmts, func(node any) {
		if n, ok := node.(*ast.AssignStmt); ok {
			c.passed[n] = true
		}
	})
}

// assigned reads an assignment: a change of a field, or a field that something else gets, and
// whose changes may be used there.
func (c *changes) assigned(n *ast.AssignStmt, types *annotated.Set, results *annotated.Class) {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return
	}
	field := c.fieldOf(n.Lhs[0], true)
	if field == "" {
		c.shared[c.fieldOf(n.Rhs[0], false)] = true
		return
	}
	if types.Find(results, field) == nil || c.shared[field] {
		return
	}
	c.useIn(n.Rhs[0])
	c.open = append(c.open, change{field, n.Lhs[0].Line()})
	eachExpr(func(inner any) { c.passed[inner] = true }, n.Lhs[0], n.Rhs[0])
}

// fieldOf is the field of the event that an expression is in: input for event.input.command and
// event.input. With inside, "" for an alias itself, which a write sets and does not change.
func (c *changes) fieldOf(e ast.Expr, inside bool) string {
	for depth := 0; ; depth++ {
		switch n := e.(type) {
		case *ast.AttrGetExpr:
			if of, ok := n.Object.(*ast.IdentExpr); ok && of.Value == c.event && c.event != "" {
				return keyOf(n)
			}
			e = n.Object
			continue
		case *ast.IdentExpr:
			if inside && depth == 0 {
				return ""
			}
			return c.aliases[n.Value]
		}
		return ""
	}
}

// useIn notes what an expression uses.
func (c *changes) useIn(e ast.Expr) {
	eachExpr(func(node any) {
		if of, ok := node.(ast.Expr); ok {
			if field := c.fieldOf(of, false); field != "" && len(c.open) > 0 {
				c.use(field)
			}
		}
	}, e)
}

// use drops the changes of a field: something looks at it.
func (c *changes) use(field string) {
	kept := c.open[:0]
	for _, change := range c.open {
		if change.field != field {
			kept = append(kept, change)
		}
	}
	c.open = kept
}
