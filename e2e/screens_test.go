//go:build unix

package e2e

import (
	"bufio"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pi/internal/testing/screenscript"
	"pi/internal/testing/screentest"
)

// The scripts in testdata/screen show what a user sees: the program runs in a terminal there.
// They have the commands of testdata/script, those of screenscript, and:
//
//	pipe NAME   makes a named pipe in the project
//	hear NAME [VAR]
//	            waits for a line that is written into it, which is the value of VAR then
//	tell NAME   writes a line into it, for who reads it or will
//	requests N  waits until a server was asked N times
//
// In the project there is a file a.txt of two lines, alpha and beta.
func TestScreens(t *testing.T) {
	screens := screenscript.Screens{
		Options: screentest.Options{Cols: screenColumns, Rows: screenLines, Patience: patience},
		Command: func(ts *testscript.TestScript, args []string) *exec.Cmd { return screenCommand(t, ts, args) },
	}
	commands := scriptCommands()
	maps.Copy(commands, screens.Commands())
	maps.Copy(commands, map[string]scriptCommand{"pipe": scriptPipe, "hear": scriptHear, "tell": scriptTell, "requests": scriptRequests})
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/screen",
		Cmds: commands,
		Setup: func(env *testscript.Env) error {
			screens.Setup(env)
			env.Values[pipesKey{}] = make(pipes)
			err := setupScript(env)
			file := filepath.Join(env.Cd, "a.txt")
			if _, there := os.Stat(file); errors.Is(there, os.ErrNotExist) {
				err = errors.Join(err, os.WriteFile(file, []byte("alpha\nbeta\n"), 0o600))
			}
			return err
		},
	})
}

// screenCommand is the program with nothing of the environment but what it needs.
func screenCommand(t *testing.T, ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command(piCommand(t), args[1:]...)
	cmd.Args[0], cmd.Dir = args[0], ts.MkAbs(".")
	cmd.Env = []string{"TERM=xterm", "NO_COLOR=1", "VISUAL=" + filepath.Join(ts.Getenv("HOME"), "editor")}
	for _, name := range []string{"HOME", "PATH", "LOCAL_KEY", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	if testing.CoverMode() != "" { // or the program warns that it is not set
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+ts.Getenv("WORK"))
	}
	return cmd
}

// pipes are the named pipes of a script, open for reading and writing, so that they never end.
type pipes map[string]*pipe

type pipe struct {
	file  *os.File
	lines *bufio.Reader
}

type pipesKey struct{}

func scriptPipe(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(syscall.Mkfifo(path, 0o600))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	ts.Check(err)
	ts.Defer(func() { file.Close() })
	ts.Value(pipesKey{}).(pipes)[args[0]] = &pipe{file, bufio.NewReader(file)}
}

func scriptHear(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.Value(pipesKey{}).(pipes)[args[0]]
	ts.Check(p.file.SetReadDeadline(time.Now().Add(patience)))
	line, err := p.lines.ReadString('\n')
	if err != nil {
		ts.Fatalf("nothing was written to %s: %v", args[0], err)
	}
	if len(args) > 1 {
		ts.Setenv(args[1], strings.TrimSpace(line))
	}
}

func scriptTell(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR|syscall.O_NONBLOCK, 0)
	ts.Check(err)
	ts.Defer(func() { file.Close() }) // a pipe that nobody holds forgets
	_, err = file.WriteString("x\n")
	ts.Check(err)
}

func scriptRequests(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(ts.Getenv("WORK"), "request*.json"))
		ts.Check(err)
		if len(found) >= n {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the model was asked %d times: %s", len(found), strings.Join(found, " "))
		}
	}
}
