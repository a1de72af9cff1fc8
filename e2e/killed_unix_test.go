//go:build unix

package e2e

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pi/internal/process"
)

// starters is a hook whose commands start programs, each of which writes its number into the
// mailbox.
const starters = `
local timer = require "pi.timer"
local long = "echo $$ > started; exec sleep 600"
pi.command("exec", { handler = function() pi.exec("sh", { "-c", long }) end })
pi.command("spawn", { handler = function() pi.spawn("sh", { "-c", long }) timer.sleep(600000) end })
local function leave() pi.exec("sh", { "-c", "sleep 600 & echo $! > started" }) end
pi.command("leave", { handler = leave })
pi.command("agent", { handler = function()
  require("pi.agent").run{ prompt = "run \96echo $$ > started; sleep 600\96" }
end })
pi.command("leave-and-wait", { handler = function() leave() timer.sleep(600000) end })
`

// killable is a world with starters, and what waits for the number of a program.
func killable(t *testing.T) (w *world, started func() (pid int)) {
	t.Helper()
	w = newWorld(t)
	w.write(w.agentFile("hooks/starters.lua"), starters)
	next := w.mailbox("started")
	return w, func() int {
		t.Helper()
		pid, err := strconv.Atoi(next())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		return pid
	}
}

// waysToRun are those in which somebody runs a prompt. Each returns the number of pi, which leads
// its group.
func waysToRun() map[string]func(w *world, prompt string) (pid int) {
	return map[string]func(*world, string) int{
		"print": func(w *world, prompt string) int {
			cmd := w.command("-p", prompt)
			process.Group(cmd)
			if err := cmd.Start(); err != nil {
				w.t.Fatal(err)
			}
			w.t.Cleanup(func() { process.Kill(cmd); _ = cmd.Wait() })
			return cmd.Process.Pid
		},
		"rpc": func(w *world, prompt string) int {
			cmd := w.command("--mode", "rpc")
			process.Group(cmd)
			in, err := cmd.StdinPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				w.t.Fatal(err)
			}
			w.t.Cleanup(func() { process.Kill(cmd); _ = cmd.Wait() })
			request := object{"type": "prompt", "message": prompt}
			if command, ok := strings.CutPrefix(prompt, "!"); ok {
				request = object{"type": "bash", "command": command}
			}
			line, _ := json.Marshal(request)
			_, _ = io.WriteString(in, string(line)+"\n")
			return cmd.Process.Pid
		},
		"editor": func(w *world, prompt string) int {
			e := w.editor(object{})
			e.StartPrompt(e.New(w.project), prompt)
			return e.cmd.Process.Pid
		},
		"terminal": func(w *world, prompt string) int {
			s := w.inTerminal()
			s.enter(prompt)
			return s.Process().Pid
		},
	}
}

// A client, or the system, may kill pi in the middle, and all of its group with it.
func TestWhatAKilledProgramStartedEndsSoon(t *testing.T) {
	t.Parallel()
	for way, runs := range waysToRun() {
		for what, prompt := range map[string]string{
			"a command of the agent":                 "run `echo $$ > started; sleep 600`",
			"a command of the agent with its groups": "run `set -m; (trap '' TERM HUP; echo $BASHPID > started; while :; do sleep 0.01; done) & wait`",
			"a command of the person":                "!echo $$ > started; trap '' HUP; sleep 600; sleep 600",
			"pi.exec":                                "/exec",
			"pi.spawn":                               "/spawn",
			"what pi.exec left":                      "/leave-and-wait",
			"a command of an agent of a hook":        "/agent",
		} {
			if (way == "print" || way == "editor") && strings.HasPrefix(prompt, "!") || strings.Contains(prompt, "set -m") && runtime.GOOS != "linux" {
				continue // nobody types, or nothing tells which groups there are
			}
			t.Run(way+"/"+what, func(t *testing.T) {
				t.Parallel()
				w, started := killable(t)
				pi := runs(w, prompt)
				pid := started()
				if !process.Running(pid) {
					t.Error("it has ended before")
				}
				if err := syscall.Kill(-pi, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				waitUntil(t, func() bool { return !process.Running(pid) })
			})
		}
	}
}

// What a command has left behind goes on, however pi ends; what pi.exec has does not.
func TestWhatIsLeftInTheBackgroundWhenPiEnds(t *testing.T) {
	t.Parallel()
	w, started := killable(t)
	const leaves = "run `sleep 600 > /dev/null 2>&1 & echo $! > started`"
	pi := w.background("-p", leaves, "run `echo $$ > started; sleep 600`")
	left, running := started(), started()
	pi.end(syscall.SIGKILL)
	waitUntil(t, func() bool { return !process.Running(running) })
	if !process.Running(left) {
		t.Error("after a kill, what a command had left has ended")
	}
	w.pi("-p", leaves)
	if !process.Running(started()) {
		t.Error("after a normal end, what a command had left has ended")
	}
	w.pi("-p", "/leave")
	if process.Running(started()) {
		t.Error("after a normal end, what pi.exec had left goes on")
	}
}

// The watcher may be killed as well; the next command has another, which knows of the first.
func TestAWatcherThatIsGoneIsReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("nothing tells here which the watcher is")
	}
	w, started := killable(t)
	w.write(w.agentFile("hooks/again.lua"), `
local timer = require "pi.timer"
pi.command("twice", { handler = function()
  for _ = 1, 2 do
    pi.spawn("sh", { "-c", "echo $$ > started; exec sleep 600" })
    pi.exec("sh", { "-c", "while [ ! -e go ]; do sleep 0.01; done" })
  end
  timer.sleep(600000)
end })`)
	pi := w.background("-p", "/twice")
	first := started()
	watcher := watcherOf(t, pi.cmd.Process.Pid)
	_ = syscall.Kill(watcher, syscall.SIGKILL)
	waitUntil(t, func() bool { return !process.Running(watcher) })
	w.write(filepath.Join(w.project, "go"), "")
	second := started()
	pi.end(syscall.SIGKILL)
	waitUntil(t, func() bool { return !process.Running(first) && !process.Running(second) })
}

// Whoever opens the session again sees what became of the call.
func TestTheReplayOfACallSaysThatPiWasEnded(t *testing.T) {
	t.Parallel()
	w, started := killable(t)
	pi := w.background("--session-id", "killed", "-p", "run `echo $$ > started; sleep 600`")
	started()
	pi.end(syscall.SIGKILL)
	e := w.editor(object{})
	e.Must("session/load", object{"sessionId": "killed", "cwd": w.project, "mcpServers": []any{}}, nil)
	if said := e.Texts("killed", "tool_call_update"); said != "no result: pi was ended" {
		t.Errorf("the replay says %q", said)
	}
	e.end()
}

// Where there is no watcher, pi notes what runs. This is such a note of a program that is gone.
func TestTheNextStartNamesWhatGoesOn(t *testing.T) {
	t.Parallel()
	w, _ := killable(t)
	cmd := exec.Command("sleep", "600")
	process.Session(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.Kill(cmd); _ = cmd.Wait() })
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	group := strconv.Itoa(cmd.Process.Pid)
	note := w.agentFile("orphans/1")
	w.write(note, strings.TrimSpace(string(boot))+"\n"+group+"\n")
	if _, told := w.piTells("-p", "read a.txt"); !strings.Contains(told, "a command goes on though pi was killed: "+group) || !strings.Contains(told, "`kill -- -"+group+"` ends it") {
		t.Errorf("told was %s", told)
	}
	s := w.inTerminal()
	s.see(1, "A command goes on though pi was killed: "+group)
	s.asked("End it?")
	s.keys("y")
	s.prompt()
	if process.Running(cmd.Process.Pid) {
		t.Error("it goes on")
	}
	if _, err := os.Stat(note); err == nil {
		t.Error("the note is still there")
	}
}

// watcherOf is the number of the watcher of a program; 0: it has none.
func watcherOf(t *testing.T, pi int) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		_, fields, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(fields); len(f) > 1 && f[1] == strconv.Itoa(pi) && strings.Contains(string(line), "pi-watcher") {
			watcher, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return watcher
		}
	}
	return 0
}
