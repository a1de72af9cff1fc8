package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/internal/process"
)

// Git is run so that nothing of the repository decides what runs here. There is no checkout, so no filter,
// hook or submodule of it has an effect; what git asks of the files of the user's own settings stays as it is:
// proxies, certificates, credential helpers, what ssh is called. There is no terminal and no program to ask for a
// password.

// repository is an empty bare repository for one fetch.
type repository struct {
	dir      string
	git      string // the program
	env      []string
	watcher  *process.Watcher
	maxFetch int64
}

// newRepository finds git and makes ready to run it in dir, which is not made yet.
func newRepository(dir string, s Source, f Fetcher) (*repository, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("git is not installed, or not in PATH; a package can also be added from a folder")
	}
	r := &repository{dir: dir, git: git, env: environment(os.Environ(), s), watcher: f.Watcher, maxFetch: maxFetch}
	if f.maxFetch > 0 {
		r.maxFetch = f.maxFetch
	}
	return r, os.MkdirAll(dir, 0o700)
}

// environment is what git sees of the environment: of its own variables those alone with which a user says
// how servers are reached.
func environment(all []string, s Source) []string {
	env := slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_PROXY_COMMAND", "GIT_PROXY_SSL_CERT", "GIT_PROXY_SSL_KEY", "GIT_PROXY_SSL_CAINFO",
			"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH":
			return false
		case "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GPG_TTY":
			return true
		}
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSL_") && !strings.HasPrefix(name, "GIT_HTTP_")
	})
	protocols := "https:ssh" // a user's own url.*.insteadOf may turn one into the other
	if filepath.IsAbs(s.Address) {
		protocols = "file"
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		"GIT_ALLOW_PROTOCOL="+protocols, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
}

// settings are those that hold whatever a user's or a repository's files say.
func settings() (args []string) {
	for _, setting := range []string{
		"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.attributesFile=" + os.DevNull, "core.bigFileThreshold=1m",
		"core.protectHFS=true", "core.protectNTFS=true",
		"protocol.ext.allow=never", "protocol.fd.allow=never",
		"submodule.recurse=false", "fetch.recurseSubmodules=false", "fetch.writeCommitGraph=false", "fetch.unpackLimit=1", "fetch.bundleURI=", "transfer.bundleURI=false",
		"transfer.fsckObjects=true", "fetch.fsckObjects=true", "gc.auto=0", "maintenance.auto=false", "core.fsync=none", "credential.interactive=false",
	} {
		args = append(args, "-c", setting)
	}
	return args
}

// command is git with arguments, ready to be started.
func (r *repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.git, slices.Concat(settings(), []string{"--git-dir=" + r.dir}, args)...)
	cmd.Dir, cmd.Env = r.dir, r.env
	process.Session(cmd)
	cmd.Cancel = func() error { process.Stop(cmd.Process.Pid, process.Grace/4); return nil }
	cmd.WaitDelay = time.Second
	return cmd
}

// start starts a command, which the watcher knows of; end is called when it has ended.
func (r *repository) start(cmd *exec.Cmd) (end func(), err error) {
	if err := r.watcher.Start(cmd); err != nil {
		return nil, err
	}
	return func() { // what it left behind ends too
		process.Kill(cmd)
		r.watcher.End(cmd.Process.Pid)
	}, nil
}

// maxTold is how much of what git says is kept.
const maxTold = 64 << 10

// run runs git and returns what it wrote. The error has what it said.
func (r *repository) run(ctx context.Context, args ...string) (string, error) {
	var out, told bounded
	cmd := r.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &told
	end, err := r.start(cmd)
	if err == nil {
		err = cmd.Wait()
		end()
	}
	if err != nil {
		return "", errors.New(told.reason(err))
	}
	return out.String(), nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), max(maxTold-b.Len(), 0))])
	return len(p), nil
}

// reason is the line of what git said that tells most: an object that is refused, what git ends with, or else what a
// program said that it had started last; err where there is none.
func (b *bounded) reason(err error) string {
	var lines []string
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint:") && !strings.HasPrefix(line, "warning:") && !strings.Contains(line, "Could not read from remote repository") {
			lines = append(lines, line)
		}
	}
	for _, sign := range []string{"error: object ", "fatal: ", "error: "} {
		for _, line := range lines {
			if strings.HasPrefix(line, sign) {
				return "git: " + printable.Short(strings.TrimPrefix(line, sign))
			}
		}
	}
	if len(lines) > 0 {
		return "git: " + printable.Short(lines[len(lines)-1])
	}
	return "git: " + err.Error()
}

// resolve asks the server what a reference is: named says what it names, full is its whole name there.
func (r *repository) resolve(ctx context.Context, s Source) (named, full string, err error) {
	if s.Address == "" || s.Address[0] == '-' { // ParseSource lets none through
		return "", "", errors.New("no address")
	}
	if err := r.useBatchMode(ctx, s); err != nil {
		return "", "", err
	}
	asked := []string{"HEAD"}
	if s.Ref != "" {
		asked = []string{"refs/tags/" + s.Ref, "refs/heads/" + s.Ref, "HEAD"}
	}
	out, err := r.run(ctx, append([]string{"ls-remote", "--", s.Address}, asked...)...)
	if err != nil {
		return "", "", fmt.Errorf("fetch %s: %w", s, err)
	}
	there, format := map[string]bool{}, "sha1"
	for line := range strings.Lines(out) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		there[name] = true
		if len(hash) == 64 {
			format = "sha256"
		}
	}
	switch {
	case s.Ref == "":
		named, full = "", "HEAD"
	case isHash(s.Ref):
		named, full = NamesCommit, s.Ref
	case there["refs/tags/"+s.Ref]:
		named, full = NamesTag, "refs/tags/"+s.Ref
	case there["refs/heads/"+s.Ref]:
		named, full = NamesBranch, "refs/heads/"+s.Ref
	default:
		return "", "", fmt.Errorf("fetch %s: the repository has no tag or branch %q, and a commit is written whole", s, s.Ref)
	}
	if s.Ref == "" && !there["HEAD"] {
		return "", "", fmt.Errorf("fetch %s: the repository is empty", s)
	}
	if _, err := r.run(ctx, "init", "--quiet", "--bare", "--template=", "--object-format="+format); err != nil {
		return "", "", fmt.Errorf("make a repository to fetch into: %w", err)
	}
	return named, full, nil
}

// isHash reports whether a reference is a whole commit.
func isHash(ref string) bool {
	return (len(ref) == 40 || len(ref) == 64) && strings.Trim(ref, "0123456789abcdef") == ""
}

// useBatchMode has ssh fail where it would ask, unless the user has a program of another kind.
func (r *repository) useBatchMode(ctx context.Context, s Source) error {
	if filepath.IsAbs(s.Address) || slices.ContainsFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "GIT_SSH=") }) {
		return nil
	}
	program := ""
	for _, v := range r.env {
		if value, ok := strings.CutPrefix(v, "GIT_SSH_COMMAND="); ok {
			program = value
		}
	}
	if program == "" {
		set, err := r.run(ctx, "config", "--get", "core.sshCommand")
		if err != nil && ctx.Err() != nil {
			return err
		}
		program = strings.TrimSpace(set) // without one git says so by its status
	}
	if program == "" {
		program = "ssh"
	}
	if first := strings.Fields(program); len(first) > 0 && filepath.Base(first[0]) == "ssh" {
		r.env = append(slices.DeleteFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "GIT_SSH_COMMAND=") }), "GIT_SSH_COMMAND="+program+" -oBatchMode=yes")
	}
	return nil
}

// fetch fetches one commit and returns which it is. full is a name that resolve returned.
func (r *repository) fetch(ctx context.Context, s Source, full string) (commit string, err error) {
	err = r.bounded(ctx, func(ctx context.Context) error {
		_, err := r.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--", s.Address, full)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", s, err)
	}
	out, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", "FETCH_HEAD^{commit}")
	if commit = strings.TrimSpace(out); err != nil || !isHash(commit) {
		return "", fmt.Errorf("fetch %s: what it names is no commit", s)
	}
	return commit, nil
}

// lookEvery is how often it is looked how much has come: nothing tells.
const lookEvery = 50 * time.Millisecond

// bounded runs a fetch, and ends it when more has come than a fetch may bring.
func (r *repository) bounded(ctx context.Context, fetch func(context.Context) error) error {
	tooMuch := fmt.Errorf("it brings more than %s, so it was ended", printable.Bytes(int(r.maxFetch)))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-look.C:
				if sizeOf(r.dir) > r.maxFetch {
					cancel(tooMuch)
					return
				}
			}
		}
	}()
	err := fetch(ctx)
	close(done)
	<-looked
	if errors.Is(context.Cause(ctx), tooMuch) || sizeOf(r.dir) > r.maxFetch {
		return tooMuch
	}
	return err
}

// sizeOf is how many bytes the files below a folder have.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// Rewritten says what became of the commit from which a package came, in the history of what its reference
// names now.
type Rewritten string

// What a history can say of an older commit.
const (
	Follows   Rewritten = ""          // it is in the history
	Forced    Rewritten = "rewritten" // it is not: somebody has put another history there
	CannotSay Rewritten = "unknown"   // the history is too long to be looked through
)

// maxHistory is how many commits are looked through for the one from which a package came.
const maxHistory = 1_000

// History looks for an older commit in the history of the newer one that a source has.
func (f Fetcher) History(ctx context.Context, s Source, older, newer string) (Rewritten, error) {
	answer := CannotSay
	if !isHash(older) || !isHash(newer) {
		return answer, errors.New("look through a history: no commit")
	}
	err := f.inRepository(ctx, s, func(ctx context.Context, r *repository) error {
		_, full, err := r.resolve(ctx, s)
		if err != nil {
			return err
		}
		err = r.bounded(ctx, func(ctx context.Context) error {
			_, err := r.run(ctx, "fetch", "--quiet", fmt.Sprint("--depth=", maxHistory), "--filter=tree:0", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--", s.Address, full)
			return err
		})
		if err != nil {
			return err
		}
		answer, err = r.lookFor(ctx, older, newer)
		return err
	})
	return answer, err
}

// lookFor looks for a commit in the history of another one, as far as it was fetched.
func (r *repository) lookFor(ctx context.Context, older, newer string) (Rewritten, error) {
	var told bounded
	cmd := r.command(ctx, "rev-list", "--end-of-options", newer)
	cmd.Stderr = &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		return CannotSay, err
	}
	end, err := r.start(cmd)
	if err != nil {
		return CannotSay, err
	}
	all, err := io.ReadAll(io.LimitReader(out, 1<<20))
	_, _ = io.Copy(io.Discard, out)
	err = errors.Join(err, cmd.Wait())
	end()
	_, shallow := os.Stat(filepath.Join(r.dir, "shallow"))
	switch {
	case err != nil:
		return CannotSay, errors.New(told.reason(err))
	case slices.Contains(strings.Fields(string(all)), older):
		return Follows, nil
	case shallow == nil:
		return CannotSay, nil
	}
	return Forced, nil
}
