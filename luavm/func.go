package luavm

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	lua "github.com/yuin/gopher-lua"
)

// GFunc makes a Lua function of a function that works on the Lua stack itself.
// A panic in it becomes a Lua error at the hook's line, and on a dead VM it
// raises instead of running. name is for messages.
func (vm *VM) GFunc(name string, fn lua.LGFunction) *lua.LFunction {
	return vm.main.NewFunction(func(L *lua.LState) int {
		if vm.Dead() {
			L.RaiseError("%s: the hook was abandoned", name)
		}
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(*lua.ApiError); !ok {
					r = vm.threads.ofPanic(L, name, r)
				}
				panic(r)
			}
		}()
		vm.turn.cur.Load().calling = name
		return fn(L)
	})
}

// Func makes a Lua function of a Go function func(args...) (results..., error).
//
// Parameters are string, bool, any number type, lua.LValue, *lua.LTable (filled,
// never a stub), *lua.LFunction, and pointers to string, bool and numbers for
// what may be nil or missing; the last may be variadic. A first parameter
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

// Misuse is an error that raises at the caller's line instead of becoming
// nil, "message".
type Misuse struct{ Message string }

func (m *Misuse) Error() string { return m.Message }

// Misusef makes a *Misuse.
func Misusef(format string, args ...any) error {
	return &Misuse{fmt.Sprintf(format, args...)}
}

// Raise raises an error at the line of the Lua code that called.
func Raise(L *lua.LState, format string, args ...any) {
	L.Error(lua.LString(placed(where(L, 0), fmt.Sprintf(format, args...))), 0)
}

// RaiseArg raises what is wrong with the n-th argument of a function.
func RaiseArg(L *lua.LState, n int, function, format string, args ...any) {
	Raise(L, "bad argument #%d to '%s' (%s)", n, function, fmt.Sprintf(format, args...))
}

// typeName is the type of an argument, for messages.
func typeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}

var (
	typeState    = reflect.TypeFor[*lua.LState]()
	typeContext  = reflect.TypeFor[context.Context]()
	typeError    = reflect.TypeFor[error]()
	typeValue    = reflect.TypeFor[lua.LValue]()
	typeTable    = reflect.TypeFor[*lua.LTable]()
	typeFunction = reflect.TypeFor[*lua.LFunction]()
	typeStrings  = reflect.TypeFor[[]string]()
)

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

func (c *call) args(L *lua.LState) []reflect.Value {
	var args []reflect.Value
	switch c.lead {
	case typeState:
		args = append(args, reflect.ValueOf(L))
	case typeContext:
		args = append(args, reflect.Value{})
	}
	fixed := len(c.params)
	if c.variadic {
		fixed--
	} else if L.GetTop() > fixed {
		Raise(L, "'%s' takes at most %d arguments, got %d", c.name, fixed, L.GetTop())
	}
	for i := range fixed {
		args = append(args, c.arg(L, i+1, c.params[i]))
	}
	for i := fixed; c.variadic && i < L.GetTop(); i++ {
		args = append(args, c.arg(L, i+1, c.params[fixed]))
	}
	return args
}

func (c *call) arg(L *lua.LState, n int, t reflect.Type) reflect.Value {
	v, ok := toGo(L, L.Get(n), t)
	if !ok {
		RaiseArg(L, n, c.name, "%s expected, got %s", wantedType(t), typeName(L, n))
	}
	return v
}

// wantedType is the Lua type that a parameter of a Go type takes, or "" if
// there is none.
func wantedType(t reflect.Type) string {
	switch t {
	case typeValue:
		return "value"
	case typeTable:
		return "table"
	case typeFunction:
		return "function"
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return "string"
	case k == reflect.Bool:
		return "boolean"
	case isNumber(k):
		return "number"
	case k == reflect.Pointer && (t.Elem().Kind() == reflect.String || t.Elem().Kind() == reflect.Bool || isNumber(t.Elem().Kind())):
		return wantedType(t.Elem())
	}
	return ""
}

func isNumber(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float32 || k == reflect.Float64
}

// toGo converts one Lua value. It does not turn numbers into strings or back.
func toGo(L *lua.LState, v lua.LValue, t reflect.Type) (reflect.Value, bool) {
	switch t {
	case typeValue:
		return reflect.ValueOf(&v).Elem(), true
	case typeTable:
		tb, ok := v.(*lua.LTable)
		if ok {
			Materialise(L, tb)
		}
		return reflect.ValueOf(tb), ok
	case typeFunction:
		fn, ok := v.(*lua.LFunction)
		return reflect.ValueOf(fn), ok
	}
	if t.Kind() == reflect.Pointer {
		if v == lua.LNil {
			return reflect.Zero(t), true
		}
		e, ok := toGo(L, v, t.Elem())
		if !ok {
			return reflect.Value{}, false
		}
		p := reflect.New(t.Elem())
		p.Elem().Set(e)
		return p, true
	}
	return scalarToGo(v, t)
}

func scalarToGo(v lua.LValue, t reflect.Type) (reflect.Value, bool) {
	switch v := v.(type) {
	case lua.LString:
		if t.Kind() == reflect.String {
			return reflect.ValueOf(string(v)).Convert(t), true
		}
	case lua.LBool:
		if t.Kind() == reflect.Bool {
			return reflect.ValueOf(bool(v)).Convert(t), true
		}
	case lua.LNumber:
		if isNumber(t.Kind()) {
			return reflect.ValueOf(float64(v)).Convert(t), true
		}
	}
	return reflect.Value{}, false
}

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
