package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// AgentDir returns the directory of the user's own settings, hooks and sessions:
// PI_CODING_AGENT_DIR, or else .pi/agent in the home directory. The error says that
// neither is set.
func AgentDir(getenv func(string) string) (string, error) {
	home := Home(getenv)
	if dir := getenv("PI_CODING_AGENT_DIR"); dir != "" {
		return filepath.Abs(Expand(dir, home))
	}
	if home == "" {
		return "", errors.New("find the agent directory: there is no home directory; set HOME or PI_CODING_AGENT_DIR")
	}
	return filepath.Join(home, ".pi", "agent"), nil
}

// Home returns the home directory that the environment names; "" if it names none.
func Home(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return getenv("USERPROFILE")
}

// Expand replaces a ~ at the beginning of path by home. A path like ~name, or any path if
// home is "", is returned as it is.
func Expand(path, home string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || home == "" || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
		return path
	}
	return filepath.Join(home, rest)
}

// Tilde returns a path with ~ in place of the home directory, for people to read.
func Tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, Home(os.Getenv)+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// InProject returns the path relative to the project if it is inside of it, else as Tilde
// writes it.
func InProject(project, path string) string {
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return Tilde(path)
}
