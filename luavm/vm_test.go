package luavm

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hook is a VM whose prints are collected.
type hook struct {
	*VM
	lines []string
	ended sync.WaitGroup // the Lua of all jobs, also of those given up
}

func newHook(t testing.TB, opts Options) *hook {
	h := &hook{}
	opts.Print = func(line string) { h.lines = append(h.lines, line) }
	h.VM = New(opts)
	t.Cleanup(func() { h.Close(); h.ended.Wait() })
	return h
}

func (h *hook) printed() string { return strings.Join(h.lines, "\n") }

// do runs source as a job and gives its error.
func (h *hook) do(src string, change ...func(*Job)) error {
	proto, err := Compile("hook.lua", []byte(src))
	if err != nil {
		return err
	}
	job, settle := h.running(proto)
	defer settle()
	for _, f := range change {
		f(&job)
	}
	return h.Run(context.Background(), job)
}

// running is a job that runs proto. settle is called when it is over for whoever
// started it, which may be before its Lua ends.
func (h *hook) running(proto *lua.FunctionProto) (job Job, settle func()) {
	var began atomic.Bool
	h.ended.Add(1)
	job = Job{Name: "test", Run: func(L *lua.LState) error {
		began.Store(true)
		defer h.ended.Done()
		L.Push(h.NewChunk(L, proto))
		L.Call(0, 0)
		return nil
	}}
	return job, func() {
		if !began.Load() {
			h.ended.Done() // it was refused
		}
	}
}

func within(d time.Duration) func(*Job) { return func(j *Job) { j.Timeout = d } }
func loading(j *Job)                    { j.Loading = true }
func counted(j *Job)                    { j.Clock = CountedLua }

// must runs source that checks itself with assert.
func (h *hook) must(t testing.TB, src string) {
	t.Helper()
	if err := h.do(src, within(20*time.Second)); err != nil {
		t.Fatalf("%v\n%s", err, traceOf(err))
	}
}

// returned is what source returns, as a text, in a VM of its own.
func returned(name, source string) (text string, err error) {
	proto, err := Compile(name, []byte(source))
	if err != nil {
		return "", err
	}
	vm := New(Options{})
	defer vm.Close()
	err = vm.Run(context.Background(), Job{Run: func(L *lua.LState) error {
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 1)
		text = L.Get(-1).String()
		return nil
	}})
	return text, err
}

func traceOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Traceback
	}
	return ""
}

// failure runs source that must fail and gives the error.
func (h *hook) failure(t testing.TB, src string, change ...func(*Job)) *Error {
	t.Helper()
	err := h.do(src, change...)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want an *Error", err, err)
	}
	return e
}

func TestSomeBasicsWork(t *testing.T) {
	h := newHook(t, Options{})
	h.must(t, `
local x = 0
local function inc() x = x + 1 end
inc()
pcall(error, "e")
inc()
assert(x == 2, "closures and locals stay together after a caught error")
local saved
pcall(function() local y = 42; saved = function() return y end; error("a") end)
local a,b,c,d,e,f,g = 1,2,3,4,5,6,7
assert(saved() == 42)
xpcall(function() local y = 43; saved = function() return y end; error("a") end, function() end)
local a,b,c,d,e,f,g = 1,2,3,4,5,6,7
assert(saved() == 43)
print("a", 1, nil)
`)
	if h.printed() != "a\t1\tnil" {
		t.Errorf("printed %q", h.printed())
	}
}
