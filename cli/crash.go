package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"pi/cli/app"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/internal/version"
	"pi/repl/terminal"

	"golang.org/x/term"
)

// SIGQUIT (which a terminal sends for Ctrl+\) and SIGABRT ask a program to end and to
// report where it is. After one of them, or a panic, pi ends in order all the same:
// programs that tools started are ended, the session is saved, hooks are told, and the
// terminal is restored. A report below the agent directory has the stacks. A panic is
// caught on the goroutine that runs the front end, and on those of the terminal; tools,
// hooks and providers have their own net, which makes an error of it.

// crash remembers the first such signal or panic. It is safe for concurrent use.
type crash struct {
	cancel context.CancelFunc // ends the run
	before *term.State        // of the terminal; nil if there is none

	mu     sync.Mutex
	status int    // the exit status; 0: nothing has happened
	text   string // for the user
}

// newCrash remembers the present state of the terminal, to restore it later. cancel ends
// the run in an orderly way.
func newCrash(cancel context.CancelFunc) *crash {
	c := &crash{cancel: cancel}
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		c.before, _ = term.GetState(fd)
	}
	return c
}

// crashPatience is how long a run may take to its end after a signal. Who sends one may do
// so because the run hangs, or because its terminal takes nothing any more.
const crashPatience = 10 * time.Second

// watch waits for SIGQUIT and SIGABRT, which are reported and end the run, and for the end
// of ctx, which other signals bring about, until the function it returns is called. If the
// run has not ended after crashPatience, the process is ended by force, after the end of ctx
// with the status that asked returns then.
func (c *crash) watch(ctx context.Context, asked func() int) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGABRT)
	go func() {
		status := exitFailed
		select {
		case got := <-signals:
			c.reportSignal(got.(syscall.Signal))
		case <-ctx.Done():
			status = asked()
		case <-done:
			return
		}
		late := time.After(crashPatience)
		for {
			select {
			case got := <-signals:
				c.reportSignal(got.(syscall.Signal))
			case <-late:
				c.force(status)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// reportSignal writes a report of what all goroutines were doing when the signal came, notes it
// for the user, and cancels the run.
func (c *crash) reportSignal(by syscall.Signal) {
	name := map[syscall.Signal]string{syscall.SIGQUIT: "SIGQUIT", syscall.SIGABRT: "SIGABRT"}[by]
	where := writeReport("ended by "+name, allStacks())
	c.note(128+int(by), "ended by "+name+"; "+where)
	c.cancel()
}

// catch runs f. A panic in it is reported as a crash, cancels the run, and becomes the
// error app.ErrReported, which is not shown again.
func (c *crash) catch(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.broke(p, nil)
			err = app.ErrReported
		}
	}()
	return f()
}

// broke reports a panic as a crash, and cancels the run. stack is where it was, on the
// goroutine that it was on; nil if that is the present one.
func (c *crash) broke(value any, stack []byte) {
	what := panicText(value)
	stacks := append(withoutArguments(stack), allStacks()...)
	c.note(exitFailed, "the program broke: "+what+"; "+writeReport("panic: "+what, stacks))
	c.cancel()
}

// panicText returns what may be written about a panic: the text of a runtime error, which
// has only numbers and types, else the type of the value. Any other text might be private
// to the user.
func panicText(p any) string {
	if err, ok := p.(error); ok {
		if fault, ok := errors.AsType[runtime.Error](err); ok {
			return fault.Error()
		}
	}
	return fmt.Sprintf("a %T", p)
}

// note remembers the exit status and the text for the user; only the first signal or
// panic counts.
func (c *crash) note(status int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status == 0 {
		c.status, c.text = status, text
	}
}

// tell writes what note remembered to standard error and returns the exit status that
// belongs to it. Without a signal or a panic it writes nothing and returns status.
func (c *crash) tell(status int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status == 0 {
		return status
	}
	fmt.Fprintln(os.Stderr, "pi: "+printable.Text(c.text))
	return c.status
}

// force ends the process at once, for a run that is still going crashPatience after a
// signal. First it restores the terminal and writes what happened, if the terminal takes
// that soon. The exit status is that of the signal or panic that was noted, else status.
func (c *crash) force(status int) {
	const patience = time.Second
	written := make(chan int, 1)
	go func() {
		c.restore()
		written <- c.tell(status)
	}()
	select {
	case status = <-written:
	case <-time.After(patience):
	}
	os.Exit(status)
}

// restore restores the terminal to its state at the start, and switches off all that may
// have been switched on.
func (c *crash) restore() {
	if c.before == nil {
		return
	}
	_ = term.Restore(int(os.Stdin.Fd()), c.before)
	if kind := os.Getenv("TERM"); kind != "dumb" && term.IsTerminal(int(os.Stdout.Fd())) {
		fmt.Fprint(os.Stdout, terminal.Reset)
	}
	fmt.Fprint(os.Stdout, "\r\n")
}

// maxReports is how many reports are kept.
const maxReports = 10

// writeReport writes stacks into a file that only its owner reads, and returns a
// sentence with its path. The file holds nothing that the program works on: no
// environment, no arguments, no text.
func writeReport(what string, stacks []byte) string {
	path, err := newReport(fmt.Sprintf("pi %s, %s %s/%s\n%s\n%s\n\n%s", version.Program(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		time.Now().Format(time.RFC3339), what, stacks))
	if err != nil {
		return "the report of where it was could not be written: " + err.Error()
	}
	return "where it was stands in " + config.Tilde(path)
}

// newReport writes text into a new file in the crashes folder of the agent directory and
// returns its path. Old reports are removed.
func newReport(text string) (string, error) {
	agentDir, err := config.AgentDir(os.Getenv)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(agentDir, "crashes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.txt", time.Now().UTC().Format("20060102T150405.000000000"), os.Getpid()))
	if err := safefile.Create(path, []byte(text)); err != nil {
		return "", err
	}
	reports, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
	slices.Sort(reports) // their names sort by time
	for _, old := range reports[:max(0, len(reports)-maxReports)] {
		_ = os.Remove(old)
	}
	return path, nil
}

// allStacks are the stacks of all goroutines, without the values of arguments.
func allStacks() []byte {
	const most = 16 << 20
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || len(buf) >= most {
			return withoutArguments(buf[:n])
		}
		buf = make([]byte, 2*len(buf))
	}
}

// withoutArguments removes the words of memory that the runtime prints behind the name
// of each function: two of them may hold a short key.
func withoutArguments(stacks []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(stacks)) {
		line = strings.TrimSuffix(line, "\n")
		open := strings.LastIndexByte(line, '(')
		call := open > 0 && strings.HasSuffix(line, ")") && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "goroutine ") &&
			!strings.HasPrefix(line, "created by ")
		if call {
			line = line[:open] + "(…)"
		}
		out.WriteString(line + "\n")
	}
	return out.Bytes()
}
