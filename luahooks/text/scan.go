package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"pi/luavm"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// Scanned is the modules and events that a Lua file names in its text, also where pi or pi.on has
// another name there.
type Scanned struct {
	Requires []string // names in require "…", sorted
	Events   []string // names in pi.on("…", …), sorted
	Dynamic  bool     // there is a require or a pi.on whose name is not in the text
}

// Scan finds in a file's syntax tree, without running it, the modules that it requires and
// the events that it listens to by a literal name. It returns an error for what is no Lua.
//
// It is for what decides on a file, so it asks for no types, and rather finds too much than too
// little: a name for pi counts in the whole file. What a [Checker] says, it says of one place.
func Scan(code []byte) (s Scanned, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be read as Lua: %v", r)
		}
	}()
	if _, err := luavm.CheckSource(code); err != nil {
		return Scanned{Dynamic: true}, fmt.Errorf("cannot be read as Lua: %w", err)
	}
	chunk, err := parse.Parse(bytes.NewReader(luavm.NormalSource(code)), "hook")
	if err != nil {
		return Scanned{Dynamic: true}, fmt.Errorf("cannot be read as Lua: %s", strings.TrimSpace(err.Error()))
	}
	names := aliasesOf(chunk)
	luavm.Walk(chunk, func(n luavm.Node) bool {
		call, ok := n.(*ast.FuncCallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		into := &s.Requires
		switch {
		case isNamed(call.Func, "require"):
		case names.isOn(call.Func):
			into = &s.Events
		default:
			return true
		}
		if name, ok := call.Args[0].(*ast.StringExpr); ok {
			*into = append(*into, name.Value)
		} else {
			s.Dynamic = true
		}
		return true
	})
	slices.Sort(s.Requires)
	slices.Sort(s.Events)
	s.Requires, s.Events = slices.Compact(s.Requires), slices.Compact(s.Events)
	return s, nil
}

// aliases are the names that a file has for pi and for pi.on. A name counts in the whole file.
type aliases struct {
	objects map[string]bool // pi, and what is pi or a module for hooks of another program
	on      map[string]bool
}

// maxAliases bounds how often a file is looked through for names of names.
const maxAliases = 4

// aliasesOf finds the names for pi and pi.on in a file.
func aliasesOf(chunk []ast.Stmt) aliases {
	a := aliases{map[string]bool{"pi": true}, map[string]bool{}}
	for range maxAliases {
		before := len(a.objects) + len(a.on)
		if len(chunk) > 0 {
			if last, ok := chunk[len(chunk)-1].(*ast.ReturnStmt); ok && len(last.Exprs) > 0 {
				a.parameter(last.Exprs[0])
			}
		}
		luavm.Walk(chunk, a.visit)
		if len(a.objects)+len(a.on) == before {
			break
		}
	}
	return a
}

// visit notes the names that a statement or a call gives to pi and pi.on.
func (a *aliases) visit(node luavm.Node) bool {
	switch n := node.(type) {
	case *ast.LocalAssignStmt:
		for i, name := range n.Names[:min(len(n.Names), len(n.Exprs))] {
			a.bind(name, n.Exprs[i])
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs[:min(len(n.Lhs), len(n.Rhs))] {
			if name, ok := left.(*ast.IdentExpr); ok {
				a.bind(name.Value, n.Rhs[i])
			}
		}
	case *ast.FuncCallExpr:
		if of, ok := n.Func.(*ast.AttrGetExpr); ok && keyOf(of) == "hook" && a.isObject(of.Object) && len(n.Args) > 0 {
			a.parameter(n.Args[0])
		}
	}
	return true
}

// bind notes what a variable gets.
func (a *aliases) bind(name string, e ast.Expr) {
	if a.isObject(e) {
		a.objects[name] = true
	}
	if a.isOn(e) {
		a.on[name] = true
	}
}

// parameter notes the first parameter of a function that is called with pi.
func (a *aliases) parameter(e ast.Expr) {
	if fn, ok := e.(*ast.FunctionExpr); ok && len(fn.ParList.Names) > 0 {
		a.objects[fn.ParList.Names[0]] = true
	}
}

// isObject reports whether an expression is pi, or a module for hooks of another program.
func (a *aliases) isObject(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return a.objects[e.Value]
	case *ast.FuncCallExpr:
		return isCompat(required(e))
	}
	return false
}

// isOn reports whether an expression is pi.on.
func (a *aliases) isOn(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return a.on[e.Value]
	case *ast.AttrGetExpr:
		return keyOf(e) == "on" && a.isObject(e.Object)
	}
	return false
}
