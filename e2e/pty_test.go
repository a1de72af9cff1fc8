//go:build unix

package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/term"
)

// screen is the program in a pseudo-terminal, and what the terminal shows. The
// terminal is vt10x, which nobody has changed since 2022: no maintained emulator
// without a terminal of its own is to be had for Go, it knows what the program
// writes, and it runs in tests only. All
// waiting is for something that the screen has to show.
type screen struct {
	t           *testing.T
	cmd         *exec.Cmd
	master, tty *os.File
	before      *term.State

	mu      sync.Mutex
	shown   vt10x.Terminal
	raw     []byte
	changed chan struct{} // closed and replaced with each output
	ended   chan struct{}
}

const (
	screenLines   = 50
	screenColumns = 100
	patience      = time.Minute // only a failing test waits as long
)

// inTerminal starts the program of a world in a terminal.
func (w *world) inTerminal(args ...string) *screen {
	w.t.Helper()
	return w.inTerminalAs("pi", args...)
}

// inTerminalAs is inTerminal for another of the programs of TestMain.
func (w *world) inTerminalAs(program string, args ...string) *screen {
	w.t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		w.t.Fatal(err)
	}
	size := &pty.Winsize{Rows: screenLines, Cols: screenColumns}
	if w.narrow {
		size = &pty.Winsize{}
	}
	if err := pty.Setsize(master, size); err != nil {
		w.t.Fatal(err)
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := w.command(args...)
	cmd.Args[0] = program
	s := &screen{t: w.t, cmd: cmd, master: master, tty: tty, before: before,
		shown: vt10x.New(vt10x.WithSize(screenColumns, screenLines)), changed: make(chan struct{}), ended: make(chan struct{})}
	s.cmd.Env = append(append(s.cmd.Env, "TERM=xterm", "NO_COLOR=1", "VISUAL="+filepath.Join(w.home, "editor")), w.env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = leaderOfTerminal()
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go s.watch()
	w.t.Cleanup(s.close)
	return s
}

func (s *screen) watch() {
	defer close(s.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.raw = append(s.raw, buf[:n]...)
		_, _ = s.shown.Write(buf[:n])
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) close() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.tty.Close()
	s.master.Close()
	<-s.ended
}

// text is the screen without the blanks at the ends of its lines.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.shown.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// output is all that the program has written.
func (s *screen) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

func (s *screen) until(what string, ok func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("waited in vain until %s; screen:\n%s", what, s.text())
		case <-s.ended:
			if !ok() {
				s.t.Fatalf("the program ended before %s; screen:\n%s", what, s.text())
			}
			return
		}
	}
}

// see waits until the screen shows a text this many times, be it in one row or
// broken at the screen's edge or between words: where a row with a path of this
// machine breaks, no test knows.
func (s *screen) see(times int, text string) {
	s.t.Helper()
	s.until("the screen shows "+text, func() bool {
		shown := s.text()
		return max(strings.Count(shown, text), strings.Count(unbroken(shown), text), strings.Count(strings.ReplaceAll(shown, "\n", " "), text)) >= times
	})
}

// unbroken joins each row that reaches the edge of the screen with the next.
func unbroken(shown string) string {
	var text strings.Builder
	for row := range strings.Lines(shown) {
		if utf8.RuneCountInString(row) > screenColumns {
			row = strings.TrimSuffix(row, "\n")
		}
		text.WriteString(row)
	}
	return text.String()
}

// prompt waits until the last line of the screen is an empty prompt that is read.
func (s *screen) prompt() {
	s.t.Helper()
	s.until("the prompt is open", func() bool {
		text := s.text()
		return text[strings.LastIndexByte(text, '\n')+1:] == ">" && s.reading()
	})
}

// reading tells from bracketed paste, which is on while the prompt is open.
func (s *screen) reading() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := string(s.raw)
	return strings.LastIndex(out, "\x1b[?2004h") > strings.LastIndex(out, "\x1b[?2004l")
}

func (s *screen) keys(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, keys); err != nil {
		s.t.Fatal(err)
	}
}

// enter types a line at the open prompt, and waits until it is seen there: what is
// typed next is not to be taken for input at the same prompt.
func (s *screen) enter(line string) {
	s.t.Helper()
	s.prompt()
	before := len(s.output())
	s.keys(line + "\r")
	s.until("the line is echoed, and its Enter", func() bool { return strings.Contains(s.output()[before:], "\n") })
}

// leave waits for the end of the program and checks its exit status and that the
// terminal is as it was found.
func (s *screen) leave(status int) {
	s.t.Helper()
	stuck := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer stuck.Stop()
	err := s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("the program ended with %v, want exit status %d; screen:\n%s", err, status, s.text())
	}
	after, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	if *after != *s.before {
		s.t.Errorf("the terminal is %+v, was %+v", after, s.before)
	}
	s.until("bracketed paste is off", func() bool { return !s.reading() })
}

// harmless checks that none of these sequences has reached the terminal.
func (s *screen) harmless(sequences ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, bad := range sequences {
		if strings.Contains(string(s.raw), bad) {
			s.t.Errorf("%q reached the terminal", bad)
		}
	}
}

func TestAPromptIsAnsweredOnTheScreen(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal()
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.see(1, "beta")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestAHookThatIsEditedWhileTheProgramRunsIsInForceAtTheNextPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.agentFile("hooks/gate.lua")
	gate := func(reason string) string {
		return `pi.on("tool_call", function() return { block = true, reason = "` + reason + `" } end)` + "\n"
	}
	w.write(hook, gate("the first reason"))
	s := w.inTerminal()
	s.enter("list")
	s.see(1, "did not work: the first reason")

	s.prompt()
	w.write(hook, gate("the second reason"))
	s.see(1, "hook gate loaded")
	s.enter("list")
	s.see(1, "did not work: the second reason")

	s.prompt()
	w.write(hook, "this is no Lua\n")
	s.see(1, "the last good version keeps running")
	s.enter("list sub")
	s.see(2, "did not work: the second reason")

	s.prompt()
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	s.see(1, "hook gate removed")
	w.write(w.agentFile("hooks/late.lua"), `pi.command("late", { handler = function(ctx) return { status = "prompts so far: " .. (function()
  local n = 0
  for _, m in ipairs(ctx.messages) do if m.role == "user" then n = n + 1 end end
  return n
end)() } end })`)
	s.see(1, "hook late loaded")
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/late")
	s.see(1, "prompts so far: 4")
	s.enter("/quit")
	s.leave(statusDone)
	if files := w.sessions(); len(files) != 1 {
		t.Errorf("want one session, have %q", files)
	}
}

func TestCtrlCStopsACommandAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.mailbox("started")
	s := w.inTerminal()
	s.enter("run `echo $$ > started; sleep 60`")
	pid := started()
	s.keys("\x03")
	s.prompt()
	if processExists(pid) {
		t.Error("the command is still there")
	}
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestADialogOfAHookIsAnsweredAtTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/gate.lua"), `pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" then return end
  if not ctx.ui.confirm("Run it?", event.input.command) then return { block = true, reason = "Blocked by user" } end
end)`)
	s := w.inTerminal()
	s.enter("run `echo one > ran`")
	s.see(1, "Run it?")
	s.keys("n\r")
	s.see(1, "did not work: Blocked by user")
	s.prompt()
	if _, err := os.Stat(filepath.Join(w.project, "ran")); err == nil {
		t.Error("the command ran though the answer was no")
	}
	s.enter("run `echo two > ran`")
	s.see(2, "Run it?")
	s.keys("y\r")
	s.see(1, "printed nothing")
	s.prompt()
	if b, err := os.ReadFile(filepath.Join(w.project, "ran")); err != nil || string(b) != "two\n" {
		t.Errorf("the command did not run though the answer was yes: %q, %v", b, err)
	}
	s.enter("/quit")
	s.leave(statusDone)
}

func TestThePromptOfTheCommandLineComesFirst(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestWhatIsTypedWhileTheAgentWorksReachesTheModelAfterTheTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "call bash {\"command\":\"echo up > started; read line < go\"}\n---\ntext The answer to both.", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	started := w.mailbox("started")
	w.mailbox("go")
	s := w.inTerminal()
	s.enter("wait for me")
	started()
	s.keys("and look at this too\r")
	s.see(1, "queued: and look at this too")
	w.write(filepath.Join(w.project, "go"), "now\n")
	s.see(1, "The answer to both.")
	s.enter("/quit")
	s.leave(statusDone)
	asked := m.asked()
	if len(asked) != 2 {
		t.Fatalf("the model was asked %d times, want 2", len(asked))
	}
	inOrder(t, messagesOf(t, asked[1].body), []string{"wait for me", `"role":"tool"`, "and look at this too"})
}

func TestTheProgramGoesOnAfterErrorsOfModelsHooksAndCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "status 401 {\"error\":{\"message\":\"the key is not good\"}}\n---\ntext Hello again.", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	w.write(w.agentFile("hooks/faulty.lua"), `pi.on("turn_start", function() error("this hook is faulty") end)
pi.command("fail", { handler = function() error("this command fails") end })`)
	s := w.inTerminal()
	s.enter("hello")
	s.see(1, "this hook is faulty")
	s.see(1, "the key is not good")
	s.enter("/fail")
	s.see(1, "faulty.lua:2: this command fails")
	s.enter("/no-such-command")
	s.see(1, "unknown command /no-such-command")
	s.stands("/no-such-command")
	s.keys(clearLine)
	s.enter("hello")
	s.see(1, "Hello again.")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheTerminalIsRestoredAfterASignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newWorld(t).inTerminal()
			s.prompt()
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.leave(statusTerminated)
		})
	}
}

func TestAModuleOfAHookThatIsEditedIsInForceToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/greet/init.lua"), `local words = require "words"
pi.state.loads = (pi.state.loads or 0) + 1
pi.command("greet", { handler = function() return { status = words .. ", load " .. pi.state.loads } end })`)
	w.write(w.agentFile("hooks/greet/words.lua"), `return "good morning"`)
	s := w.inTerminal()
	s.enter("/greet")
	s.see(1, "good morning, load 1")
	s.prompt()
	w.write(w.agentFile("hooks/greet/words.lua"), `return "good evening"`)
	s.see(1, "hook greet loaded")
	s.enter("/greet")
	s.see(1, "good evening, load 2")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestWhatOthersWroteDoesNotReachTheTerminalAsCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.project, "evil.txt"), "before\x1b]0;owned\x07\x1b[2J\x1b[31mafter\n")
	s := w.inTerminal()
	s.enter("read evil.txt")
	s.see(1, "evil.txt has 1 line")
	s.see(1, "before")
	s.prompt()
	s.harmless("\x1b]0;", "\x1b[2J", "\x1b[31m")
	s.enter("/quit")
	s.leave(statusDone)
}
