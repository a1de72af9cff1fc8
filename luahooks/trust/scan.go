package trust

import (
	"sync"

	"pi/luahooks/text"
)

// requireCache remembers what files require by name: it is asked before each run of
// tools. It may be used from any goroutine.
type requireCache struct {
	mu    sync.Mutex          // guards names
	names map[string][]string // by the hash of the file
}

// namesOf is the modules that a version of a file requires by name; none if it cannot be
// read.
func (c *requireCache) namesOf(v Version) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, known := c.names[v.Sum]
	if known || v.Code == nil {
		return names
	}
	scanned, _ := text.Scan(v.Code)
	if c.names == nil {
		c.names = map[string][]string{}
	}
	c.names[v.Sum] = scanned.Requires
	return scanned.Requires
}
