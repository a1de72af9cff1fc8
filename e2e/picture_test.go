//go:build unix

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// TestThePictureOfASessionIsOfThisProgram plays the session that README shows, on a light and on
// a dark background, and holds the picture against it. go generate ./docs draws it anew.
func TestThePictureOfASessionIsOfThisProgram(t *testing.T) {
	t.Parallel()
	picture, err := screentest.Picture("A session: a hook blocks a command, is edited, and asks", pictured(t, "light"), pictured(t, "dark"))
	if err != nil {
		t.Fatal(err)
	}
	path := inModule("docs/session.svg")
	if *update {
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, picture) {
		t.Errorf("docs/session.svg shows something else, %v; go generate ./docs draws it anew:\n%s", err, picture)
	}
}

// pictured plays the session on a background: the first hook of README blocks a command, is
// saved anew as one that asks, and does. What is shown are the rows from the first prompt on:
// the ones above name the version.
func pictured(t *testing.T, background string) [][]screentest.Cell {
	t.Helper()
	w := newWorld(t)
	w.env = append(w.env, "NO_COLOR=", "TERM=xterm-256color")
	w.write(w.agentFile("config.toml"), demoSettings+"[ui]\nbackground = \""+background+"\"\n")
	w.write(filepath.Join(w.project, "hello.sh"), "#!/bin/sh\n# Greets who comes by.\necho \"hello\"\n")
	w.write(w.agentFile("hooks/careful.lua"), luaBlock.FindStringSubmatch(mustRead(t, inModule("README.md")))[1])
	s := w.inTerminalOf(screentest.Options{Cols: 80, Rows: 40}, "pi")
	s.enter("edit hello.sh: hello -> good evening")
	s.see(1, "Done: Edited")
	s.enter("run `rm hello.sh`")
	s.see(1, "did not work")
	s.prompt()
	w.saves("hooks/careful.lua", carefulThatAsks)
	s.see(1, "hook careful loaded")
	s.enter("run `rm hello.sh`")
	s.answer("Remove files?", "y")
	s.see(1, "printed nothing")
	s.prompt()
	now := s.Screen()
	s.enter("/quit")
	s.leave(0)
	first, _ := now.Find("> edit hello.sh")
	now.Cells[now.Row][now.Col].Style = "7" // the cursor
	rows := now.Cells[first : now.Row+1]
	for i := range rows {
		rows[i] = withoutSeconds(rows[i])
	}
	return rows
}

const carefulThatAsks = `pi.on("tool_call", function(event, ctx)
  if event.tool_name == "bash" and event.input.command:find("rm ", 1, true)
    and not ctx.ui.confirm("Remove files?", event.input.command) then
    return { block = true, reason = "the user wants to keep it" }
  end
end)
`

// saves replaces a file of the agent directory in one step, so that nobody sees half of it.
func (w *world) saves(name, text string) {
	w.t.Helper()
	fresh := filepath.Join(w.home, "fresh")
	w.write(fresh, text)
	if err := os.Rename(fresh, w.agentFile(name)); err != nil {
		w.t.Fatal(err)
	}
}

// toolTook is what stands behind the mark of a tool that ran for a second or longer.
var toolTook = regexp.MustCompile(`[✓✗]( (?:\d+ min )?\d+ s)(?: ·|$)`)

// withoutSeconds is a row without the time that a tool took, which is told on a slow machine only.
func withoutSeconds(row []screentest.Cell) []screentest.Cell {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(max(c.Text, " "))
	}
	text := strings.TrimRight(b.String(), " ")
	took := toolTook.FindStringSubmatchIndex(text)
	if took == nil {
		return row
	}
	from, to := len([]rune(text[:took[2]])), len([]rune(text[:took[1]]))
	kept := append(append([]screentest.Cell{}, row[:from]...), row[to:]...)
	return append(kept, make([]screentest.Cell, to-from)...)
}

func TestTheTimeOfAToolIsInNoPicture(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"• edit a ✓ +1 −1":                    "• edit a ✓ +1 −1",
		"• edit a ✓ 2 s · +1 −1":              "• edit a ✓ +1 −1",
		"• edit a ✓ 1 min 12 s · #1 · Ctrl+O": "• edit a ✓ #1 · Ctrl+O",
		"• bash rm a ✗ 3 s":                   "• bash rm a ✗",
		"it took 3 s":                         "it took 3 s",
	} {
		e := screentest.NewEmulator(40, 1, true, screentest.Profile{})
		_, _ = e.Write([]byte(text))
		have := ""
		row := e.Screen().Cells[0]
		for _, c := range withoutSeconds(row) {
			have += max(c.Text, " ")
		}
		if len([]rune(have)) != len(row) || strings.TrimRight(have, " ") != want {
			t.Errorf("%q became %q", text, have)
		}
	}
}
