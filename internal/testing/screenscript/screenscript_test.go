//go:build unix

package screenscript

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pi/internal/testing/screentest"
)

// A script fails where its screen is another, and says so with what is shown.
func TestAScriptFailsWhereTheScreenIsAnother(t *testing.T) {
	const says = "screen 'echo hello; read x; echo $WHO said $x; exit 3'\nsee hello\n"
	for _, c := range []struct{ name, script, fails string }{
		{"all is as it says", says + "! see bye\ntype one\\r\nsee said one\ngone two\ntranscript hello\noutput hello\\r\\n\nends 3", ""},
		{"a variable and a size", strings.Replace(says, "screen", "screen 20x5 WHO=ada", 1) + "size 30x6\ntype one\\r\nsee ada said one\nends 3", ""},
		{"a signal", says + "signal TERM\nends -1", ""},
		{"a program that is killed, and another", says + "signal KILL\n" + says + "hangup", ""},
		{"it is not shown", "screen read x\nsee bye", "waited in vain until see has \"bye\"; the screen:\n"},
		{"it is not shown so often", "screen echo hello\nsee -count=2 hello", "waited in vain until see has \"hello\", 2 times; the screen:\n"},
		{"nobody asks", "screen echo hello\nasked hello", "waited in vain until it is asked \"hello\"; the screen:\n"},
		{"no prompt is open", "screen echo hello\nprompt", "waited in vain until the prompt holds \"\"; the screen:\n"},
		{"it does not end", "screen read x\nends", "the program does not end; the screen:\n"},
		{"it is shown", says + "! see hello", "! see \"hello\": it is there; the screen:\n"},
		{"it was written", says + "! output hello", "! output \"hello\": it is there; the screen:\n"},
		{"another exit status", says + "press enter\nends", "exit status 3, want 0; the screen:\n"},
		{"no program", "see hello", "no program is in a terminal"},
		{"no text", says + `see \q`, `no text: \q`},
		{"no signal", says + "signal USR9", "no signal"},
		{"what cannot be denied", says + "! type x", "type has no !"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			patience := time.Minute
			if strings.Contains(c.fails, "in vain") || strings.Contains(c.fails, "does not end") {
				patience = 50 * time.Millisecond // it never comes
			}
			log, failed := run(t, patience, c.script)
			if failed != (c.fails != "") || !strings.Contains(log, c.fails) {
				t.Errorf("failed: %v, and says\n%s", failed, log)
			}
		})
	}
}

// run runs a script whose programs are commands of the shell.
func run(t *testing.T, patience time.Duration, script string) (log string, failed bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(file, []byte(script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	screens := Screens{
		Options: screentest.Options{Patience: patience},
		Command: func(_ *testscript.TestScript, args []string) *exec.Cmd {
			return exec.Command("sh", "-c", strings.Join(args, " "))
		},
	}
	s := new(scripted)
	testscript.RunT(s, testscript.Params{
		Files: []string{file}, Cmds: screens.Commands(),
		Setup: func(env *testscript.Env) error { screens.Setup(env); return nil },
	})
	return s.log.String(), s.failed
}

// scripted is what a script runs in, which may fail.
type scripted struct {
	log    strings.Builder
	failed bool
}

// failedScript is the panic that ends a script.
type failedScript struct{}

func (s *scripted) Run(_ string, script func(testscript.T)) {
	defer func() {
		if value := recover(); value != nil && value != (failedScript{}) {
			panic(value)
		}
	}()
	script(s)
}

func (s *scripted) FailNow() {
	s.failed = true
	panic(failedScript{})
}

func (s *scripted) Fatal(args ...any) { s.Log(args...); s.FailNow() }
func (s *scripted) Skip(args ...any)  { s.Fatal(args...) }
func (s *scripted) Log(args ...any)   { fmt.Fprintln(&s.log, args...) }
func (s *scripted) Parallel()         {}
func (s *scripted) Verbose() bool     { return false }
