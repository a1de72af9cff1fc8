//go:build unix

package app

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/session"
)

// waitForPid waits for the number of a process in a file.
func waitForPid(t *testing.T, path string) int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid
		}
	}
	t.Fatalf("nothing in %s", path)
	return 0
}

// isThere reports whether a process has not ended.
func isThere(pid int) bool { return syscall.Kill(pid, 0) == nil }

// checkWhole checks that the session in a file can be read, and that its calls have results.
func checkWhole(t *testing.T, path string) {
	t.Helper()
	s, err := session.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, e := range s.Branch() {
		if m := e.Message(); m != nil {
			calls += len(m.ToolCalls())
			if m.ToolCallID != "" {
				calls--
			}
		}
	}
	if problems := s.Problems(); len(problems) > 0 || calls != 0 {
		t.Errorf("%s: %q, %d calls without a result", path, problems, calls)
	}
}

// endless is a command that says which process it is, and does not stop when it is asked to.
const endless = "echo $$ > pid; trap '' TERM; while :; do sleep 0.05; done"

func TestAChildEndsWithWhatItBelongsTo(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.jsonl")
	writePrompt(t, other, `{"type":"session","version":3,"id":"0198ab","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`+"\n")
	for name, end := range map[string]func(p parent, c api.Child, call context.CancelFunc){
		"aborted": func(_ parent, c api.Child, _ context.CancelFunc) { c.Abort() },
		"call":    func(_ parent, _ api.Child, call context.CancelFunc) { call() },
		"program": func(p parent, _ api.Child, _ context.CancelFunc) { _ = p.close(context.Background()) },
		"new": func(p parent, _ api.Child, _ context.CancelFunc) {
			if err := p.agent.NewSession(context.Background(), agent.NewSessionOptions{}); err != nil {
				t.Error(err)
			}
		},
		"resume": func(p parent, _ api.Child, _ context.CancelFunc) {
			if err := p.agent.SwitchSession(context.Background(), other); err != nil {
				t.Error(err)
			}
		},
	} {
		p := openParent(t, Options{}, "", nil)
		ctx, call := context.WithCancel(t.Context())
		c, err := p.agents().Start(ctx, api.AgentRequest{Prompt: "go", Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		turn := p.next(t)
		mark := filepath.Join(p.place.Cwd, "pid")
		turn.Call("c", "bash", "command", endless)
		turn.End()
		pid := waitForPid(t, mark)
		began := time.Now()
		end(p, c, call)
		got := ended(t, c)
		if took := time.Since(began); got.StopReason != "aborted" || isThere(pid) {
			t.Errorf("%s: it ended after %v as %s, and its command lives: %v", name, took, got.StopReason, isThere(pid))
		}
		checkWhole(t, got.SessionFile)
		call()
	}
}

// A hook that is loaded anew, or turned off, takes along the agents that it has started.
func TestAChildEndsWithTheVMOfItsHook(t *testing.T) {
	const code = `
		pi.command("go", { handler = function() assert(require("pi.agent").start{ prompt = "go", session = "keep" }) end })`
	for name, end := range map[string]func(p parent){
		"loaded anew": func(p parent) { p.chain.Reload(context.Background(), true) },
		"turned off": func(p parent) {
			if err := p.chain.SetEnabled(context.Background(), "own", false); err != nil {
				t.Error(err)
			}
		},
	} {
		p := openParent(t, Options{}, "", map[string]string{"own.lua": code})
		if _, err := p.commands.Run(t.Context(), "/go"); err != nil {
			t.Fatal(err)
		}
		turn, c := p.next(t), p.family.Children()[0]
		turn.Call("c", "bash", "command", endless)
		turn.End()
		pid := waitForPid(t, filepath.Join(p.place.Cwd, "pid"))
		end(p)
		select {
		case <-c.Ended():
		case <-time.After(time.Minute):
			t.Fatalf("%s: it goes on", name)
		}
		if isThere(pid) {
			t.Errorf("%s: its command lives", name)
		}
		files, err := filepath.Glob(filepath.Join(p.place.AgentDir, "sessions", "*", "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: sessions %q, %v", name, files, err)
		}
		for _, file := range files {
			checkWhole(t, file)
		}
	}
}
