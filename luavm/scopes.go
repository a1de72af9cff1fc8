package luavm

import (
	"cmp"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua notes wrongly where the scopes of locals end: it takes the register of a local for
// its place in the list of all locals of the function, so behind a loop messages would name the
// variables of the loop. [number] gives the nodes of a tree numbers for lines, which say of which
// statement an instruction is. By them [numbers.restore] finds where the scopes end, and it puts
// the lines back.

// numbers is what stands behind the numbers of a tree.
type numbers struct {
	spots      []spot // by number; 0 is not one
	statements int
}

// spot is what the number of a node stands for.
type spot struct {
	line, statement int
	function        *ast.FunctionExpr // that the node is; nil for any other
}

// number gives all nodes of a chunk numbers for lines. A node without a line gets none.
func number(chunk []ast.Stmt) *numbers {
	n := &numbers{spots: make([]spot, 1)}
	for _, stmt := range chunk {
		n.statement(stmt)
	}
	if len(chunk) > 0 {
		n.end(chunk[len(chunk)-1])
	}
	return n
}

// end numbers the last line of a chunk: the compiler adds one to it, which is where the chunk ends.
func (n *numbers) end(stmt ast.Stmt) {
	s := n.spots[cmp.Or(stmt.LastLine(), stmt.Line())]
	stmt.SetLastLine(len(n.spots))
	n.spots = append(n.spots, s, spot{line: s.line + 1})
}

// statement numbers a statement and all that is inside of it.
func (n *numbers) statement(stmt ast.Stmt) {
	n.statements++
	own := n.statements
	visit := func(node Node) bool {
		if inner, ok := node.(ast.Stmt); ok {
			n.statement(inner)
			return false
		}
		n.node(node, own)
		return true
	}
	n.node(stmt, own)
	if def, ok := stmt.(*ast.FuncDefStmt); ok {
		Walk([]ast.Expr{def.Name.Func, def.Name.Receiver}, visit)
		n.node(def.Func, own)
	}
	walkInside(stmt, visit)
}

// node numbers one node of a statement.
func (n *numbers) node(node Node, statement int) {
	fn, _ := node.(*ast.FunctionExpr)
	first, last := node.Line(), node.LastLine()
	if first != 0 {
		node.SetLine(n.numberOf(spot{first, statement, fn}))
	}
	if last != 0 {
		node.SetLastLine(n.numberOf(spot{last, statement, fn}))
	}
}

// numberOf is the number of a spot. Those that follow one another in a line share one.
func (n *numbers) numberOf(s spot) int {
	if n.spots[len(n.spots)-1] != s {
		n.spots = append(n.spots, s)
	}
	return len(n.spots) - 1
}

// restore notes in a function of these statements, and in those in it, where the scopes of locals
// end, and gives it its lines. Its parameters are the locals before those of the statements.
func (n *numbers) restore(p *lua.FunctionProto, stmts []ast.Stmt, params int) {
	s := scopes{numbers: n, locals: p.DbgLocals, last: map[int]int{}}
	for pc, number := range p.DbgSourcePositions {
		s.last[n.spots[number].statement] = pc
	}
	s.block(stmts, s.declared(params), len(p.Code)-1)
	for _, inner := range p.FunctionPrototypes {
		fn := n.spots[inner.LineDefined].function
		n.restore(inner, fn.Stmts, paramsOf(inner))
	}
	p.LineDefined, p.LastLineDefined = n.spots[p.LineDefined].line, n.spots[p.LastLineDefined].line
	for pc, number := range p.DbgSourcePositions {
		p.DbgSourcePositions[pc] = n.spots[number].line
	}
}

// paramsOf counts the locals that a function begins with: with self and arg, which it has besides
// those that are written.
func paramsOf(p *lua.FunctionProto) int {
	count := int(p.NumParameters)
	if p.IsVarArg&lua.VarArgHasArg != 0 {
		count++
	}
	return count
}

// scopes goes through the statements of a function in their order, which is that of its locals.
type scopes struct {
	*numbers
	locals []*lua.DbgLocalInfo // those that are not declared yet
	last   map[int]int         // of a statement the last instruction
}

// declared takes the next locals.
func (s *scopes) declared(count int) []*lua.DbgLocalInfo {
	all := s.locals[:count:count]
	s.locals = s.locals[count:]
	return all
}

// block ends the scopes of the locals of a block, of which it has some already: with its last
// instruction, which it returns and which is not before end.
func (s *scopes) block(stmts []ast.Stmt, locals []*lua.DbgLocalInfo, end int) int {
	for _, stmt := range stmts {
		end = max(end, s.lastOf(stmt))
		if assign, ok := stmt.(*ast.LocalAssignStmt); ok {
			locals = append(locals, s.declared(len(assign.Names))...)
			continue
		}
		end = max(end, s.inside(stmt))
	}
	for _, l := range locals {
		l.EndPc = end + 1
	}
	return end
}

// lastOf is the last instruction that a statement has itself.
func (s *scopes) lastOf(stmt ast.Stmt) int { return s.last[s.spots[stmt.Line()].statement] }

// hiddenInLoop is how many locals a for loop has before the author's.
const hiddenInLoop = 3

// inside ends the scopes inside of a statement, and returns the last instruction there.
func (s *scopes) inside(stmt ast.Stmt) (end int) {
	switch n := stmt.(type) {
	case *ast.NumberForStmt:
		return s.block(n.Stmts, s.declared(hiddenInLoop+1), s.lastOf(n))
	case *ast.GenericForStmt:
		return s.block(n.Stmts, s.declared(hiddenInLoop+len(n.Names)), s.lastOf(n))
	case *ast.RepeatStmt: // the condition sees the locals
		return s.block(n.Stmts, nil, s.lastOf(n))
	case *ast.FuncDefStmt:
		return 0
	}
	for _, block := range Blocks(stmt) {
		end = max(end, s.block(block, nil, 0))
	}
	return end
}
