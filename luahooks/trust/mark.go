package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pi/internal/safefile"
)

// Window is the time in which tools could have changed a file: the batches of tools of
// a run, and as long as processes live that they started. The store names it from the first tool
// to the end of the run, and its program keeps a small file locked, which says more
// (see mark): a window whose file nobody has locked was abandoned by a program
// that ended before its run did. A file that is damaged or gone counts as that of tools
// at work.
type Window struct {
	Groups []int  `json:"groups,omitempty"` // process groups that tools started
	Boot   string `json:"boot,omitempty"`   // which start of the machine they belong to
	Asks   bool   `json:"asks,omitempty"`   // every change is asked about, so the window never closes

	// What its file says, as [Store.OtherWindows] found it.
	lives    bool            // its program does
	rests    bool            // no tool is at work
	lost     bool            // nothing: it is damaged or gone
	starting bool            // a process is being started, whose group is not among Groups
	live     map[string]File // versions that are active beside those of the store
}

// isUnsure reports whether tools may have started processes of which its file does not tell.
func (w Window) isUnsure() bool { return w.lost || w.starting }

// counts reports whether tools may be at work in a window, or were when its program ended.
func (w Window) counts(alive func(group int) bool) bool { return !w.rests || w.mayLive(alive) }

// mayLive reports whether processes of a window may live. Of an unsure one it is not known
// which there were; they have ended with the machine.
func (w Window) mayLive(alive func(group int) bool) bool {
	return w.isUnsure() && w.Boot == BootID() || len(w.living(alive)) > 0
}

// living lists the process groups of a window that have a process. After a new start of the
// machine there are none, whoever has their numbers now.
func (w Window) living(alive func(group int) bool) (groups []int) {
	if w.Boot != BootID() {
		return nil
	}
	for _, group := range w.Groups {
		if group > 1 && alive(group) {
			groups = append(groups, group)
		}
	}
	return groups
}

const runningPrefix = "running-"

func isRunning(name string) bool {
	return strings.HasPrefix(name, runningPrefix) && filepath.Base(name) == name
}

// BootID tells starts of the machine apart, where that can be known: the numbers
// of process groups begin anew with each.
func BootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// mark is what the file of a window says. It is written in place while the program runs:
//
//   - running-123           tools are at work; with - they are not
//     live {"path":…}         a version that became active after the window was written to the store
//     group 4711              a process group that a tool started
//     group                   the last line, without an end: one is being started, and its
//     number is written behind this as soon as there is one
//
// A text that is not byte for byte such lines is no mark, and counts as one of tools at work.
type mark struct {
	working  bool
	live     map[string]File // by path
	groups   []int
	starting bool // a process is being started, before which that was written
}

// begunGroup is the line of a group whose number is not known yet.
const begunGroup = "group "

// liveFile is a version that became active between two batches of tools.
type liveFile struct {
	Path string `json:"path"`
	File
}

// text returns the mark of the window with that name.
func (m mark) text(name string) string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "+ ", false: "- "}[m.working] + name + "\n")
	for _, path := range slices.Sorted(maps.Keys(m.live)) {
		b.WriteString(liveFile{path, m.live[path]}.line() + "\n")
	}
	for _, group := range m.groups {
		b.WriteString(begunGroup + strconv.Itoa(group) + "\n")
	}
	if m.starting {
		b.WriteString(begunGroup)
	}
	return b.String()
}

func (f liveFile) line() string {
	raw, _ := json.Marshal(f) // strings only
	return "live " + string(raw)
}

// parseMark parses the text of the window with that name. It refuses lines that text does not
// write.
func parseMark(name string, text []byte) (mark, error) {
	damaged := fmt.Errorf("the mark of %s is not what pi wrote", name)
	head, rest, whole := strings.Cut(string(text), "\n")
	m := mark{working: head == "+ "+name, live: map[string]File{}}
	if !whole || !m.working && head != "- "+name {
		return mark{}, damaged
	}
	for line := range strings.Lines(rest) {
		line, ended := strings.CutSuffix(line, "\n")
		raw, isLive := strings.CutPrefix(line, "live ")
		number, isGroup := strings.CutPrefix(line, begunGroup)
		switch {
		case !ended && line == begunGroup:
			m.starting = true
		case ended && isLive:
			var f liveFile
			if err := json.Unmarshal([]byte(raw), &f); err != nil || f.line() != line || !isPath(f.Path) || !areSums(f.Sum, f.Kept) {
				return mark{}, damaged
			}
			m.live[f.Path] = f.File
		case ended && isGroup:
			group, err := strconv.Atoi(number)
			if err != nil || strconv.Itoa(group) != number {
				return mark{}, damaged
			}
			m.groups = append(m.groups, group)
		default:
			return mark{}, damaged
		}
	}
	return m, nil
}

// withLive returns the mark with these versions.
func (m mark) withLive(files map[string]File) mark {
	m.live = maps.Clone(m.live)
	maps.Copy(m.live, files)
	return m
}

// withGroups returns the mark with more process groups.
func (m mark) withGroups(groups []int) mark {
	m.groups = slices.Clone(m.groups)
	for _, group := range groups {
		if !slices.Contains(m.groups, group) {
			m.groups = append(m.groups, group)
		}
	}
	return m
}

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
// edit writes down in the same step what is active.
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
		err = r.set(mark{working: true, live: map[string]File{}, groups: w.Groups})
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
// more groups belong to them, and which versions became active since.
func (r *Running) Work(starting bool, groups []int, live map[string]File) error {
	m := r.mark.withGroups(groups).withLive(live)
	m.working, m.starting = true, starting
	return r.set(m)
}

// Approved says that a version of a file was approved, if the mark has another one.
func (r *Running) Approved(path string, f File) error {
	if _, live := r.mark.live[path]; !live {
		return nil
	}
	return r.set(r.mark.withLive(map[string]File{path: f}))
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

// maxRunning is how long a mark may be: some thousand versions that became active.
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
