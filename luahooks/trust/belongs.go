package trust

import (
	"os"
	"path/filepath"
	"strings"
)

// ProjectOf returns the project that a file belongs to, and the file's path there: the folder
// with the nearest `.pi` that the file lies below, by its path or else by where its links lead.
// What lies in the agent directory is the user's, a link there too: a session runs it in
// any case.
func ProjectOf(path, agentDir string) (project, file string, ok bool) {
	agents := []string{agentDir}
	if real, err := filepath.EvalSymlinks(agentDir); err == nil {
		agents = append(agents, real)
	}
	project, own := above(path, agents)
	if project != "" || own {
		return project, path, project != ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		// Nothing is there; the folders above it may be links all the same.
		if dir, dirErr := filepath.EvalSymlinks(filepath.Dir(path)); dirErr == nil {
			real = filepath.Join(dir, filepath.Base(path))
		}
	}
	project, _ = above(real, agents)
	return project, real, project != ""
}

// above looks for a `.pi` in an absolute path, from its end; own says that one of the agent
// directories came before.
func above(path string, agents []string) (project string, own bool) {
	for at := path; ; at = filepath.Dir(at) {
		for _, dir := range agents {
			if at == dir && dir != "" {
				return "", true
			}
		}
		switch {
		case strings.EqualFold(filepath.Base(at), ".pi"): // some file systems know no case
			return filepath.Dir(at), false
		case at == filepath.Dir(at):
			return "", false
		}
	}
}

// isProjects reports whether a file needs the approval of one of a project: it is one, it lies in
// a package, or it belongs to another project and is named by the user alone.
func (h *home) isProjects(scope Scope, path string) bool {
	return scope == ScopeProject || h.packageOf(path) != "" || h.ofAnother(scope, path) != ""
}

// ofAnother returns the other project that a hook belongs to which the settings or the command
// line name; "" if it belongs to none.
func (h *home) ofAnother(scope Scope, path string) string {
	if scope != ScopeConfig && scope != ScopeCommand {
		return ""
	}
	project, _, ok := ProjectOf(path, h.agentDir)
	if !ok || project == h.project || isSameFolder(project, h.project) {
		return ""
	}
	return project
}

func isSameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// OfAnother returns the project that a hook belongs to which the settings or the command line
// of this one name; "" if it belongs to none.
func (g *Guard) OfAnother(s Source) string { return g.state.home.ofAnother(s.Scope, s.Path) }
