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
	dir   string
	s     *server
	turns *script
	size  int64 // of the program's binary
}

const requestLimit = 30 * time.Second

// newWork builds the programs to measure and writes what they need into dir.
func newWork(dir string, s *server, turns *script) (*work, error) {
	w := &work{dir: dir, s: s, turns: turns}
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
	examples, err := exampleHooks()
	err = errors.Join(err, w.makeHome("gates", turns.url(), gateHooks()), writeLines(w.path("project")), writeLongSession(w.path("long.jsonl")),
		w.makeHome("servers", s.url(), nil), writeServers(w.path("servers")))
	for _, whose := range []string{"", beside} {
		err = errors.Join(err, w.makeHome("plain"+whose, s.url(), nil), w.makeHome("examples"+whose, s.url(), examples),
			w.makeHome("functions"+whose, s.url(), functionHooks()), w.makeHome("turns"+whose, turns.url(), nil))
	}
	return w, err
}

// beside ends the names of the homes of another build: what one of them writes into its
// home the other may not know.
const beside = "-beside"

// path returns where the program or home of that name is; another build has a path already.
func (w *work) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.dir, name)
}

// makeHome writes a home directory with settings that name the server at url, and with these
// hooks.
func (w *work) makeHome(name, url string, hooks map[string]string) error {
	agent := filepath.Join(w.path(name), ".pi", "agent")
	if err := os.MkdirAll(filepath.Join(agent, "hooks"), 0o700); err != nil {
		return err
	}
	config := fmt.Sprintf("[providers.local]\nbase_url = %q\napi = \"openai-completions\"\n[[providers.local.models]]\nid = \"m\"\n", url)
	err := os.WriteFile(filepath.Join(agent, "config.toml"), []byte(config), 0o600)
	for file, source := range hooks {
		err = errors.Join(err, os.WriteFile(filepath.Join(agent, "hooks", file), []byte(source), 0o600))
	}
	return err
}

// cases returns what is measured, and against what.
func (w *work) cases() []*measured {
	const empty = "an empty Go program"
	return []*measured{
		{name: "pi --version, to its end", against: empty,
			base: func() (result, error) { return w.timeToEnd("empty") },
			run:  func() (result, error) { return w.timeToEnd("pi", "--version") }},
		w.request("no hooks", "plain"),
		w.request("10 of the examples as hooks", "examples"),
		w.request("10 hooks of 90 functions", "functions"),
		w.request("a session of 10,000 entries", "plain", "--session", w.path("long.jsonl")),
	}
}

// request returns the case that measures the time from the start of pi to its first
// request, compared with a minimal program that sends the same bytes.
func (w *work) request(name, home string, args ...string) *measured {
	body := w.path(strings.ReplaceAll(name, " ", "-") + ".json")
	args = append(args, "-p", "hello")
	return &measured{name: name, against: "the bare program",
		base: func() (result, error) {
			if err := w.saveBody(body, home, args); err != nil {
				return result{}, err
			}
			return w.timeToRequest(home, "bare", w.s.url()+"/chat/completions", body)
		},
		run: func() (result, error) { return w.timeToRequest(home, "pi", args...) }}
}

// saveBody runs pi once and writes the body of its request to file, for the other program
// to send; it does nothing if the file exists.
func (w *work) saveBody(file, home string, args []string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if _, err := w.timeToRequest(home, "pi", args...); err != nil {
		return err
	}
	return os.WriteFile(file, w.s.last(), 0o600)
}

// command returns a program to run in the project directory, with only HOME and PATH in
// its environment.
func (w *work) command(home, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(w.path(name), args...)
	cmd.Dir = w.path("project")
	cmd.Env = []string{"HOME=" + w.path(home), "PATH=" + os.Getenv("PATH")}
	return cmd
}

// timeToEnd runs a program and measures how long it takes.
func (w *work) timeToEnd(name string, args ...string) (result, error) {
	cmd := w.command("plain", name, args...)
	start := time.Now()
	err := cmd.Run()
	r := result{took: time.Since(start)}
	if state := cmd.ProcessState; state != nil {
		r.cpu = state.UserTime() + state.SystemTime()
	}
	return r, err
}

// timeToRequest runs a program and measures how long it takes from its start to the first byte of its
// request, and how much memory and processor time it has taken by then.
func (w *work) timeToRequest(home, name string, args ...string) (result, error) {
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
		r = result{took: at.Sub(start), cpu: processorTime(cmd.Process.Pid), rss: residentKiB(cmd.Process.Pid)}
		w.s.answer <- struct{}{}
	case <-time.After(requestLimit):
		_ = cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil {
		return result{}, fmt.Errorf("%w\n%s", err, output.String())
	}
	return r, nil
}

// residentKiB returns the resident memory of a process; 0 if /proc does not say.
func residentKiB(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}

// processorTime returns how long all threads of a process have run; 0 if /proc does not
// say. It is more precise than the times that the process itself reports.
func processorTime(pid int) time.Duration {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	var sum time.Duration
	for _, file := range threads {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		ran, _, _ := strings.Cut(string(b), " ")
		n, _ := strconv.ParseInt(ran, 10, 64)
		sum += time.Duration(n)
	}
	return sum
}
