//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// fullScreen is a program that takes the whole terminal, as an editor or a pager does:
// it tells the size and whether the terminal is cooked, and ends at q.
const fullScreen = `#!/bin/sh
printf '\033[?1049h\033[2J\033[H'
case "$(stty -a)" in *" icanon"*) echo cooked;; *) echo raw;; esac
echo "full screen of $*, $(stty size)"
was=$(stty -g)
stty -icanon -echo min 1
while [ "$(dd bs=1 count=1 2>/dev/null)" != q ]; do echo another key; done
stty "$was"
[ -f "$1" ] && echo " edited" >> "$1"
printf '\033[?1049l'
echo the last words
`

// A program that is started from the line has the terminal to itself, and afterwards line
// and zone are there again.
func TestAProgramHasTheTerminalToItself(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"!cmd": "!full x\r", "ctrl+g": "\x07"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			bin := shortTempDir(t)
			path := filepath.Join(bin, "full")
			w.write(path, fullScreen)
			if err := os.Chmod(path, 0o700); err != nil {
				t.Fatal(err)
			}
			s := newDesk(t, scenery{world: w, env: []string{"VISUAL=" + path, "PATH=" + bin + ":" + os.Getenv("PATH")}})
			s.answered("hello", "Hello yourself.")
			if name == "ctrl+g" {
				s.Type("dear line")
				s.rests("dear line")
			}
			s.Type(keys)
			now := s.Until("the program is there", func(now screentest.Screen) bool { return now.Shows("full screen of") && now.Modes.Alternate })
			if !now.Shows("cooked") || !now.Shows("24 80") || now.Modes.BracketedPaste {
				t.Errorf("the program found another terminal, %+v; the screen:\n%s", now.Modes, now)
			}
			s.Type("a")
			s.See("another key")
			s.Type("q")
			if name == "ctrl+g" {
				s.rests("dear line edited")
				s.Press("enter")
				if got := s.turn().Request.Last(); strings.TrimSpace(got) != "dear line edited" && strings.Join(strings.Fields(got), " ") != "dear line edited" {
					t.Errorf("the model was told %q", got)
				}
				return
			}
			s.rests("")
			s.See("Hello yourself.")
			s.See("the last words")
			s.answered("and now?", "As before.")
			if last := s.model.Asked()[1]; !strings.Contains(string(last.Body), "the last words") {
				t.Error("what the command printed is not in the context")
			}
			s.quits()
		})
	}
}

// The pager and the editor that people have.
func TestVIAndLessRunFromTheLine(t *testing.T) {
	t.Parallel()
	for program, end := range map[string]string{"less": "q", "vi": ":q!\r"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("there is no %s here", program)
			continue
		}
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{})
			s.world.write(filepath.Join(s.world.project, "long.txt"), strings.Repeat("a row of it\n", 100))
			s.rests("")
			s.Type("!" + program + " long.txt\r")
			s.Until("the program shows the file", func(now screentest.Screen) bool { return len(rowsWith(now, "a row of it")) > 20 })
			s.Type(end)
			s.rests("")
			s.Type("still here")
			s.rests("still here")
			s.Press("ctrl+c")
			s.quits()
		})
	}
}

// What a command has begun to say to the terminal and not ended ends with the command.
func TestACommandMayLeaveAControlStringOpen(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]string{
		"a title": `\033]0;half`, "a string that only ST ends": `\033P1$r`, "an application's": `\033_half`, "a sequence": `\033[1;`,
		"one on the alternate screen": `\033[?1049h\033]0;half`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{})
			s.answered("hello", "Hello yourself.")
			s.Type("!printf 'printed\\n" + open + "'\r")
			s.See("printed")
			now := s.rests("")
			if now.Modes.Alternate || !now.Modes.BracketedPaste || !now.Shows("Hello yourself.") {
				t.Errorf("afterwards the terminal is %+v:\n%s", now.Modes, now)
			}
			s.Type("still here")
			s.rests("still here")
			s.Press("ctrl+u") // Ctrl+C would be for the command, as long as that is not over
			s.quits()
		})
	}
}

// An editor that is killed cannot put the terminal right; nor does every terminal say what
// it shows when it is asked.
func TestAnEditorMayBeKilled(t *testing.T) {
	t.Parallel()
	for name, profile := range map[string]screentest.Profile{"a terminal": {}, "one that answers nothing": {Silent: true}, "one with the keyboard protocol": {Keyboard: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := filepath.Join(shortTempDir(t), "editor")
			w.write(path, "#!/bin/sh\nprintf '\\033[?1049h\\033[2J\\033[Hfull screen\\033]0;half'\nstty raw -echo\nkill -9 $$\n")
			if err := os.Chmod(path, 0o700); err != nil {
				t.Fatal(err)
			}
			s := newDesk(t, scenery{world: w, terminal: screentest.Options{Profile: profile}, env: []string{"VISUAL=" + path}})
			s.answered("hello", "Hello yourself.")
			s.Type("dear line")
			before := s.rests("dear line")
			s.Press("ctrl+g")
			s.See("warning: edit with")
			now := s.rests("dear line")
			if now.Modes != before.Modes || !now.Shows("Hello yourself.") || now.Shows("full screen") {
				t.Errorf("afterwards the terminal is %+v, was %+v:\n%s", now.Modes, before.Modes, now)
			}
			s.Type(" goes on")
			s.rests("dear line goes on")
			s.Press("ctrl+c")
			s.quits()
		})
	}
}

// The same for a program of a hook.
func TestAProgramOfAHookMayBeKilled(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{terminal: screentest.Options{Profile: screentest.Profile{Silent: true}}, hook: `pi.command("full", { handler = function(ctx)
  local exit = ctx.ui.run("sh", { "-c", "printf '\\033[?1049h\\033[2J\\033[Hfull screen\\033_half'; kill -9 $$" })
  return { status = "ended by " .. tostring(exit and exit.signal) }
end })`})
	s.answered("hello", "Hello yourself.")
	s.Type("/full\r")
	s.See("ended by KILL")
	if now := s.rests(""); now.Modes.Alternate || !now.Shows("Hello yourself.") || now.Shows("full screen") {
		t.Errorf("afterwards the terminal is %+v:\n%s", now.Modes, now)
	}
	s.quits()
}
