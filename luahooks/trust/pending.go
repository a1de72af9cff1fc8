package trust

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"pi/internal/printable"
)

// Pending is a file whose version on the disk waits for approval. Until then the
// one before is in force.
type Pending struct {
	Name   string    `json:"name"`   // of the hook, else of the file
	Path   string    `json:"path"`   // absolute
	Kind   string    `json:"kind"`   // hook, module, settings, approvals
	Change string    `json:"change"` // changed, added, removed
	Scope  Scope     `json:"scope,omitempty"`
	Since  time.Time `json:"since"`
	Diff   string    `json:"diff"`           // unified, hidden characters visible
	Lost   bool      `json:"lost,omitempty"` // there is no copy of the version in force

	sum    string // of the version that waits
	asking bool   // somebody looks at it
}

// IsGoneOrEmpty reports whether what waits is no file, or one without a byte, as a file
// is for a moment while it is saved.
func (p *Pending) IsGoneOrEmpty() bool { return p.sum == "" || p.sum == Sum(nil) }

// pending describes a held file.
func (at *home) pending(path string, h *withheld) *Pending {
	p := &Pending{Name: filepath.Base(path), Path: path, Kind: "module", Change: "changed", Scope: h.scope, Since: h.since, sum: h.now.Sum, asking: h.asking}
	switch {
	case slices.Contains(at.configs, path):
		p.Kind = "settings"
	case path == at.keys:
		p.Kind = "commands of keys"
	case at.isHook(path):
		p.Kind, p.Name = "hook", hookName(path)
	}
	switch {
	case !h.old.exists():
		p.Change = "added"
	case !h.now.exists():
		p.Change = "removed"
	}
	p.Lost = h.old.exists() && h.old.Code == nil
	p.Diff = at.diff(path, h)
	return p
}

// diff shows the two versions, and where a link leads now: what stands beside a
// hook counts.
func (at *home) diff(path string, h *withheld) string {
	if !h.old.exists() || !h.now.exists() || h.old.real == "" || h.now.real == "" || h.old.real == h.now.real {
		return Diff(path, at.shownCode(path, h.old), at.shownCode(path, h.now))
	}
	leads := printable.VisibleLine(fmt.Sprintf("%s led to %s and leads to %s now", path, h.old.real, h.now.real)) + "\n"
	if h.old.Sum == h.now.Sum {
		return leads
	}
	return leads + Diff(path, at.shownCode(path, h.old), at.shownCode(path, h.now))
}

// shownCode is what is shown of a version: settings without their keys.
func (h *home) shownCode(path string, v Version) []byte {
	code, ok := h.masked(path, v.Code)
	if !ok {
		return existing(Version{Sum: v.Sum})
	}
	return existing(Version{Code: code, Sum: v.Sum})
}

// existing is the code of a version, nil only if there is no file.
func existing(v Version) []byte {
	if v.exists() && v.Code == nil {
		return []byte{}
	}
	return v.Code
}

// isHook tells a hook's own file from a module by where it lies.
func (h *home) isHook(path string) bool {
	dir, base := filepath.Split(path)
	if base == "init.lua" {
		dir = filepath.Dir(filepath.Clean(dir)) + string(filepath.Separator)
	}
	for _, config := range h.configs {
		if dir == filepath.Join(filepath.Dir(config), "hooks")+string(filepath.Separator) {
			return true
		}
	}
	return h.named[path]
}

// Effect says what is in force meanwhile.
func (p *Pending) Effect() string {
	switch {
	case p.Change == "lost":
		return "nothing is"
	case p.Kind == "approvals":
		return "what it held before stays in force"
	case p.Kind == "commands of keys":
		return "no command that is new there runs"
	case p.Change == "added" && p.Kind == "settings":
		return "it does not count"
	case p.Change == "added":
		return "it does not run"
	}
	return "the version before stays in force"
}

// ShowPending lists what waits for approval, in order of the path, and notes that a
// person was shown it: [Guard.Accept] approves exactly this.
func (g *Guard) ShowPending() []Pending {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	list := []Pending{}
	if s.doubt != nil {
		p := s.pendingDoubt()
		s.ledger.shown[p.Path] = p.sum
		return append(list, *p)
	}
	for path, h := range s.ledger.withheld {
		h.now = s.home.onDisk(path)
		if h.old.same(h.now) {
			s.ledger.release(path)
			continue
		}
		list = append(list, *s.home.pending(path, h))
		s.ledger.shown[path] = h.now.Sum
	}
	if s.home.store != nil {
		if m, ok := s.home.store.Marks()[s.home.store.Path()]; ok {
			list = append(list, *s.home.pendingStore(m))
			s.ledger.shown[s.home.store.Path()] = m.New
		}
	}
	s.writeMarks()
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list
}

// pendingStore describes the store that somebody wrote to.
func (h *home) pendingStore(m Mark) *Pending {
	old, now := h.store.Foreign(m.New)
	p := &Pending{Name: "trust.json", Path: h.store.Path(), Kind: "approvals", Change: "changed", Since: m.Since, sum: m.New}
	if m.New == "" {
		p.Change = "removed"
	}
	p.Diff = Diff(p.Path, old, now)
	return p
}

// Concerns reports whether what waits matters to a program that runs in p.
func (p Pending) Concerns(places Places) bool {
	below := func(dir string) bool { return strings.HasPrefix(p.Path, dir+string(filepath.Separator)) }
	switch {
	case p.Kind == "settings" || p.Kind == "approvals" || p.Kind == "commands of keys":
		return below(places.AgentDir) || below(filepath.Join(places.Cwd, ".pi"))
	case p.Scope == ScopeCommand || slices.Contains(places.CommandLine, p.Path):
		return slices.ContainsFunc(places.CommandLine, func(path string) bool { return below(filepath.Dir(path)) })
	case places.NoHooks:
		return false
	case below(places.AgentDir):
		return true
	case p.Scope == ScopeProject || below(places.Cwd):
		return !places.NoProject && below(places.Cwd)
	}
	return slices.ContainsFunc(places.Configured, func(path string) bool { return below(filepath.Dir(path)) })
}

// ErrChangedAgain keeps what nobody has seen from being approved.
var ErrChangedAgain = errors.New("it has changed since it was shown; look again")

// errOfTool keeps what a tool started from approving what the tool did.
var errOfTool = errors.New("a tool started this program, so it approves nothing; a person has to run `pi trust`")

// Accept puts the version that was shown last in force. A hook runs it when it is
// loaded the next time.
func (g *Guard) Accept(path string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.acceptShown(path)
}

// AcceptExactly is Accept for exactly what p describes: a person answered a question about
// it, while others may list what waits.
func (g *Guard) AcceptExactly(p *Pending) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	s.ledger.shown[p.Path] = p.sum
	return s.acceptShown(p.Path)
}

// acceptShown puts what waits in force if it is what a person was shown.
func (s *state) acceptShown(path string) error {
	if s.isOfTool() {
		return errOfTool
	}
	if s.home.store != nil && path == s.home.store.Path() {
		return s.acceptStore()
	}
	h := s.ledger.withheld[path]
	if h == nil {
		return fmt.Errorf("%s does not wait for approval", path)
	}
	now := s.home.onDisk(path)
	if sum, ok := s.ledger.shown[path]; !ok || sum != now.Sum {
		return fmt.Errorf("%s: %w", path, ErrChangedAgain)
	}
	return s.accept(path, h, now)
}

// accept puts now in force.
func (s *state) accept(path string, h *withheld, now Version) (err error) {
	if h.scope == ScopeProject {
		if now.exists() {
			err = s.approve(path, now.Sum)
		}
		s.approvals.live[path], s.approvals.head = true, s.home.headNow()
	}
	s.ledger.files[path] = now
	s.ledger.release(path)
	s.noteApproved(path, now, h.scope)
	return err
}

func (s *state) acceptStore() error {
	if s.doubt != nil {
		return s.acceptDoubt()
	}
	m, ok := s.home.store.Marks()[s.home.store.Path()]
	if !ok {
		return fmt.Errorf("%s does not wait for approval", s.home.store.Path())
	}
	if s.ledger.shown[s.home.store.Path()] != m.New {
		return fmt.Errorf("%s: %w", s.home.store.Path(), ErrChangedAgain)
	}
	return s.home.store.Accept(m.New, s.mayCount, func(d *Data) {
		s.ledger.setMarks(d)
		s.setWindow(d)
		delete(d.Pending, s.home.store.Path())
	})
}

// ListPending is Pending without a person who looks.
func (g *Guard) ListPending() []*Pending {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.listPending()
}

func (s *state) listPending() (list []*Pending) {
	for path, h := range s.ledger.withheld {
		list = append(list, s.home.pending(path, h))
	}
	if s.home.store != nil {
		if m, ok := s.home.store.Marks()[s.home.store.Path()]; ok {
			list = append(list, s.home.pendingStore(m))
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list
}

// NoteAsking notes whether somebody looks at the files of list.
func (g *Guard) NoteAsking(list []*Pending, now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	for _, p := range list {
		if h := s.ledger.withheld[p.Path]; h != nil {
			h.asking = now
			if !now && h.now.Sum != p.sum {
				h.now = Version{Sum: p.sum} // so that the next look sees another one
			}
		}
	}
}
