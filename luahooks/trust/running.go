package trust

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"pi/internal/safefile"
)

// Running is the file of a window, open and locked while its program lives.
type Running struct {
	store   *Store
	name    string
	window  Window // as the store has it
	f       *os.File
	mark    mark
	written string // the text of the mark; "": it is not known what is there
}

// Begin opens a window: it makes its file, locks it, and writes the window into the store;
// edit writes down in the same step what is in force.
func (s *Store) Begin(w Window, mayCount func(mine, theirs Data) bool, edit func(*Data)) (*Running, error) {
	fail := func(err error) error { return fmt.Errorf("note the files before tools run: %w", err) }
	if err := s.repair(); err != nil {
		return nil, fail(err)
	}
	f, err := os.CreateTemp(s.Dir(), runningPrefix+"*")
	if err != nil {
		return nil, fail(err)
	}
	w.Boot = BootID()
	r := &Running{store: s, name: filepath.Base(f.Name()), window: w, f: f}
	if err = safefile.Lock(f); err == nil || errors.Is(err, safefile.ErrNoLock) {
		err = r.set(mark{working: true, groups: w.Groups})
	}
	if err == nil {
		err = s.Change(mayCount, func(d *Data) {
			d.Windows[r.name] = w
			edit(d)
		})
	}
	if err != nil {
		r.End()
		return nil, fail(err)
	}
	return r, nil
}

// Work says that tools are at work from now on, whether a process is being started for one, that
// more groups belong to them, and which versions came into force since.
func (r *Running) Work(starting bool, groups []int, live []liveFile) error {
	m := r.mark.withLive(live).withGroups(groups)
	m.working, m.starting = true, starting
	return r.set(m)
}

// Note says that tools started more process groups, and whether they start another one.
func (r *Running) Note(starting bool, groups ...int) error {
	m := r.mark.withGroups(groups)
	m.starting = starting
	return r.set(m)
}

// Rest says that no tool is at work, and no process of one lives.
func (r *Running) Rest() error {
	m := r.mark
	m.working, m.groups = false, nil
	return r.set(m)
}

// set changes the mark, in place. Half of a text is no mark, or one that says more than it
// should, so that tools count as at work. If it cannot be written the file says nothing any more,
// as far as that can be done: it must not be believed.
func (r *Running) set(m mark) error {
	r.mark = m
	text := m.text(r.name)
	if text == r.written {
		return nil
	}
	r.written = ""
	_, err := r.f.WriteAt([]byte(text), 0)
	if err == nil {
		err = r.f.Truncate(int64(len(text)))
	}
	if err != nil {
		_ = r.f.Truncate(0)
		return err
	}
	r.written = text
	return nil
}

func (r *Running) path() string { return filepath.Join(r.store.Dir(), r.name) }

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

// OtherWindows lists the windows of other programs, each with what its file says. Of a damaged
// store they are those of which there are files. own may be nil.
func (s *Store) OtherWindows(own *Running) map[string]Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	windows := maps.Clone(s.data.Windows)
	if s.damaged != nil {
		windows = map[string]Window{}
		for _, name := range s.running() {
			windows[name] = Window{Boot: BootID()}
		}
	}
	if own != nil {
		delete(windows, own.name)
	}
	for name, w := range windows {
		windows[name] = s.withMark(name, w)
	}
	return windows
}

// running lists the names of the files of windows that are there.
func (s *Store) running() (names []string) {
	entries, _ := os.ReadDir(s.Dir())
	for _, e := range entries {
		if isRunning(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// isLocked reports whether a program has the file of a window locked.
func (s *Store) isLocked(name string) bool {
	f, err := safefile.Open(filepath.Join(s.Dir(), name), os.O_RDWR)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(safefile.Lock(f), safefile.ErrLocked)
}

// withMark returns a window with what its file says.
func (s *Store) withMark(name string, w Window) Window {
	w.lives = s.isLocked(name)
	text, err := safefile.Read(filepath.Join(s.Dir(), name), maxRunning)
	var m mark
	if err == nil {
		m, err = parseMark(name, text)
	}
	if err != nil {
		w.lost = true
		return w
	}
	w.rests, w.live, w.starting = !m.working, m.live, m.starting
	w.Groups = m.withGroups(w.Groups).groups
	return w
}
