package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

var errLocked = errors.New("locked by another process")

// patience is how long a writer waits for another one, who holds the lock for
// some milliseconds.
const patience = 10 * time.Second

// lock keeps other processes from writing; they wait for each other.
func (s *Store) lock() (unlock func(), err error) {
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.Dir(), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = lockFile(f)
		if !errors.Is(err, errLocked) || time.Now().After(deadline) {
			break
		}
		time.Sleep(pause) // nothing tells when a lock of another process is free
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the store: %w", err)
	}
	return func() { f.Close() }, nil
}
