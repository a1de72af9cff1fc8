package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// AgentDir is the directory of the person's own settings, hooks and sessions:
// PI_CODING_AGENT_DIR, or .pi/agent in the home directory.
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

// Home is the home directory, "" if the environment names none.
func Home(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return getenv("USERPROFILE")
}

// Expand replaces a leading ~; without a home directory the path stays.
func Expand(path, home string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || home == "" || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
		return path
	}
	return filepath.Join(home, rest)
}

// Tilde writes a path with ~ where it is below the home directory of this process.
func Tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, Home(os.Getenv)+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// InProject is a path relative to the project that it lies in; elsewhere it is
// written with ~ where that is shorter.
func InProject(project, path string) string {
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return Tilde(path)
}
