package session

import (
	"bytes"
	"fmt"
)

// catchUp reads what another program added to the file, so that no id is given
// twice. The leaf stays ours.
func (s *Session) catchUp() {
	if s.store == nil || s.store.f == nil {
		return
	}
	foreign, err := s.store.check()
	if err != nil || foreign == 0 {
		return // the write that follows reports it
	}
	lead := s.store.lead()
	buf, err := s.store.readForeign(foreign)
	if err != nil {
		return
	}
	s.takeIn(s.skipOurs(buf, lead))
}

// takeIn adds entries that another program wrote. It may still be writing the
// last line: what there is of that waits for the rest, or for our own next line.
func (s *Session) takeIn(lines []byte) {
	lines = append(s.partial, lines...)
	whole := bytes.LastIndexByte(lines, '\n') + 1
	s.partial = bytes.Clone(lines[whole:])
	s.ingestForeign(lines[:whole])
}

func (s *Session) ingestForeign(lines []byte) {
	before := len(s.entries)
	s.settle(s.ingest(lines, -1, nil))
	switch n := len(s.entries) - before; {
	case n == 1:
		s.problem("another program added an entry to the file; it is on a branch of its own")
	case n > 1:
		s.problem("another program added %d entries to the file; they are on a branch of their own", n)
	}
}

// skipOurs takes off what is pending: a write may fail after all or some of it
// arrived. If that is a piece of a line, the next write goes on with it.
func (s *Session) skipOurs(lines []byte, lead string) []byte {
	if s.unsaved == nil {
		return lines
	}
	ours := bytes.TrimPrefix(lines, []byte(lead))
	if bytes.HasPrefix(s.pending, ours) {
		s.wrote(len(ours))
		s.store.torn = false
		return nil
	}
	whole := bytes.LastIndexByte(ours, '\n') + 1
	if whole == 0 || !bytes.HasPrefix(s.pending, ours[:whole]) {
		return lines
	}
	s.wrote(whole)
	return ours[whole:]
}

// wrote takes n bytes off what is pending.
func (s *Session) wrote(n int) {
	s.lines += bytes.Count(s.pending[:n], []byte("\n"))
	s.pending = s.pending[n:]
	if len(s.pending) == 0 {
		s.pending = s.pending[:0]
	}
}

// flush writes what is pending. After a sync that failed no later one counts.
func (s *Session) flush() error {
	if s.store == nil || len(s.pending) == 0 {
		return s.saveError(s.synced)
	}
	if s.unsaved = s.write(); s.unsaved != nil {
		return s.saveError(s.unsaved)
	}
	if s.opts.SyncEach {
		s.sync()
	}
	return s.saveError(s.synced)
}

func (s *Session) write() error {
	if s.store.f == nil {
		if err := s.store.create(); err != nil {
			return err
		}
		s.noteLock()
	}
	if foreign, err := s.store.check(); err != nil {
		return err
	} else if foreign > 0 {
		s.catchUp()
	}
	if s.migrate {
		return s.rewrite()
	}
	if len(s.pending) == 0 {
		return nil
	}
	n, foreign, err := s.store.write(s.pending)
	s.takeIn(foreign)
	if !s.store.torn { // our line break has ended it
		s.ingestForeign(s.partial)
		s.partial = nil
	}
	s.wrote(n)
	return err
}

// noteLock says that nobody else is kept away.
func (s *Session) noteLock() {
	if !s.store.locked {
		s.problem("the file system has no locks: nothing keeps another program from writing to this session at the same time")
	}
}

func (s *Session) sync() error {
	err := s.store.sync()
	if err != nil && s.synced == nil {
		s.synced = fmt.Errorf("sync: %w", err)
	}
	return err
}

func (s *Session) saveError(err error) error {
	if err == nil {
		return nil
	}
	return &SaveError{Path: s.store.path, Err: err}
}

// Sync writes what is pending and waits until the disk has it. A sync that
// failed once leaves the session unsaved: nobody can tell what was lost.
func (s *Session) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil || s.readOnly || !s.started {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	return s.saveError(s.sync())
}

// Unsaved returns why the file lacks part of the session, or nil.
func (s *Session) Unsaved() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsaved != nil {
		return s.saveError(s.unsaved)
	}
	return s.saveError(s.synced)
}

// Close syncs and lets go of the file and its lock. Entries that were kept
// back are dropped with it. The session can still be read.
func (s *Session) Close() error {
	err := s.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return nil
	}
	s.readOnly = true
	if cerr := s.store.close(); err == nil && cerr != nil {
		err = s.saveError(cerr)
	}
	return err
}
