package luavm

import (
	"fmt"
	"runtime/metrics"
)

// heapBytes is what the heap holds, garbage that is not yet collected included.
func heapBytes() int64 {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}

func memoryError(grown, limit int64) *Error {
	return &Error{Kind: Memory, Message: fmt.Sprintf("stopped: the memory of the whole process grew by %d MiB while this hook ran (limit %d MiB)",
		grown>>20, limit>>20)}
}
