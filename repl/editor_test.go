//go:build unix

package repl

import (
	"os"
	"path/filepath"
	"testing"
)

// editorScript writes a program that can be an editor.
func editorScript(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "an editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return "REPL_TEST_EDITOR='" + path + "' --flag"
}

func TestEditorGetsTheTerminalAndGivesItBack(t *testing.T) {
	t.Parallel()
	s := start(t, editorScript(t, `echo "editing $(cat "$2") with $1, mode $(stat -c %a "$2" 2>/dev/null || stat -f %Lp "$2")"
read line
stty raw -echo
printf '%s\n' "$line" >> "$2"
`))
	s.prompt("")
	s.enter("/edit first")
	s.see("Change this\nediting first with --flag, mode 600")
	s.enter("second")
	s.see(`edited: "firstsecond" true`)
	s.prompt("")
	s.enter("/sure")
	s.asked("Really?")
	s.typeKeys("y")
	s.see("sure: true")
	s.prompt("")
	s.typeKeys("\x04")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

func TestEditorThatFailsOrSavesNothingGivesNoText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"fails", "echo lost > \"$2\"\nexit 1", `edited: "" false`},
		{"saves nothing", "exit 0", `edited: "" false`},
		{"removes the file", "rm \"$2\"", `edited: "" false`},
		{"saves what there was", "touch \"$2\"", `edited: "it" true`},
		{"saves nothing at all", ": > \"$2\"", `edited: "" true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, editorScript(t, c.script))
			s.prompt("")
			s.enter("/edit it")
			s.see(c.want)
			s.prompt("")
		})
	}
}

func TestCtrlCEndsTheEditorAndGivesNoText(t *testing.T) {
	t.Parallel()
	s := start(t, editorScript(t, "echo editor is up\nexec sleep 60"))
	s.prompt("")
	s.enter("/edit it")
	s.see("editor is up")
	s.typeKeys("\x03")
	s.see(`edited: "" false`)
	s.prompt("")
}

func TestWithoutAnEditorTheUserIsToldWhatToSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/edit it")
	s.see("warning: no editor: set VISUAL or EDITOR")
	s.see(`edited: "" false`)
}
