package luavm

import (
	"reflect"
	"testing"

	"github.com/yuin/gopher-lua/ast"
)

// What is asked of a tree is asked of all of it: a call that Walk passed over would be one that
// nobody approved.
func TestWalkPassesNothingOver(t *testing.T) {
	chunk, err := Parse("a", []byte(`
local a, b = f(1), function(x) return x end
a, b.c, b[k] = 1, -2, not nil
do call() end
while w() do break end
repeat local r = r1() until r2()
if i() then t() elseif e() then t2() else t3() end
for n = n1(), n2(), n3() do n4() end
for k, v in pairs(t) do v() end
function m.n.o:p(...) return ..., {x = 1, [y()] = "z", 2} end
local function g() g() end
label = ("x"):rep(#s .. "y") + 1 == 2 and 3 < 4 or true ~= false
goto done ::done::
return obj:method(arg), {}, nil
`))
	if err != nil {
		t.Fatal(err)
	}
	visited := map[Node]int{}
	Walk(chunk, func(n Node) bool {
		visited[n]++
		return true
	})
	for n, times := range visited {
		if times != 1 {
			t.Errorf("line %d: %T is visited %d times", n.Line(), n, times)
		}
	}
	everyNode(reflect.ValueOf(chunk), func(n Node) {
		if visited[n] == 0 {
			t.Errorf("line %d: %T is passed over", n.Line(), n)
		}
	})
}

// everyNode calls f with the nodes of a tree: all that are pointers to statements or expressions, but
// for the name of a function and the function that has one, of which [Walk] visits what is in it.
func everyNode(v reflect.Value, f func(n Node)) {
	switch v.Kind() {
	case reflect.Interface:
		everyNode(v.Elem(), f)
	case reflect.Pointer:
		if def, ok := v.Interface().(*ast.FuncDefStmt); ok {
			f(def)
			everyNode(reflect.ValueOf(def.Func.Stmts), f)
			return
		}
		if n, ok := v.Interface().(Node); ok && !v.IsNil() {
			if _, isParameters := v.Interface().(*ast.ParList); !isParameters {
				f(n)
			}
		}
		everyNode(v.Elem(), f)
	case reflect.Slice:
		for i := range v.Len() {
			everyNode(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				everyNode(v.Field(i), f)
			}
		}
	}
}
