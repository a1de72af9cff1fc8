//go:build unix

package repl

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pi/internal/testing/screenscript"
	"pi/internal/testing/screentest"
)

// What a user sees is told by the scripts in testdata/screen, in the commands of screenscript.
func TestScreens(t *testing.T) {
	screens := screenscript.Screens{
		Options: screentest.Options{Cols: 80, Rows: 40},
		Command: func(ts *testscript.TestScript, _ []string) *exec.Cmd { return testProgram(ts.MkAbs(".")) },
	}
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/screen",
		Setup: func(env *testscript.Env) error { screens.Setup(env); return nil },
		Cmds:  screens.Commands(),
	})
}

// testProgram is the test program in a terminal of 40 lines and 80 columns.
func testProgram(dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Dir = dir
	cmd.Env = []string{programEnv + "=1", "TERM=xterm", "NO_COLOR=1", "GOCOVERDIR=" + dir}
	return cmd
}

func TestAResizeDrawsTheZoneAnew(t *testing.T) {
	t.Parallel()
	cmd := testProgram(t.TempDir())
	cmd.Env = append(cmd.Env, "VTE_VERSION=7600") // which breaks rows that are too wide
	s := screentest.Start(t, cmd, screentest.Options{Cols: 80, Rows: 40})
	s.Until("the prompt is open", func(now screentest.Screen) bool { return now.LastRow() == ">" && now.Modes.BracketedPaste })
	s.Type(strings.Repeat("word ", 20))
	words := func(now screentest.Screen) int {
		return strings.Count(strings.ReplaceAll(now.Text(), "\n  ", ""), "word")
	}
	for _, columns := range []int{50, 30, 80} {
		s.Resize(columns, 40)
		s.Until("the line fits", func(now screentest.Screen) bool {
			return now.Widest() <= columns && strings.Count(now.Text(), "test/one:off") == 1 && strings.Count(now.Text(), "> word") == 1 && words(now) == 20
		})
		s.Quiet(200 * time.Millisecond)
		if n := words(s.Screen()); n != 20 {
			t.Errorf("%d columns, %d words:\n%s", columns, n, s.Screen())
		}
	}
}
