package trust

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pi/internal/safefile"
)

// Window is the time in which tools could have changed a file: from the first
// tool on until the agent has settled and the processes that tools started have
// ended. The store names it, with a small file that its program holds locked: a
// window whose file nobody has locked was left by a program that ended before its
// tools did. A file that is damaged or gone makes no difference, since the store
// knows of it.
type Window struct {
	Groups []int  `json:"groups,omitempty"` // process groups that tools started
	Boot   string `json:"boot,omitempty"`   // which start of the machine they belong to
	Asks   bool   `json:"asks,omitempty"`   // every change is asked about, so the window never closes
}

// Living lists the process groups of a window that have a process.
func (w Window) Living(alive func(group int) bool) (groups []int) {
	if w.Boot != bootID() {
		return nil
	}
	for _, group := range w.Groups {
		if group > 1 && alive(group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// Running is the file of a window, while its program lives.
type Running struct {
	in     folder
	name   string
	window Window
	f      *os.File // locked
}

const runningPrefix = "running-"

func isRunning(name string) bool {
	return strings.HasPrefix(name, runningPrefix) && filepath.Base(name) == name
}

// Begin opens a window: edit writes down in the same step what is in force.
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

func (r *Running) write(f *os.File) error {
	err := lockFile(f)
	if err == nil {
		_, err = f.WriteString(r.name + "\n")
	}
	return err
}

func (r *Running) path() string { return filepath.Join(r.in.dir(), r.name) }

// Name is how the store calls the window.
func (r *Running) Name() string { return r.name }

// Window is how it began.
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

// Abandon lets go of a window that stays open.
func (r *Running) Abandon() { r.f.Close() }

// OtherWindows lists the windows of other programs: those whose program lives, and those
// that were left. own may be nil.
func (s *Store) OtherWindows(own *Running) (open, left map[string]Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, left = map[string]Window{}, map[string]Window{}
	for name, w := range s.data.Windows {
		switch {
		case own != nil && name == own.name:
		case s.disk.isLocked(name):
			open[name] = w
		default:
			left[name] = w
		}
	}
	return open, left
}

// sweep removes the files of windows that the store does not name and that nobody
// has locked: their programs ended in the middle of a step, or never were.
func (s *Store) sweep() {
	names, _ := filepath.Glob(filepath.Join(escapeGlob(s.disk.dir()), runningPrefix+"*"))
	for _, path := range names {
		s.mu.Lock()
		_, named := s.data.Windows[filepath.Base(path)]
		s.mu.Unlock()
		if !named && !s.disk.isLocked(filepath.Base(path)) {
			os.Remove(path)
		}
	}
}

// bootID tells starts of the machine apart, where that can be known: the numbers
// of process groups begin anew with each.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}
