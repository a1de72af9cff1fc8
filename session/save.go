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
	before := len(s.entries)
	buf, err := s.store.readForeign(foreign)
	if err != nil {
		return
	}
	s.settle(s.ingest(buf, -1, nil))
	s.problem("another program added %d entries to the file; they are on a branch of their own", len(s.entries)-before)
}

// flush writes what is pending.
func (s *Session) flush() error {
	if s.store == nil || len(s.pending) == 0 {
		return s.saveError(s.synced)
	}
	err := s.write()
	s.unsaved = err
	if err == nil && s.opts.SyncEach {
		err = s.sync()
	}
	return s.saveError(err)
}

func (s *Session) write() error {
	if s.store.f == nil {
		if err := s.store.create(); err != nil {
			return err
		}
	}
	if foreign, err := s.store.check(); err != nil {
		return err
	} else if foreign > 0 {
		s.catchUp()
	}
	if s.migrate {
		return s.rewrite()
	}
	n, err := s.store.write(s.pending)
	s.lines += bytes.Count(s.pending[:n], []byte("\n"))
	s.pending = s.pending[n:]
	if len(s.pending) == 0 {
		s.pending = s.pending[:0]
	}
	return err
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
