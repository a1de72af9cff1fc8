package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The lock is on the descriptor that appends, so it ends with its holder
// however that ends. Who holds it is written beside it only as a hint.

var (
	errLocked = errors.New("locked by another process")
	errNoLock = errors.New("this file system has no locks")
)

// BusyError says that another process has the session open for appending. The
// fields about it are a hint and may be empty.
type BusyError struct {
	Path  string
	PID   int
	Host  string
	Since time.Time
}

func (e *BusyError) Error() string {
	by := "another process"
	if e.PID != 0 {
		by = fmt.Sprintf("process %d", e.PID)
	}
	if e.Host != "" {
		by += " on " + e.Host
	}
	if !e.Since.IsZero() {
		by += " since " + e.Since.Local().Format("2006-01-02 15:04:05")
	}
	return fmt.Sprintf("open session %q: in use by %s", e.Path, by)
}

type lockHint struct {
	Path  string    `json:"path"`
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// lock takes the lock, or says who has it. On a file system without locks the
// file is used unlocked, and never cut back.
func (st *store) lock() error {
	switch err := lockFile(st.f); {
	case errors.Is(err, errLocked):
		return st.busy()
	case errors.Is(err, errNoLock):
		return nil
	case err != nil:
		return fmt.Errorf("lock session %q: %w", st.path, err)
	}
	st.locked = true
	st.leaveHint()
	return nil
}

func (st *store) hintPath() string {
	path, err := filepath.Abs(st.path)
	if err != nil {
		path = st.path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(st.lockDir, hex.EncodeToString(sum[:8])+".json")
}

func (st *store) busy() error {
	e := &BusyError{Path: st.path}
	if st.lockDir == "" {
		return e
	}
	b, err := os.ReadFile(st.hintPath())
	var h lockHint
	if err == nil && json.Unmarshal(b, &h) == nil {
		e.PID, e.Host, e.Since = h.PID, h.Host, h.Since
	}
	return e
}

// leaveHint may fail: nothing depends on the hint.
func (st *store) leaveHint() {
	if st.lockDir == "" || makeDirs(st.lockDir) != nil {
		return
	}
	host, _ := os.Hostname()
	b, err := encode(lockHint{Path: st.path, PID: os.Getpid(), Host: host, Since: time.Now().Truncate(time.Second)})
	if err != nil || os.WriteFile(st.hintPath(), append(b, '\n'), 0o600) != nil {
		return
	}
	st.hint = st.hintPath()
}
