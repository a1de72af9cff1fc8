package stdlib

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A repository's own settings can name programs: filters of files, hooks, a monitor
// of the file system, transports for what is missing. Whoever unpacked an archive
// with a repository in it approved none of them. External diffs and text
// conversions are left out by arguments, where they could run.

// gitSettings are what git is to obey instead of the settings of a repository. They
// come before every file of settings.
type gitSettings [][2]string

// HasChanges reports whether the work tree around dir is not what git has committed: files
// were changed, added or removed, or are not followed. run starts git as [Env.Exec] does.
// Git writes nothing, and runs no program that the repository names. The error says that
// there is no repository, or no git.
func HasChanges(ctx context.Context, run func(context.Context, Command) (stdout, stderr string, code int, err error), dir string) (bool, error) {
	stdout, stderr, code, err := (&Env{Exec: run}).git(ctx, dir, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
	if err == nil && code != 0 {
		err = gitError(stderr, code)
	}
	return stdout != "", err
}

// git runs git in cwd as the module's functions need it: it runs no program that the
// repository names, takes no lock and asks nobody.
func (e *Env) git(ctx context.Context, cwd string, args ...string) (stdout, stderr string, code int, err error) {
	settings, err := e.harmlessGit(ctx, cwd)
	if err != nil {
		return "", "", 0, err
	}
	flags, err := settings.flags()
	if err != nil {
		return "", "", 0, err
	}
	before := []string{"--no-optional-locks", "--no-pager", "-c", "core.quotePath=false"}
	return e.Exec(ctx, Command{Cwd: cwd, Name: "git", Args: slices.Concat(before, flags, args), Env: settings.env()})
}

// harmlessGit returns settings with which git runs no program that the settings of the
// repository around cwd name. Filters that the user's own settings define stay. It
// runs git to list them.
func (e *Env) harmlessGit(ctx context.Context, cwd string) (gitSettings, error) {
	settings := gitSettings{
		{"core.fsmonitor", "false"}, {"core.hooksPath", os.DevNull},
		{"core.sshCommand", "false"}, {"core.askPass", ""}, {"credential.helper", ""},
		{"submodule.recurse", "false"}, {"diff.ignoreSubmodules", "dirty"}, // the settings of those are not known here
	}
	filters, err := e.gitFilters(ctx, cwd, settings.env())
	for _, name := range filters {
		settings = append(settings, [2]string{name + ".clean", ""}, [2]string{name + ".smudge", ""},
			[2]string{name + ".process", ""}, [2]string{name + ".required", "false"})
	}
	return settings, err
}

// gitFilters returns the names of the filters that the repository's own settings define
// or change. A git too old to say whose settings they are makes all count as the
// repository's.
func (e *Env) gitFilters(ctx context.Context, cwd string, env map[string]string) (names []string, err error) {
	const usage = 129
	scoped := 2 // fields of each setting
	ask := Command{Cwd: cwd, Name: "git", Env: env, Args: []string{"config", "--null", "--show-scope", "--get-regexp", `^filter\.`}}
	out, stderr, code, err := e.Exec(ctx, ask)
	if err == nil && code == usage {
		scoped, ask.Args = 1, []string{"config", "--null", "--get-regexp", `^filter\.`}
		out, stderr, code, err = e.Exec(ctx, ask)
	}
	switch {
	case err != nil || code == 1: // 1: there are no filters
		return nil, err
	case code != 0:
		return nil, gitError(stderr, code)
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for ; len(fields) >= scoped; fields = fields[scoped:] {
		key, _, _ := strings.Cut(fields[scoped-1], "\n")
		own := scoped == 2 && slices.Contains([]string{"global", "system", "command"}, fields[0])
		if dot := strings.LastIndexByte(key, '.'); !own && dot >= len("filter.") {
			names = append(names, key[:dot])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// env returns the variables that give git these settings, added to those of that kind
// that the program was started with. They also forbid git to fetch anything or to ask.
func (s gitSettings) env() map[string]string {
	env := map[string]string{"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
	n, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
	for _, one := range s {
		env["GIT_CONFIG_KEY_"+strconv.Itoa(n)], env["GIT_CONFIG_VALUE_"+strconv.Itoa(n)] = one[0], one[1]
		n++
	}
	env["GIT_CONFIG_COUNT"] = strconv.Itoa(n)
	return env
}

// flags returns the same settings as arguments, for a git before 2.31, which does not
// know the variables. A name with a = in it cannot be written so and is an error.
func (s gitSettings) flags() (flags []string, err error) {
	for _, one := range s {
		if strings.Contains(one[0], "=") {
			return nil, fmt.Errorf("git: the repository has a filter with a = in its name (%q); rename it in .git/config", one[0])
		}
		flags = append(flags, "-c", one[0]+"="+one[1])
	}
	return flags, nil
}

// gitError makes an error of the first line that git wrote to stderr, or of its exit
// status.
func gitError(stderr string, code int) error {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	line = strings.TrimPrefix(line, "fatal: ")
	if line == "" {
		line = fmt.Sprintf("exit status %d", code)
	}
	return fmt.Errorf("git: %s", line)
}
