package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pi/internal/safefile"
)

// patience is how long a writer waits for another one, who holds the lock for
// some milliseconds. A tool may hold it for ever: who waited for so long goes on
// without, for no tool must keep others from being watched.
const patience = 2 * time.Second

// lock keeps other processes from writing; they wait for each other.
func (s *Store) lock() (unlock func(), err error) {
	if err := s.heal(); err != nil {
		return nil, err
	}
	path := filepath.Join(s.Dir(), "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil && putAside(path) == nil { // a tool may have made it something else
		f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = lockFile(f)
		if !errors.Is(err, safefile.ErrLocked) || time.Now().After(deadline) {
			break
		}
		time.Sleep(pause) // nothing tells when a lock of another process is free
	}
	if err != nil && !errors.Is(err, safefile.ErrLocked) {
		f.Close()
		return nil, fmt.Errorf("lock the store: %w", err)
	}
	return func() { f.Close() }, nil
}

// lockFile takes the lock of a file until it is closed. On a file system without
// locks everybody has it.
func lockFile(f *os.File) error {
	if err := safefile.Lock(f); !errors.Is(err, safefile.ErrNoLock) {
		return err
	}
	return nil
}
