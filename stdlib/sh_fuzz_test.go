package stdlib

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever the line: reading it does not fail in other ways than by an error,
// and the words of a command that is known, quoted, read back as the same words
// of one command, as the shell would.
func FuzzCommandLines(f *testing.F) {
	for _, seed := range []string{
		"", "a", "sudo -u x rm -rf /", "a | b && c; (d) & { e; }", "x=1 a > f 2>&1", "bash -c 'a \"$(b)\"'", "find . -exec a {} \\;", "env -S 'a b'",
		"a <<E\n$(b)\nE", "sh <<'E'\nrm x\nE", "for i in a; do b $i; done", "case a in b) c;; esac", "f() { a; }; f", "r''m \\x \"y\" $'z\\x41'", "ls {a,b} ~ *", "[[ a -eq b ]]",
		"eval 'eval a'", "a \\\nb", "`a \\`b\\``", "((x))", "trap -- 'a' EXIT", "a=(b $(c))", "declare -i x=y", "${x@P}", "<(a)", "coproc a", "a\x00b", "\xff", "é '日本'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		commands, doubt, err := readShell(line)
		if err != nil {
			if len(commands) > 0 || doubt == nil {
				t.Fatal("a line that cannot be read has commands")
			}
			return
		}
		for _, c := range commands {
			if c.doubt != nil && doubt == nil {
				t.Fatal("a line is known, but a command in it is not")
			}
			checkCommand(t, c)
		}
	})
}

func checkCommand(t *testing.T, c *shellCommand) {
	t.Helper()
	words := make([]string, len(c.words))
	for i, w := range c.words {
		if words[i] = w.value; !w.known && c.doubt == nil {
			t.Fatalf("%q is known, but word %d is not", c.text, i)
		}
	}
	quoted, err := quoteWords(words)
	if err != nil || c.doubt != nil || len(words) == 0 || strings.Contains(quoted, "\r") {
		return
	}
	back, _, err := readShell(quoted)
	if err != nil || len(back) == 0 {
		t.Fatalf("%q, quoted as %s, is no command: %v", words, quoted, err)
	}
	if got := back[0]; !slices.Equal(got.words, c.words) || got.name() != c.name() {
		t.Fatalf("%q, quoted as %s, reads as %q", words, quoted, got.words)
	}
}

// The words of a line are those that bash gives to a program, where they are
// known at all. The lines are made of quotes, escapes and signs in any order.
func TestKnownWordsAreThoseOfBash(t *testing.T) {
	pieces := []string{"a", "b", " ", "'", "'x y'", "\"", "\"x\"", "\\", "\\'", "\\\"", "$'a'", "$'\\n'", "$'\\t\\''", "=", ":", "~", "*", "?", "[", "]", "{", "}", ",", "..", "-", "#", "%", "+", "@", "!", "é", "\\\n", "$", "\"\\$\"", "\"\\a\"", "''"}
	compareWithBash(t, 1000, 7, pieces, func(ran, listed [][]string) bool {
		return slices.EqualFunc(ran, listed, slices.Equal)
	})
}

// Bash runs nothing that is not listed, where a line is known. The lines are
// made of what separates commands, and joins and hides it.
func TestBashRunsNothingThatIsNotListed(t *testing.T) {
	pieces := []string{"a", "b", "c ", " ", "\n", ";", "; ", " && ", " || ", " | ", " & ", "(", ")", "{ ", "; }", "! ", "#", " #", "\\", "\\\n", "'", "\"", "`", "$(", "if ", "; then ", "; fi", "else ", "for x in ", "; do ", "; done",
		"eval ", "command ", "x=", "case ", " in ", ") ", ";; ", "esac", "f() ", "f", "[[ ", " ]]", "<<E\n", "\nE\n", "<<'E'\n", "<<<", "$'", "\r", "\t", "time ", "coproc ", "function "}
	compareWithBash(t, 800, 9, pieces, func(ran, listed [][]string) bool {
		return !slices.ContainsFunc(ran, func(words []string) bool {
			return !slices.ContainsFunc(listed, func(l []string) bool { return slices.Equal(l, words) })
		})
	})
}

// compareWithBash makes lines of up to most pieces that are known to us, and
// compares what bash runs for them with what we list. No program is run: there
// is none in the PATH.
func compareWithBash(t *testing.T, lines, most int, pieces []string, same func(ran, listed [][]string) bool) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	random := rand.New(rand.NewPCG(1, 2))
	var script strings.Builder
	// bash writes what printf gives at every newline, and a command in the
	// background may write between: so newlines are U+0001 in the log, which no
	// line has.
	script.WriteString("PATH=/nowhere\ncommand_not_found_handle() { printf '%s\\0' ran \"${@//$'\\n'/$'\\001'}\" end >> log; }\n")
	var all []string
	for len(all) < lines {
		line := ""
		for range 1 + random.IntN(most) {
			line += pieces[random.IntN(len(pieces))]
		}
		line = "p " + line
		if _, doubt, err := readShell(line); err == nil && doubt == nil {
			all = append(all, line)
			fmt.Fprintf(&script, "(eval %s\nwait) > out 2> out < /dev/null\nprintf 'line\\0' >> log\n", quoteWord(line))
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, "--norc", "--noprofile", "script")
	cmd.Dir, cmd.Env = dir, []string{"HOME=/nowhere", "LC_ALL=C.UTF-8"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(string(log), "line\x00")
	if len(answers) != len(all)+1 {
		t.Fatalf("%d answers for %d lines", len(answers)-1, len(all))
	}
	for i, line := range all {
		var ran, listed [][]string
		for _, command := range strings.Split(answers[i], "end\x00") {
			if words, ok := strings.CutPrefix(command, "ran\x00"); ok {
				ran = append(ran, strings.Split(strings.TrimSuffix(strings.ReplaceAll(words, "\x01", "\n"), "\x00"), "\x00"))
			}
		}
		commands, _, _ := readShell(line)
		for _, c := range commands {
			var words []string
			for _, w := range c.words {
				words = append(words, w.value)
			}
			listed = append(listed, words)
		}
		if !same(ran, listed) {
			t.Errorf("%q\nbash runs %q, listed are %q", line, ran, listed)
		}
	}
}
