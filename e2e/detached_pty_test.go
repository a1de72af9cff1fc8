//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// askingScript tries all that a program does which wants to know something from the user: it
// writes to the terminal, reads from it, and looks for the one of GPG_TTY.
const askingScript = `(echo Passphrase for the key: > /dev/tty) 2> /dev/null && echo wrote
(read x < /dev/tty) 2> /dev/null && echo read
echo gpg "[$GPG_TTY]"
if command -v git > /dev/null; then printf 'protocol=https\nhost=nowhere.invalid\n\n' | git -c credential.helper= -c core.askPass= credential fill 2>&1 | head -1; fi
echo asked
`

// Nothing of what the agent and hooks start asks at the terminal in which the user types, or
// is stopped for trying.
func TestWhatToolsAndHooksStartHasNoTerminal(t *testing.T) {
	t.Parallel()
	const hook = `
local function script() return { "ask.sh" } end
pi.command("exec", { description = "asks", handler = function(ctx)
  local r = assert(pi.exec("sh", script()))
  ctx.ui.notify("exec: " .. (r.stdout:gsub("%s+", " ")))
end })
pi.command("spawn", { description = "asks", handler = function(ctx)
  local said = {}
  local p = assert(pi.spawn("sh", script(), { on_stdout = function(line) said[#said + 1] = line end }))
  p.wait()
  ctx.ui.notify("spawn: " .. table.concat(said, " "))
end })`
	for name, said := range map[string]func(s *desk) string{
		"a tool": func(s *desk) string {
			turn := s.ask("go")
			turn.Call("c1", "bash", "command", "sh ask.sh")
			turn.End()
			next := s.turn()
			said := next.Request.Of("tool")[0].Text()
			next.Answer("Nobody was asked.")
			s.rests("")
			return said
		},
		"a command while the agent works": func(s *desk) string {
			turn := s.ask("go")
			s.Type("!sh ask.sh\r")
			s.See("asked")
			turn.Answer("Nobody was asked.")
			s.rests("")
			return s.sent()
		},
		"pi.exec":  func(s *desk) string { return s.notified("exec") },
		"pi.spawn": func(s *desk) string { return s.notified("spawn") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(filepath.Join(w.project, "ask.sh"), askingScript)
			s := newDesk(t, scenery{world: w, hook: hook, env: []string{"GPG_TTY=/dev/pts/of-the-person", "GIT_CONFIG_NOSYSTEM=1"}})
			heldByNobody(t, said(s))
			if strings.Contains(s.Transcript(), "Passphrase") {
				t.Errorf("it wrote to the terminal:\n%s", s.Screen())
			}
		})
	}
	t.Run("a tool in print mode", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.write(filepath.Join(w.project, "ask.sh"), askingScript)
		s := newDesk(t, scenery{world: w, args: []string{"-p", "go"}, env: []string{"GPG_TTY=/dev/pts/of-the-person", "GIT_CONFIG_NOSYSTEM=1"}})
		turn := s.turn()
		turn.Call("c1", "bash", "command", "sh ask.sh")
		turn.End()
		next := s.turn()
		heldByNobody(t, next.Request.Of("tool")[0].Text())
		next.Answer("Nobody was asked.")
		s.ended(statusDone)
	})
}

// heldByNobody checks what the script that asks says where there is no terminal.
func heldByNobody(t *testing.T, said string) {
	t.Helper()
	if !strings.Contains(said, "gpg []") || !strings.Contains(said, "asked") || strings.Contains(said, "wrote") || strings.Contains(said, "read\n") || strings.Contains(said, "of-the-person") {
		t.Errorf("it says %q", said)
	}
	if strings.Contains(said, "fatal") && !strings.Contains(said, "could not read Username") {
		t.Errorf("git says another thing: %q", said)
	}
}

// notified sends a command of the hook and returns what it tells.
func (s *desk) notified(command string) string {
	s.t.Helper()
	s.rests("")
	s.Type("/" + command + "\r")
	s.See(command + ": ")
	s.See("asked")
	s.rests("")
	_, said, _ := strings.Cut(strings.Join(strings.Fields(s.Transcript()), " "), command+": ")
	return said
}
