package trust

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pi/internal/printable"
	"pi/internal/safefile"
)

// What MCP servers have is kept in files whose hashes stand in an index, and that is watched like
// settings: who changes it has the model told what a server never said, or a change of a tool
// forgotten. It differs from all other files here in two ways. This program writes it itself while
// tools run. And nobody could judge a change of it, while what is lost with one is asked of the
// servers anew: so what a tool changed waits for no user, and is put back as it was.

// indexOfServers is the index in the agent directory.
func indexOfServers(agentDir string) string {
	return filepath.Join(agentDir, "cache", "mcp", "index.json")
}

// ErrOthersAtWork is why the index is not written: tools of another program may be at work, for
// which it would be a change of theirs.
var ErrOthersAtWork = errors.New("another pi has tools at work")

// ChangeIndex changes the index of what MCP servers have, at path: change gets what is in force, nil
// for nothing, and what it returns is in force, also if tools run. The error is that of change, or
// why nothing was written, such as [ErrOthersAtWork].
func (g *Guard) ChangeIndex(path string, change func(old []byte) ([]byte, error)) error {
	release, err := safefile.LockPath(path) // outside of the mutex: a tool may have the lock
	if err != nil {
		return err
	}
	defer release()
	s := g.lock()
	defer g.mu.Unlock()
	s.lookAtOthers()
	if s.damaged != nil {
		return s.damaged
	}
	if s.others.atWork {
		return ErrOthersAtWork
	}
	if changes := s.ledger.changed(map[string]Scope{path: ""}, s.window); len(changes) > 0 {
		s.decide(changes)
	}
	was := s.readLocked(path)
	next, err := change(was.Code)
	if err != nil || bytes.Equal(next, was.Code) && s.ledger.pending[path] == nil {
		return err
	}
	return s.write(path, next)
}

// write writes a file of this program and makes what it wrote active.
func (s *state) write(path string, code []byte) error {
	if err := safefile.Replace(path, code, false); err != nil {
		return err
	}
	is := s.home.onDisk(path)
	if is.Sum != Sum(code) {
		return safefile.ErrBusy
	}
	s.activate(path, is)
	return nil
}

// activate makes a version that this program wrote active, also for the window that is open.
func (s *state) activate(path string, is Version) {
	s.ledger.put(path, is)
	if s.ledger.pending[path] != nil {
		s.ledger.release(path)
	}
	if s.window != nil {
		s.window.base[path] = is
	}
	if s.mark != nil {
		s.noteApproved(path, is, "")
		return
	}
	s.writeMarks()
}

// putBackIndex writes the index as it is in force over what a tool made of it, and removes it where
// that is lost: then it is written anew by and by. What cannot be put back goes on waiting.
func (s *state) putBackIndex() {
	path := s.home.index
	h := s.ledger.pending[path]
	if h == nil || s.damaged != nil || s.others.atWork {
		return
	}
	err := os.Remove(path) // it may be a link, or a pipe
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if code := h.active.Code; err == nil && h.active.exists() && code != nil {
		err = safefile.Replace(path, code, false)
	}
	is := s.home.onDisk(path)
	if err != nil || !is.same(h.active) && h.active.Code != nil {
		return
	}
	s.activate(path, is)
	s.notices.forget(path)
	s.notices.Lines = append(s.notices.Lines, fmt.Sprintf("%s, what is known of MCP servers, was changed while the agent was at work, and is as it was again", printable.VisibleLine(path)))
}
