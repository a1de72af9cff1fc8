package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// A Draft is a hook with its test, as both were read from the folder of drafts. A user is shown
// these bytes, and [Guard.Adopt] keeps these bytes, whatever the files say by then.
type Draft struct {
	Name  string
	Diff  string // of each file to the one that it replaces, hidden characters visible
	files []draftFile
}

// draftFile is a file of a draft, and the one in its place.
type draftFile struct {
	from, to string
	code     []byte
	before   Version
}

// Hook is the path at which a draft is a hook.
func (d *Draft) Hook() string { return d.files[len(d.files)-1].to }

// ReadDraft reads the draft of a name, and what is at its place among the hooks of the agent directory.
func (g *Guard) ReadDraft(p Places, name string) (*Draft, error) {
	name = strings.TrimSuffix(name, ".lua")
	if filepath.Base(name) != name || strings.HasPrefix(name, ".") || name == "" || isTest(name+".lua") {
		return nil, fmt.Errorf("%q is no name of a draft: the drafts are the files in %s", name, p.DraftsDir())
	}
	if folder := filepath.Join(p.GlobalDir(), name); isHook(folder) {
		return nil, fmt.Errorf("%s is a hook with that name; give the draft another one, or change the hook there", folder)
	}
	d := &Draft{Name: name}
	for _, base := range []string{name + "_test.lua", name + ".lua"} { // the hook last: what is in force can be tested
		f := draftFile{from: filepath.Join(p.DraftsDir(), base), to: filepath.Join(p.GlobalDir(), base)}
		var err error
		f.code, err = safefile.Read(f.from, MaxHook)
		if errors.Is(err, fs.ErrNotExist) && isTest(base) {
			continue // the hook comes without one
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noDraft(p, name)
		}
		if err == nil {
			_, err = text.Scan(f.code)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.from, err)
		}
		f.before = onDisk(f.to)
		if f.before.Sum != Sum(f.code) {
			d.Diff += diffOf("hooks/"+base, f.before.Code, f.code, "on disk", "draft")
		}
		d.files = append(d.files, f)
	}
	if d.Diff == "" {
		return nil, fmt.Errorf("the draft %s is what is there already", name)
	}
	return d, nil
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
		return fmt.Errorf("adopt %s: %w", d.Name, err)
	}
	for _, f := range d.files {
		if err := s.adoptFile(f); err != nil {
			return fmt.Errorf("adopt %s: %w", d.Name, err)
		}
	}
	for _, f := range d.files {
		if now, err := safefile.Read(f.from, MaxHook); err == nil && bytes.Equal(now, f.code) {
			os.Remove(f.from) // one that was written since is kept, and one that stays harms nobody
		}
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
