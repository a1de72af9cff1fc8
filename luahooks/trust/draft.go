package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/safefile"
	"pi/internal/suggest"
	"pi/luahooks/text"
)

// DraftsDir is where hooks are written before they are hooks: nothing in it is loaded or watched.
func (p Places) DraftsDir() string { return filepath.Join(p.AgentDir, "drafts") }

// Drafts lists the names of the drafts that there are.
func (p Places) Drafts() (names []string) {
	entries, _ := someEntries(p.DraftsDir(), maxHooks) // a folder that is not there has none
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".lua") && !isTest(name) && !Ignored(name) {
			names = append(names, hookName(name))
		}
	}
	return names
}

// A Draft is a hook with its test that are not in force: as both were read from the folder of
// drafts, or came with the program. A user is shown these bytes, and [Guard.Adopt] keeps these bytes,
// whatever the files say by then.
type Draft struct {
	Name  string
	Diff  string // of each file to the one that it replaces, hidden characters visible; "" if they are there already
	kind  string // how its files are called in the difference
	files []draftFile
}

// draftFile is a file of a draft, and the one in its place.
type draftFile struct {
	from, to string // from is "" where it is in no file
	code     []byte
	before   Version
}

// Hook is the path at which a draft is a hook.
func (d *Draft) Hook() string { return d.files[len(d.files)-1].to }

// Replaces reports whether a file of other contents is in the place of one of the draft.
func (d *Draft) Replaces() bool {
	return slices.ContainsFunc(d.files, func(f draftFile) bool { return f.before.exists() && f.before.Sum != Sum(f.code) })
}

// ReadDraft reads the draft of a name, and what is at its place among the hooks of the agent directory.
func (g *Guard) ReadDraft(p Places, name string) (*Draft, error) {
	name = strings.TrimSuffix(name, ".lua")
	if filepath.Base(name) != name || strings.HasPrefix(name, ".") || name == "" || isTest(name+".lua") {
		return nil, fmt.Errorf("%q is no name of a draft: the drafts are the files in %s", name, p.DraftsDir())
	}
	if err := hasNoFolder(p, name); err != nil {
		return nil, err
	}
	d := &Draft{Name: name, kind: "draft"}
	for _, base := range draftFiles(name) {
		from := filepath.Join(p.DraftsDir(), base)
		code, err := safefile.Read(from, MaxHook)
		if errors.Is(err, fs.ErrNotExist) && isTest(base) {
			continue // the hook comes without one
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noDraft(p, name)
		}
		if err == nil {
			_, err = text.Scan(code)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", from, err)
		}
		d.add(p, base, from, code)
	}
	if d.Diff == "" {
		return nil, fmt.Errorf("the draft %s is what is there already", name)
	}
	return d, nil
}

// DraftOf is a draft of a hook and its test that came with the program.
func (g *Guard) DraftOf(p Places, name, hook, test string) (*Draft, error) {
	if err := hasNoFolder(p, name); err != nil {
		return nil, err
	}
	d := &Draft{Name: name, kind: "example"}
	for i, base := range draftFiles(name) {
		d.add(p, base, "", []byte([]string{test, hook}[i]))
	}
	return d, nil
}

// draftFiles are the names of the files of a draft, the hook last: what is in force can be tested.
func draftFiles(name string) []string { return []string{name + "_test.lua", name + ".lua"} }

// hasNoFolder returns an error if a hook of the user that is a folder has this name.
func hasNoFolder(p Places, name string) error {
	if folder := filepath.Join(p.GlobalDir(), name); isHook(folder) {
		return fmt.Errorf("%s is a hook with that name, and two cannot have it; move that one away, or change it where it is", folder)
	}
	return nil
}

// add adds a file to a draft, and how it differs from what is in its place.
func (d *Draft) add(p Places, base, from string, code []byte) {
	f := draftFile{from: from, to: filepath.Join(p.GlobalDir(), base), code: code}
	f.before = onDisk(f.to)
	if f.before.Sum != Sum(code) {
		d.Diff = DiffAs("hooks/"+base, f.before.Code, code, "on disk", d.kind) + d.Diff // the hook above its test
	}
	d.files = append(d.files, f)
}

// noDraft says which drafts there are.
func noDraft(p Places, name string) error {
	if folder := filepath.Join(p.DraftsDir(), name); isHook(folder) {
		return fmt.Errorf("%s is a folder, and a draft is one file; look at what is in it, and move it to %s yourself", folder, filepath.Join(p.GlobalDir(), name))
	}
	names := p.Drafts()
	if len(names) == 0 {
		return fmt.Errorf("no draft %q in %s; `pi hooks new --draft %s` begins it", name, p.DraftsDir(), name)
	}
	return fmt.Errorf("no draft %q%s; there are %s", name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// Adopt makes hooks of the files of a draft that a user was shown and approved, and removes the
// draft. The hook is active when it is loaded the next time, and no later look takes it for a change of
// a tool. While tools work, and for a program that a tool started, it is refused. The
// error is [ErrChangedAgain] if a file in the place of one is another than the user was shown.
func (g *Guard) Adopt(d *Draft) error {
	s := g.lock()
	defer g.mu.Unlock()
	if err := s.mayAdoptDraft(d); err != nil {
		return err
	}
	for _, f := range d.files {
		if err := s.adoptFile(f); err != nil {
			return err
		}
	}
	for _, f := range d.files {
		if f.from == "" {
			continue
		}
		if now, err := safefile.Read(f.from, MaxHook); err == nil && bytes.Equal(now, f.code) {
			os.Remove(f.from) // one that was written since is kept, and one that stays harms nobody
		}
	}
	return nil
}

// Discard removes what is in the place of the files of a draft, the hook first, for a user who wants
// it no more. It is refused as [Guard.Adopt] is.
func (g *Guard) Discard(d *Draft) error {
	s := g.lock()
	defer g.mu.Unlock()
	if err := s.mayAdoptDraft(d); err != nil {
		return err
	}
	for _, f := range slices.Backward(d.files) {
		if err := os.Remove(f.to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		is := s.home.onDisk(f.to)
		s.ledger.put(f.to, is)
		s.noteApproved(f.to, is, ScopeGlobal)
	}
	return nil
}

// errAtWork keeps drafts from being adopted while a tool could change what is adopted.
var errAtWork = errors.New("tools are at work; try it again when they have ended")

// mayAdoptDraft returns why a draft cannot be adopted now.
func (s *state) mayAdoptDraft(d *Draft) error {
	if err := s.mayApprove(); err != nil {
		return err
	}
	s.lookAtOthers()
	switch {
	case s.damaged != nil:
		return fmt.Errorf("%w; `pi trust` first", s.damaged)
	case s.others.atWork, s.window != nil && !s.window.idle:
		return errAtWork
	}
	for _, f := range d.files {
		if s.ledger.pending[f.to] != nil {
			return fmt.Errorf("%s was changed while the agent was at work, and waits for approval; /hooks approve %s, or `pi trust`, first", f.to, d.Name)
		}
		if !f.before.same(onDisk(f.to)) {
			return fmt.Errorf("%s: %w", f.to, ErrChangedAgain)
		}
	}
	return nil
}

// adoptFile writes a file of a draft to its place, and makes it active.
func (s *state) adoptFile(f draftFile) error {
	to, err := safefile.Target(f.to)
	if err == nil {
		err = safefile.Replace(to, f.code, true)
	}
	if err != nil {
		return err
	}
	is := s.home.onDisk(f.to)
	if is.Sum != Sum(f.code) {
		return fmt.Errorf("%s: %w", f.to, ErrChangedAgain)
	}
	s.ledger.put(f.to, is)
	s.noteApproved(f.to, is, ScopeGlobal)
	return nil
}
