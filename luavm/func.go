package luavm

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	lua "github.com/yuin/gopher-lua"
)

// Func makes a Lua function of a Go function func(args...) (results..., error).
//
// Parameters are string, bool, any number type, lua.LValue, *lua.LTable (filled,
// never a stub), *lua.LFunction, []string, map[string]string, time.Duration
// (milliseconds in Lua), and pointers to string, bool and numbers for what may be
// nil or missing; the last may be variadic. A first parameter
// *lua.LState gets the calling thread; with a first parameter context.Context
// the function waits: it runs inside Wait with the job's context, must not
// touch Lua, and the VM is free meanwhile. Wrong arguments raise at the
// caller's line.
//
// A non-nil error becomes nil, "message"; raise with [Raise] for misuse. A
// function without results returns true. Results are scalars, []string, Lua
// values and structs, which become read-only values as by [VM.Value]; nil
// pointers are nil.
//
// Func panics if fn is not such a function.
func (vm *VM) Func(name string, fn any) *lua.LFunction {
	c := newCall(vm, name, fn)
	return vm.GFunc(name, c.call)
}

// Proc is Func for what gives nothing back: without an error it returns no value, so
// that nobody passes one on.
func (vm *VM) Proc(name string, fn any) *lua.LFunction {
	c := newCall(vm, name, fn)
	return vm.GFunc(name, func(L *lua.LState) int {
		if n := c.call(L); n > 1 { // nil and a message
			return n
		}
		return 0
	})
}

// call is a Go function, looked at once.
type call struct {
	vm       *VM
	name     string
	fn       reflect.Value
	typ      reflect.Type
	lead     reflect.Type // typeState, typeContext or nil
	params   []reflect.Type
	variadic bool
	fails    bool // last result is an error
}

// newCall prepares the call of a Go function from Lua: it looks at the parameters and
// results once. It panics if [VM.Func] cannot take the function.
func newCall(vm *VM, name string, fn any) *call {
	c := &call{vm: vm, name: name, fn: reflect.ValueOf(fn), typ: reflect.TypeOf(fn)}
	if c.typ == nil || c.typ.Kind() != reflect.Func {
		panic("luavm: " + name + " is not a function")
	}
	c.variadic = c.typ.IsVariadic()
	for i := range c.typ.NumIn() {
		p := c.typ.In(i)
		switch {
		case i == 0 && (p == typeState || p == typeContext):
			c.lead = p
			continue
		case c.variadic && i == c.typ.NumIn()-1:
			p = p.Elem()
		}
		if wantedType(p) == "" {
			panic(fmt.Sprintf("luavm: %s: a parameter cannot be a %s", name, p))
		}
		c.params = append(c.params, p)
	}
	if n := c.typ.NumOut(); n > 0 {
		c.fails = c.typ.Out(n-1) == typeError
	}
	return c
}

// call is what Lua calls: it converts the arguments, calls the Go function, inside Wait
// if that takes a context, and pushes its results. It returns how many.
func (c *call) call(L *lua.LState) int {
	args := c.args(L)
	if c.lead != typeContext {
		return c.results(L, c.fn.Call(args))
	}
	var out []reflect.Value
	err := c.vm.Wait(L, false, func(ctx context.Context) error {
		args[0] = reflect.ValueOf(&ctx).Elem()
		out = c.fn.Call(args)
		return nil
	})
	if err != nil {
		Raise(L, "%s: %s", c.name, err)
	}
	return c.results(L, out)
}

// args converts the arguments on the Lua stack for the Go function; wrong or too many
// ones raise. The place of a context, if the function takes one, is left for the caller.
func (c *call) args(L *lua.LState) []reflect.Value {
	var args []reflect.Value
	switch c.lead {
	case typeState:
		args = append(args, reflect.ValueOf(L))
	case typeContext:
		args = append(args, reflect.Value{})
	}
	n := len(c.params)
	if c.variadic {
		n = max(n-1, L.GetTop())
	} else if L.GetTop() > n {
		Raise(L, "'%s' takes at most %d arguments, got %d", c.name, n, L.GetTop())
	}
	for i := range n {
		args = append(args, c.arg(L, i+1, c.params[min(i, len(c.params)-1)]))
	}
	return args
}

// arg converts the n-th Lua argument to a value of type t, or raises.
func (c *call) arg(L *lua.LState, n int, t reflect.Type) reflect.Value {
	v, ok := toGo(L, L.Get(n), t)
	if !ok {
		RaiseArg(L, n, c.name, "%s expected, got %s", wantedType(t), typeName(L, n))
	}
	return v
}

// results pushes what the Go function returned: its values, true if it has none, or nil
// and the text of its error. An error that is a *Misuse is raised instead. It returns
// how many values it pushed.
func (c *call) results(L *lua.LState, out []reflect.Value) int {
	if c.fails {
		last := len(out) - 1
		if err, _ := out[last].Interface().(error); err != nil {
			var misuse *Misuse
			if errors.As(err, &misuse) {
				Raise(L, "%s: %s", c.name, err)
			}
			L.Push(lua.LNil)
			L.Push(lua.LString(err.Error()))
			return 2
		}
		out = out[:last]
	}
	if len(out) == 0 {
		L.Push(lua.LTrue)
		return 1
	}
	for _, v := range out {
		L.Push(toLua(L, v))
	}
	return len(out)
}
