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

// Registrations are what a Lua file gives the program when it is loaded, as far as names stand in
// its text.
type Registrations struct {
	Events, Tools, Commands, Modes []string // sorted
	// Computed: there may be more. A name is computed, or pi is handed to something, or what runs is.
	Computed bool
}

// Registered finds in a file's syntax tree, without running it, what it registers by literal names. It returns
// an error for what is no Lua, of which everything is computed.
func Registered(code []byte) (found Registrations, err error) {
	defer func() {
		if r := recover(); r != nil {
			found, err = Registrations{Computed: true}, fmt.Errorf("cannot be read as Lua: %v", r)
		}
	}()
	if _, err := luavm.CheckSource(code); err != nil {
		return Registrations{Computed: true}, fmt.Errorf("cannot be read as Lua: %w", err)
	}
	chunk, err := parse.Parse(bytes.NewReader(luavm.NormalSource(code)), "hook")
	if err != nil {
		return Registrations{Computed: true}, fmt.Errorf("cannot be read as Lua: %s", strings.TrimSpace(err.Error()))
	}
	r := registrations{aliases: aliasesOf(chunk), functions: map[string]string{}}
	for range maxAliases {
		before := len(r.functions)
		luavm.Walk(chunk, r.bind)
		if len(r.functions) == before {
			break
		}
	}
	luavm.Walk(chunk, r.visit)
	r.found.Computed = r.found.Computed || r.uses > 0
	for _, list := range []*[]string{&r.found.Events, &r.found.Tools, &r.found.Commands, &r.found.Modes} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r.found, nil
}

// registrations is a file that is looked through.
type registrations struct {
	aliases   aliases
	functions map[string]string // names of the file for a function of pi that registers, and its own
	found     Registrations
	uses      int // of pi and those functions that are not understood
}

// function is the function of pi that an expression is, if it registers what is looked for.
func (r *registrations) function(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return r.functions[e.Value]
	case *ast.AttrGetExpr:
		if key := keyOf(e); r.aliases.isObject(e.Object) && slices.Contains([]string{"on", "tool", "command", "mode"}, key) {
			return key
		}
	}
	return ""
}

// bind notes the names that a statement gives to those functions.
func (r *registrations) bind(node luavm.Node) bool {
	switch n := node.(type) {
	case *ast.LocalAssignStmt:
		for i, name := range n.Names[:min(len(n.Names), len(n.Exprs))] {
			if of := r.function(n.Exprs[i]); of != "" {
				r.functions[name] = of
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs[:min(len(n.Lhs), len(n.Rhs))] {
			if name, ok := left.(*ast.IdentExpr); ok && r.function(n.Rhs[i]) != "" {
				r.functions[name.Value] = r.function(n.Rhs[i])
			}
		}
	}
	return true
}

// visit notes what a node registers. It counts each use of pi and of its functions, and takes back those that
// are understood.
func (r *registrations) visit(node luavm.Node) bool {
	switch n := node.(type) {
	case *ast.IdentExpr:
		if r.aliases.objects[n.Value] || r.functions[n.Value] != "" {
			r.uses++
		}
		if slices.Contains([]string{"load", "loadstring", "getfenv", "setfenv", "_G", "dofile", "loadfile"}, n.Value) {
			r.found.Computed = true
		}
	case *ast.AttrGetExpr:
		_, isName := n.Object.(*ast.IdentExpr)
		if isName && r.aliases.isObject(n.Object) && keyOf(n) != "" {
			r.uses--
		}
		if r.function(n) != "" {
			r.uses++
		}
	case *ast.LocalAssignStmt:
		r.uses -= r.bound(n.Exprs, len(n.Names))
	case *ast.AssignStmt:
		for i, left := range n.Lhs[:min(len(n.Lhs), len(n.Rhs))] {
			name, ok := left.(*ast.IdentExpr)
			if !ok {
				continue
			}
			if r.aliases.objects[name.Value] || r.functions[name.Value] != "" {
				r.uses--
			}
			r.uses -= r.bound(n.Rhs[i:i+1], 1)
		}
	case *ast.FuncCallExpr:
		r.call(n)
	}
	return true
}

// bound counts the uses that only give another name, in the values of an assignment.
func (r *registrations) bound(values []ast.Expr, names int) (n int) {
	for _, value := range values[:min(len(values), names)] {
		_, isName := value.(*ast.IdentExpr)
		if isName && r.aliases.isObject(value) || r.function(value) != "" {
			n++
		}
	}
	return n
}

// call notes what a call registers.
func (r *registrations) call(n *ast.FuncCallExpr) {
	if isCompat(required(n)) { // its functions have names of their own
		r.found.Computed = true
	}
	of := r.function(n.Func)
	if of == "" {
		return
	}
	r.uses--
	into := map[string]*[]string{"on": &r.found.Events, "tool": &r.found.Tools, "command": &r.found.Commands, "mode": &r.found.Modes}[of]
	if name, ok := registeredName(of, n.Args); ok {
		*into = append(*into, name)
	} else {
		r.found.Computed = true
	}
}

// registeredName is the name that a call registers; false if it is computed.
func registeredName(function string, args []ast.Expr) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	e := args[0]
	if function == "tool" || function == "mode" {
		options, ok := e.(*ast.TableExpr)
		if !ok {
			return "", false
		}
		e = valueOf(options, "name")
	}
	name, ok := e.(*ast.StringExpr)
	if !ok {
		return "", false
	}
	return name.Value, true
}
