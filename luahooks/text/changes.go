package text

import (
	"fmt"
	"slices"
	"strings"

	"pi/luavm"
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// What a handler changes in its event changes nothing: it looks at a copy, and what it returns
// counts. A handler that writes into what it might return, and does not use it from there on,
// meant to.

// checkChanges looks at a handler that is called as called says.
func (w *walk) checkChanges(n *ast.FunctionExpr, called *annotated.Func) {
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
	mayReturn := func(field string) bool { return w.check.types.Find(returns.class, field) != nil }
	c := &changes{event: n.ParList.Names[0], mayReturn: mayReturn, aliases: map[string]string{}, inLoop: map[*ast.AssignStmt]bool{}, shared: map[string]bool{}}
	c.readAliases(n.Stmts)
	luavm.Walk(n.Stmts, c.visit)
	for _, change := range c.open {
		w.warn(change.line, fmt.Sprintf("this changes nothing: return { %s = … }", change.field))
	}
}

// changes are those that a handler makes in its event.
type changes struct {
	event     string                   // the parameter
	mayReturn func(field string) bool  // whether the handler may return a field
	aliases   map[string]string        // locals that are a field of the event
	inLoop    map[*ast.AssignStmt]bool // no changes: what is used before them is used after them in the next round
	shared    map[string]bool          // fields that are kept elsewhere too
	open      []change                 // not used so far
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
	luavm.Walk(stmts, func(node luavm.Node) bool {
		for _, name := range namesIn(node) {
			declared[name]++
		}
		if local, ok := node.(*ast.LocalAssignStmt); ok && len(local.Names) == 1 && len(local.Exprs) == 1 {
			if of, field, isField := strings.Cut(pathOf(local.Exprs[0]), "."); isField && of == c.event && !strings.ContainsAny(field, ".(") {
				c.aliases[local.Names[0]] = field
			}
		}
		return true
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
func namesIn(node luavm.Node) (names []string) {
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

// visit reads the next statement or expression of the handler, and reports whether what is inside
// of it is still to be read. Where it names the event, or a field of it that was changed, what was
// changed before is used.
func (c *changes) visit(node luavm.Node) bool {
	switch n := node.(type) {
	case *ast.WhileStmt, *ast.RepeatStmt, *ast.NumberForStmt, *ast.GenericForStmt:
		luavm.Walk(luavm.Blocks(n)[0], func(node luavm.Node) bool {
			if write, ok := node.(*ast.AssignStmt); ok {
				c.inLoop[write] = true
			}
			return true
		})
	case *ast.AssignStmt:
		return !c.isChange(n)
	case *ast.AttrGetExpr:
		if field := c.fieldOf(n, false); field != "" {
			c.use(field)
			return false
		}
	case *ast.IdentExpr:
		if field := c.aliases[n.Value]; field != "" {
			c.use(field)
		} else if n.Value == c.event {
			c.open = nil
		}
	}
	return true
}

// isChange reports whether an assignment changes a field, which is noted. One that gives a field to
// something else is none, and changes of that field may be used there.
func (c *changes) isChange(n *ast.AssignStmt) bool {
	if c.inLoop[n] || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return false
	}
	field := c.fieldOf(n.Lhs[0], true)
	if field == "" {
		c.shared[c.fieldOf(n.Rhs[0], false)] = true
		return false
	}
	if !c.mayReturn(field) || c.shared[field] {
		return false
	}
	luavm.Walk(n.Rhs, func(node luavm.Node) bool {
		if of, ok := node.(ast.Expr); ok {
			if used := c.fieldOf(of, false); used != "" {
				c.use(used)
			}
		}
		return true
	})
	c.open = append(c.open, change{field, n.Lhs[0].Line()})
	return true
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

// use drops the changes of a field: something looks at it.
func (c *changes) use(field string) {
	c.open = slices.DeleteFunc(c.open, func(open change) bool { return open.field == field })
}
