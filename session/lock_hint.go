package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"pi/internal/safefile"
	"pi/session/rawjson"
)

// lockHint says who holds a lock. It is written once the lock is held and gone
// before it is released; one that stays behind is of a process that was killed.
// Nothing depends on hints.
type lockHint struct {
	Path  string    `json:"path"`
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// maxHint is how many bytes a hint may have: a path, a host and two numbers.
const maxHint = 1 << 20

// line is the hint as JSON. Every start writes one, and an encoder that looks at the
// struct first takes longer than the rest of the hint.
func (h lockHint) line() []byte {
	var o rawjson.Object
	o.Text("path", h.Path)
	o.Int("pid", int64(h.PID))
	o.Text("host", h.Host)
	o.Text("since", h.Since.Format(time.RFC3339Nano))
	return o.Bytes()
}

// hintPath is where the hint about the file lies: its name is a sum of the file's path.
func (st *store) hintPath() string {
	path, err := filepath.Abs(st.path)
	if err != nil {
		path = st.path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(st.lockDir, hex.EncodeToString(sum[:8])+".json")
}

func (st *store) readHint() (h lockHint, ok bool) {
	b, err := safefile.Read(st.hintPath(), maxHint)
	return h, err == nil && json.Unmarshal(b, &h) == nil
}

// writeHint writes the hint about our lock. Errors are dropped: nothing depends on
// hints.
func (st *store) writeHint() {
	if !st.locked || st.lockDir == "" {
		return
	}
	if _, err := safefile.MakeDirs(st.lockDir); err != nil {
		return
	}
	host, _ := os.Hostname()
	b := append(lockHint{Path: st.path, PID: os.Getpid(), Host: host, Since: time.Now()}.line(), '\n')
	if safefile.Replace(st.hintPath(), b, false) == nil {
		st.hint = b
	}
}

// removeHint removes the hint if it is ours: after the file was replaced another process
// may have locked the new one, and written a hint of its own.
func (st *store) removeHint() {
	if st.hint == nil {
		return
	}
	if b, err := safefile.Read(st.hintPath(), maxHint); err == nil && bytes.Equal(b, st.hint) {
		os.Remove(st.hintPath())
	}
	st.hint = nil
}
