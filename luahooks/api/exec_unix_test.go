//go:build unix

package api

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pi/internal/child"
)

// programsOf are the functions that start programs, in a lab whose directory is dir.
func programsOf(l *lab, dir string, kept *child.Kept, groups *atomic.Int32) *spawns {
	l.Cwd, l.Environ, l.Kept = dir, func() []string { return []string{"OF_PROGRAM=1"} }, kept
	l.Starting = func(context.Context) func(int) {
		return func(group int) {
			if group > 0 {
				groups.Add(1)
			}
		}
	}
	l.Survives, l.Ends = func() bool { return false }, context.Background()
	return &spawns{programs: &programs{l.bridge}, version: kept.NewOwner(), mine: map[string]*spawned{}}
}

// newProgramLab is a lab with pi.exec, pi.spawn and pi.spawned in the table api.
func newProgramLab(t testing.TB) (*lab, *atomic.Int32) {
	groups := new(atomic.Int32)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := newLab(t, func(l *lab) part {
		s := programsOf(l, dir, new(child.Kept), groups)
		p := s.part()
		p["exec"] = s.exec
		return p
	})
	return l, groups
}

func TestProgramsRunInTheWorkingDirectoryWithTheirVariables(t *testing.T) {
	l, groups := newProgramLab(t)
	l.want("12sub", `local r = api.exec("sh", { "-c", 'printf "$OF_PROGRAM$OF_HOOK"; basename "$PWD" | tr -d "\n"' }, { cwd = "sub", env = { OF_HOOK = "2" } }) return r.stdout`)
	l.want("true", `return select(2, api.exec("true", {}, { cwd = "none" })):find("cwd: ") ~= nil`)
	if groups.Load() != 1 {
		t.Errorf("%d groups were started", groups.Load())
	}
}

func TestOutputIsPassedToAFunctionWhileTheProgramRuns(t *testing.T) {
	l, _ := newProgramLab(t)
	l.want("a b", `
		local seen = { stdout = "", stderr = "" } -- two pipes: which is read first is open
		local r = api.exec("sh", { "-c", "echo a; read go; echo b >&2" }, { stdin = "\n", on_output = function(text, stream)
			seen[stream] = seen[stream] .. text:gsub("\n", "")
		end })
		assert(r.stdout == "a\n" and r.stderr == "b\n" and r.truncated == false)
		return seen.stdout .. " " .. seen.stderr`)
	l.want("ab", `local r = api.exec("printf", { "abc" }, { max_bytes = 2 }) return r.truncated and r.stdout`)
	l.want("true", `return api.exec("yes", {}, { on_output = function() return true end }).truncated`)
	l.want("error: lab.lua:2: exec: on_output: lab.lua:1: boom", `local function boom() error("boom") end
		api.exec("sh", { "-c", "echo x; sleep 600" }, { on_output = boom })`)
	l.want("error: exec: option \"max_bytes\" is from 0 to", `api.exec("true", {}, { max_bytes = -1 })`)
	l.want(`error: did you mean "on_output"?`, `api.exec("true", {}, { on_ouput = print })`)
}

func TestAProgramBesideTheHook(t *testing.T) {
	l, groups := newProgramLab(t)
	l.want(`["out one","err two","out three"]`, `
		seen = {}
		local p = assert(api.spawn("sh", { "-c", "echo one; read go; echo two >&2; read go; echo three" }, {
			on_stdout = function(line, p) seen[#seen + 1] = "out " .. line; p.write("\n") end,
			on_stderr = function(line, p) seen[#seen + 1] = "err " .. line; p.write("\n") end,
			on_exit = function(e) ended = e end,
		}))
		assert(p.running() and p.pid > 1)
		local e = p.wait()
		assert(e.code == 0 and e.killed == false and e.signal == nil and ended.code == 0 and not p.running())
		local ok, why = p.write("x")
		assert(ok == nil and why == "ended", why)
		return seen`)
	l.want(`{"code":-1,"signal":"TERM","killed":true}`, `local p = api.spawn("sleep", { "600" }) p.kill() return p.wait()`)
	l.want(`{"code":-1,"signal":"INT","killed":true}`, `local p = api.spawn("sleep", { "600" }) p.kill("INT") return p.wait()`)
	l.want("timeout", `local p = api.spawn("sleep", { "600" }) return select(2, p.wait{ timeout = 1 })`)
	l.want("0", `local p = api.spawn("cat", {}) p.close_stdin() p.close_stdin() return p.wait().code`)
	l.want("ended", `local p = api.spawn("true") p.wait() return select(2, p.kill())`)
	l.want("b", `local all = "" local p = api.spawn("printf", { "b" }, { lines = false, on_stdout = function(b) all = all .. b end }) p.wait() return all`)
	l.want("12 3", `local all = {} local p = api.spawn("printf", { "123" }, { max_bytes = 2, on_stdout = function(b) all[#all + 1] = b end }) p.wait() return table.concat(all, " ")`)
	l.want("y", `local all = "" local p = api.spawn("yes", {}, { on_stdout = function(b) all = all .. b return true end }) p.wait() return all`)
	l.want("3", `local code local p = api.spawn("sh", { "-c", "echo; exit 3" }, { on_stdout = function(_, p) code = p.wait().code end }) p.wait() return code`)
	if groups.Load() != 10 {
		t.Errorf("%d groups were told", groups.Load())
	}
	if said := l.owner.reports(); strings.Contains(said, "failed") {
		t.Error(said)
	}
}

func TestWhatIsWrongWithAProgram(t *testing.T) {
	l, _ := newProgramLab(t)
	l.want("true", `return select(2, api.spawn("no-such-program")):find("start no-such-program: ", 1, true) == 1`)
	l.want("no program is kept as \"x\"", `return select(2, api.spawned("x"))`)
	l.want(`error: did you mean "on_stdout"?`, `api.spawn("true", {}, { on_stdou = print })`)
	l.want(`error: list of strings expected`, `api.spawn("true", "x")`)
	l.want(`error: option "max_bytes" is from 1 to`, `api.spawn("true", {}, { max_bytes = 0 })`)
	l.want(`error: there is no signal "TREM", did you mean "TERM"?`, `api.spawn("true").kill("TREM")`)
	l.want(`error: lab.lua:1: the program has no field "stdout"`, `return api.spawn("true").stdout`)
	l.want("64 programs of this hook run already", `
		for i = 1, 64 do assert(api.spawn("sleep", { "600" })) end
		return (select(2, api.spawn("true")):gsub("^start true: ", ""))`)
}

func TestAnErrorInACallbackIsTheHooks(t *testing.T) {
	l, _ := newProgramLab(t)
	l.want("two", `local last
		local p = api.spawn("sh", { "-c", "echo one; echo two" }, { on_stdout = function(line) last = line; error("at " .. line) end })
		p.wait()
		return last`)
	said := l.owner.reports()
	for _, want := range []string{"on_stdout failed for 2: lab.lua:2: at one", "on_stdout failed for 2: lab.lua:2: at two"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
}

func TestAProgramIsKeptUnderAName(t *testing.T) {
	l, _ := newProgramLab(t)
	l.want("c d", `
		local all = {}
		local p = assert(api.spawn("cat", {}, { keep = "c", on_stdout = function(line) all[#all + 1] = line end }))
		local again, why = api.spawn("cat", {}, { keep = "c" })
		assert(again == nil and why:find('kept as "c" is there already', 1, true), why)
		assert(api.spawned("c") == p)
		assert(api.spawned("c", { on_stdout = function(line, p) all[#all + 1] = line; if line == "d" then p.close_stdin() end end }) == p)
		p.write("c\nd\n")
		p.wait()
		assert(api.spawned("c") == nil)
		return table.concat(all, " ")`)
}

func BenchmarkALineOfAProgram(b *testing.B) {
	l, _ := newProgramLab(b)
	l.lua(`n = 0`)
	b.ResetTimer()
	l.want(strconv.Itoa(b.N), `
		local p = api.spawn("yes", {}, { on_stdout = function() n = n + 1 return n == `+strconv.Itoa(b.N)+` end })
		p.wait()
		return n`)
}

func BenchmarkAProgramThatIsWaitedFor(b *testing.B) {
	l, _ := newProgramLab(b)
	for b.Loop() {
		l.want("0", `return api.exec("true").code`)
	}
}
