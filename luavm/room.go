package luavm

import (
	"runtime"

	lua "github.com/yuin/gopher-lua"
)

// What a function of the library builds is bounded before it is built. The heap
// watch looks every 10 ms, and a function needs no more than that for a gigabyte.

const (
	// maxString bounds every string that a library or API function builds.
	maxString = 64 << 20
	// roomStep is how much a job may build between two looks at the heap.
	roomStep = 16 << 20
)

// Room is called with the size of a string before it is built for Lua. It raises
// if the string, or with it what the job holds, would be too large, or the job was stopped.
func Room(L *lua.LState, n int) {
	if n > maxString {
		raiseTooLong(L)
	}
	Building(L, n)
}

// Building is called before n bytes are built for Lua in many small pieces, such as rows or
// matches, and now and then while Go works for long. It raises if with them what the job
// holds would be too large, or the job was stopped.
func Building(L *lua.LState, n int) {
	err := halted(L)
	if err == nil {
		err = room(L, n)
	}
	if err != nil {
		L.RaiseError("%s", err.Error())
	}
}

// room counts n bytes that are about to be built for Lua. Every 16 MiB it looks at the
// heap, and stops the job and returns the reason if it uses too much.
func room(L *lua.LState, n int) error {
	j := jobOf(L)
	if j == nil {
		return nil
	}
	if j.built += n; j.built < roomStep {
		return nil
	}
	j.built = 0
	if j.fits(n) {
		return nil
	}
	runtime.GC() // most of it may be garbage
	if j.fits(n) {
		return nil
	}
	j.stop(j.vm.memoryError(heapBytes() + int64(n) - j.base.Load()))
	return j.reason()
}

// fits reports whether the heap stays within the job's limit if n bytes are added.
func (j *job) fits(n int) bool {
	limit := j.vm.opts.MemoryLimit
	if limit < 0 || j.worker == nil {
		return true
	}
	heap := heapBytes()
	base := j.baseOf(min(heap, j.worker.owner.heap.Load()))
	grown := heap + int64(n) - base
	return grown <= max(limit, base) || grown <= j.vm.sharedLimit()
}

// sharedLimit is the growth that all who work in the process may cause together.
func (vm *VM) sharedLimit() int64 { return vm.opts.MemoryLimit * int64(vm.sharers()) }

// sharers is how many work in the process, this VM among them.
func (vm *VM) sharers() int {
	if vm.opts.Sharers == nil {
		return 1
	}
	return max(vm.opts.Sharers(), 1)
}

// baseOf returns the size of the heap when the job got the VM, from which its growth is
// counted. heap becomes that size if nobody has measured since then.
func (j *job) baseOf(heap int64) int64 {
	j.base.CompareAndSwap(0, max(heap, 1))
	return j.base.Load()
}

// jobOf returns the job that runs on the VM of L, or the idle one if none does; nil for
// a Lua state that has no turn, such as the main one.
func jobOf(L *lua.LState) *job {
	if L.G.CurrentThread != nil {
		L = L.G.CurrentThread
	}
	if t, ok := L.Context().(*lock); ok {
		return t.cur.Load()
	}
	return nil
}

// stringBuilder builds a string of a size that is not known before. It asks for
// room whenever it grows, grows no further than a string may be, and looks every
// now and then whether its job was stopped.
type stringBuilder struct {
	L    *lua.LState
	b    []byte
	adds int // since the last look
}

// add appends a text. It raises if the string becomes too long, there is no memory for
// it, or the job was stopped.
func (b *stringBuilder) add(s string) {
	if b.adds++; b.adds == looksApart {
		b.adds = 0
		if err := halted(b.L); err != nil {
			b.L.RaiseError("%s", err.Error())
		}
	}
	if need := len(b.b) + len(s); need > maxString {
		raiseTooLong(b.L)
	} else if need > cap(b.b) {
		grown := min(max(2*cap(b.b), need, 64), maxString)
		Room(b.L, grown)
		b.b = append(make([]byte, 0, grown), b.b...)
	}
	b.b = append(b.b, s...)
}

func (b *stringBuilder) String() string {
	Room(b.L, len(b.b))
	return string(b.b)
}

func raiseTooLong(L *lua.LState) {
	L.RaiseError("resulting string too long (limit %d MiB)", maxString>>20)
}
