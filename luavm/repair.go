package luavm

import (
	"errors"
	"reflect"

	"github.com/yuin/gopher-lua/ast"
)

// maxNested bounds the walk over the syntax tree; a statement in a block takes
// five or so of it. No program survives a Go stack that is exhausted.
const maxNested = 100_000

var errDepth = errors.New("it is nested too deep")

// repair rewrites the statements in everything that v holds that gopher-lua
// would compile wrongly into others that mean the same.
func repair(v reflect.Value, depth int) error {
	if depth > maxNested {
		return errDepth
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			return repair(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if err := repair(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := repair(v.Index(i), depth+1); err != nil {
				return err
			}
			if better := repaired(v.Index(i).Interface()); better != nil {
				v.Index(i).Set(reflect.ValueOf(better))
			}
		}
	}
	return nil
}

// repaired is what a statement becomes; nil if it may stay.
func repaired(node any) *ast.DoBlockStmt {
	switch s := node.(type) {
	case *ast.GenericForStmt:
		if callsInOperator(s.Exprs) {
			return hoisted(s)
		}
	case *ast.AssignStmt:
		if assignsTogether(s) {
			return separated(s)
		}
	}
	return nil
}
