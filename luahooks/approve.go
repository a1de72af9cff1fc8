package luahooks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"pi/agent"
	"pi/luahooks/trust"
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

	sum string // of the version that waits
}

// pending describes a held file. g.mu is held.
func (h *held) pending(g *Guard, path string) *Pending {
	p := &Pending{Name: filepath.Base(path), Path: path, Kind: "module", Change: "changed", Scope: h.scope, Since: h.since, sum: h.now.sum}
	switch {
	case slices.Contains(g.configs, path):
		p.Kind = "settings"
	case path == g.keys:
		p.Kind = "commands of keys"
	case g.isHook(path):
		p.Kind, p.Name = "hook", hookName(path)
	}
	switch {
	case !h.old.exists():
		p.Change = "added"
	case !h.now.exists():
		p.Change = "removed"
	}
	p.Lost = h.old.exists() && h.old.code == nil
	p.Diff = h.diff(g, path)
	return p
}

// diff shows the two versions, and where a link leads now: what stands beside a
// hook counts.
func (h *held) diff(g *Guard, path string) string {
	if !h.old.exists() || !h.now.exists() || h.old.real == "" || h.now.real == "" || h.old.real == h.now.real {
		return trust.Diff(path, g.shownCode(path, h.old), g.shownCode(path, h.now))
	}
	leads := trust.VisibleLine(fmt.Sprintf("%s led to %s and leads to %s now", path, h.old.real, h.now.real)) + "\n"
	if h.old.sum == h.now.sum {
		return leads
	}
	return leads + trust.Diff(path, g.shownCode(path, h.old), g.shownCode(path, h.now))
}

// shownCode is what is shown of a version: settings without their keys.
func (g *Guard) shownCode(path string, v version) []byte {
	code, ok := g.masked(path, v.code)
	if !ok {
		return existing(version{sum: v.sum})
	}
	return existing(version{code: code, sum: v.sum})
}

// existing is the code of a version, nil only if there is no file.
func existing(v version) []byte {
	if v.exists() && v.code == nil {
		return []byte{}
	}
	return v.code
}

// isHook tells a hook's own file from a module by where it lies.
func (g *Guard) isHook(path string) bool {
	dir, base := filepath.Split(path)
	if base == "init.lua" {
		dir = filepath.Dir(filepath.Clean(dir)) + string(filepath.Separator)
	}
	for _, config := range g.configs {
		if dir == filepath.Join(filepath.Dir(config), "hooks")+string(filepath.Separator) {
			return true
		}
	}
	return g.named[path]
}

// effect says what is in force meanwhile.
func (p *Pending) effect() string {
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

// Pending lists what waits for approval, in order of the path, and notes that a
// person was shown it: [Chain.Approve] approves exactly this.
func (g *Guard) Pending() []Pending {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := []Pending{}
	if g.doubt != nil {
		p := g.pendingDoubt()
		g.shown[p.Path] = p.sum
		return append(list, *p)
	}
	for path, h := range g.held {
		h.now = g.onDisk(path)
		if h.old.same(h.now) {
			g.release(path)
			continue
		}
		list = append(list, *h.pending(g, path))
		g.shown[path] = h.now.sum
	}
	if g.store != nil {
		if m, ok := g.store.Pending()[g.store.Path()]; ok {
			list = append(list, *g.pendingStore(m))
			g.shown[g.store.Path()] = m.New
		}
	}
	g.mark()
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list
}

// pendingStore describes the store that somebody wrote to.
func (g *Guard) pendingStore(m trust.Mark) *Pending {
	old, now := g.store.Foreign(m.New)
	p := &Pending{Name: "trust.json", Path: g.store.Path(), Kind: "approvals", Change: "changed", Since: m.Since, sum: m.New}
	if m.New == "" {
		p.Change = "removed"
	}
	p.Diff = trust.Diff(p.Path, old, now)
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

// errChangedAgain keeps what nobody has seen from being approved.
var errChangedAgain = errors.New("it has changed since it was shown; look again")

// errOfTool keeps what a tool started from approving what the tool did.
var errOfTool = errors.New("a tool started this program, so it approves nothing; a person has to run `pi trust`")

// Accept puts the version that was shown last in force. A hook runs it when it is
// loaded the next time.
func (g *Guard) Accept(path string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOfTool() {
		return errOfTool
	}
	if g.store != nil && path == g.store.Path() {
		return g.acceptStore()
	}
	h := g.held[path]
	if h == nil {
		return fmt.Errorf("%s does not wait for approval", path)
	}
	now := g.onDisk(path)
	if sum, ok := g.shown[path]; !ok || sum != now.sum {
		return fmt.Errorf("%s: %w", path, errChangedAgain)
	}
	return g.accept(path, h, now)
}

// accept puts now in force. g.mu is held.
func (g *Guard) accept(path string, h *held, now version) (err error) {
	if h.scope == ScopeProject {
		if now.exists() {
			err = g.approve(path, now.sum)
		}
		g.live[path], g.head = true, g.headNow()
	}
	g.files[path] = now
	g.release(path)
	g.noteApproved(path, now, h.scope)
	return err
}

func (g *Guard) acceptStore() error {
	if g.doubt != nil {
		return g.acceptDoubt()
	}
	m, ok := g.store.Pending()[g.store.Path()]
	if !ok {
		return fmt.Errorf("%s does not wait for approval", g.store.Path())
	}
	if g.shown[g.store.Path()] != m.New {
		return fmt.Errorf("%s: %w", g.store.Path(), errChangedAgain)
	}
	return g.store.Accept(m.New, g.mayCount, func(d *trust.Data) {
		g.setMarks(d)
		g.setWindow(d)
		delete(d.Pending, g.store.Path())
	})
}

// Pending lists the files of the chain that wait for approval.
func (c *Chain) Pending() []Pending { return c.guard.Pending() }

// Approve puts what waits under a name, a path or the end of one in force, as it
// was when [Chain.Pending] listed it last, and loads what is made of it.
func (c *Chain) Approve(ctx context.Context, name string) error {
	path, err := c.findPending(name)
	if err != nil {
		return err
	}
	if err := c.guard.Accept(path); err != nil {
		return err
	}
	c.Reload(ctx, false)
	return nil
}

// ApproveShown is Approve for exactly what p describes: a person answered a
// question about it, while others may have listed what waits.
func (c *Chain) ApproveShown(ctx context.Context, p Pending) error {
	c.guard.sawOnly(&p)
	return c.Approve(ctx, p.Path)
}

func (c *Chain) findPending(name string) (path string, err error) {
	var found, all []string
	list := c.guard.listHeld()
	for _, p := range list {
		all = append(all, p.Name)
		switch {
		case p.Path == name:
			return p.Path, nil
		case p.Name == name, c.shown(p.Path) == name, strings.HasSuffix(p.Path, string(filepath.Separator)+name):
			found = append(found, p.Path)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%q may be %s: give the path", name, strings.Join(found, " or "))
	case len(all) == 0:
		return "", errors.New("nothing waits for approval")
	}
	return "", fmt.Errorf("%q does not wait for approval; there are %s", name, strings.Join(all, ", "))
}

// listHeld is Pending without a person who looks.
func (g *Guard) listHeld() (list []*Pending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for path, h := range g.held {
		list = append(list, h.pending(g, path))
	}
	if g.store != nil {
		if m, ok := g.store.Pending()[g.store.Path()]; ok {
			list = append(list, g.pendingStore(m))
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list
}

// askEdits asks the person about changes that are held, all of them at once, and
// does not wait for the answer.
func (c *Chain) askEdits(ctx context.Context, list []*Pending) {
	ui := c.uiNow()
	if ui == nil || !ui.HasUI() {
		for _, p := range list {
			c.notify(ctx, agent.LevelWarning, fmt.Sprintf("%s was %s and is not approved: %s", trust.VisibleLine(c.shown(p.Path)), p.Change, p.effect()))
		}
		return
	}
	c.guard.asking(list, true)
	began := c.behind.run(func() {
		ctx, cancel := c.behind.detach(ctx)
		defer cancel()
		yes, err := ui.Confirm(ctx, c.editTitle(list), editText(list), agent.DialogOptions{})
		c.guard.asking(list, false)
		if err == nil {
			c.answered(ctx, list, yes)
		}
	})
	if !began {
		c.guard.asking(list, false)
	}
}

func (c *Chain) editTitle(list []*Pending) string {
	var names []string
	for _, p := range list {
		names = append(names, trust.VisibleLine(c.shown(p.Path))+" was "+p.Change)
	}
	return strings.Join(names, ", ") + ". Run it like this from now on?"
}

func editText(list []*Pending) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Diff)
	}
	return b.String()
}

// answered carries out what the person said to list.
func (c *Chain) answered(ctx context.Context, list []*Pending, yes bool) {
	for _, p := range list {
		if !yes {
			c.notify(ctx, agent.LevelInfo, fmt.Sprintf("%s: %s; /hooks approve %s asks again", trust.VisibleLine(c.shown(p.Path)), p.effect(), trust.VisibleLine(p.Name)))
			continue
		}
		c.guard.sawOnly(p)
		if err := c.guard.Accept(p.Path); err != nil && !errors.Is(err, errChangedAgain) {
			c.notify(ctx, agent.LevelError, err.Error())
		}
	}
	// This asks again about what changed meanwhile. A file that is being saved at
	// this moment may be empty; only one that was shown so is sure to be.
	sure := slices.ContainsFunc(list, func(p *Pending) bool { return p.sum == "" || p.sum == trust.Sum(nil) })
	fresh, _ := c.update(ctx, false, sure)
	c.welcome(ctx, fresh)
}

// sawOnly notes what the person was shown of a file.
func (g *Guard) sawOnly(p *Pending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shown[p.Path] = p.sum
}

// asking notes whether somebody looks at the files of list.
func (g *Guard) asking(list []*Pending, now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range list {
		if h := g.held[p.Path]; h != nil {
			h.asking = now
			if !now && h.now.sum != p.sum {
				h.now = version{sum: p.sum} // so that the next look sees another one
			}
		}
	}
}
