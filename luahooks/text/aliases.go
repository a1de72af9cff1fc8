package text

import (
	"reflect"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

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
		a.walk(reflect.ValueOf(chunk), 0)
		if len(a.objects)+len(a.on) == before {
			break
		}
	}
	return a
}

// walk looks at every local and every call below v.
func (a *aliases) walk(v reflect.Value, depth int) {
	if depth > maxDepth {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
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
			if of, ok := n.Func.(*ast.AttrGetExpr); ok && isText(of.Key, "hook") && a.isObject(of.Object) && len(n.Args) > 0 {
				a.parameter(n.Args[0])
			}
		}
		a.walk(v.Elem(), depth+1)
	case reflect.Slice:
		for i := range v.Len() {
			a.walk(v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).IsExported() && f.Kind() != reflect.String {
				a.walk(f, depth+1)
			}
		}
	}
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
	if fn, ok := e.(*ast.FunctionExpr); ok && fn.ParList != nil && len(fn.ParList.Names) > 0 {
		a.objects[fn.ParList.Names[0]] = true
	}
}

// isObject reports whether an expression is pi, or a module for hooks of another program.
func (a *aliases) isObject(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return a.objects[e.Value]
	case *ast.FuncCallExpr:
		if name, ok := firstOf(e.Args).(*ast.StringExpr); ok && isNamed(e.Func, "require") {
			return strings.HasPrefix(name.Value, "pi.compat.")
		}
	}
	return false
}

// isOn reports whether an expression is pi.on.
func (a *aliases) isOn(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return a.on[e.Value]
	case *ast.AttrGetExpr:
		return isText(e.Key, "on") && a.isObject(e.Object)
	}
	return false
}

func firstOf(all []ast.Expr) ast.Expr {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

func isText(e ast.Expr, text string) bool {
	s, ok := e.(*ast.StringExpr)
	return ok && s.Value == text
}
