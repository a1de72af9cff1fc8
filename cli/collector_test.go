package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// gcPercent reads what is set without changing it.
func gcPercent() int {
	percent := debug.SetGCPercent(goHeap)
	debug.SetGCPercent(percent)
	return percent
}

func TestTheCollectorWaitsForTheStartAndIsGosOwnAfterwards(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(goHeap))
	before := collections()
	started := quietStart()
	if got := gcPercent(); got != startHeap && collections() == before {
		t.Errorf("while the program starts the collector is set to %d, want %d", got, startHeap)
	}
	started()
	if got := gcPercent(); got != goHeap {
		t.Errorf("after the start the collector is set to %d, want %d", got, goHeap)
	}
}

func TestTheFirstCollectionEndsTheQuiet(t *testing.T) {
	ran := make(chan struct{})
	atFirstCollection(func() { close(ran) })
	runtime.GC()
	<-ran
}

func TestACollectorThatTheUserSetStays(t *testing.T) {
	const own = 70
	defer debug.SetGCPercent(debug.SetGCPercent(own))
	started := quietStart()
	if got := gcPercent(); got != own {
		t.Errorf("while the program starts the collector is set to %d, the user set %d", got, own)
	}
	started()
	if got := gcPercent(); got != own {
		t.Errorf("after the start the collector is set to %d, the user set %d", got, own)
	}
}

func TestWhatOnlyTheStartNeededGoesBackToTheSystem(t *testing.T) {
	garbage := make([]byte, 4*keptMemory)
	for i := 0; i < len(garbage); i += 4096 {
		garbage[i] = 1
	}
	runtime.KeepAlive(garbage)
	giveBack()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if left := m.HeapSys - m.HeapReleased; left > m.HeapAlloc+2*keptMemory {
		t.Errorf("the heap keeps %d MiB, of which %d MiB are in use", left>>20, m.HeapAlloc>>20)
	}
}
