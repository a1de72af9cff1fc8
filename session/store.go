package session

import (
	"errors"
	"os"
)

// store is the file of a session. Only the holder of its lock writes, and only
// at its end.
type store struct {
	path    string
	lockDir string
	f       *os.File // nil until the file is made
	locked  bool
	hint    []byte // what we left about the lock
	end     fileEnd
	dirty   bool     // written since the last sync
	folders []string // new names in them: they want a sync too

	seams
}

// seams are where tests break the world.
type seams struct {
	testOnlyWrite func(*os.File, []byte) (int, error)
	testOnlySync  func(*os.File) error
	testOnlyLock  func(*os.File) error
	testOnlyStep  func(step string)
}

func (s *seams) step(name string) {
	if s.testOnlyStep != nil {
		s.testOnlyStep(name)
	}
}

func newStore(path, lockDir string, s seams) *store {
	return &store{path: path, lockDir: lockDir, seams: s}
}

var (
	errGone      = errors.New("the file was deleted or replaced")
	errTruncated = errors.New("the file was shortened by another program")
	errRewritten = errors.New("the file was rewritten by another program")
	errMixed     = errors.New("another program wrote a part of a line at the same moment")
)

// tailSize is how much of the end of the file is remembered, to tell a file that
// grew from one that was written anew.
const tailSize = 64

// fileEnd is how long a file is and what it ends in, as far as we know it.
type fileEnd struct {
	size       int64
	tail       []byte // its last bytes
	torn       bool   // it does not end in a newline
	seemsWhole bool   // what it ends in instead is no JSON, but ends in a brace
}

// add notes that b was appended to the file, by us or by another program.
func (e *fileEnd) add(b []byte) {
	if len(b) == 0 {
		return
	}
	e.size += int64(len(b))
	e.torn, e.seemsWhole = b[len(b)-1] != '\n', false
	if len(b) > tailSize {
		b = b[len(b)-tailSize:]
	}
	e.tail = append(e.tail, b...)
	e.tail = e.tail[max(len(e.tail)-tailSize, 0):]
}

// lineBreak returns what must be written before the next line: "" if the file ends in a
// newline, else a newline, which ends the line that was cut off. If that line ends in a
// brace, it would look like a whole entry, as loading reads only the head of a line: a
// comma before the newline prevents that.
func (e *fileEnd) lineBreak() string {
	switch {
	case e.seemsWhole:
		return ",\n"
	case e.torn:
		return "\n"
	}
	return ""
}
