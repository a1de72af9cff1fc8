package luavm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// officialTests is where gopher-lua keeps the test suite of Lua 5.1.
func officialTests(t *testing.T) string {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/gopher-lua").Output()
	dir := filepath.Join(strings.TrimSpace(string(module)), "_lua5.1-tests")
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		t.Skipf("the suite of Lua 5.1 cannot be read: %v", err)
	}
	return dir
}

// change is what is left out of a file of the suite, or put back into it, and why.
type officialChange struct{ why, pattern, with string }

// official are the parts of the suite that need nothing which hooks do not have.
// What gopher-lua has commented out is put back.
var official = map[string][]officialChange{
	"pm.lua": {
		{"put back: %f and sets that begin or end with ] and -", `(?m)^-- ?(assert|local|for|end|  assert)`, "$1"},
	},
	"strings.lua": {
		{"put back: %q, %c and a comment without an end of line", `(?m)^-- ?(assert|              "\\0)`, "$1"},
		{"left out: locales, which hooks do not have", `(?s)local function trylocale.*`, "print 'OK'"},
	},
	"math.lua": {
		{"left out: io, and a module that looks into the garbage collector", `(?s)f = io\.tmpfile.*?print\('\+'\)`, ""},
		{"left out: the same", `(?m)^(require "checktable"|stat\(a\))$`, ""},
	},
	"sort.lua": {
		{"put back: code that is loaded in a comparator", `(?m)-- (loadstring|collectgarbage)`, "$1"},
	},
	"nextvar.lua": {
		{"left out: a for over texts that are numbers, which is an error", `(?m)^a = 0; for i="10".*$`, ""},
		{"table.foreach, which Lua 5.1 calls old, is not there: written in Lua", `(?s)^`,
			"function table.foreach(t, f) for k, v in pairs(t) do local r = f(k, v) if r ~= nil then return r end end end " +
				"function table.foreachi(t, f) for i = 1, table.getn(t) do local r = f(i, t[i]) if r ~= nil then return r end end end "},
	},
	"vararg.lua": nil,
}

func TestTheOfficialSuiteOfLua51(t *testing.T) {
	dir := officialTests(t)
	for name, changes := range official {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				re := regexp.MustCompile(c.pattern)
				if !re.Match(src) {
					t.Errorf("nothing in %s is %q any more (%s)", name, c.pattern, c.why)
				}
				src = re.ReplaceAll(src, []byte(c.with))
			}
			h := newHook(t, Options{})
			proto, err := Compile(name, src)
			if err != nil {
				t.Fatal(err)
			}
			job, settle := h.running(proto)
			defer settle()
			job.Timeout = time.Minute
			if err := h.Run(t.Context(), job); err != nil {
				t.Errorf("%v\n%s", err, traceOf(err))
			}
			if !strings.Contains(strings.ToUpper(h.printed()), "OK") {
				t.Errorf("it did not come to its end: %q", h.printed())
			}
		})
	}
}
