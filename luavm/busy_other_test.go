//go:build !unix

package luavm

import "time"

var started = time.Now()

func processorTime() time.Duration { return time.Since(started) }
