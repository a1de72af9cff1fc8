package stdlib

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openGit makes pi.git, which asks the program git about a repository and
// changes nothing in it. It runs no program that the repository names.
//
//	env({cwd}?) → {NAME = value, …}, for pi.exec of other commands of git
//	root({cwd}?) → path
//	branch({cwd}?) → name, or nil, "…" when no branch is checked out
//	status({cwd}?) → {{path, index, worktree, from?}, …}
//	diff({cwd, staged, base, paths}?) → text
//	remotes({cwd}?) → {{name, url, push_url?}, …}
//
// index and worktree of a changed file are the letters of git status --short:
// M A D R C U, ? for a file that is not followed, and a blank; from is the path
// that a renamed file had. paths are as git status shows them, from the root of
// the repository. diff shows what is not staged, what is, or what differs from
// base.
func openGit(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "git")
	m.act("env", func(L *lua.LState, opts lua.LValue) (lua.LValue, error) {
		cwd := cwdOption(L, "git.env")
		var settings gitSettings
		err := m.wait(L, "env", func(ctx context.Context) (err error) {
			settings, err = m.env.harmlessGit(ctx, m.env.from(&cwd))
			return err
		})
		t := L.NewTable()
		for name, value := range settings.env() {
			luavm.Set(t, name, lua.LString(value))
		}
		return t, err
	})
	m.act("root", func(L *lua.LState, opts lua.LValue) (string, error) {
		out, err := m.git(L, "root", cwdOption(L, "git.root"), "rev-parse", "--show-toplevel")
		return strings.TrimSuffix(out, "\n"), err
	})
	m.act("branch", func(L *lua.LState, opts lua.LValue) (string, error) {
		cwd := cwdOption(L, "git.branch")
		if _, err := m.git(L, "branch", cwd, "rev-parse", "--git-dir"); err != nil {
			return "", err
		}
		out, err := m.git(L, "branch", cwd, "symbolic-ref", "--quiet", "--short", "HEAD")
		if err != nil {
			return "", errors.New("git: no branch is checked out")
		}
		return strings.TrimSuffix(out, "\n"), nil
	})
	m.act("status", func(L *lua.LState, opts lua.LValue) (lua.LValue, error) {
		out, err := m.git(L, "status", cwdOption(L, "git.status"), "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=dirty")
		if err != nil {
			return nil, err
		}
		changes := parseStatus(out)
		return list(L, len(changes), func(i int) lua.LValue {
			c := changes[i]
			t := record(L, "path", lua.LString(c.path), "index", lua.LString(c.index), "worktree", lua.LString(c.worktree))
			if c.from != "" {
				luavm.Set(t, "from", lua.LString(c.from))
			}
			return t
		}), nil
	})
	m.act("diff", m.gitDiff)
	m.act("remotes", func(L *lua.LState, opts lua.LValue) (lua.LValue, error) {
		remotes, err := m.gitRemotes(L, cwdOption(L, "git.remotes"))
		if err != nil {
			return nil, err
		}
		return list(L, len(remotes), func(i int) lua.LValue {
			t := record(L, "name", lua.LString(remotes[i].name), "url", lua.LString(remotes[i].url))
			luavm.SetText(t, "push_url", remotes[i].pushURL)
			return t
		}), nil
	})
	return m.table()
}

// cwdOption reads {cwd} from the first argument; "" if it is not given.
func cwdOption(L *lua.LState, function string) string {
	cwd := ""
	luavm.Unpack(L, 1, function, luavm.Opt("cwd", &cwd))
	return cwd
}

// gitDiff is git.diff.
func (m *module) gitDiff(L *lua.LState, opts lua.LValue) (string, error) {
	cwd, base, staged, paths := "", "", false, []string(nil)
	luavm.Unpack(L, 1, "git.diff", luavm.Opt("cwd", &cwd), luavm.Opt("staged", &staged), luavm.Opt("base", &base), luavm.Opt("paths", &paths))
	if strings.HasPrefix(base, "-") {
		return "", luavm.Misusef("base %q is no revision", base)
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=dirty"}
	if staged {
		args = append(args, "--cached")
	}
	if base != "" {
		args = append(args, base)
	}
	args = append(append(args, "--"), paths...)
	return m.git(L, "diff", cwd, args...)
}

// remote is another copy of a repository, as its settings have it.
type remote struct{ name, url, pushURL string }

// gitRemotes returns the remotes of a repository, sorted by name.
func (m *module) gitRemotes(L *lua.LState, cwd string) ([]remote, error) {
	if _, err := m.git(L, "remotes", cwd, "rev-parse", "--git-dir"); err != nil {
		return nil, err
	}
	out, err := m.git(L, "remotes", cwd, "config", "--null", "--get-regexp", `^remote\..*\.(url|pushurl)$`)
	if err != nil {
		return nil, nil // no setting fits
	}
	return parseRemotes(out), nil
}

// parseRemotes reads settings as git config --null lists them: each a key, the end of a line and
// a value, which may have several lines. Of several addresses of a remote the first counts.
func parseRemotes(out string) []remote {
	byName := map[string]*remote{}
	for setting := range strings.SplitSeq(out, "\x00") {
		key, url, _ := strings.Cut(setting, "\n")
		key = strings.TrimPrefix(key, "remote.")
		dot := strings.LastIndexByte(key, '.')
		if dot < 0 {
			continue
		}
		r := byName[key[:dot]]
		if r == nil {
			r = &remote{name: key[:dot]}
			byName[key[:dot]] = r
		}
		address := &r.url
		if key[dot+1:] == "pushurl" {
			address = &r.pushURL
		}
		if *address == "" {
			*address = withoutLogin(url)
		}
	}
	var remotes []remote
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		remotes = append(remotes, *byName[name])
	}
	return remotes
}

// withoutLogin is the address of a repository without the name and password of a user, which
// over HTTP may be a token. Other addresses, such as git@host:path, have a name alone.
func withoutLogin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Scheme != "http" && u.Scheme != "https" {
		return address
	}
	u.User = nil
	return u.String()
}

// git runs git in cwd with settings that keep it from running programs which the
// repository names (see harmlessGit), and returns what it prints. An exit status other
// than 0 is an error.
func (m *module) git(L *lua.LState, function, cwd string, args ...string) (string, error) {
	var stdout, stderr string
	var code int
	err := m.wait(L, function, func(ctx context.Context) (err error) {
		stdout, stderr, code, err = m.env.git(ctx, m.env.from(&cwd), args...)
		return err
	})
	if err == nil && code != 0 {
		err = gitError(stderr, code)
	}
	return stdout, err
}

// change is one entry of git status.
type change struct{ path, from, index, worktree string }

// parseStatus reads the output of git status --porcelain -z: entries that end in NUL,
// each two letters, a blank and a path. After a rename or copy the next entry is the
// path before it.
func parseStatus(out string) []change {
	var changes []change
	fields := strings.Split(out, "\x00")
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		if len(f) < 4 {
			continue
		}
		c := change{index: f[:1], worktree: f[1:2], path: f[3:]}
		if strings.ContainsAny(f[:2], "RC") && i+1 < len(fields) {
			i++
			c.from = fields[i]
		}
		changes = append(changes, c)
	}
	return changes
}
