package trust

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"pi/luavm/source"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	must(t, err)
	return s
}

func approve(project, path string, code string) func(*Data) {
	return func(d *Data) { d.Project(project).Files[path] = Sum([]byte(code)) }
}

func TestApprovalsAreKeptByPathAndBytes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.Change(false, approve("/p", "/p/a.lua", "a")))
	for _, s := range []*Store{s, open(t, dir)} {
		if got := s.Approved("/p", "/p/a.lua"); got != Sum([]byte("a")) {
			t.Errorf("approved is %q", got)
		}
		for _, other := range [][2]string{{"/p", "/p/b.lua"}, {"/q", "/p/a.lua"}, {"/p", "/q/a.lua"}} {
			if got := s.Approved(other[0], other[1]); got != "" {
				t.Errorf("%v is approved", other)
			}
		}
	}
	must(t, s.Change(false, func(d *Data) { d.Project("/p").Never = true }))
	if s := open(t, dir); s.Approved("/p", "/p/a.lua") != "" || !s.Never("/p") || s.Never("/q") {
		t.Error("never does not mean never")
	}
	if info, err := os.Stat(s.Path()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

func TestStoresThatAreNotTrusted(t *testing.T) {
	sum := Sum(nil)
	for name, text := range map[string]string{
		"nothing":           "",
		"no JSON":           "{",
		"more than one":     `{"version":1}{"version":1}`,
		"another version":   `{"version":2}`,
		"no version":        `{}`,
		"unknown key":       `{"version":1,"trusted":true}`,
		"a relative path":   `{"version":1,"projects":{"p":{}}}`,
		"a path not clean":  `{"version":1,"projects":{"/p/../q":{}}}`,
		"no project":        `{"version":1,"projects":{"/p":null}}`,
		"a relative file":   `{"version":1,"projects":{"/p":{"files":{"a.lua":"` + sum + `"}}}}`,
		"no hash":           `{"version":1,"projects":{"/p":{"files":{"/p/a.lua":"yes"}}}}`,
		"a short hash":      `{"version":1,"projects":{"/p":{"files":{"/p/a.lua":"abcd"}}}}`,
		"a pending no path": `{"version":1,"pending":{"a.lua":{"since":"2026-01-02T03:04:05Z"}}}`,
		"a pending no hash": `{"version":1,"pending":{"/a.lua":{"old":"x","since":"2026-01-02T03:04:05Z"}}}`,
	} {
		dir := t.TempDir()
		s := open(t, dir)
		must(t, s.Change(false, approve("/p", "/p/a.lua", "a")))
		must(t, os.WriteFile(s.Path(), []byte(text), 0o600))
		s, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), "nothing in it counts") {
			t.Errorf("%s: %v", name, err)
		}
		if s.Approved("/p", "/p/a.lua") != "" {
			t.Errorf("%s: approves", name)
		}
		must(t, s.Change(false, approve("/p", "/p/b.lua", "b")))
		if aside, err := os.ReadFile(s.Path() + ".damaged-1"); err != nil || string(aside) != text {
			t.Errorf("%s: put aside is %q, %v", name, aside, err)
		}
		if s := open(t, dir); s.Approved("/p", "/p/b.lua") == "" || s.Approved("/p", "/p/a.lua") != "" {
			t.Errorf("%s: not written anew", name)
		}
	}
}

func TestAStoreThatCannotBeReadIsNotTrusted(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "trust.json"), 0o700))
	s, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
	must(t, s.Change(false, approve("/p", "/p/a.lua", "a")))
	if open(t, dir).Approved("/p", "/p/a.lua") == "" {
		t.Error("nothing was written")
	}
}

const approver = "TRUST_TEST_APPROVER"

// TestTwoProgramsApproveAtOnce runs itself as several processes.
func TestTwoProgramsApproveAtOnce(t *testing.T) {
	const programs, each = 4, 20
	if name := os.Getenv(approver); name != "" {
		dir, n, _ := strings.Cut(name, "|")
		s := open(t, dir)
		for i := range each {
			must(t, s.Change(false, approve("/p"+n, fmt.Sprintf("/p%s/%d.lua", n, i), n)))
		}
		return
	}
	dir := t.TempDir()
	var running []*exec.Cmd
	for n := range programs {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProgramsApproveAtOnce$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", approver, dir, n))
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		running = append(running, cmd)
	}
	for _, cmd := range running {
		must(t, cmd.Wait())
	}
	s := open(t, dir)
	for n := range programs {
		if got := len(s.Files(fmt.Sprintf("/p%d", n))); got != each {
			t.Errorf("program %d: %d approvals, want %d", n, got, each)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".trust-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAGuardedChangeDoesNotReadWhatOthersWrote(t *testing.T) {
	dir := t.TempDir()
	mine, other := open(t, dir), open(t, dir)
	must(t, mine.Change(false, approve("/p", "/p/a.lua", "a")))
	must(t, other.Change(false, approve("/q", "/q/evil.lua", "evil")))
	sum, tampered := mine.Tampered()
	if !tampered {
		t.Fatal("nothing was noticed")
	}
	must(t, mine.Change(true, approve("/p", "/p/b.lua", "b")))
	if _, tampered := mine.Tampered(); tampered {
		t.Error("its own file is foreign to it")
	}
	s := open(t, dir)
	if s.Approved("/p", "/p/a.lua") == "" || s.Approved("/p", "/p/b.lua") == "" || s.Approved("/q", "/q/evil.lua") != "" {
		t.Errorf("store is %+v", s.data)
	}
	must(t, mine.Accept(sum)) // as the person said
	if s := open(t, dir); s.Approved("/q", "/q/evil.lua") == "" || s.Approved("/p", "/p/b.lua") == "" {
		t.Errorf("store is %+v", s.data)
	}
}

func TestKeptCopiesAreWhatTheyWere(t *testing.T) {
	s := open(t, t.TempDir())
	sum, err := s.Keep([]byte("code"))
	must(t, err)
	if code, err := s.Kept(sum); err != nil || string(code) != "code" {
		t.Errorf("got %q, %v", code, err)
	}
	must(t, os.WriteFile(s.keptPath(sum), []byte("evil"), 0o600))
	if code, err := s.Kept(sum); err == nil {
		t.Errorf("got %q", code)
	}
	for _, sum := range []string{"", "../../x", Unreadable, strings.Repeat("0", 64)} {
		if _, err := s.Kept(sum); err == nil {
			t.Errorf("%q is there", sum)
		}
	}
}

func TestWindowsAreFoundWhenTheirProgramIsGone(t *testing.T) {
	s := open(t, t.TempDir())
	b := Baseline{Store: "s", Files: map[string]File{"/a": {Sum: "x"}}, Dirs: []Dir{{"/d", "global"}}}
	w, err := s.OpenWindow(b)
	must(t, err)
	if left, open := s.Windows(w); len(left) != 0 || len(open) != 0 {
		t.Errorf("its own: %v, %v", left, open)
	}
	if left, open := s.Windows(nil); len(left) != 0 || len(open) != 1 {
		t.Errorf("while it lives: %v, %v", left, open)
	}
	must(t, w.Group(4711))
	must(t, w.Approved("/a", File{Sum: "y"}))
	must(t, w.Stored("t"))
	w.Leave()
	left, open := s.Windows(nil)
	if len(left) != 1 || len(open) != 0 {
		t.Fatalf("left: %v, %v", left, open)
	}
	want := Baseline{Store: "t", Files: map[string]File{"/a": {Sum: "y"}}, Dirs: b.Dirs, Boot: bootID()}
	if !reflect.DeepEqual(left[0].Baseline, want) || !reflect.DeepEqual(left[0].Groups, []int{4711}) {
		t.Errorf("got %+v", left[0])
	}
	s.Forget(left[0])
	if left, open := s.Windows(nil); len(left) != 0 || len(open) != 0 {
		t.Errorf("forgotten: %v, %v", left, open)
	}
}

func TestAWindowThatEndedTooSoonIsNone(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, os.MkdirAll(s.Dir(), 0o700))
	for i, text := range []string{"", "{", `{"store":""}`, "null\n"} {
		must(t, os.WriteFile(filepath.Join(s.Dir(), fmt.Sprint(windowPrefix, i)), []byte(text), 0o600))
	}
	if left, open := s.Windows(nil); len(left) != 0 || len(open) != 0 {
		t.Errorf("got %v, %v", left, open)
	}
}

func TestHiddenCharactersAreSeen(t *testing.T) {
	for text, want := range map[string]string{
		"plain ä 漢 ✓ 👍\n\tx":   "plain ä 漢 ✓ 👍\n\tx",
		"a\u202eb\u2066c":      `a\u{202e}b\u{2066}c`,
		"a\u200bb\u200d\ufeff": `a\u{200b}b\u{200d}\u{feff}`,
		"\U000e0041\U000e0001": `\u{e0041}\u{e0001}`,
		"a\x1b[31mb\x00\r":     `a\u{1b}[31mb\u{0}\u{d}`,
		"a\u00a0b\u3000c":      `a\u{a0}b\u{3000}c`,
		"\u3164\u115f\u2800":   `\u{3164}\u{115f}\u{2800}`,
		"\xffa\x9b":            `\xffa\x9b`,
		"\u00ad\ufe0f\u2028":   `\u{ad}\u{fe0f}\u{2028}`,
		"\ue000":               `\u{e000}`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := VisibleLine("a\nb\tc"); got != `a\nb\tc` {
		t.Errorf("got %q", got)
	}
}

func TestADifferenceShowsEverything(t *testing.T) {
	got := Diff("a\u202e.lua", []byte("one\ntwo\n"), []byte("one\n2\u200b\n"))
	want := "--- a\\u{202e}.lua (in force)\n+++ a\\u{202e}.lua (on disk)\n@@ -1,2 +1,2 @@\n one\n-two\n+2\\u{200b}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff("a", nil, []byte("x")); !strings.Contains(got, "a (not there)") || !strings.Contains(got, "+x\n") {
		t.Errorf("got %s", got)
	}
	if got := Diff("a", []byte("x"), nil); !strings.Contains(got, "+++ a (not there)") || !strings.Contains(got, "-x\n") {
		t.Errorf("got %s", got)
	}
	if got := Diff("a", []byte{}, []byte{}); !strings.Contains(got, "nothing that can be shown") {
		t.Errorf("got %s", got)
	}
	long := Diff("a", nil, []byte(strings.Repeat("x\n", 2*maxDiff)))
	if n := strings.Count(long, "\n"); n != maxDiff+1 || !strings.Contains(long, "more lines are not shown") {
		t.Errorf("%d lines", n)
	}
}

func TestWhatAFileDoesAsFarAsItsTextSaysSo(t *testing.T) {
	for _, tt := range []struct {
		code    string
		want    Scanned
		problem bool
	}{
		{code: ``},
		{code: `local a = require "b"; local c = require("a.b")`, want: Scanned{Requires: []string{"a.b", "b"}}},
		{code: "#!/usr/bin/lua\npi.on('input', function() pi.on([[context]], f) end)", want: Scanned{Events: []string{"context", "input"}}},
		{code: "\ufeffpi.on('x', f) pi.on('x', g)", want: Scanned{Events: []string{"x"}}},
		{code: `return function(pi) if a then pi.on("tool_call", f) end end`, want: Scanned{Events: []string{"tool_call"}}},
		{code: `local t = { x = { require "deep" }, f = function() return -#require("len") .. not require "no" end }`, want: Scanned{Requires: []string{"deep", "len", "no"}}},
		{code: `for _, x in ipairs(require "list") do while require "w" do repeat until require "r" end end`, want: Scanned{Requires: []string{"list", "r", "w"}}},
		{code: `require(name)`, want: Scanned{Dynamic: true}},
		{code: `require("a" .. "b")`, want: Scanned{Dynamic: true}},
		{code: `pi.on(event, f)`, want: Scanned{Dynamic: true}},
		{code: `other.on("x", f); pi.off("y"); local require2 = require2 "z"`},
		{code: `local x = = 1`, want: Scanned{Dynamic: true}, problem: true},
		{code: `x = ` + strings.Repeat("{", 5000) + `require "hidden"` + strings.Repeat("}", 5000), want: Scanned{Dynamic: true}, problem: true},
		{code: `x = ` + strings.Repeat("{", 900) + `require "hidden"` + strings.Repeat("}", 900), want: Scanned{Dynamic: true}},
		{code: strings.Repeat(" ", source.MaxSize+1), want: Scanned{Dynamic: true}, problem: true},
	} {
		got, err := Scan([]byte(tt.code))
		if !reflect.DeepEqual(got, tt.want) || (err != nil) != tt.problem {
			t.Errorf("%.60s: got %+v, %v, want %+v", tt.code, got, err, tt.want)
		}
	}
}

// FuzzStore holds that a store is understood whole or not at all, and that what
// was understood is written so that it is understood again.
func FuzzStore(f *testing.F) {
	sum := Sum(nil)
	for _, seed := range []string{"", "{}", `{"version":1}`, `{"version":1,"projects":{"/p":{"never":true,"files":{"/p/a":"` + sum + `"}}}}`,
		`{"version":1,"pending":{"/a":{"old":"` + sum + `","new":"","since":"2026-01-02T03:04:05Z"}}}`, `{"version":1,"projects":{"/p":null}}`, "null", "[]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseData(raw)
		if err != nil {
			if len(d.Projects)+len(d.Pending) > 0 {
				t.Errorf("%+v in spite of %v", d, err)
			}
			return
		}
		for dir, p := range d.Projects {
			for path, sum := range p.Files {
				if !filepath.IsAbs(dir) || !filepath.IsAbs(path) || len(sum) != 64 && sum != Unreadable {
					t.Errorf("approves %q %q %q", dir, path, sum)
				}
			}
		}
		for _, p := range d.Projects {
			if len(p.Files) == 0 {
				p.Files = nil // as it is written
			}
		}
		again, err := json.Marshal(d)
		must(t, err)
		if same, err := parseData(again); err != nil || !reflect.DeepEqual(same, d) {
			t.Errorf("%s became %+v, %v", again, same, err)
		}
	})
}

// FuzzScan holds that no text takes the program with it.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", `require "a"`, `pi.on("x", function() end)`, "local x = = 1", "\x1bLua", "#!\nreturn", "((((((", `require [==[a]==]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		s, err := Scan(code)
		if err != nil && !s.Dynamic && (len(s.Requires) > 0 || len(s.Events) > 0) {
			t.Errorf("%q: %+v with %v", code, s, err)
		}
	})
}
