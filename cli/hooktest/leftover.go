package hooktest

import (
	"slices"
	"sync"
	"time"

	"pi/internal/process"
)

// leftover are the process groups of what a case starts. What of them still lives when the
// case has ended, such as a command in the background, is ended. Any goroutine may use it.
type leftover struct {
	mu     sync.Mutex
	groups []int
}

// note remembers a group.
func (l *leftover) note(group int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.groups, group) {
		l.groups = append(l.groups, group)
	}
}

// patienceToEnd is how long a process has between TERM and KILL.
const patienceToEnd = 200 * time.Millisecond

// end ends the groups, and returns when nothing of them lives.
func (l *leftover) end() {
	l.mu.Lock()
	groups := l.groups
	l.groups = nil
	l.mu.Unlock()
	var ends sync.WaitGroup
	for _, group := range groups {
		if process.Alive(group) {
			ends.Go(func() { process.Stop(group, patienceToEnd) })
		}
	}
	ends.Wait()
}
