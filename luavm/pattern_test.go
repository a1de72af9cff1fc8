package luavm

import (
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/gopher-lua/pm"
)

// theirs matches with gopher-lua's patterns; ok is false where it cannot say.
func theirs(pattern, text string) (found []string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	matches, err := pm.Find(pattern, []byte(text), 0, -1)
	if err != nil {
		return nil, false
	}
	for _, m := range matches {
		found = append(found, fmt.Sprint(m.Capture(0), m.Capture(1)))
		for i := 2; i < m.CaptureLength(); i += 2 {
			if m.IsPosCapture(i) {
				found = append(found, fmt.Sprint("at ", m.Capture(i)))
			} else {
				found = append(found, text[m.Capture(i):m.Capture(i+1)])
			}
		}
	}
	return found, true
}

// ours matches as gsub does.
func ours(p *pattern, text string) (found []string) {
	m := matcher{pattern: p, text: text, work: math.MaxInt}
	for at := 0; at <= len(text); {
		from, to := m.find(at)
		if from < 0 {
			break
		}
		found = append(found, fmt.Sprint(from, to))
		for n, place := range p.captures {
			if place {
				found = append(found, fmt.Sprint("at ", m.spans[n].from+1))
			} else {
				found = append(found, text[m.spans[n].from:m.spans[n].to])
			}
		}
		if at = to; from == to {
			at++
		}
		if p.anchored {
			break
		}
	}
	return found
}

var classThenDash = regexp.MustCompile(`(?s)\[.*%.-`)

// dashAtTheEnd is a range that ends in a dash.
var dashAtTheEnd = regexp.MustCompile(`(?s)\[.*--`)

// odd are patterns that gopher-lua reads otherwise than Lua 5.1.
func odd(pattern string) bool {
	return strings.Contains(pattern, "%f") || strings.Contains(pattern, "[]") || strings.Contains(pattern, "[^]") ||
		strings.Contains(pattern, "-]") || strings.ContainsAny(pattern, "\x00") || strings.Contains(pattern, "%g") ||
		classThenDash.MatchString(pattern) || dashAtTheEnd.MatchString(pattern)
}

// The oracle is the matcher of gopher-lua, where that does what Lua 5.1 does.
func FuzzPatterns(f *testing.F) {
	for _, p := range []string{"", "a", "a*b", "(.-)%s*$", "^(%w+)=(%b())", "[%a_][%w_]*", "()x()", "(a)(b)%2%1", ".-b", "%d+%.?%d*$", "[^%s-z]+", "a?b?c?$", "%%", "$", "^", "^$", "[0--x]"} {
		f.Add(p, "aab x=(1(2)3) foo_bar 12.5 abba%")
	}
	f.Fuzz(func(t *testing.T, text, subject string) {
		if len(text) > 30 || len(subject) > 60 {
			return
		}
		p, err := compilePattern(text, true)
		if err != nil {
			return
		}
		m := matcher{pattern: p, text: subject, work: 1 << 20}
		m.find(0) // whatever it is, it must not panic
		want, ok := theirs(text, subject)
		if !ok || odd(text) {
			return
		}
		if got := ours(p, subject); !slices.Equal(got, want) {
			t.Errorf("%q in %q: got %q, want %q", text, subject, got, want)
		}
	})
}

func TestPatternsOfLua51(t *testing.T) {
	h := newHook(t, Options{})
	h.must(t, `
	local it = ("a b"):gmatch("%a") assert(it() == "a" and it() == "b" and it() == nil and it() == nil)
	assert(("THE (quick) fox"):find("%f[%a]%a+%f[%A]") == 1)
	assert(("rm -rf x"):find("%f[%w]rm%f[%W]") == 1 and not ("farm -rf"):find("%f[%w]rm%f[%W]"))
	local a, b = ("abc"):find("", 4) assert(a == 4 and b == 3)
	a, b = ("abc"):find("", 10) assert(a == 4 and b == 3)
	assert(("abc"):find("b", -2) == 2 and ("abc"):find("b", -10) == 2)
	assert(("a.b"):find(".", 1, true) == 2 and not ("a.b"):find("%.", 1, true))
	assert(("x]y"):match("[]]") == "]" and ("x]y"):match("[^]]+") == "x" and ("a-z"):match("[a-]+") == "a-")
	assert(("a\0b"):match("%z") == "\0" and ("a\0b"):gsub("%z", "0") == "a0b")
	assert(("hello"):gsub("", "-") == "-h-e-l-l-o-")
	assert(("^a"):gmatch("^a")() == "^a")
	assert(("abc"):gsub("%w", "%%%0") == "%a%b%c")
	assert(select(2, ("aaa"):gsub("a", "b", 2)) == 2 and ("aaa"):gsub("a", "b", 0) == "aaa")
	assert(("abc"):gsub("b", {b = false}) == "abc" and ("abc"):gsub("b", function() end) == "abc")
	assert(("k=v"):match("^(%w+)=(%w*)$") == "k")
	assert(("f(x)"):find(")") == 4 and not ("f"):find(")")) -- without a special character find looks for the text itself
	assert(("]"):find("[+-%]]") == 1 and ("x"):find("[+-%]]") == nil)
	assert(#("É"):lower() == 2 and ("É"):lower() == "É" and ("\200A"):lower() == "\200a")
	`)
	for source, want := range map[string]string{
		`("a"):gsub("a", "%")`:                      "invalid use of '%' in replacement string",
		`("a"):find("%")`:                           "malformed pattern (ends with '%')",
		`("a"):find("[a")`:                          "malformed pattern (missing ']')",
		`("a"):find("[%")`:                          "malformed pattern (missing ']')",
		`("a"):find("%f")`:                          "missing '[' after '%f' in pattern",
		`("a"):find("%b")`:                          "unbalanced pattern",
		`("a"):find("(")`:                           "unfinished capture",
		`("a"):match(")")`:                          "invalid pattern capture",
		`("a"):find("%1")`:                          "invalid capture index",
		`("a"):find("(%1)")`:                        "invalid capture index",
		`("a"):find(("()"):rep(33))`:                "too many captures",
		`("a"):find(("a?"):rep(1e4))`:               "pattern too complex",
		`("a"):find(("a."):rep(1e5))`:               "pattern too complex",
		`("a"):gsub("a", "%2")`:                     "invalid capture index %2",
		`("a"):gsub("a", nil)`:                      "bad argument #3 to 'gsub' (string/function/table expected, got nil)",
		`("a"):gsub("a", function() return {} end)`: "invalid replacement value (a table)",
	} {
		if e := h.failure(t, source); !strings.Contains(e.Message, want) || e.Where != "hook.lua:1" {
			t.Errorf("%s: %s: %s", source, e.Where, e.Message)
		}
	}
}

func TestPatternsThatWouldNeverEndStop(t *testing.T) {
	for name, source := range map[string]string{
		"find":            `("a"):rep(1e5):find(".-b")`,
		"match":           `("a"):rep(1e5):match("(.*)(.*)(.*)b")`,
		"gmatch":          `for _ in ("a"):rep(1e5):gmatch(".-b") do end`,
		"gsub":            `("a"):rep(1e5):gsub(".-b", "")`,
		"nested repeats":  `("a"):rep(40):find(("a*"):rep(40) .. "b")`,
		"balance":         `("("):rep(1e6):find("%b()")`,
		"what came again": `("a"):rep(1e5):find("(a*)%1b")`,
		"optional":        `("a"):rep(30):find(("a?"):rep(60) .. "b")`,
		"in pcall":        `while true do pcall(string.find, ("a"):rep(1e5), ".-b") end`,
		"leaping":         `("a"):rep(1e6):find("a.*b")`,
		"replacing":       `while true do ("a"):rep(6e6):gsub("a", "") end`,
		"by a function":   `while true do ("a"):rep(6e6):gsub("a", tostring) end`,
		"formatting":      `while true do ("%%"):rep(3e6):format() end`,
		"quoting":         `while true do ("%q"):format(("\n"):rep(3e6)) end`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHook(t, Options{})
			began := time.Now()
			if e := h.failure(t, source, within(50*time.Millisecond)); e.Kind != Timeout || h.Dead() {
				t.Errorf("got %s: %v", e.Kind, e)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// peak runs source and returns how far the heap grew meanwhile.
func (h *hook) peak(source string, change ...func(*Job)) (grown int64, err error) {
	runtime.GC()
	base, most, over := heapBytes(), int64(0), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			most = max(most, heapBytes())
			select {
			case <-over:
				return
			case <-time.After(200 * time.Microsecond):
			}
		}
	}()
	err = h.do(source, change...)
	close(over)
	<-done
	return most - base, err
}

func TestWhatAStringFunctionBuildsIsBoundedBeforeItIsBuilt(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector follows every byte of gigabytes")
	}
	const limit = 128 << 20
	for name, source := range map[string]string{
		"rep":                      `local t = {} while true do t[#t + 1] = ("x"):rep(6e7) end`,
		"rep with a separator":     `local t = {} while true do t[#t + 1] = ("x"):rep(6e7, ",") end`,
		"reverse":                  `local s, t = ("x"):rep(3e7), {} while true do t[#t + 1] = s:reverse() end`,
		"upper":                    `local s, t = ("x"):rep(3e7), {} while true do t[#t + 1] = s:upper() end`,
		"lower":                    `local s, t = ("X"):rep(3e7), {} while true do t[#t + 1] = s:lower() end`,
		"concat":                   `local s, t = ("x"):rep(3e7), {} while true do t[#t + 1] = table.concat({ s, s }) end`,
		"format":                   `local s, t = ("x"):rep(3e7), {} while true do t[#t + 1] = ("%s%s"):format(s, s) end`,
		"quoting":                  `local s, t = ("\n"):rep(3e7), {} while true do t[#t + 1] = ("%q"):format(s) end`,
		"gsub":                     `local s, t = ("x"):rep(1e6), {} while true do t[#t + 1] = s:gsub("x", ("y"):rep(40)) end`,
		"gsub with a function":     `local s, t = ("x"):rep(1e6), {} while true do t[#t + 1] = s:gsub("x", function() return ("y"):rep(40) end) end`,
		"a gsub that is too large": `("x"):rep(6e7):gsub("x", ("y"):rep(1000))`,
		"a long pattern":           `("x"):find(("a."):rep(3e6))`,
		"a long text to find":      `local s, t = ("x"):rep(2e6), {} s:find(s) for i = 1, 1e9 do t[i] = s:upper() end`,
		"captures":                 `local t, s = {}, ("x"):rep(6e7) for w in s:gmatch("()x") do t[#t + 1] = w end`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHook(t, Options{MemoryLimit: limit})
			grown, err := h.peak(source, within(20*time.Second))
			if err == nil {
				t.Error("nothing stopped it")
			}
			if h.Dead() {
				t.Errorf("it was abandoned: %v", err)
			}
			if grown > limit+2*maxString {
				t.Errorf("the heap grew by %d MiB: %v", grown>>20, err)
			}
		})
	}
}

func TestGarbageOfStringFunctionsIsForgiven(t *testing.T) {
	h := newHook(t, Options{MemoryLimit: 160 << 20})
	h.must(t, `for i = 1, 12 do local s = ("x"):rep(3e7) s = table.concat({ s, s }) end`)
}

func BenchmarkPatterns(b *testing.B) {
	command := "git commit -m 'a message' && sudo rm -rf /tmp/build --verbose " + strings.Repeat("more words ", 20)
	for _, c := range []struct{ name, pattern, text string }{
		{"gate", "rm%s+%-rf", command},
		{"frontier-like", "%s+sudo%s+", command},
		{"captures", "^(%w+)%s+(%w+)%s+(.-)%s+&&", command},
		{"trim", "^%s*(.-)%s*$", command},
		{"miss", "%d%d%d%d%-%d%d", command},
		{"long", "needle(%d+)", strings.Repeat("hay ", 5000) + "needle42"},
	} {
		b.Run(c.name+"/ours", func(b *testing.B) {
			p, err := compilePattern(c.pattern, true)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				m := matcher{pattern: p, text: c.text, work: math.MaxInt}
				m.find(0)
			}
		})
		b.Run(c.name+"/compiled", func(b *testing.B) {
			for b.Loop() {
				p, _ := compilePattern(c.pattern, true)
				m := matcher{pattern: p, text: c.text, work: math.MaxInt}
				m.find(0)
			}
		})
		b.Run(c.name+"/gopher", func(b *testing.B) {
			for b.Loop() {
				_, _ = pm.Find(c.pattern, []byte(c.text), 0, 1)
			}
		})
	}
}

// BenchmarkGsub is what a hook does with each result of a tool.
func BenchmarkGsub(b *testing.B) {
	h := newHook(b, Options{})
	proto, err := Compile("hook.lua", []byte(`local s = ("a line of output with some words\n"):rep(20) for i = 1, 20 do s:gsub("%w+", "<%0>") s:lower():find("some words", 1, true) end`))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		job, settle := h.running(proto)
		if err := h.Run(b.Context(), job); err != nil {
			b.Fatal(err)
		}
		settle()
	}
}
