//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// commanded is a program with some files at rest, whose commands of the user have the
// terminal.
func commanded(t *testing.T, c scenery) *desk {
	t.Helper()
	c.world = newWorld(t)
	var lines strings.Builder
	for i := range 200 {
		lines.WriteString("line " + strconv.Itoa(i+1) + "\n")
	}
	c.world.write(filepath.Join(c.world.project, "long.txt"), lines.String())
	return newDesk(t, c)
}

// runs types a command of the user and sends it.
func (s *desk) runs(command string) {
	s.t.Helper()
	s.rests("")
	s.Type(command + "\r")
}

// requires skips a test without a program.
func requires(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

func TestACommandThatOnlyChangesTheDirectorySaysThatItChangesNothing(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{terminal: screentest.Options{Cols: 120}})
	for i, c := range []struct {
		command string
		says    bool
	}{{"cd /", true}, {" cd  '/tmp' ", true}, {"cd", true}, {"cd / && pwd", false}, {"cd /; true", false}, {"cd /no/such/place", false}, {"echo cd /", false}} {
		s.runs("!" + c.command)
		s.rests("")
		words := "to work there, leave and run `" + strings.TrimSpace(c.command) + " && pi`"
		if c.says {
			s.SeeAnywhere(words)
		}
		s.runs(fmt.Sprintf("!echo EN''D-%d", i))
		s.SeeAnywhere(fmt.Sprintf("END-%d", i))
		if strings.Contains(s.Transcript(), words) != c.says {
			t.Errorf("%q: says so: %v", c.command, !c.says)
		}
	}
	s.quits()
}

// sent is what the model gets of the last command.
func (s *desk) sent() string {
	s.t.Helper()
	turn := s.ask("go on")
	prompts := turn.Request.Prompts()
	turn.Answer("Well.")
	s.rests("")
	if len(prompts) < 2 {
		return ""
	}
	return prompts[len(prompts)-2]
}

// hands checks that the model gets a text, and nothing of others.
func (s *desk) hands(want string, not ...string) {
	s.t.Helper()
	sent := s.sent()
	if !strings.Contains(sent, want) {
		s.t.Errorf("the model gets %q, without %q; the screen:\n%s", sent, want, s.Screen())
	}
	for _, text := range append(not, "\x1b", "\r") {
		if strings.Contains(sent, text) {
			s.t.Errorf("the model gets %q, with %q", sent, text)
		}
	}
}

func TestACommandOfTheUserHasATerminal(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	s.runs("!test -t 0 -a -t 1 -a -t 2 && stty size && printf '\\033[31mred\\033[0m\\n'; ps -o tty= -p $$ | grep -c pts")
	s.See("24 80")
	now := s.rests("")
	row, col := now.Find("red")
	if row < 0 || now.Cells[row][col].Style != "31" {
		t.Errorf("the colour is not shown; the screen:\n%s", now)
	}
	s.hands("24 80\nred\n1")
	s.quits()
}

// What is typed reaches the command, line by line or key by key, and a password is not
// shown.
func TestACommandOfTheUserIsTypedAt(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	s.runs("!echo rea''dy; read x; echo got $x")
	s.See("ready")
	s.Type("日本\x7f hello\r")
	s.See("got 日 hello")
	s.rests("")
	s.hands("got 日 hello")
	s.runs("!stty -echo; printf 'Pass''word: '; read p; stty echo; echo; echo it has ${#p} letters")
	s.See("Password:")
	s.Type("geheim\r")
	s.See("it has 6 letters")
	s.rests("")
	if strings.Contains(s.Output(), "geheim") {
		t.Error("the password is shown")
	}
	s.hands("Password: \nit has 6 letters")
	s.quits()
}

// A pager and an editor have the whole screen; the line and the rows above it are back
// afterwards, and the model gets nothing of what they drew.
func TestAPagerHasTheTerminal(t *testing.T) {
	t.Parallel()
	requires(t, "less")
	s := commanded(t, scenery{env: []string{"LESS="}})
	s.runs("!less long.txt; echo was read")
	now := s.See("line 23")
	if !now.Modes.Alternate || now.Shows("line 24") {
		t.Errorf("the pager does not have the window; the screen:\n%s", now)
	}
	s.Type("j") // it reads keys, and so it is told of signals
	s.See("line 24")
	before := s.Written()
	s.Resize(60, 12)
	s.Until("the pager has the new size", func(now screentest.Screen) bool {
		return s.Written() > before && strings.HasPrefix(now.Rows[10], "line ") && (strings.HasPrefix(now.Rows[11], "long.txt") || now.Rows[11] == ":")
	})
	s.Type("G")
	s.See("line 200")
	s.Type("q")
	now = s.rests("")
	if now.Shows("line 200") || !now.Shows("was read") || strings.Contains(s.Transcript(), "line 1") {
		t.Errorf("the pager left something; the screen:\n%s", now)
	}
	if n := strings.Count(s.Transcript(), "> !less"); n != 1 {
		t.Errorf("the command is shown %d times; the screen:\n%s", n, now)
	}
	s.hands("was read", "line")
	s.quits()
}

func TestAnEditorHasTheTerminal(t *testing.T) {
	t.Parallel()
	requires(t, "vi")
	s := commanded(t, scenery{})
	s.runs("!vi -u NONE note.txt")
	s.Until("the editor is there", func(now screentest.Screen) bool { return now.Modes.Alternate && now.Shows("note.txt") })
	s.Type("ihello\x1b")
	s.See("hello")
	s.Type(":wq\r")
	now := s.rests("")
	if now.Modes.Alternate || now.Shows("~") {
		t.Errorf("the editor is still shown; the screen:\n%s", now)
	}
	if b, err := os.ReadFile(filepath.Join(s.world.project, "note.txt")); err != nil || string(b) != "hello\n" {
		t.Errorf("written %q, %v", b, err)
	}
	s.hands("vi -u NONE", "hello", "~")
	s.quits()
}

func TestTheSizeOfTheWindowReachesACommandOfTheUser(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	s.runs("!trap 'stty size; exit' WINCH; echo rea''dy; while :; do sleep 0.01; done")
	s.See("ready")
	s.Resize(60, 12)
	s.See("12 60")
	s.rests("")
	s.quits()
}

// Ctrl+C is for the command, and the program goes on.
func TestCtrlCEndsACommandOfTheUser(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	next := s.world.mailbox("box")
	s.runs("!echo $$ > box; echo be''gun; sleep 600")
	pid := next()
	s.See("begun")
	s.Type("\x03")
	s.See("interrupted")
	s.rests("")
	if processExists(pid) {
		t.Error("the command is still there")
	}
	s.hands("begun")
	s.quits()
}

// A paste that nobody reads does not keep Ctrl+C away.
func TestCtrlCOvertakesWhatACommandDoesNotRead(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	s.runs("!echo be''gun; sleep 600")
	s.See("begun")
	s.Type(strings.Repeat("nobody reads this\r", 2000))
	s.Type("\x03")
	s.See("interrupted")
	s.rests("")
	s.quits()
}

// What was typed and not read is the next line.
func TestWhatACommandDoesNotReadIsTypedIntoTheLine(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	next := s.world.mailbox("box")
	s.runs("!echo on > box; echo be''gun; read line < go; echo done")
	s.world.mailbox("go")
	next()
	s.See("begun")
	s.Type("a question\rand more")
	s.See("and more") // the terminal of the command shows it
	s.world.write(filepath.Join(s.world.project, "go"), "on\n")
	turn := s.turn()
	if got := turn.Request.Last(); got != "a question" {
		t.Errorf("asked %q", got)
	}
	s.steers("and more")
	turn.Answer("Well.")
	s.rests("and more")
	s.Press("ctrl+c")
	s.quits()
}

func TestHowACommandOfTheUserEndsIsShown(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	s.runs("!exit 3")
	s.See("exit status 3")
	s.hands("3")
	s.runs("!kill -SEGV $$")
	s.See("killed by SIGSEGV")
	s.hands("139")
	s.runs("!kill -KILL $$")
	s.See("killed by SIGKILL")
	s.runs("!printf 'half a row'")
	s.Until("a row begins", func(now screentest.Screen) bool {
		row, _ := now.Find("half a row")
		return row >= 0 && now.Rows[row] == "half a row" && isLine(now, "> ", "")
	})
	s.hands("half a row")
	s.runs("!printf '\\033[?1049h\\033[?25l\\033[31mgone'; kill -KILL $$")
	now := s.See("killed by SIGKILL")
	if now = s.rests(""); now.Modes.Alternate || now.Hidden || now.Modes.Style != "" {
		t.Errorf("left behind: %+v; the screen:\n%s", now.Modes, now)
	}
	s.quits()
}

// Progress is its last state for the model.
func TestProgressIsItsLastState(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	s.runs(`!for i in 1 2 3; do printf '\r%d%%' $i; done; printf '\ra 1\nb 1\n\033[2Aa 9\nb %d\n' 9`)
	s.See("b 9")
	s.rests("")
	s.hands("<output>\na 9\nb 9\n</output>")
	s.quits()
}

// Much output is shown as fast as the terminal takes it, and the model gets its end.
func TestLongOutputOfACommandOfTheUser(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{terminal: screentest.Options{Cols: 80}})
	const lines = 40_000
	s.runs("!seq 1 " + strconv.Itoa(lines))
	s.See("full output: ")
	s.rests("")
	s.hands(strconv.Itoa(lines), "\n1000\n")
	s.quits()
}

// A child in the background that has the terminal keeps nobody waiting.
func TestAChildInTheBackgroundKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{})
	next := s.world.mailbox("box")
	s.runs("!(trap '' HUP; echo $BASHPID > box; while :; do echo noise; sleep 0.01; done) & echo be''gun; sleep 0.1")
	pid := next()
	t.Cleanup(func() {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	})
	s.See("begun")
	s.rests("")
	s.hands("begun")
	s.quits()
}

// A signal that ends the program ends the command too.
func TestASignalEndsTheCommandToo(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := commanded(t, scenery{})
			next := s.world.mailbox("box")
			s.runs("!echo $$ > box; sleep 600; true")
			pid := next()
			s.Signal(sig)
			if status := s.Wait(); sig != syscall.SIGKILL {
				if status != 128+int(sig) {
					t.Errorf("exit status %d", status)
				}
				s.CheckRestored()
			}
			for processExists(pid) { // the system ends it, a moment later
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// A gate is asked before a command gets the terminal.
func TestAGateIsAskedBeforeACommandHasTheTerminal(t *testing.T) {
	t.Parallel()
	s := commanded(t, scenery{hook: `pi.on("user_bash", function(e, ctx)
  if not ctx.ui.confirm("Run " .. e.command .. "?") then error("you said no") end
end)`})
	s.runs("!touch made")
	s.See("Run touch made?")
	s.Pause(time.Second)
	s.Type("n\r")
	s.See("you said no")
	s.rests("")
	if _, err := os.Stat(filepath.Join(s.world.project, "made")); err == nil {
		t.Error("the command ran")
	}
	s.runs("!touch made; echo made it")
	s.See("Run touch made; echo made it?")
	s.Pause(time.Second)
	s.Type("y\r")
	s.SeeAnywhere("made it")
	s.rests("")
	s.quits()
}

// Ctrl+Z stops the command and the program, whose shell has the terminal as it was; both
// go on together. So does a stop that the command brings about itself.
func TestAStoppedCommandStopsTheProgram(t *testing.T) {
	t.Parallel()
	requires(t, "less")
	for name, c := range map[string]struct{ command, shown, stops, after, end string }{
		"by a key":   {"!echo be''gun; read x; echo got $x", "begun", "\x1a", "", "hello\r"},
		"by itself":  {"!echo be''gun; kill -STOP $$; read x; echo got $x", "begun", "", "", "hello\r"},
		"in a pager": {"!less long.txt; echo got hello", "line 20", "\x1a", "line 20", "q"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := jobs(t, scenery{env: []string{"LESS="}})
			s.world.write(filepath.Join(s.world.project, "long.txt"), strings.Repeat("line\n", 19)+"line 20\n"+strings.Repeat("line\n", 99))
			s.inShell()
			before := s.Stty()
			s.Type("pi\r")
			s.rests("")
			s.Type(c.command + "\r")
			s.See(c.shown)
			s.Type(c.stops)
			s.inShell()
			if got := s.Stty(); got != before {
				t.Errorf("stty -a says\n%s\nbefore it said\n%s", got, before)
			}
			if modes := s.Screen().Modes; modes != (screentest.Modes{}) {
				t.Errorf("still switched on: %+v", modes)
			}
			s.Type("fg\r")
			for end := time.Now().Add(patience); !s.IsRaw() && time.Now().Before(end); { // nothing is shown for it
				time.Sleep(time.Millisecond)
			}
			if c.after != "" {
				s.See(c.after)
			}
			s.Type(c.end)
			s.See("got hello")
			s.rests("")
			s.Type("/quit\r")
			s.inShell()
			s.Type("exit\r")
			s.ended(0)
		})
	}
}
