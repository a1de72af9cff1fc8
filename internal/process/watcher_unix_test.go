//go:build unix

package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the tests, or the program that a test kills.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "watched" {
		watched(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// watched starts commands as a program does that is killed. Each step is a word and a line of
// the shell: "run" it, "end" or "release" it once its first process has ended, or be "starting" it, which is
// run before the watcher is told its number; or the word "killed", for the watcher. It says
// which groups there are, and at the end who the watcher is.
func watched(steps []string) {
	w := &Watcher{}
	for i := 0; i < len(steps); i++ {
		if steps[i] == "killed" {
			_ = w.shell.Process.Kill()
			_, _ = w.shell.Process.Wait()
			continue
		}
		cmd := exec.Command("sh", "-c", steps[i+1])
		if strings.HasPrefix(steps[i+1], "set -m") {
			cmd = exec.Command("bash", "-c", steps[i+1]) // others make no groups without a terminal
		}
		Session(cmd)
		cmd.Stdout = os.Stdout
		r, wrote, _ := os.Pipe()
		cmd.ExtraFiles = []*os.File{wrote}
		start := w.Start
		if steps[i] == "starting" {
			start = func(cmd *exec.Cmd) error {
				cmd.Env = append(os.Environ(), "PI_COMMAND_ID=gap")
				w.prepare("PI_COMMAND_ID=gap")
				return cmd.Start()
			}
		}
		if err := start(cmd); err != nil {
			panic(err)
		}
		_, _ = bufio.NewReader(r).ReadString('\n') // it has written to descriptor 3 what it began with
		switch steps[i] {
		case "end":
			_ = cmd.Wait()
			w.End(cmd.Process.Pid)
		case "release":
			_ = cmd.Wait()
			w.Release(cmd.Process.Pid)
		}
		fmt.Println(cmd.Process.Pid)
		i++
	}
	fmt.Println("watcher", w.shell.Process.Pid)
	select {}
}

// kill runs watched, kills it and its group, and returns the groups that it started, what they
// write, and the number of the watcher.
func kill(t *testing.T, steps ...string) (groups []int, out io.Reader, watcher int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"watched"}, steps...)...)
	Group(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(stdout)
	for watcher == 0 {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var group int
		if _, err := fmt.Sscanf(line, "watcher %d", &watcher); err == nil {
			break
		}
		fmt.Sscan(line, &group)
		groups = append(groups, group)
		t.Cleanup(func() { Stop(group, 0) })
	}
	Kill(cmd)
	_, _ = cmd.Process.Wait()
	return groups, r, watcher
}

// needsGroups skips a test where nothing tells which groups a session has, or none are made.
func needsGroups(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS != "linux" {
		t.Skip("no groups inside of sessions")
	}
}

// awaitEnd waits for the end of what lives.
func awaitEnd(t *testing.T, what string, lives func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); lives(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q does not end", what)
		}
	}
}

// begun says that a command has begun. What it left behind before does not have the descriptor.
const begun = "echo >&3; exec 3>&-; "

func TestWhatAKilledProgramRanIsEnded(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{
		"a command":                     {"run", begun + "sleep 1000"},
		"with children":                 {"run", "sleep 1000 3>&- & " + begun + "wait"},
		"two":                           {"run", begun + "sleep 1000", "run", begun + "sleep 1000"},
		"that ignores TERM":             {"run", "trap '' TERM; " + begun + "sleep 1000; sleep 1000"},
		"that is suspended":             {"run", "{ echo >&3; kill -STOP 0; } 3>&3; sleep 1000"},
		"left behind and to end":        {"end", "sleep 1000 3>&- & " + begun},
		"after the watcher was killed":  {"run", begun + "sleep 1000", "killed", "run", begun + "sleep 1000"},
		"twice":                         {"run", begun + "sleep 1000", "killed", "run", begun + "sleep 1000", "killed", "end", "sleep 1000 3>&- & " + begun},
		"in groups, being started":      {"starting", "set -m; (trap '' TERM; sleep 1000; sleep 1000) 3>&- & " + begun},
		"in groups of its own":          {"run", "set -m; sleep 1000 3>&- & " + begun + "wait"},
		"in groups that ignore TERM":    {"run", "set -m; (trap '' TERM; while :; do sleep 0.01; done) 3>&- & " + begun + "exit"},
		"in groups that are left there": {"end", "set -m; sleep 1000 3>&- & " + begun},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "in groups") {
				needsGroups(t)
			}
			groups, out, _ := kill(t, steps...)
			_, _ = io.Copy(io.Discard, out) // ends when nobody has the pipe
			for _, group := range groups {
				awaitEnd(t, "something of the command", func() bool { return Alive(group) })
			}
		})
	}
}

func TestWhatACommandLeftBehindOutlivesAKilledProgram(t *testing.T) {
	t.Parallel()
	needsGroups(t)
	groups, _, watcher := kill(t, "release", "sleep 1000 3>&- & "+begun, "release", "set -m; sleep 1000 3>&- & "+begun, "run", begun+"sleep 1000")
	awaitEnd(t, "the watcher", func() bool { return Running(watcher) })
	if is := []bool{Alive(groups[0]), Alive(groups[1]), Alive(groups[2])}; !slices.Equal(is, []bool{true, true, false}) {
		t.Errorf("alive are %v", is)
	}
}

// Where the system tells of a process by its name first, a name may say anything.
func TestANameHidesNoProcessFromTheWatcher(t *testing.T) {
	t.Parallel()
	needsGroups(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"a) S 1 1 1", "b\n1 (", "c \\"} {
		if err := os.Symlink(sleep, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		script := "set -m; (exec '" + filepath.Join(dir, name) + "' 1000) 3>&- & " + begun
		groups, _, _ := kill(t, "end", script)
		awaitEnd(t, name, func() bool { return Alive(groups[0]) })
	}
}

// leaves starts a command that has ended, and left a process in its group.
func leaves(t *testing.T, w *Watcher) (group int) {
	t.Helper()
	cmd, _ := started(t, Session, "sleep 1000 >&- & echo ready")
	group = cmd.Process.Pid
	t.Cleanup(func() { Stop(group, 0) })
	begin(w, group)
	_ = cmd.Wait()
	w.End(group)
	return group
}

func TestANumberThatCameBackIsNotTheCommands(t *testing.T) {
	t.Parallel()
	w := &Watcher{}
	defer w.Close()
	group := leaves(t, w)
	if w.Look(); !slices.Equal(w.left, []int{group}) || len(w.running) != 0 {
		t.Errorf("while a process lives, left is %v and running %v", w.left, w.running)
	}
	Stop(group, time.Minute)
	if w.Look(); len(w.left) != 0 {
		t.Errorf("left is %v, and nothing lives", w.left)
	}
	w.left = []int{group}
	begin(w, group) // a command has the number now
	if !slices.Equal(w.running, []int{group}) || len(w.left) != 0 {
		t.Errorf("running %v, left %v", w.running, w.left)
	}
	if w.End(group); len(w.running)+len(w.left) != 0 {
		t.Errorf("nothing was left, and left is %v", w.left)
	}
}

func TestAWatcherThatDoesNotReadIsReplacedAndEndsNothing(t *testing.T) {
	t.Parallel()
	w := &Watcher{}
	defer w.Close()
	cmd, _ := started(t, Session, "echo ready; exec sleep 1000")
	begin(w, cmd.Process.Pid)
	first := w.shell.Process
	_ = first.Signal(syscall.SIGSTOP)
	for i := 0; w.shell.Process == first; i++ {
		if begin(w, noGroup+i); i > 1<<20 {
			t.Fatal("it is told without end")
		}
		w.Release(noGroup + i)
	}
	if !Running(cmd.Process.Pid) || Running(first.Pid) {
		t.Error("the command has ended, or the first watcher has not")
	}
	w.Release(cmd.Process.Pid)
}

func TestTheEndOfAProgramEndsWhatIsLeftAndTheWatcher(t *testing.T) {
	t.Parallel()
	w := &Watcher{}
	if w.Close(); w.shell != nil {
		t.Error("without a command there is no watcher")
	}
	group := leaves(t, w)
	watcher := w.shell.Process.Pid
	if w.Close(); Alive(group) || Running(watcher) {
		t.Error("the group lives, or the watcher does")
	}
}

func TestWhereNoWatcherCanBeAnotherIsTold(t *testing.T) {
	t.Parallel()
	var told [][]int
	w := &Watcher{testOnlyShell: "/nowhere/sh", Instead: func(groups []int) { told = append(told, groups) }}
	begin(w, noGroup)
	begin(w, noGroup+1)
	w.Release(noGroup)
	w.End(noGroup + 1)
	w.Close()
	if got := fmt.Sprint(told); got != "[[100000000] [100000000 100000001] [100000001] []]" {
		t.Errorf("told %s", got)
	}
	var none *Watcher
	_ = none.Start(exec.Command("true"))
	none.Release(7)
	none.End(7)
	none.Look()
	none.Close()
}

// noGroup is a number, and the first of many, that no group has.
const noGroup = 100_000_000

// begin has the watcher know a group.
func begin(w *Watcher, group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(group)
	w.running = append(w.running, group)
	w.tell()
}

// What the first command waits for.
func BenchmarkTheWatcherIsBegun(b *testing.B) {
	for b.Loop() {
		w := &Watcher{}
		w.prepare("PI_COMMAND_ID=first")
		b.StopTimer()
		w.starting = nil
		w.Close()
		b.StartTimer()
	}
}

func BenchmarkALaterCommand(b *testing.B) {
	for name, w := range map[string]*Watcher{"watched": {}, "alone": nil} {
		b.Run(name, func(b *testing.B) {
			defer w.Close()
			for b.Loop() {
				cmd := exec.Command("true")
				Session(cmd)
				if err := w.Start(cmd); err != nil {
					b.Fatal(err)
				}
				_ = cmd.Wait()
				w.End(cmd.Process.Pid)
			}
		})
	}
}
