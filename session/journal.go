package session

import (
	"bytes"
	"fmt"
)

// journal writes the lines of a session to its file. It has those that are not there
// yet, knows why, and reads before each write what another program has added.
type journal struct {
	store    *store // nil: nothing is ever saved
	syncEach bool
	changes  fileChanges
	problems *problems

	wanted   bool   // the file is to be there: lines that are added are written at once
	outdated bool   // the file is of version 1; the first write makes a new one
	pending  []byte // whole lines that are not in the file yet
	partial  []byte // the beginning of a line that another program is writing
	unsaved  error  // why pending could not be written
	unsynced error  // a sync that failed; it is not undone by a later one
}

// fileChanges is told what has changed in the file since it was loaded.
type fileChanges interface {
	// addWritten counts lines of entries that the session has already.
	addWritten(lines int)
	// addForeign adds the entries of whole lines that another program wrote.
	addForeign(lines []byte)
	// rewrite hands a file of this version to replace, and the version of the one that
	// is there. If that returns nil, the file has them.
	rewrite(replace func(contents []byte, version int) error) error
}

// add puts a line behind those that are to be written.
func (j *journal) add(line []byte) {
	if j.store != nil {
		j.pending = append(append(j.pending, line...), '\n')
	}
}

// save writes what is pending, unless the file is not wanted yet. With durable it also
// syncs: for what must not be lost by a machine that stops, where the conversation goes
// on and what it stands on. The error is a *[SaveError].
func (j *journal) save(durable bool) error {
	if j.store == nil || !j.wanted {
		return nil
	}
	if err := j.flush(); err != nil || !durable {
		return err
	}
	j.sync()
	return j.saveError(j.unsynced)
}

// flush writes what is pending, and syncs if each entry is to be synced. The error is a
// *[SaveError], also when only an earlier sync has failed: a later one does not undo
// that.
func (j *journal) flush() error {
	if j.store == nil || len(j.pending) == 0 {
		return j.saveError(j.unsynced)
	}
	if j.unsaved = j.write(); j.unsaved != nil {
		return j.saveError(j.unsaved)
	}
	if j.syncEach {
		j.sync()
	}
	return j.saveError(j.unsynced)
}

// write makes the file if it does not exist, reads what other programs have added, and
// appends what is pending. A file of version 1 is written anew instead. Lines that could
// not be written stay pending.
func (j *journal) write() error {
	if j.store.f == nil {
		if err := j.store.create(); err != nil {
			return err
		}
		j.checkLocked()
	}
	if foreign, err := j.store.countForeign(); err != nil {
		return err
	} else if foreign > 0 {
		j.readForeign()
	}
	if j.outdated {
		if err := j.changes.rewrite(j.store.replace); err != nil {
			return err
		}
		j.outdated, j.pending = false, nil
		return nil
	}
	if len(j.pending) == 0 {
		return nil
	}
	n, foreign, err := j.store.write(j.pending)
	j.addForeign(foreign)
	if !j.store.end.torn { // we have ended the partial line with a line break
		j.changes.addForeign(j.partial)
		j.partial = nil
	}
	j.dropWritten(n)
	return err
}

// readForeign reads what other programs have added to the file, so that no id is given
// twice. It does nothing before the file exists. Errors are dropped: the write that
// follows meets and reports them.
func (j *journal) readForeign() {
	if j.store == nil || j.store.f == nil {
		return
	}
	n, err := j.store.countForeign()
	if err != nil || n == 0 {
		return // the write that follows reports it
	}
	lead := j.store.end.lineBreak()
	buf, err := j.store.readForeign(n)
	if err != nil {
		return
	}
	j.addForeign(j.skipPending(buf, lead))
}

// addForeign hands the whole lines of other programs to the session. A line without its
// newline, which may still be being written, is kept in partial until the rest arrives
// or our own next line ends it.
func (j *journal) addForeign(lines []byte) {
	lines = append(j.partial, lines...)
	whole := bytes.LastIndexByte(lines, '\n') + 1
	j.partial = bytes.Clone(lines[whole:])
	j.changes.addForeign(lines[:whole])
}

// skipPending is given what was read behind the known end of the file, where lead is the
// line break that a write of ours begins with. After a write that failed this may be our
// own pending lines, for some of them may have arrived: those are dropped from pending,
// and the rest is returned. If a piece of a line arrived, the next write continues it.
func (j *journal) skipPending(lines []byte, lead string) []byte {
	if j.unsaved == nil {
		return lines
	}
	ours := bytes.TrimPrefix(lines, []byte(lead))
	if bytes.HasPrefix(j.pending, ours) {
		j.dropWritten(len(ours))
		j.store.end.torn = false
		return nil
	}
	whole := bytes.LastIndexByte(ours, '\n') + 1
	if whole == 0 || !bytes.HasPrefix(j.pending, ours[:whole]) {
		return lines
	}
	j.dropWritten(whole)
	return ours[whole:]
}

// dropWritten removes the first n bytes from pending, because they are in the file, and
// counts their lines.
func (j *journal) dropWritten(n int) {
	j.changes.addWritten(bytes.Count(j.pending[:n], []byte("\n")))
	if j.pending = j.pending[n:]; len(j.pending) == 0 {
		j.pending = j.pending[:0]
	}
}

// checkLocked adds a problem if the open file could not be locked because its file
// system has no locks.
func (j *journal) checkLocked() {
	if !j.store.locked {
		j.problems.add("the file system has no locks: nothing keeps another program from writing to this session at the same time")
	}
}

// sync brings the file to the disk. The first failure is kept in unsynced for good.
func (j *journal) sync() error {
	err := j.store.sync()
	if err != nil && j.unsynced == nil {
		j.unsynced = fmt.Errorf("sync: %w", err)
	}
	return err
}

// err is why the file lacks part of the session, or nil.
func (j *journal) err() error {
	if j.unsaved != nil {
		return j.saveError(j.unsaved)
	}
	return j.saveError(j.unsynced)
}

// saveError returns err as a *[SaveError] for the file, nil for nil.
func (j *journal) saveError(err error) error {
	if err == nil {
		return nil
	}
	return &SaveError{Path: j.store.path, Err: err}
}
