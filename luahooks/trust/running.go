package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/safefile"
)

// Running is the file of a window, while its program lives.
type Running struct {
	in     *Store
	name   string
	window Window
	f      *os.File // locked
	mark   mark
	there  string // the text of the mark that was written; "": it is not known what is there
}

// Begin opens a window: it makes its file, locks it, and writes the window into the store;
// edit writes down in the same step what is in force.
func (s *Store) Begin(w Window, mayCount func(mine, theirs Data) bool, edit func(*Data)) (*Running, error) {
	fail := func(err error) error { return fmt.Errorf("note the files before tools run: %w", err) }
	if err := s.repair(); err != nil {
		return nil, fail(err)
	}
	f, err := os.CreateTemp(s.Dir(), "."+runningPrefix+"*")
	if err != nil {
		return nil, fail(err)
	}
	w.Boot = BootID()
	r := &Running{in: s, name: strings.TrimPrefix(filepath.Base(f.Name()), "."), window: w, f: f, mark: mark{working: true, groups: w.Groups}}
	// It gets its name when it is locked: a file of that name is removed where nobody has it.
	if err = r.write(f); err == nil {
		err = os.Rename(f.Name(), r.path())
	}
	if err == nil {
		err = s.Change(mayCount, func(d *Data) {
			d.Windows[r.name] = w
			edit(d)
		})
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		os.Remove(r.path())
		return nil, fail(err)
	}
	return r, nil
}

// write locks a new file and writes the mark into it.
func (r *Running) write(f *os.File) error {
	err := lockFile(f)
	if err == nil {
		_, err = f.WriteString(r.mark.text(r.name))
	}
	if err == nil {
		r.there = r.mark.text(r.name)
	}
	return err
}

// Work says that tools are at work from now on, that more groups belong to them, and which
// versions came into force since.
func (r *Running) Work(groups []int, live []liveFile) error {
	m := r.mark.withLive(live).withGroups(groups)
	m.working = true
	return r.set(m)
}

// AddGroups says that tools started more process groups.
func (r *Running) AddGroups(groups ...int) error { return r.NoteStart(r.mark.starting, groups...) }

// NoteStart is AddGroups, and says whether tools start another one. If that cannot be written,
// the file says nothing any more, as far as that can be done: it must not be believed.
func (r *Running) NoteStart(starting bool, groups ...int) error {
	m := r.mark.withGroups(groups)
	m.starting = starting
	err := r.set(m)
	if err != nil && starting {
		_ = r.f.Truncate(0)
	}
	return err
}

// Rest says that no tool is at work, and no process of one lives.
func (r *Running) Rest() error {
	m := r.mark
	m.working, m.groups = false, nil
	return r.set(m)
}

// set changes the mark. In ordinary life the file is written in place: lines behind the others,
// or away from the end, and then the first byte, each in one step.
func (r *Running) set(m mark) error {
	r.mark = m
	next, was := m.text(r.name), r.there
	if next == was {
		return nil
	}
	r.there = ""
	var err error
	switch {
	case was != "" && strings.HasPrefix(next[1:], was[1:]):
		if len(next) > len(was) {
			_, err = r.f.WriteAt([]byte(next[len(was):]), int64(len(was)))
		}
	case was != "" && strings.HasPrefix(was[1:], next[1:]):
		err = r.f.Truncate(int64(len(next)))
	default:
		return r.replace()
	}
	if err == nil && next[0] != was[0] {
		_, err = r.f.WriteAt([]byte(next[:1]), 0)
	}
	if err == nil {
		r.there = next
	}
	return err
}

func (r *Running) path() string { return filepath.Join(r.in.Dir(), r.name) }

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
	if err == nil && lerr == nil && rerr == nil && os.SameFile(mine, there) && string(text) == r.mark.text(r.name) {
		r.there = string(text)
		return nil
	}
	return r.replace()
}

// replace puts a new file with the mark in the place of the old one.
func (r *Running) replace() error {
	if err := r.in.repair(); err != nil {
		return err
	}
	f, err := os.CreateTemp(r.in.Dir(), "."+runningPrefix+"*")
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

// maxRunning is how long a mark may be: some thousand versions that came into force.
const maxRunning = 1 << 20

// End removes the file of a window that the store does not name any more.
func (r *Running) End() {
	os.Remove(r.path())
	r.f.Close()
}

// Abandon closes the file of a window that stays in the store, so that another program ends
// it.
func (r *Running) Abandon() { r.f.Close() }

// OtherWindows lists the windows of other programs: those whose program lives, and those
// that were abandoned, each with what its file says. Of a damaged store they are those of which
// there are files. own may be nil.
func (s *Store) OtherWindows(own *Running) (open, abandoned map[string]Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, abandoned = map[string]Window{}, map[string]Window{}
	windows := s.data.Windows
	if s.damaged != nil {
		windows = map[string]Window{}
		paths, _ := filepath.Glob(filepath.Join(escapeGlob(s.Dir()), runningPrefix+"*"))
		for _, path := range paths {
			windows[filepath.Base(path)] = Window{Boot: BootID()}
		}
	}
	for name, w := range windows {
		if own != nil && name == own.name {
			continue
		}
		list := abandoned
		if s.isLocked(name) {
			list = open
		}
		list[name] = s.withMark(name, w)
	}
	return open, abandoned
}

// withMark returns a window with what its file says.
func (s *Store) withMark(name string, w Window) Window {
	text, err := safefile.Read(filepath.Join(s.Dir(), name), maxRunning)
	var m mark
	if err == nil {
		m, err = parseMark(name, text)
	}
	if err != nil {
		w.lost = true
		return w
	}
	w.rests, w.live, w.starting, w.Groups = !m.working, m.live, m.starting, slices.Clone(w.Groups)
	for _, group := range m.groups {
		if !slices.Contains(w.Groups, group) {
			w.Groups = append(w.Groups, group)
		}
	}
	return w
}
