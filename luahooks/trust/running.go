package trust

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pi/internal/safefile"
)

// Running is the file of a window, while its program lives.
type Running struct {
	in     folder
	name   string
	window Window
	f      *os.File // locked
}

// Begin opens a window: it makes its file, locks it, and writes the window into the store;
// edit writes down in the same step what is in force.
func (s *Store) Begin(w Window, mayCount func(mine, theirs Data) bool, edit func(*Data)) (*Running, error) {
	fail := func(err error) error { return fmt.Errorf("note the files before tools run: %w", err) }
	if err := s.disk.repair(); err != nil {
		return nil, fail(err)
	}
	f, err := os.CreateTemp(s.disk.dir(), runningPrefix+"*")
	if err != nil {
		return nil, fail(err)
	}
	w.Boot = bootID()
	r := &Running{s.disk, filepath.Base(f.Name()), w, f}
	if err = r.write(f); err == nil {
		err = s.Change(mayCount, func(d *Data) {
			d.Windows[r.name] = w
			edit(d)
		})
	}
	if err != nil {
		f.Close()
		os.Remove(r.path())
		return nil, fail(err)
	}
	return r, nil
}

// write locks the file and writes its name into it.
func (r *Running) write(f *os.File) error {
	err := lockFile(f)
	if err == nil {
		_, err = f.WriteString(r.name + "\n")
	}
	return err
}

func (r *Running) path() string { return filepath.Join(r.in.dir(), r.name) }

// Name is the name of the window in the store.
func (r *Running) Name() string { return r.name }

// Window is the window as it began.
func (r *Running) Window() Window { return r.window }

// Restore puts the file back where others look for it, as it was, if a tool harmed
// it.
func (r *Running) Restore() error {
	mine, err := r.f.Stat()
	there, lerr := os.Lstat(r.path())
	text, rerr := safefile.Read(r.path(), maxRunning)
	if err == nil && lerr == nil && rerr == nil && os.SameFile(mine, there) && bytes.Equal(text, []byte(r.name+"\n")) {
		return nil
	}
	if err := r.in.repair(); err != nil {
		return err
	}
	f, err := os.CreateTemp(r.in.dir(), ".running-*")
	if err != nil {
		return err
	}
	if err = r.write(f); err == nil {
		if err = os.Rename(f.Name(), r.path()); err != nil {
			err = errors.Join(renameDamaged(r.path()), os.Rename(f.Name(), r.path()))
		}
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return err
	}
	r.f.Close()
	r.f = f
	return nil
}

const maxRunning = 1 << 10

// End removes the file of a window that the store does not name any more.
func (r *Running) End() {
	os.Remove(r.path())
	r.f.Close()
}

// Abandon closes the file of a window that stays in the store, so that another program ends
// it.
func (r *Running) Abandon() { r.f.Close() }

// OtherWindows lists the windows of other programs: those whose program lives, and those
// that were abandoned. own may be nil.
func (s *Store) OtherWindows(own *Running) (open, abandoned map[string]Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, abandoned = map[string]Window{}, map[string]Window{}
	for name, w := range s.data.Windows {
		switch {
		case own != nil && name == own.name:
		case s.disk.isLocked(name):
			open[name] = w
		default:
			abandoned[name] = w
		}
	}
	return open, abandoned
}
