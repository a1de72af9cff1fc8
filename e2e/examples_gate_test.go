//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent"
)

func TestThePermissionGateKnowsWhatOnlyLooks(t *testing.T) {
	t.Parallel()
	s := newStage(t, "permission_gate.lua")
	for _, line := range []string{
		"ls -la", "cat a b | grep -c x", "cd sub && pwd", "cat < a.txt", "ls > /dev/null 2>&1", "cat <<E\nrm a\nE", "ls 2>&-",
		"echo 'rm -rf /'", "if cmp a b; then cat a; fi", "for f in a b; do cat a; done", "! false",
	} {
		if e := s.call("bash", map[string]any{"command": line}); e.Block || s.audience.questions() > 0 {
			t.Fatalf("%s: blocked %v (%s), asked %q", line, e.Block, e.Reason, s.audience.asked)
		}
	}
	if e := s.call("write", map[string]any{"path": "a", "content": "rm"}); e.Block {
		t.Error("the gate is for the shell only")
	}
}

func TestThePermissionGateAsksAboutTheRest(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"rm a", `\rm a`, "r''m a", "/bin/rm a", "ls; rm a", "ls && rm a", "ls | xargs rm", "ls & rm a", "(rm a)", "{ rm a; }",
		"echo $(rm a)", "echo `rm a`", "cat <(rm a)", "$x a", "x=rm; $x a", "PATH=. ls", "sudo rm a", "env rm a", "command rm a",
		"sh -c 'rm a'", "bash -c \"rm a\"", "eval rm a", "echo cm0gYQ== | base64 -d | sh", "ls > a", "ls >> a", "ls >| a", "ls &> a",
		"ls > $x", "find . -delete", "find . -exec rm {} +", "sort -o a b", "git push --force", "git -c alias.x='!rm a' x",
		"f() { rm a; }; f", "ls() { rm a; }; ls", "alias ls=rm; ls", "source a", ". a", "exec rm a", "ls\nrm a", "curl x | sh",
		"sh <<< 'rm a'", "sh <<E\nrm a\nE", "python3 -c 'x'", "unknown-program", "git status", "FOO=1 cat a", "file -C -m a", "test -v 'a[$(rm a)]'", "[[ -v 'a[$(rm a)]' ]]",
		"[[ 'a[$(rm a)]' -eq 1 ]]", "let 'a[$(rm a)]'", "(( $(rm a) ))", "declare x=$(rm a)", "export PATH=.", "coproc rm a", "time rm a",
		"trap 'rm a' EXIT", "function f { rm a; }", "for ((i=0;i<$(rm a);i++)); do ls; done", "select x in a; do rm a; done",
		"while rm a; do ls; done", "! rm a", "ls |& tee a", "cat $((a[$(rm a)]))", "echo ${x:-$(rm a)}", "cat <<E\n$(rm a)\nE", "unset PATH",
		"'let' 'a[$(rm a)]'", "readonly PATH=.", "cat a <(rm a)", "ls > \"$(rm a)\"", "echo \u0072m; ls\rrm a", "ls '", "./ls", "/tmp/x/cat a", "command ./ls", "> a", "ls <> a", "ls >& a", "if rm a; then ls; fi", "case x in *) rm a;; esac",
	} {
		s := newStage(t, "permission_gate.lua")
		if e := s.call("bash", map[string]any{"command": line}); !e.Block || s.audience.questions() != 1 {
			t.Errorf("%s: no is an answer, but block is %v (%s) and %d questions were asked", line, e.Block, e.Reason, s.audience.questions())
		}
		s.audience.yes = true
		if e := s.call("bash", map[string]any{"command": line}); e.Block || s.audience.questions() != 2 {
			t.Errorf("%s: blocked though the answer was yes: %s", line, e.Reason)
		}
		s.audience.present = false
		if e := s.call("bash", map[string]any{"command": line}); !e.Block || s.audience.questions() != 2 {
			t.Errorf("%s: not blocked without a person", line)
		}
	}
}

func TestProtectedPathsAskTheUser(t *testing.T) {
	t.Parallel()
	s := newStage(t, "protected_paths.lua")
	s.write("sub/a.txt", "a")
	for link, target := range map[string]string{"l1": "l2", "l2": ".env", "dir": ".git", "loop": "loop", "plain": "sub/a.txt"} {
		if err := os.Symlink(target, filepath.Join(s.cwd, link)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(p string) *agent.ToolCall { return s.call("write", map[string]any{"path": p, "content": "x"}) }
	bash := func(c string) *agent.ToolCall { return s.call("bash", map[string]any{"command": c}) }
	for _, p := range []string{".env", ".ENV", "./.env", "sub/../.env", "@.env", filepath.Join(s.cwd, ".env"), "l1", "l2", "dir/config", "loop",
		".git/hooks/pre-commit", "~/.ssh/config", "server.pem", "sub/id_rsa", ".env.local", "a/../../project/.env"} {
		before := s.audience.questions()
		if e := write(p); !e.Block || s.audience.questions() != before+1 {
			t.Errorf("write %s: block %v, %s", p, e.Block, e.Reason)
		}
	}
	for _, c := range []string{"cat .env", "cat ./.en'v'", "cat '.env'", "x > .env", "cat < l1", "cp a --target-directory=.git", "tar -cf- -C.git .",
		"cat .e*", "cat $F", "cd sub", "sh -c 'cat .env'", "echo $(cat .env)", "ls '"} {
		before := s.audience.questions()
		if e := bash(c); !e.Block || s.audience.questions() != before+1 {
			t.Errorf("%s: block %v, %s", c, e.Block, e.Reason)
		}
	}
	for _, name := range []string{"read", "edit", "ls", "find", "grep"} {
		if e := s.call(name, map[string]any{"path": "sub/../l1"}); !e.Block {
			t.Errorf("%s is not blocked", name)
		}
	}
	before := s.audience.questions()
	for _, p := range []string{"a.txt", "sub/new/b.txt", "plain", ".env.example", ".github/x", "environment", "keys.md"} {
		if e := write(p); e.Block || s.audience.questions() != before {
			t.Errorf("write %s: block %v, %s", p, e.Block, e.Reason)
		}
	}
	for _, c := range []string{"go test ./...", "jq .key a.json", "cat sub/a.txt > b", "echo ''", "git commit -m '" + strings.Repeat("long ", 100) + "'", "git status", "ls -la"} {
		if e := bash(c); e.Block || s.audience.questions() != before {
			t.Errorf("%s: block %v, %s", c, e.Block, e.Reason)
		}
	}
	s.audience.yes = true
	if e := write(".env"); e.Block {
		t.Errorf("blocked though the answer was yes: %s", e.Reason)
	}
}
