package stdlib

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// lineMaker makes lines by choices: choose returns a number below n. Each program in a line
// has a name of its own; those that begin with f fail.
type lineMaker struct {
	choose       func(n int) int
	number, deep int
}

const markersEach = 40

func markers() []string {
	var names []string
	for i := range markersEach {
		names = append(names, fmt.Sprintf("p%d", i), fmt.Sprintf("f%d", i))
	}
	return names
}

func (m *lineMaker) program(kind string) string {
	m.number = (m.number + 1) % markersEach
	return fmt.Sprintf("%s%d", kind, m.number)
}

func (m *lineMaker) pick(of ...string) string { return of[m.choose(len(of))] }

// line returns a list of commands.
func (m *lineMaker) line() string {
	line := m.command()
	for range m.choose(3) {
		line += m.pick("; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";", "|", "&&", " \\\n&& ") + m.command()
	}
	return line
}

func (m *lineMaker) command() string {
	if m.deep++; m.deep > 12 {
		return m.program("p")
	}
	switch m.choose(22) {
	case 0:
		return "(" + m.line() + ")" + m.redirect()
	case 1:
		return "{ " + m.line() + "; }" + m.redirect()
	case 2:
		return "if " + m.line() + "; then " + m.line() + m.pick("; fi", "; else "+m.line()+"; fi", "; elif "+m.program("f")+"; then "+m.program("p")+"\nfi")
	case 3: // ends although a piece of it is taken out
		return m.pick("while "+m.program("f"), "until "+m.program("p")) + "; do " + m.line() + "; break; done"
	case 4:
		return "for x in " + m.loose() + " " + m.loose() + "; do " + m.line() + "; break; done"
	case 5:
		return "case " + m.loose() + " in " + m.loose() + ") " + m.line() + m.pick(";; ", ";& ", ";;& ") + "*) " + m.program("p") + ";; esac"
	case 6:
		return "[[ " + m.test() + m.pick("", " && "+m.test(), " || ! "+m.test()) + " ]]"
	case 7:
		return m.pick("((1", "(( 1 ", "((x", "((a[$("+m.program("p")+")]", "((1)") + m.pick("))", " + 2 ))", " > x))", ") )")
	case 8:
		return m.pick("time ", "! ", "time -p ", "time -- ", "! time ", "coproc ", "command ", "builtin ", "exec ", "eval ", "let ") + m.command()
	case 9:
		return m.pick("x() { ", "function x { ", "p1() ( ") + m.line() + m.pick("; }; x", "; }", " ); p1")
	case 10:
		return m.pick("bash -c ", "sh -c ", "eval ", "bash -ec ", "bash -o pipefail -c ", "trap -- ") + quoteWord(m.line()) + m.pick("", " EXIT", " x")
	case 11:
		return m.document()
	case 12:
		return m.pick("", "declare ", "export ", "readonly ", "declare -i ", "declare -n ", "declare -a ", `\declare `, "printf -v ", "read ", "unset ") + m.assigned() + m.pick("; ", " && ", " ") + m.program("p")
	case 13:
		return m.pick("set -k", "set -e", "set -o pipefail", "shopt -s extglob", "set -f +x", "[ -n x ]", "[ -v x ]") + "; " + m.program("p") + " PATH=/evil"
	case 14:
		return "select x in a; do " + m.line() + "; break; done <<< 1"
	default:
		return m.pick("", "", "", "", "x=1 ", m.assigned()+" ") + m.program(m.pick("p", "p", "f")) + m.pick("", "", " a", " "+m.quoted(), " "+m.loose()) + m.redirect() +
			m.pick("", "", "", " # "+m.quoted()+"\n"+m.program("p"))
	}
}

// document is a command with a here-document.
func (m *lineMaker) document() string {
	command := m.pick("sh", "bash", "sh 3<<A", m.program("p"), "sh -s") + m.pick(" <<", " 3<<", " <<-")
	end := m.pick("E", "'E'", `"E"`, `\E`, "E\\\n") + m.pick("", " 0<&3", " 0>&3", " 2>&1")
	return command + end + "\n" + m.pick("", "x\\\n", "\t", "'\n", "E\\\n") + m.line() + "\nE\n" + m.program("p")
}

// hidden is a substitution in one of the places where one can be.
func (m *lineMaker) hidden() string {
	program := m.program("p")
	sub := "$(" + m.pick(program, m.line()) + ")"
	return m.pick(sub, `"`+sub+`"`, "`"+program+"`", "${x:-"+sub+"}", `"${x:-'`+sub+`'}"`, "$((a["+sub+"]))", "${HOME:a["+sub+"]}", "@("+sub+")", "{a,"+sub+"}", "<("+program+")", "$[a["+sub+"]]",
		"\"${x-`"+program+"`}\"", "x"+sub, "{$,}(a)", "{$,}[x]", "${x["+sub+"]}", "$\\\n("+program+")", "$(("+program+"); "+m.program("p")+")", "$( # )\n"+program+")", "$(case x in x) "+program+";; esac)")
}

func (m *lineMaker) quoted() string {
	return m.pick("'a b'", `"a $"`, `\$`, `$'\''`, `$'\\'`, `"\""`, `'"'`, `"'"`, "a\\\nb", `\#`, "a#b", `$"x"`, "\"\\`\"", "'#'", "{}", "'a[$("+m.program("p")+")]'")
}

// loose is a word whose value decides nothing that runs.
func (m *lineMaker) loose() string {
	switch m.choose(4) {
	case 0:
		return m.hidden()
	case 1:
		return m.quoted()
	default:
		return m.pick("x", "*", "$x", "${x}", `"$x"`, "[ab]*", "{1..3}", "?", `"$(`+m.program("p")+`)"`, "$("+m.program("p")+")", "'$("+m.program("p")+")'", "$?", "a$", "~", `\*`)
	}
}

func (m *lineMaker) test() string {
	return m.pick("-n "+m.loose(), "x == "+m.loose(), m.loose()+" != x", "x =~ "+m.loose(), "-v "+m.loose(), m.loose()+" -eq 1", "1 -lt 2", "( -f x )", "x < "+m.loose(), m.loose())
}

func (m *lineMaker) assigned() string {
	name := m.pick("x", "y", "PATH", "RANDOM", "b[x]", "BASH_CMDS[p1]", "'PATH", "x+", "b")
	return name + "=" + m.pick("1", "/evil", "'a[$("+m.program("p")+")]'", m.loose(), "("+m.loose()+")")
}

func (m *lineMaker) redirect() string {
	return m.pick("", "", "", "", " > f", " 2>&1", " >&2", " &> f", " <<< "+m.loose(), " > "+m.loose(), " 3>&1 ", " >& f", " <&-", ">|f", " <> f")
}

// disturbed returns the line with a piece put in or taken out somewhere, or as it is.
func (m *lineMaker) disturbed(line string) string {
	at := m.choose(len(line) + 1)
	switch m.choose(4) {
	case 0:
		return line[:at] + m.pick("'", `"`, `\`, "\\\n", "$", "`", "(", ")", "#", " ", "\n", ";", "&", "{", "}", "[", "]", "!", "=", "<", ">", "|", "$'", "<<E", "in ", "do ", "fi", "time ", "~", "-") + line[at:]
	case 1:
		return line[:at] + line[min(at+1+m.choose(3), len(line)):]
	default:
		return line
	}
}

func TestBashRunsNoMarkerThatIsNotNamed(t *testing.T) {
	t.Parallel()
	box := newSandbox(t, markers())
	random := rand.New(rand.NewPCG(3, 1))
	var lines []string
	for len(lines) < 300 {
		m := &lineMaker{choose: random.IntN}
		line := m.disturbed(m.line())
		if _, doubt, err := readShell(line); err == nil && doubt == nil {
			lines = append(lines, line)
		}
	}
	ran, some := box.ran(t, lines), 0
	for i, line := range lines {
		some += len(ran[i])
		if program := unnamed(line, ran[i]); program != "" {
			t.Errorf("%s\nruns %s, which is not named: %s", line, program, told(line))
		}
	}
	if some < len(lines)/2 {
		t.Errorf("only %d programs ran for %d lines", some, len(lines))
	}
}

func FuzzBashRunsNoMarkerThatIsNotNamed(f *testing.F) {
	for _, seed := range []string{"", "\x03\x06\x01", "\x00\x04\x00\x07", "\x01\x0a\x01\x0b\x02", "\x02\x05\x00\x01\x02\x03"} {
		f.Add([]byte(seed))
	}
	box := newSandbox(f, markers())
	f.Fuzz(func(t *testing.T, choices []byte) {
		m := &lineMaker{choose: func(n int) int {
			if len(choices) == 0 {
				return n - 1
			}
			choice := int(choices[0]) % n
			choices = choices[1:]
			return choice
		}}
		line := m.disturbed(m.line())
		if _, doubt, err := readShell(line); err != nil || doubt != nil {
			return
		}
		if program := unnamed(line, box.ran(t, []string{line})[0]); program != "" {
			t.Errorf("%s\nruns %s, which is not named: %s", line, program, told(line))
		}
	})
}
