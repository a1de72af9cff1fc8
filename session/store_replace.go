package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pi/internal/safefile"
)

// replace swaps the file, which is of an older version, for a new one with other
// contents, and makes a backup. The new one is locked before it takes the name, so the lock has no gap. Until
// then the file is as it was; if the process ends before, the new one stays
// under a name that nobody looks for.
func (st *store) replace(contents []byte, version int) error {
	if err := st.backup(version); err != nil {
		return err
	}
	next := &store{path: fmt.Sprintf("%s.%s.new", st.path, newEntryID(nil)), seams: st.seams}
	if err := next.create(); err != nil {
		return err
	}
	err := st.swap(next, contents)
	if err != nil {
		next.close()
		os.Remove(next.path)
		return err
	}
	st.close()
	st.become(next)
	st.dirty, st.folders = true, append(st.folders, filepath.Dir(st.path))
	return nil
}

// swap writes contents into the new file, syncs it and renames it to our path. It fails
// with errMixed if another program has added to the old file, which would be lost.
func (st *store) swap(next *store, contents []byte) error {
	if _, _, err := next.write(contents); err != nil {
		return err
	}
	if err := next.sync(); err != nil {
		return err
	}
	st.step("new file complete")
	if foreign, err := st.countForeign(); err != nil || foreign > 0 {
		return errors.Join(err, errMixed)
	}
	if err := os.Rename(next.path, st.path); err != nil {
		return err
	}
	st.step("renamed")
	return nil
}

// backup copies the file to one beside it, named for its version. If a file has that
// name, it is left alone and a number is added to the name, unless it is the same
// backup: then there is nothing to do.
func (st *store) backup(version int) error {
	info, err := st.f.Stat()
	if err != nil {
		return err
	}
	old := make([]byte, info.Size())
	n, err := st.f.ReadAt(old, 0)
	if err != nil && err != io.EOF { // with io.EOF the file became shorter meanwhile: what is left is copied
		return err
	}
	old = old[:n]
	name := fmt.Sprintf("%s.v%d.bak", st.path, version)
	for i := 1; ; i++ {
		err := st.writeNew(name, old)
		if err == nil {
			return safefile.SyncDir(filepath.Dir(name))
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if same, err := os.ReadFile(name); err == nil && bytes.Equal(same, old) {
			return nil
		}
		name = fmt.Sprintf("%s.v%d.%d.bak", st.path, version, i)
	}
}

// writeNew writes b into a file that must not exist, and syncs it; on failure the file
// is removed.
func (st *store) writeNew(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	st.step("backup made")
	n, err := st.writeFile(f, b)
	if n < len(b) && err == nil {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}
