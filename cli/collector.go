package cli

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Compiling hooks makes megabytes of garbage within milliseconds, about 19 KB for
// each function of Lua, and to collect it in that moment costs half as much
// again. So the first collection waits until the program has started or the heap
// is large; then everything is as Go has it, and memory that only the start
// needed goes back to the system.

const (
	// startTime is when the program has started, whatever it has to do.
	startTime = time.Second
	// startHeap, in per cent of the 4 MiB that Go's collector begins with, is
	// where it collects although the program still starts: at 36 MiB.
	startHeap = 900
	goHeap    = 100 // Go's own
	// keptMemory is so little that a collection to give it back is not worth its time.
	keptMemory = 16 << 20
)

// quietStart keeps the garbage collector from running while the program starts, until the
// caller calls started or the heap has grown large. It does nothing if the user set
// GOGC.
func quietStart() (started func()) {
	before := debug.SetGCPercent(startHeap)
	if before != goHeap {
		debug.SetGCPercent(before)
		return func() {}
	}
	restore := sync.OnceFunc(func() { debug.SetGCPercent(before) })
	atFirstCollection(restore)
	return func() {
		restore()
		giveBack()
	}
}

// atFirstCollection calls f after the first garbage collection. If one happens during the
// start, a large session is being read, and the collector must not be delayed further.
func atFirstCollection(f func()) {
	canary := new([16]byte) // nothing else points to its block
	runtime.AddCleanup(canary, func(f func()) { f() }, f)
}

// giveBack returns unused memory to the system, if it is more than keptMemory.
func giveBack() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys-m.HeapReleased > keptMemory {
		debug.FreeOSMemory()
	}
}
