//go:build unix

// Package screenscript lets a script of testscript drive a program in a terminal, and look at
// its screen. It adds these commands:
//
//	screen [COLSxROWS] [VAR=VALUE…] ARGS…
//	                   starts the program in a terminal; one that is open goes away
//	ahead TEXT         types a text before the next program is started
//	enter TEXT         types a line at the prompt, which is open and empty, and Enter
//	type TEXT          types a text; \r in it is Enter
//	press KEY…         presses keys by their names: enter, ctrl+c, up, shift+tab, f5 …
//	paste TEXT         pastes a text, as the terminal does it; paste -stdout what exec printed
//	size COLSxROWS     gives the window another size
//	signal NAME        sends a signal to the program: INT, TERM, HUP, QUIT, USR1, or KILL and waits
//	                   for its end then
//	hangup             takes the terminal away; the program has to end
//
//	[!] see [-count=N] TEXT
//	                   waits until the screen shows the text (N times, no more); with ! it is
//	                   not to be there now
//	save FROM TO       puts a copy of a file in the place of another one at once, as an editor does: who looks
//	                   meanwhile sees one of the two
//	gone TEXT          waits until the screen does not show the text
//	prompt [TEXT]      waits until the prompt is open and holds the text
//	steer [TEXT]       waits until the line of a working agent holds the text
//	asked TEXT         waits until a question with this text has the keys
//	answered           waits until no question has them
//	[!] transcript TEXT
//	                   see, for all that was shown, on the screen or above it
//	[!] output TEXT    see, for what the program writes, byte by byte
//	ends [STATUS]      waits for the end of the program, with this exit status or 0, and looks
//	                   whether the terminal is as it was found
//
// The words behind a command are one text, in which escapes like \n, \r, \t, \x07, \u00e9
// and \\ stand for what they do in Go, and \e for Esc. A text that is looked for may be broken between rows. All that
// waits does so until the screen changes, and says what the screen shows where it is in vain.
package screenscript

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pi/internal/testing/screentest"
)

// Screens says what the programs of some scripts are, and which terminal they get.
type Screens struct {
	Options screentest.Options
	// Command is what screen starts, with these arguments. Variables are added to its Env.
	Command func(ts *testscript.TestScript, args []string) *exec.Cmd
}

// terminal is what the commands of a script share.
type terminal struct {
	*screentest.Terminal
	dumb   bool   // the terminal is not told to mark pastes
	ahead  string // what the next program is to find
	remove func()
}

type terminalKey struct{}

// Setup prepares a script.
func (s Screens) Setup(env *testscript.Env) { env.Values[terminalKey{}] = new(terminal) }

// Commands are those of the package, for testscript.Params.
func (s Screens) Commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	commands := map[string]func(*testscript.TestScript, bool, []string){"screen": s.start, "ahead": ahead, "save": save}
	for name, run := range map[string]func(t *terminal, ts *testscript.TestScript, text string){
		"enter": enter, "type": typed, "press": press, "paste": paste, "size": size, "signal": signal, "hangup": hangUp,
		"gone": gone, "prompt": prompt, "steer": steer, "asked": asked, "answered": answered, "ends": ends,
	} {
		commands[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s has no !", name)
			}
			run(opened(ts), ts, text(ts, args))
		}
	}
	for name, count := range map[string]func(t *terminal, text string) int{
		"see":        func(t *terminal, text string) int { return t.Screen().Count(text) },
		"transcript": transcribed,
		"output":     func(t *terminal, text string) int { return strings.Count(t.Output(), text) },
	} {
		commands[name] = func(ts *testscript.TestScript, neg bool, args []string) { look(ts, name, count, neg, args) }
	}
	return commands
}

// opened is the terminal of a script, in which a program was started.
func opened(ts *testscript.TestScript) *terminal {
	t := ts.Value(terminalKey{}).(*terminal)
	if t.Terminal == nil {
		ts.Fatalf("no program is in a terminal: screen starts one")
	}
	return t
}

// text is what the words behind a command say.
func text(ts *testscript.TestScript, args []string) string {
	quoted := strings.NewReplacer(`\\`, `\\`, `\e`, `\x1b`, `"`, `\"`).Replace(strings.Join(args, " "))
	text, err := strconv.Unquote(`"` + quoted + `"`)
	if err != nil {
		ts.Fatalf("no text: %s", strings.Join(args, " "))
	}
	return text
}

// start is the command screen.
func (s Screens) start(ts *testscript.TestScript, _ bool, args []string) {
	t, options := ts.Value(terminalKey{}).(*terminal), s.Options
	if len(args) > 0 && regexp.MustCompile(`^\d+x\d+$`).MatchString(args[0]) {
		options.Cols, options.Rows = cells(ts, args[0])
		args = args[1:]
	}
	end := slices.IndexFunc(append(args, ""), func(arg string) bool { return !regexp.MustCompile(`^[A-Z_]+=`).MatchString(arg) })
	variables, args := args[:end], args[end:]
	if t.Terminal != nil {
		t.remove()
	}
	cmd := s.Command(ts, args)
	cmd.Env = append(cmd.Env, variables...)
	t.dumb = slices.Contains(variables, "TERM=dumb")
	options.Ahead, t.ahead = t.ahead, ""
	t.Terminal = screentest.Start(failing{ts, t}, cmd, options)
}

// ahead is for the next terminal.
func ahead(ts *testscript.TestScript, _ bool, args []string) {
	ts.Value(terminalKey{}).(*terminal).ahead = text(ts, args)
}

func save(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: save FROM TO")
	}
	to := ts.MkAbs(args[1])
	ts.Check(os.WriteFile(to+".saved~", []byte(ts.ReadFile(args[0])), 0o600))
	ts.Check(os.Rename(to+".saved~", to))
}

// cells are two numbers of columns and rows.
func cells(ts *testscript.TestScript, size string) (cols, rows int) {
	if _, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); err != nil {
		ts.Fatalf("no size: %q", size)
	}
	return cols, rows
}

// failing lets a terminal fail a script.
type failing struct {
	ts *testscript.TestScript
	t  *terminal
}

func (f failing) Helper()                           {}
func (f failing) Fatal(args ...any)                 { f.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (f failing) Fatalf(format string, args ...any) { f.ts.Fatalf(format, args...) }
func (f failing) Errorf(format string, args ...any) { f.ts.Fatalf(format, args...) }
func (f failing) Skip(args ...any)                  { f.ts.Fatalf("%s", fmt.Sprint(args...)) }

// Cleanup has a terminal closed at the end of the script, or before the next one is opened.
func (f failing) Cleanup(close func()) {
	closed := false
	f.t.remove = func() {
		if !closed {
			closed = true
			close()
		}
	}
	f.ts.Defer(f.t.remove)
}

// look waits until a text is to be found: at all, or so many times. With neg it must not be
// there.
func look(ts *testscript.TestScript, name string, count func(*terminal, string) int, neg bool, args []string) {
	times := 0
	if len(args) > 0 && strings.HasPrefix(args[0], "-count=") {
		n, err := strconv.Atoi(strings.TrimPrefix(args[0], "-count="))
		ts.Check(err)
		times, args = n, args[1:]
	}
	t, text := opened(ts), text(ts, args)
	if neg {
		if count(t, text) > 0 {
			ts.Fatalf("! %s %q: it is there; the screen:\n%s", name, text, t.Screen())
		}
		return
	}
	what := fmt.Sprintf("%s has %q", name, text)
	if times > 0 {
		what += fmt.Sprintf(", %d times", times)
	}
	t.Until(what, func(screentest.Screen) bool {
		n := count(t, text)
		return n > 0 && (times == 0 || n == times)
	})
}

// transcribed is how often a text is in all that was shown, broken between words or not.
func transcribed(t *terminal, text string) int {
	all := t.Transcript()
	return max(strings.Count(all, text), strings.Count(strings.Join(strings.Fields(all), " "), text))
}

// enter waits until the line is echoed: what is typed next is not to be taken for input at the
// same prompt.
func enter(t *terminal, ts *testscript.TestScript, line string) {
	prompt(t, ts, "")
	before := t.Written()
	t.Type(line + "\r")
	t.Until("the line is echoed, and its Enter", func(screentest.Screen) bool { return strings.Contains(t.Output()[before:], "\n") })
}

func typed(t *terminal, _ *testscript.TestScript, text string) { t.Type(text) }

func paste(t *terminal, ts *testscript.TestScript, text string) {
	if text == "-stdout" {
		text = ts.ReadFile("stdout")
	}
	t.Paste(strings.ReplaceAll(text, "\n", "\r"))
}

// press waits behind an Esc until that cannot be the beginning of another key, and before a Ctrl+J
// until a user can have seen the screen: of who has not, its byte ends a line.
func press(t *terminal, _ *testscript.TestScript, keys string) {
	for _, key := range strings.Fields(keys) {
		if key == "ctrl+j" {
			t.Pause(400 * time.Millisecond)
		}
		if t.Press(key); key == "esc" {
			t.Pause(100 * time.Millisecond)
		}
	}
}

func size(t *terminal, ts *testscript.TestScript, text string) { t.Resize(cells(ts, text)) }

func signal(t *terminal, ts *testscript.TestScript, name string) {
	sent, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "USR1": syscall.SIGUSR1, "KILL": syscall.SIGKILL}[name]
	if !ok {
		ts.Fatalf("no signal: %q", name)
	}
	if t.Signal(sent); sent == syscall.SIGKILL {
		t.Wait() // which leaves the terminal as it is
	}
}

func hangUp(t *terminal, _ *testscript.TestScript, _ string) { t.HangUp() }

func gone(t *terminal, _ *testscript.TestScript, text string) { t.UntilGone(text) }

// prompt tells from bracketed paste that the line is read. Below it may stand a menu of what it can
// become, which opens when it likes.
func prompt(t *terminal, _ *testscript.TestScript, text string) {
	line := "\n" + strings.TrimRight("> "+text, " ")
	t.Until(fmt.Sprintf("the prompt holds %q", text), func(now screentest.Screen) bool {
		return (strings.HasSuffix("\n"+now.Text(), line) || strings.HasSuffix(upToCursor(now), line)) && (now.Modes.BracketedPaste || t.dumb)
	})
}

// upToCursor is the text of the rows down to the one with the cursor.
func upToCursor(now screentest.Screen) string { return "\n" + strings.Join(now.Rows[:now.Row+1], "\n") }

func steer(t *terminal, _ *testscript.TestScript, text string) {
	t.Until(fmt.Sprintf("the line of the working agent holds %q", text), func(now screentest.Screen) bool {
		return now.LastRow() == strings.TrimRight("steer> "+text, " ")
	})
}

// asked tells from the cursor who has the keys: before it is in the question they are the line's.
func asked(t *terminal, _ *testscript.TestScript, text string) {
	t.Until(fmt.Sprintf("it is asked %q", text), func(now screentest.Screen) bool { return now.Shows(text) && inQuestion(now) })
}

func answered(t *terminal, _ *testscript.TestScript, _ string) {
	t.Until("no question is open", func(now screentest.Screen) bool { return !inQuestion(now) })
}

// inQuestion reports whether the cursor is in a question, an input or a picker.
func inQuestion(now screentest.Screen) bool {
	before := strings.TrimLeft(now.Before(), " ")
	return slices.ContainsFunc([]string{"[y/N", "filter: ", "answer: ", "? "}, func(sign string) bool { return strings.HasPrefix(before, sign) })
}

func ends(t *terminal, ts *testscript.TestScript, status string) {
	want := 0
	if status != "" {
		n, err := strconv.Atoi(status)
		ts.Check(err)
		want = n
	}
	if got := t.Wait(); got != want {
		ts.Fatalf("exit status %d, want %d; the screen:\n%s", got, want, t.Screen())
	}
	t.CheckRestored()
}
