package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// work is what is measured: the programs, and directories for them to live in.
type work struct {
	dir  string
	s    *server
	size int64 // of the program's binary
}

const (
	hookCount    = 10
	entryCount   = 10000
	requestLimit = 30 * time.Second
)

func newWork(dir string, s *server) (*work, error) {
	w := &work{dir: dir, s: s}
	for name, pkg := range map[string]string{"pi": ".", "empty": "./bench/empty", "bare": "./bench/bare"} {
		build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", w.path(name), pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	info, err := os.Stat(w.path("pi"))
	if err != nil {
		return nil, err
	}
	w.size = info.Size()
	return w, errors.Join(w.home("plain", 0), w.home("hooked", hookCount),
		os.MkdirAll(w.path("project"), 0o700), w.longSession())
}

func (w *work) path(name string) string { return filepath.Join(w.dir, name) }

// home makes a HOME whose settings name the server, with some hooks.
func (w *work) home(name string, hooks int) error {
	agent := filepath.Join(w.path(name), ".pi", "agent")
	if err := os.MkdirAll(filepath.Join(agent, "hooks"), 0o700); err != nil {
		return err
	}
	config := fmt.Sprintf("[providers.local]\nbase_url = %q\napi = \"openai-completions\"\n[[providers.local.models]]\nid = \"m\"\n", w.s.url())
	err := os.WriteFile(filepath.Join(agent, "config.toml"), []byte(config), 0o600)
	for i := range hooks {
		file := filepath.Join(agent, "hooks", fmt.Sprintf("hook%02d.lua", i))
		err = errors.Join(err, os.WriteFile(file, []byte(hookSource()), 0o600))
	}
	return err
}

// hookSource is a hook of a hundred lines that hears of everything on the way to
// the first request.
func hookSource() string {
	var b strings.Builder
	b.WriteString("local words = {}\n")
	for i := range 18 {
		fmt.Fprintf(&b, "local function check%d(text, n)\n  if text:find(\"never %d\", 1, true) then\n    words[#words + 1] = text:sub(n, -1)\n  end\nend\n", i, i)
	}
	b.WriteString(`pi.on("input", function(event) check0(event.text, 1) end)
pi.on("before_agent_start", function(event) check1(event.system_prompt, 2) end)
pi.on("context", function(event) check2(event.messages[1].role, #event.messages) end)
pi.on("tool_call", function(event) check3(event.tool_name, 3) end)
pi.on("tool_result", function(event) check4(event.tool_name, 4) end)
pi.command("words", { handler = function() return { status = table.concat(words, " ") } end })
`)
	return b.String()
}

// longSession writes a session of many entries.
func (w *work) longSession() error {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"bench","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/nowhere"}` + "\n")
	parent := "null"
	text := strings.Repeat("some words of a conversation ", 20)
	for i := range entryCount {
		message := fmt.Sprintf(`{"role":"user","content":"%s","timestamp":1767323045000}`, text)
		if i%2 == 1 {
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"}],"api":"openai-completions","provider":"local","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1767323045000}`, text)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.000Z","message":%s}`+"\n", i+1, parent, message)
		parent = fmt.Sprintf("\"%08x\"", i+1)
	}
	return os.WriteFile(w.path("long.jsonl"), []byte(b.String()), 0o600)
}

func (w *work) cases() []*measured {
	return []*measured{
		{name: "empty Go program, to its end", run: func() (result, error) { return w.toEnd("empty") }},
		{name: "pi --version, to its end", against: "empty Go program, to its end",
			run: func() (result, error) { return w.toEnd("pi", "--version") }},
		{name: "bare program, to the request", run: func() (result, error) {
			if err := w.bareBody(); err != nil {
				return result{}, err
			}
			return w.toRequest("plain", "bare", w.s.url()+"/chat/completions", w.path("body.json"))
		}},
		{name: "pi, to the request", against: "bare program, to the request",
			run: func() (result, error) { return w.toRequest("plain", "pi", "-p", "hello") }},
		{name: "pi with 10 hooks, to the request", against: "bare program, to the request",
			run: func() (result, error) { return w.toRequest("hooked", "pi", "-p", "hello") }},
		{name: "pi with 10,000 entries, to the request", against: "bare program, to the request",
			run: func() (result, error) {
				return w.toRequest("plain", "pi", "--session", w.path("long.jsonl"), "-p", "hello")
			}},
	}
}

// bareBody has the bare program send what pi sends.
func (w *work) bareBody() error {
	if _, err := os.Stat(w.path("body.json")); err == nil {
		return nil
	}
	if _, err := w.toRequest("plain", "pi", "-p", "hello"); err != nil {
		return err
	}
	return os.WriteFile(w.path("body.json"), w.s.last(), 0o600)
}

func (w *work) command(home, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(w.path(name), args...)
	cmd.Dir = w.path("project")
	cmd.Env = []string{"HOME=" + w.path(home), "PATH=" + os.Getenv("PATH")}
	return cmd
}

// toEnd is how long a program runs.
func (w *work) toEnd(name string, args ...string) (result, error) {
	start := time.Now()
	err := w.command("plain", name, args...).Run()
	return result{took: time.Since(start)}, err
}

// toRequest is how long a program needs from its start to the first byte of its
// request, and how much memory it has when the request has been sent.
func (w *work) toRequest(home, name string, args ...string) (result, error) {
	cmd := w.command(home, name, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	var r result
	select {
	case at := <-w.s.asked:
		r = result{took: at.Sub(start), rss: residentKiB(cmd.Process.Pid)}
		w.s.answer <- struct{}{}
	case <-time.After(requestLimit):
		_ = cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil {
		return result{}, fmt.Errorf("%w\n%s", err, output.String())
	}
	return r, nil
}

// residentKiB is the resident memory of a process; 0 where /proc does not tell.
func residentKiB(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}
