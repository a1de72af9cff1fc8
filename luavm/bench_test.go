package luavm

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

func BenchmarkDispatch(b *testing.B) {
	h := newHook(b, Options{StrictGlobals: true})
	proto, err := Compile("hook.lua", []byte(`return function(event) if event.tool_name == "x" and event.input then return { block = true } end end`))
	if err != nil {
		b.Fatal(err)
	}
	var handler lua.LValue
	load := Job{Loading: true, Run: func(L *lua.LState) error {
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 1)
		handler = L.Get(-1)
		return nil
	}}
	if err := h.Run(context.Background(), load); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	job := Job{Name: "tool_call", Timeout: 30 * time.Second, Clock: CountedLua, Run: func(L *lua.LState) error {
		event := L.CreateTable(0, 4)
		event.RawSetString("type", lua.LString("tool_call"))
		event.RawSetString("tool_name", lua.LString("bash"))
		event.RawSetString("tool_call_id", lua.LString("id"))
		event.RawSetString("input", lua.LTrue)
		L.Push(handler)
		L.Push(event)
		L.Call(1, 1)
		L.Pop(1)
		return nil
	}}
	b.ReportAllocs()
	for b.Loop() {
		if err := h.Run(ctx, job); err != nil {
			b.Fatal(err)
		}
	}
}

type record struct {
	id, kind, parent string
}

func buildRecord(L *lua.LState, ref any) *lua.LTable {
	r := ref.(*record)
	t := L.CreateTable(0, 3)
	t.RawSetString("id", lua.LString(r.id))
	t.RawSetString("type", lua.LString(r.kind))
	t.RawSetString("parent_id", lua.LString(r.parent))
	return t
}

func BenchmarkStubList(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		h := newHook(b, Options{})
		records := make([]record, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.NewStubList(h.State(), n, func(i int) any { return &records[i] }, buildRecord)
			}
		})
	}
}

func BenchmarkNewVM(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(Options{StrictGlobals: true}).Close()
	}
}

func hundredLines() []byte {
	var s strings.Builder
	for i := range 25 {
		fmt.Fprintf(&s, "local function f%d(a, b)\n  if a > b then return { x = a, y = %d } end\n  return a + b * %d\nend\n", i, i, i)
	}
	return []byte(s.String())
}

func BenchmarkCompile100Lines(b *testing.B) {
	src := hundredLines()
	for b.Loop() {
		if _, err := Compile("hook.lua", src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad100LinesFromProto(b *testing.B) {
	h := newHook(b, Options{})
	proto, err := Compile("hook.lua", hundredLines())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := h.Run(context.Background(), Job{Loading: true, Run: func(L *lua.LState) error {
			L.Push(L.NewFunctionFromProto(proto))
			L.Call(0, 0)
			return nil
		}})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMemoryPerVM(b *testing.B) {
	vms := make([]*VM, 0, b.N)
	before := settledHeap()
	for range b.N {
		vm := New(Options{StrictGlobals: true})
		_ = vm.Run(context.Background(), Job{Run: func(*lua.LState) error { return nil }})
		vms = append(vms, vm)
	}
	b.ReportMetric(float64(settledHeap()-before)/float64(b.N), "B/vm")
	for _, vm := range vms {
		vm.Close()
	}
}

func settledHeap() int64 {
	runtime.GC()
	return heapBytes()
}

func BenchmarkPcall(b *testing.B) {
	h := newHook(b, Options{})
	n := b.N
	h.SetGlobal("n", lua.LNumber(n))
	h.must(b, `local f = function() end for i = 1, n do pcall(f) end`)
}

func BenchmarkJSONOneFieldOfMany(b *testing.B) {
	raw := []byte(`{"model":"m","messages":[` + strings.Repeat(`{"role":"user","content":[{"type":"text","text":"hello"}]},`, 1000) + `{}]}`)
	h := newHook(b, Options{})
	for b.Loop() {
		v, err := h.DecodeJSON(raw, JSON{})
		if err != nil {
			b.Fatal(err)
		}
		L := h.State()
		L.SetField(v, "model", lua.LString("other"))
		if _, err := EncodeJSON(L, v, JSON{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadValue reads fields of a model's shape a thousand times.
func BenchmarkReadValue(b *testing.B) {
	h := newHook(b, Options{})
	h.SetGlobal("v", h.Value(model{ID: "i", Input: []string{"text", "image"}, Cost: price{1, 2}}))
	for _, field := range []string{"id", "max_tokens", "cost", "input"} {
		b.Run(field, func(b *testing.B) {
			source := "local v = v for i = 1, 1000 do local x = v." + field + " end"
			b.ReportAllocs()
			for b.Loop() {
				h.must(b, source)
			}
		})
	}
	b.Run("pairs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			h.must(b, "local v = v for i = 1, 1000 do pairs(v) end")
		}
	})
}

// BenchmarkNewValue makes a value of a model's shape, as each reading of ctx.model does.
func BenchmarkNewValue(b *testing.B) {
	h := newHook(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		h.Value(model{ID: "i", Input: []string{"text", "image"}, Cost: price{1, 2}})
	}
}

// BenchmarkFirstValues makes the first values of a VM, as each hook that is loaded has them.
func BenchmarkFirstValues(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		vm := New(Options{StrictGlobals: true})
		vm.Value(model{})
		vm.Value(price{})
		vm.Close()
	}
}
