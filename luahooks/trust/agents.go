package trust

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The files that define agents say what a child is told and which tools it may have, so they are
// watched like hooks: those of the user count as they were before tools ran, and those of a project
// as a user approved them. What is in them is not known here.

// maxAgents is how many agents of one folder count, by their names.
const maxAgents = 500

// agentEnd is how the name of a file ends that defines an agent.
const agentEnd = ".md"

// agentFolder is a folder of agents, and how far what lies there is trusted.
type agentFolder struct {
	dir   string
	scope Scope
}

// agentFolders are the folders in which agents are looked for, the nearer first. One that is the
// user's is that too where it lies in the project.
func agentFolders(o GuardOptions) (folders []agentFolder) {
	add := func(base string, scope Scope, names ...string) {
		dir := filepath.Join(append([]string{base}, names...)...)
		if base != "" && !slices.ContainsFunc(folders, func(f agentFolder) bool { return f.dir == dir }) {
			folders = append(folders, agentFolder{dir, scope})
		}
	}
	add(o.AgentDir, ScopeGlobal, "agents")
	add(o.Home, ScopeGlobal, ".claude", "agents")
	add(o.Project, ScopeProject, ".pi", "agents")
	add(o.Project, ScopeProject, ".claude", "agents")
	return folders
}

// NoteAgents notes a folder of agents that a hook or a package of the user brings. One that comes
// with a project is not noted: no approval would cover what is in it.
func (g *Guard) NoteAgents(dir string, scope Scope) {
	s := g.lock()
	defer g.mu.Unlock()
	if _, known := s.home.agentScope(dir); known {
		return
	}
	s.home.agents = append(s.home.agents, agentFolder{dir, scope})
	s.ledger.changes++ // the window that is opened next is not like the last one
}

// agentScope returns how far the agents of a folder are trusted; false if it is none of agents.
func (h *home) agentScope(dir string) (Scope, bool) {
	for _, f := range h.agents {
		if f.dir == dir {
			return f.scope, true
		}
	}
	return "", false
}

// isAgent reports whether a file defines an agent.
func (h *home) isAgent(path string) bool {
	_, inFolder := h.agentScope(filepath.Dir(path))
	return inFolder && strings.HasSuffix(path, agentEnd)
}

// listIn lists what counts in a folder that is watched: agents, or Lua.
func (h *home) listIn(dir string) listing {
	if _, ofAgents := h.agentScope(dir); ofAgents {
		return listAgents(dir)
	}
	return listLua(dir)
}

// listAgents lists the files of a folder that define agents, by their names.
func listAgents(dir string) (l listing) {
	entries, err := hookEntries(dir)
	if err != nil {
		return l
	}
	l.flat = true
	for _, e := range entries {
		l.flat = l.flat && e.Type().IsRegular()
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), agentEnd) && !isDir(path, e) && len(l.files) < maxAgents {
			l.files = append(l.files, path)
		}
	}
	return l
}

// addAgents adds to paths and dirs the files that define agents and their folders; without those of
// the project if nothing of it counts.
func (h *home) addAgents(paths, dirs map[string]Scope, noProject bool) {
	for _, f := range h.agents {
		if noProject && f.scope == ScopeProject {
			continue
		}
		dirs[f.dir] = f.scope
		for _, path := range listAgents(f.dir).files {
			paths[path] = f.scope
		}
	}
}

// AgentPaths lists the files that define agents, those that are in force and those on the disk, and
// their folders.
func (g *Guard) AgentPaths(noProject bool) (paths map[string]Scope, dirs []string) {
	paths, in := map[string]Scope{}, map[string]Scope{}
	g.mu.Lock()
	g.state.home.addAgents(paths, in, noProject)
	g.mu.Unlock()
	for dir, scope := range in {
		for path := range g.activeIn(dir) {
			if filepath.Dir(path) == dir && strings.HasSuffix(path, agentEnd) {
				paths[path] = scope
			}
		}
	}
	return paths, slices.Sorted(maps.Keys(in))
}

// AgentFile is a file that defines an agent.
type AgentFile struct {
	Path  string // absolute
	Scope Scope
	Code  []byte // the version that is in force
	Err   error  // why there is none, as a clause about the file
}

// Agents returns the files that define agents as they are in force, the nearer folders first and in
// each by their names; those of the user first. What the user changed while no tool could have done it is in force from
// now on; ask is what needs an approval first.
func (g *Guard) Agents(noProject bool) (files []AgentFile, ask []*Pending) {
	paths, _ := g.AgentPaths(noProject)
	ask = g.judgeAgents(paths)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		v, scope := g.Read(path), paths[path]
		if !v.exists() && !g.IsPending(path) {
			continue
		}
		f := AgentFile{Path: path, Scope: scope, Err: g.agentProblem(path, scope, v)}
		if f.Err == nil {
			f.Code = v.Code
		}
		files = append(files, f)
	}
	s := g.lock()
	folders := slices.Clone(s.home.agents)
	g.mu.Unlock()
	slices.SortStableFunc(files, func(a, b AgentFile) int { return cmp.Compare(orderOf(folders, a), orderOf(folders, b)) })
	return files, ask
}

// orderOf is the place of the folder of a file among folders; those of the project come last.
func orderOf(folders []agentFolder, f AgentFile) int {
	i := slices.IndexFunc(folders, func(folder agentFolder) bool { return folder.dir == filepath.Dir(f.Path) })
	if f.Scope == ScopeProject {
		i += len(folders)
	}
	return i
}

// judgeAgents decides about files that changed. One that is gone or empty may be so for a moment,
// while an editor saves: whoever watches the files decides about it.
func (g *Guard) judgeAgents(paths map[string]Scope) (ask []*Pending) {
	s := g.lock()
	defer g.mu.Unlock()
	if s.damaged != nil {
		return nil
	}
	read := maps.Clone(paths)
	if s.window == nil { // what nobody has read yet is read in a moment, and is no change
		maps.DeleteFunc(read, func(path string, _ Scope) bool { _, known := s.ledger.active[path]; return !known })
	}
	changes := slices.DeleteFunc(s.ledger.changed(read, s.window), func(c change) bool {
		switch {
		case !c.is.exists(), len(c.is.Code) == 0 && c.is.Err == nil:
			return true
		case c.scope == ScopeProject && !s.mayBeOfTool(c) && s.ledger.pending[c.path] == nil && !s.approvals.isApproved(c.path, c.was.Sum):
			s.ledger.put(c.path, c.is) // nobody approved it before, so nobody is asked about the difference
			return true
		}
		return false
	})
	if len(changes) == 0 {
		return nil
	}
	return s.decide(changes)
}

// agentProblem is why no version of a file that defines an agent is in force; nil: one is.
func (g *Guard) agentProblem(path string, scope Scope, v Version) error {
	switch {
	case errors.Is(v.Err, ErrNotApproved) || g.IsPending(path) && !v.exists():
		return fmt.Errorf("it is %w: `pi trust` shows and approves it", ErrNotApproved)
	case v.Err != nil:
		return reasonOf(v.Err)
	case v.Code == nil:
		return errors.New("the version that was in force is lost: `pi trust` shows the one on the disk")
	case g.MayRunVersion(scope, path, v):
		return nil
	}
	others := ""
	if v.Others != "" {
		others = ", and " + v.Others
	}
	return fmt.Errorf("it is %w%s: `pi trust` shows and approves it", ErrNotApproved, others)
}

// projectAgents are the files that approval of the project covers because they define agents, those
// of the user which somebody else may change among them.
func (g *Guard) projectAgents() (files []ProjectFile) {
	paths, _ := g.AgentPaths(false)
	for path, scope := range paths {
		v := g.Read(path)
		if !v.exists() || scope != ScopeProject && !isOthers(scope, v) {
			continue
		}
		f := ProjectFile{Path: path, SHA256: v.Sum, Size: int64(len(v.Code)), Events: []string{}, Code: v.Code, Agent: true, Own: scope != ScopeProject}
		if v.Err != nil {
			f.Problem = reasonOf(v.Err).Error()
		}
		f.Approved, f.By = g.MayRunVersion(scope, path, v), g.approvedBy(path, v.Sum)
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b ProjectFile) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// HasAgents reports whether the project brings agents, or the user has some that somebody else may
// change, so that a user has to be asked about them.
func (g *Guard) HasAgents() bool { return len(g.projectAgents()) > 0 }
