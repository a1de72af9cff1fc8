package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pi/agent"
)

// sandbox is a project in the sandbox of examples/sandbox.lua, with what lies outside of it:
// a home directory and services that listen.
type sandbox struct {
	*stage
	home string // lies where the sandbox has no folder of its own
	env  []string
}

// newSandbox makes one, or skips the test where that cannot be done.
func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	for _, program := range []string{"bwrap", "flock", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s, which the sandbox needs", program)
		}
	}
	out, err := exec.Command("bwrap", "--unshare-user", "--unshare-pid", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc", "true").CombinedOutput()
	if err != nil {
		t.Skipf("bwrap (bubblewrap) cannot make a sandbox here: %v %s", err, out)
	}
	t.Setenv("TMPDIR", "/var/tmp") // of /tmp a sandbox has its own
	b := &sandbox{stage: newStage(t, "sandbox.lua")}
	b.home = filepath.Join(filepath.Dir(b.cwd), "home")
	b.env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"HOME="+b.home, "AGENT="+filepath.Dir(b.cwd)+"/agent", "PROJECT="+b.cwd, "GIT_CONFIG_NOSYSTEM=1", "PWD="+b.cwd)
	t.Setenv("HOME", b.home) // the sandbox asks git as well
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if err := os.MkdirAll(b.home, 0o700); err != nil {
		t.Fatal(err)
	}
	b.write("../home/.gitconfig", "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n")
	b.write("../home/.bashrc", "# mine\n")
	b.write("../agent/trust.json", "{}\n")
	return b
}

// repository makes the project one, with two commits, a hook folder and settings of pi.
func (b *sandbox) repository() {
	b.t.Helper()
	b.write(".pi/hooks/gate.lua", "-- the gate\n")
	b.write("a.txt", "one\n")
	b.outside("git init -q . && git add a.txt && git commit -qm one && echo two >>a.txt && git commit -qam two")
}

// outside runs a line as the user would, and returns what it says.
func (b *sandbox) outside(line string) string {
	b.t.Helper()
	out, err := b.shell([]string{"bash", "-c", line})
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

// shell runs a program in the project.
func (b *sandbox) shell(words []string) (string, error) {
	cmd := exec.CommandContext(b.t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = b.cwd, b.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// wrapped is what a command of the model is handed to, or why it must not run.
func (b *sandbox) wrapped() (words []string, blocked string) {
	b.t.Helper()
	e := &agent.ShellCommand{Cwd: b.cwd, Source: "tool"}
	b.handle(e)
	return e.Wrap, e.Blocked
}

// inside runs a line as a command of the model.
func (b *sandbox) inside(line string) (string, error) {
	b.t.Helper()
	words, blocked := b.wrapped()
	if blocked != "" || len(words) == 0 {
		b.t.Fatalf("no sandbox: %s", blocked)
	}
	return b.shell(append(words, line))
}

// works runs a line as a command of the model, which has to succeed.
func (b *sandbox) works(line string) string {
	b.t.Helper()
	out, err := b.inside(line)
	if err != nil {
		b.t.Fatalf("in the sandbox %s: %v\n%s", line, err, out)
	}
	return out
}

// tree is each file below a folder with its text; folders are named with a slash.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			files[path+"/"] = ""
		case d.Type().IsRegular():
			files[path] = mustRead(t, path)
		default:
			files[path] = d.Type().String()
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) && !errors.Is(err, syscall.ENOTDIR) {
		t.Fatal(err)
	}
	return files
}

// kept is all that no command of the model may change.
func (b *sandbox) kept() map[string]string {
	b.t.Helper()
	kept := tree(b.t, b.home)
	for _, name := range []string{"../agent", ".pi", ".git/config", ".git/config.worktree", ".git/commondir", ".git/hooks", ".git/info", ".git/modules",
		".git/branches", ".git/remotes", ".husky", "shared.gitconfig"} {
		maps.Copy(kept, tree(b.t, filepath.Join(b.cwd, name)))
	}
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		maps.Copy(kept, tree(b.t, filepath.Join(b.cwd, ".git/worktrees/tree", name)))
	}
	for path := range kept { // the register of the sandbox itself
		if strings.HasPrefix(path, filepath.Dir(b.cwd)+"/agent/sandbox/") {
			delete(kept, path)
		}
	}
	return kept
}

// listen notes in the home directory that somebody has connected, before it hangs up.
func (b *sandbox) listen(network, address string) net.Addr {
	b.t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		b.t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = os.WriteFile(filepath.Join(b.home, "reached"), nil, 0o600)
			c.Close()
		}
	})
	b.t.Cleanup(func() { l.Close(); done.Wait() })
	return l.Addr()
}

func changed(before, after map[string]string) (names []string) {
	for name, text := range before {
		if now, ok := after[name]; !ok || now != text {
			names = append(names, name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

func TestEscapesFromTheSandbox(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("for root there is TestEscapesFromTheSandboxAsRoot")
	}
	escapes(t)
}

// Root in the sandbox is root of a namespace without rights.
func TestEscapesFromTheSandboxAsRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is for root")
	}
	escapes(t)
}

// Each of these lines changes something that it must not, as a control without the sandbox
// shows; in it the line changes nothing of that.
func escapes(t *testing.T) {
	const evil = "; git config -f .git/config core.fsmonitor 'touch ~/ran; false'"
	const top = "; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch ~/ran; false\"\n' >>config; git status"
	lines := []struct{ name, before, line string }{
		// The twelve.
		{"a write into the home directory", "", "echo evil >>~/.bashrc"},
		{"a write into .git/hooks", "", "mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit"},
		{"a write into .pi/hooks", "", "echo evil >.pi/hooks/gate.lua; echo evil >.pi/hooks/more.lua"},
		{"a write into the trust file", "", `echo evil >"$AGENT/trust.json"`},
		{"a link that leads out", "", "ln -s ~/.bashrc out; echo evil >>out; ln -s ~ home; echo evil >home/new"},
		{"a rename that leads out", "", `echo evil >a.sh; mv a.sh ~/.profile; mv ~/.bashrc . 2>/dev/null; rm -f ~/.bashrc`},
		{"a hard link", "", "ln ~/.bashrc hard && echo evil >>hard; ln .git/config hard2 && echo evil >>hard2"},
		{"a descriptor", "", "exec 3<~/.bashrc; echo evil >/proc/self/fd/3; echo evil >/proc/self/root$HOME/x; echo evil >/proc/1/root$HOME/y"},
		{"a child in the background", "", "setsid sh -c 'echo evil >~/late; echo evil >.git/hooks/late' & wait"},
		{"the network", "tcp", "exec 3<>/dev/tcp/127.0.0.1/$PORT && cat <&3"},
		{"a socket of a service", "unix", `curl -s --unix-socket "$SOCKET" http://x/ || python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(os.environ["SOCKET"]); s.recv(1)'`},
		{"a program with more rights", "", `grep -q 'NoNewPrivs:.*0' /proc/self/status && echo evil >~/raised`},

		// And ten of this kind.
		{"the repository is moved away and made anew", "", "mv .git old; cp -r old .git" + evil},
		{"the repository is removed and made anew", "", "rm -rf .git; git init -q ." + evil},
		{"a repository is made where there is none", "rm -rf .git", "git init -q .; mkdir g; mv g .git; echo '[core]' >.git/config; git init -q --bare b; mv b .git; ln -s b .git"},
		{"commondir is made", "rm -f .git/commondir", "mkdir x; echo ../x >.git/commondir; echo ../x >c; mv c .git/commondir"},
		{"config.worktree is made", "rm -f .git/config.worktree", "echo '[core]' >.git/config.worktree; echo '[core]' >c; mv c .git/config.worktree"},
		{"the settings are replaced by a rename", "", "git config core.pager evil; echo '[core]' >c; mv -f c .git/config; rm -f .git/config; sed -i s/true/false/ .git/config"},
		{"the hooks are moved away", "", "mv .git/hooks h; mkdir .git/hooks; rm -rf .git/hooks"},
		{"hooks, info and modules are made where there are none", "rm -rf .git/hooks .git/info .git/modules .git/branches", "for n in hooks info modules remotes branches; do mkdir .git/$n; echo x >.git/$n/x; ln -s /tmp .git/$n; done"},
		{"the attributes are changed", "", "mkdir -p .git/info; echo '* filter=evil' >>.git/info/attributes"},
		{"settings of pi are made where there are none", "rm -rf .pi", "mkdir -p .pi/hooks; echo evil >.pi/hooks/evil.lua; mkdir p; mv p .pi; ln -s p .pi"},
		{".pi is moved away", "", "mv .pi old; mkdir -p .pi/hooks; echo evil >.pi/hooks/gate.lua"},
		{"a wall is taken down", "", "umount .git/config; unshare -rm sh -c 'umount .git/config; umount -l .git/hooks; mount -o remount,rw,bind .git/hooks'; echo evil >>.git/config; echo evil >.git/hooks/x"},
		{"a worktree is led elsewhere", "git worktree add -q ~/tree", "echo ../../../x >.git/worktrees/tree/commondir; mv .git/worktrees w; mv .git/worktrees/tree t; mkdir -p .git/worktrees/tree; echo x >.git/worktrees/tree/commondir"},
		{"a folder of hooks that the settings name", "mkdir -p .husky/_; git config core.hooksPath .husky/_", "echo evil >.husky/_/pre-commit; mv .husky h; mkdir -p .husky/_; echo evil >.husky/_/pre-commit"},
		{"a repository in the folder of the project", "rm -rf .git", "git init -q --bare .; mkdir -p objects refs; echo 'ref: refs/heads/x' >HEAD; echo '[core]' >config" + top},
		{"a repository beside one that is broken", "", "rm -rf .git/HEAD; mkdir -p refs; cp -r .git/objects .; echo 'ref: refs/heads/x' >HEAD; echo '[core]' >config" + top},
		{"the same where folders have these names", "mkdir refs objects", "rm -rf .git/HEAD; rmdir HEAD; echo 'ref: refs/heads/x' >HEAD; echo '[core]' >config" + top},
		{"the same with what lies elsewhere", "", "rm -rf .git/HEAD; mkdir -p x/refs; cp -r .git/objects x; echo x >commondir; echo 'ref: refs/heads/x' >HEAD; printf '[core]\nrepositoryformatversion = 0\nfsmonitor = \"touch ~/ran; false\"\n[extensions]\nworktreeConfig = true\n' >x/config; printf '[core]\nbare = false\nworktree = .\n' >config.worktree; git status"},
		{"a repository in another folder of the project", "git init -q --separate-git-dir=r . && git config core.x y", "echo '[core]' >r/config" + strings.ReplaceAll(top, ">>config", ">>r/config")},
		{"a project that is a bare repository", "rm -rf .git; git init -q --bare .", "echo '[core]' >config" + top},
		{"settings that the settings include", "git config include.path ../shared.gitconfig", "echo '[core]' >shared.gitconfig"},
		{"a process outside is stopped", "", `kill -0 "$OUTSIDE" && echo reached >~/killed; [ -e /proc/$OUTSIDE ] && echo evil >/proc/$OUTSIDE/root$HOME/x`},
	}
	for _, escape := range lines {
		t.Run(escape.name, func(t *testing.T) {
			b := newSandbox(t)
			b.repository()
			switch escape.before {
			case "tcp":
				b.env = append(b.env, fmt.Sprint("PORT=", b.listen("tcp", "127.0.0.1:0").(*net.TCPAddr).Port))
			case "unix":
				b.env = append(b.env, "SOCKET="+b.listen("unix", filepath.Join(b.home, "s")).String())
			default:
				b.outside(cmp.Or(escape.before, "true"))
			}
			b.env = append(b.env, fmt.Sprint("OUTSIDE=", os.Getpid()))
			before := b.kept()
			out, _ := b.inside("touch begun\n" + escape.line)
			if _, err := os.Stat(filepath.Join(b.cwd, "begun")); err != nil {
				t.Fatalf("it did not run: %s", out)
			}
			_, _ = b.shell([]string{"git", "status"}) // git outside may run what the settings say now
			if names := changed(before, b.kept()); len(names) > 0 {
				t.Errorf("%s\nchanged %q\n%s", escape.line, names, out)
			}
			if escape.name == "a wall is taken down" { // outside there is none
				return
			}
			out, _ = b.shell([]string{"bash", "-c", escape.line})
			if names := changed(before, b.kept()); len(names) == 0 {
				t.Errorf("%s\nchanges nothing without a sandbox either\n%s", escape.line, out)
			}
		})
	}
}

// Settings change between two commands in files that the first did not know of, and in those
// of a repository that the project is a part of.
func TestTheSandboxAsksGitBeforeEachCommand(t *testing.T) {
	for _, change := range []string{
		"git config --global core.hooksPath .husky",
		"printf '[core]\nhooksPath = .husky\n' >~/included",
		"rm -rf .git; cd ..; git init -q .; git config core.hooksPath project/.husky",
	} {
		b := newSandbox(t)
		b.repository()
		b.outside("mkdir .husky; git config include.path ~/included")
		b.works("echo mine >.husky/pre-commit")
		b.outside(change)
		if out, err := b.inside("echo evil >.husky/pre-commit"); err == nil || mustRead(t, filepath.Join(b.cwd, ".husky/pre-commit")) != "mine\n" {
			t.Errorf("after %s a command writes a hook\n%s", change, out)
		}
		b.outside("echo '[core' >>~/.gitconfig")
		if _, blocked := b.wrapped(); !strings.Contains(blocked, "git does not say what its settings make it run") {
			t.Errorf("where git cannot read its settings a command runs: %q", blocked)
		}
	}
}

// A command breaks the repository, so that git does not tell the next one what it keeps.
func TestTheSandboxWantsARepositoryThatGitCanRead(t *testing.T) {
	for _, line := range []string{"echo x >.git/HEAD", "rm .git/HEAD", "mv .git/objects .git/o"} {
		b := newSandbox(t)
		b.repository()
		b.outside("mkdir .husky; git config core.hooksPath .husky")
		b.works(line)
		if _, blocked := b.wrapped(); !strings.Contains(blocked, ".git for no repository: mend it") {
			t.Errorf("after %s the next command runs: %q", line, blocked)
		}
	}
}

// Where somebody outside replaces a file the kernel takes away the mount over it: no command
// runs after that until a user has looked.
func TestAWallOfTheSandboxThatFallsShutsIt(t *testing.T) {
	for kept, replace := range map[string]string{".git/config": "git config branch.main.remote origin", ".git/hooks": "mv .git/hooks h && mkdir .git/hooks"} {
		b := newSandbox(t)
		b.repository()
		b.outside("mkfifo begun go")
		words, _ := b.wrapped()
		long := exec.Command(words[0], append(words[1:len(words):len(words)], "echo >begun; cat go")...)
		long.Dir, long.Env = b.cwd, b.env
		var out strings.Builder
		long.Stderr = &out
		if err := long.Start(); err != nil {
			t.Fatal(err)
		}
		b.outside("cat begun && " + replace + " && echo >go")
		_ = long.Wait()
		if fallen := filepath.Join(b.cwd, kept); long.ProcessState.ExitCode() != 126 || !strings.HasSuffix(out.String(), "from then on:\n"+fallen+"\n") {
			t.Errorf("after %s it ended with %v: %s", replace, long.ProcessState, out.String())
		}
		_, blocked := b.wrapped()
		_, look, found := strings.Cut(blocked, "commands run again after !")
		if !found {
			t.Fatalf("after %s the next command runs: %q", replace, blocked)
		}
		b.outside(look)
		b.works("true")
	}
}

func TestGitWorksInTheSandbox(t *testing.T) {
	b := newSandbox(t)
	b.repository()
	b.outside("git clone -q --bare . ~/origin.git && git remote add origin ~/origin.git && git fetch -q && git clone -q ~/origin.git ~/other")
	before := b.kept()
	b.works("echo three >>a.txt && git add a.txt && git commit -qm three && git checkout -q -b topic && echo b >b.txt && git add b.txt && git commit -qm b")
	b.works("echo later >>b.txt && git stash -q && git stash pop -q && git checkout -q -- b.txt && git status --porcelain")
	b.works("git checkout -q main && echo four >c.txt && git add c.txt && git commit -qm four && git checkout -q topic && git rebase -q main && git tag done")
	if log := b.works("git log --format=%s"); log != "b\nfour\nthree\ntwo\none\n" {
		t.Errorf("after the rebase there is\n%s", log)
	}
	if names := changed(before, b.kept()); len(names) > 0 {
		t.Errorf("it changed %q", names)
	}
	b.outside("cd ~/other && git commit -q --allow-empty -m elsewhere && git push -q")
	b.works("git fetch -q origin && git log --format=%s origin/main | grep -q elsewhere && git gc -q")
	b.outside("git fsck && git status && git log -1")
}

func TestTheSandboxLeavesNothingBehind(t *testing.T) {
	for _, start := range []string{"true", "git init -q . && rm -rf .git/hooks .git/info .git/branches", "mkdir .pi"} {
		b := newSandbox(t)
		b.outside(start)
		before := tree(t, b.cwd)
		out := b.works("ls -a; ls -a .git; cat .git/commondir || true")
		if !strings.Contains(out, ".pi\n") {
			t.Errorf("nothing stood in the place of what is missing:\n%s", out)
		}
		if _, err := b.inside("exit 7"); err == nil || err.(*exec.ExitError).ExitCode() != 7 {
			t.Errorf("exit 7 ended with %v", err)
		}
		if names := changed(before, tree(t, b.cwd)); len(names) > 0 {
			t.Errorf("after %q it left %q", start, names)
		}
	}
}

// Of commands at once the last one tidies up; until then what is missing cannot be made.
func TestCommandsInTheSandboxAtOnce(t *testing.T) {
	b := newSandbox(t)
	b.repository()
	b.outside("rm -rf .git/hooks .pi && mkfifo begun go")
	before := b.kept()
	words, _ := b.wrapped()
	long := exec.Command(words[0], append(words[1:len(words):len(words)], "echo >begun; cat go; mkdir .git/hooks .pi; echo x >.git/commondir; echo evil >.git/hooks/x")...)
	long.Dir, long.Env = b.cwd, b.env
	if err := long.Start(); err != nil {
		t.Fatal(err)
	}
	b.outside("cat begun")
	b.works("true")
	b.outside("git status && git log -1 && echo >go") // git outside reads the repository meanwhile
	_ = long.Wait()
	if names := changed(before, b.kept()); len(names) > 0 {
		t.Errorf("they changed %q", names)
	}
}

// What a command that was killed could not take away, the next session does, or the next
// command; it is nothing to git.
func TestACommandThatIsKilledInTheSandbox(t *testing.T) {
	b := newSandbox(t)
	b.repository()
	b.outside("rm -rf .git/hooks .pi && mkfifo begun")
	before := tree(t, b.cwd)
	words, _ := b.wrapped()
	killed := exec.Command(words[0], append(words[1:len(words):len(words)], "echo >begun; sleep 600")...)
	killed.Dir, killed.Env = b.cwd, b.env
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	b.outside("cat begun")
	_ = killed.Process.Kill()
	_ = killed.Wait()
	if _, err := os.Stat(filepath.Join(b.cwd, ".git/commondir")); err != nil {
		t.Fatal(err)
	}
	b.outside("git status && git -c core.logAllRefUpdates=true commit -q --allow-empty -m x && git reset -q --hard HEAD^ && git reflog expire --expire=all --all")
	b.write(".git/hooks/mine", "what a person made meanwhile stays\n")
	b.handle(&agent.SessionStart{Reason: "resume"})
	after := tree(t, b.cwd)
	for _, name := range changed(before, after) {
		if strings.HasPrefix(name, b.cwd+"/.pi") || strings.HasPrefix(name, b.cwd+"/.git/commondir") || strings.HasPrefix(name, b.cwd+"/.git/modules") {
			t.Errorf("%s was left behind", name)
		}
	}
	if after[b.cwd+"/.git/hooks/mine"] == "" {
		t.Error("what a person made is gone")
	}
}

// Ended with pi, whose pipes are closed by then, it takes away what it had put there.
func TestACommandInTheSandboxThatEndsWithPi(t *testing.T) {
	b := newSandbox(t)
	b.repository()
	b.outside("rm -rf .git/hooks .pi && mkfifo begun")
	before := tree(t, b.cwd)
	words, _ := b.wrapped()
	ended := exec.Command(words[0], append(words[1:len(words):len(words)], "echo >begun; sleep 600")...)
	ended.Dir, ended.Env, ended.SysProcAttr = b.cwd, b.env, &syscall.SysProcAttr{Setpgid: true}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended.Stdout, ended.Stderr = w, w
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	b.outside("cat begun")
	w.Close()
	r.Close()
	if err := syscall.Kill(-ended.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = ended.Wait()
	if names := changed(before, tree(t, b.cwd)); len(names) > 0 {
		t.Errorf("it left %q", names)
	}
}

// A worktree belongs to a repository elsewhere, which says so; what only claims it gets no more to write.
func TestAWorktreeInTheSandbox(t *testing.T) {
	b := newSandbox(t)
	b.outside("git init -q ~/main && cd ~/main && git commit -q --allow-empty -m one && rmdir " + b.cwd + " && git worktree add -q " + b.cwd)
	b.works("echo x >x && git add x && git commit -qm two")
	if log := b.outside("git log --format=%s"); log != "two\none\n" {
		t.Errorf("there is %q", log)
	}
	before := tree(t, b.home)
	_, _ = b.inside("echo 'gitdir: x' >.git; mv .git g; echo evil >>~/main/.git/config; echo evil >~/main/.git/hooks/x; echo evil >~/main/.git/worktrees/project/commondir; mv ~/main/.git/worktrees ~/main/.git/w; echo evil >~/main/x")
	if names := changed(before, tree(t, b.home)); len(names) > 0 {
		t.Errorf("it changed %q of the repository", names)
	}
	b.outside("printf 'gitdir: %s\n' ~/claimed >.git; mkdir -p ~/claimed; echo ../.. >~/claimed/commondir")
	before = tree(t, b.home)
	_, _ = b.inside("echo evil >~/claimed/x; echo evil >~/x")
	if names := changed(before, tree(t, b.home)); len(names) > 0 {
		t.Errorf("it changed %q", names)
	}
}

// Links on the way to what lies outside are in no command's way.
func TestTheSandboxBehindLinks(t *testing.T) {
	b := newSandbox(t)
	root := filepath.Dir(b.cwd)
	b.outside("mkdir " + root + "/real && mv " + root + "/agent " + root + "/real && ln -s " + root + "/real/agent " + root + "/agent && ln -s " + root + "/real " + root + "/link")
	b.env = append(b.env, "SOCKET="+b.listen("unix", root+"/link/s").String())
	out := b.works(`[ -S "$SOCKET" ] || echo no socket; echo evil >"$AGENT/x" || echo not written`)
	if !strings.Contains(out, "no socket") || !strings.Contains(out, "not written") {
		t.Error(out)
	}
}

// What has a line break in its path the register cannot tell: no command runs.
func TestTheSandboxRefusesLineBreaks(t *testing.T) {
	b := newSandbox(t)
	b.repository()
	before := tree(t, b.cwd+"/.git")
	b.works("mkdir -p $'.git/worktrees/a\nb'")
	if _, blocked := b.wrapped(); !strings.Contains(blocked, "has a line break in its path") {
		t.Errorf("it runs: %q", blocked)
	}
	b.outside("rm -r .git/worktrees")
	b.works("true")
	if names := changed(before, tree(t, b.cwd+"/.git")); len(names) > 0 {
		t.Errorf("it left %q", names)
	}
}

// A link in the place of what is kept could be replaced: no command runs.
func TestTheSandboxRefusesLinksInThePlaceOfWhatIsKept(t *testing.T) {
	for _, line := range []string{"ln -s /etc .pi", "ln -s ../home .git", "git init -q . && rm -rf .git/hooks && ln -s ../h .git/hooks", "git init -q . && git config core.hooksPath h/i && ln -s . h"} {
		b := newSandbox(t)
		b.outside(line)
		if _, blocked := b.wrapped(); !strings.Contains(blocked, "is a link") {
			t.Errorf("after %s it runs: %q", line, blocked)
		}
	}
}
