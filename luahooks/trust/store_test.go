package trust

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
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

func always(mine, theirs Data) bool { return true }

func never(mine, theirs Data) bool { return false }

func approve(project, path string, code string) func(*Data) {
	return func(d *Data) { d.Project(project).Files[path] = Sum([]byte(code)) }
}

func TestApprovalsAreKeptByPathAndBytes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.Change(always, approve("/p", "/p/a.lua", "a")))
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
	must(t, s.Change(always, func(d *Data) { d.Project("/p").Never = true }))
	if s := open(t, dir); s.Approved("/p", "/p/a.lua") != "" || !s.IsRefused("/p") || s.IsRefused("/q") {
		t.Error("never does not mean never")
	}
	if info, err := os.Stat(s.Path()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

// written is a store with one approval, as it is on the disk.
func written(t *testing.T, dir string) (text string) {
	t.Helper()
	s := open(t, dir)
	must(t, s.Change(always, approve("/o", "/o/a.lua", "a")))
	must(t, s.Change(always, approve("/p", "/p/a.lua", "a")))
	raw, err := os.ReadFile(s.Path())
	must(t, err)
	return string(raw)
}

// harms are what may happen to one of the two files; they are given what is there.
func harms() map[string]func(path, text string) error {
	rewrite := func(change func(text string) string) func(path, text string) error {
		return func(path, text string) error { return os.WriteFile(path, []byte(change(text)), 0o600) }
	}
	return map[string]func(path, text string) error{
		"removed":       func(path, _ string) error { return os.Remove(path) },
		"emptied":       func(path, _ string) error { return os.Truncate(path, 0) },
		"cut off":       func(path, text string) error { return os.Truncate(path, int64(len(text)-2)) },
		"longer":        func(path, _ string) error { return os.Truncate(path, 1<<20) },
		"no JSON":       rewrite(func(string) string { return "{" }),
		"another form":  rewrite(func(string) string { return `{"version":1}` }),
		"more than one": rewrite(func(text string) string { return text + text }),
		"one byte": rewrite(func(text string) string {
			return strings.Replace(text, Sum([]byte("a")), Sum([]byte("e")), 1)
		}),
		"a space":     rewrite(func(text string) string { return text + " " }),
		"unknown key": rewrite(func(text string) string { return strings.Replace(text, `"version"`, `"trusted": true, "version"`, 1) }),
		"a directory": func(path, _ string) error { return errors.Join(os.Remove(path), os.MkdirAll(path+"/x", 0o700)) },
		"a link to itself": func(path, _ string) error {
			return errors.Join(os.Remove(path), os.Symlink(path, path))
		},
		"for everybody": func(path, _ string) error { return os.Chmod(path, 0o666) },
		"for nobody":    func(path, _ string) error { return os.Chmod(path, 0) },
	}
}

func TestAHarmedStoreIsThatOfItsCopy(t *testing.T) {
	for name, harm := range harms() {
		dir := t.TempDir()
		text := written(t, dir)
		must(t, harm(filepath.Join(dir, "trust.json"), text))
		s, err := Open(dir)
		if readable(name) {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "what it held before stays in force") {
			t.Errorf("%s: %v", name, err)
		}
		if s.Approved("/p", "/p/a.lua") != Sum([]byte("a")) {
			t.Errorf("%s: what was approved is not", name)
		}
		if m, marked := s.Marks()[s.Path()]; !marked || m.New != "" == (name == "removed") {
			t.Errorf("%s: the mark is %+v", name, m)
		}
		must(t, s.Change(always, approve("/p", "/p/b.lua", "b")))
		if s := open(t, dir); s.Approved("/p", "/p/b.lua") == "" || s.Approved("/p", "/p/a.lua") == "" || len(s.Marks()) != 1 {
			t.Errorf("%s: not written anew", name)
		}
	}
}

// readable says that root reads what nobody may.
func readable(harm string) bool { return harm == "for nobody" && os.Geteuid() == 0 }

func TestAHarmedCopyLeavesADoubt(t *testing.T) {
	for name, harm := range harms() {
		dir := t.TempDir()
		text := written(t, dir)
		must(t, harm(filepath.Join(dir, "trust", "copy"), text))
		if readable(name) {
			continue
		}
		s, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), "nothing in it counts") || s.Doubt() == nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.Approved("/p", "/p/a.lua") != "" {
			t.Errorf("%s: approves", name)
		}
		if again, err := Open(dir); err == nil || again.Doubt() == nil {
			t.Errorf("%s: a look ends the doubt", name)
		}
		must(t, s.Change(always, approve("/p", "/p/b.lua", "b")))
		if s := open(t, dir); s.Approved("/p", "/p/b.lua") == "" || s.Approved("/p", "/p/a.lua") != "" {
			t.Errorf("%s: not written anew", name)
		}
	}
}

func TestAnInterruptedWriteIsNoHarm(t *testing.T) {
	dir := t.TempDir()
	before := written(t, dir)
	s := open(t, dir)
	must(t, s.Change(always, approve("/p", "/p/b.lua", "b")))
	must(t, os.WriteFile(s.Path(), []byte(before), 0o600)) // the copy is written first
	if s := open(t, dir); s.Approved("/p", "/p/b.lua") == "" || len(s.Marks()) > 0 {
		t.Errorf("store is %+v", s.data)
	}
	must(t, s.Change(always, approve("/p", "/p/c.lua", "c")))
	must(t, s.Change(always, approve("/p", "/p/d.lua", "d")))
	must(t, os.WriteFile(s.Path(), []byte(before), 0o600)) // two steps behind: somebody put it there
	if s, err := Open(dir); err == nil || s.Doubt() == nil {
		t.Errorf("an old file counts: %v", err)
	}
}

func TestAStoreThatIsGoneIsMissed(t *testing.T) {
	dir := t.TempDir()
	written(t, dir)
	must(t, errors.Join(os.Remove(filepath.Join(dir, "trust.json")), os.RemoveAll(filepath.Join(dir, "trust"))))
	if s, err := Open(dir); err == nil || s.Doubt() == nil {
		t.Errorf("nobody misses it: %v", err)
	}
	for name, want := range map[string]bool{"hooks": false, "locks": false, "trust/kept": false, "trust/window-1": true, "locks/trust.json.exists": true} {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		if s, err := Open(dir); (err != nil) != want || (s.Doubt() != nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFirstWriteThatCameToNothingIsNotMissed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.TestOnlyFails = errors.New("no space left")
	if _, err := s.Begin(Window{}, always, func(*Data) {}); err == nil {
		t.Fatal("the disk is full")
	}
	if s := open(t, dir); s.Doubt() != nil {
		t.Errorf("it is missed: %v", s.Doubt())
	}
}

// earlier is a store as version 1 wrote it.
func earlier(t *testing.T, dir string) string {
	t.Helper()
	sum := Sum([]byte("a"))
	text := fmt.Sprintf(`{"version": 1, "projects": {"/p": {"files": {"/p/a.lua": %q}}, "/q": {"never": true}},
		"pending": {"/h.lua": {"old": %q, "new": "", "since": "2026-01-02T03:04:05Z"}}}`, sum, sum)
	must(t, os.MkdirAll(filepath.Join(dir, "trust", "kept"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "trust.json"), []byte(text), 0o600))
	return text
}

func TestAStoreOfVersion1GoesOnToCount(t *testing.T) {
	dir := t.TempDir()
	text := earlier(t, dir)
	s := open(t, dir)
	must(t, s.Change(never, approve("/p", "/p/b.lua", "b")))
	again := open(t, dir)
	for _, s := range []*Store{s, again} {
		if s.Approved("/p", "/p/a.lua") == "" || s.Approved("/p", "/p/b.lua") == "" || !s.IsRefused("/q") || s.Marks()["/h.lua"].Old == "" || len(s.Marks()) != 1 {
			t.Errorf("store is %+v", s.data)
		}
	}
	must(t, os.WriteFile(again.Path(), []byte(text), 0o600)) // the copy is written first
	if s, err := Open(dir); err == nil && s.Approved("/p", "/p/b.lua") == "" {
		t.Error("an interrupted change is lost")
	}
}

func TestAStoreOfVersion1IsNotBelievedWhereThereWasALaterOne(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"there was one":     func(dir string) error { return os.MkdirAll(filepath.Join(dir, "locks", "trust.json.exists"), 0o700) },
		"there is a window": func(dir string) error { return os.WriteFile(filepath.Join(dir, "trust", "window-1"), nil, 0o600) },
		"others may write":  func(dir string) error { return os.Chmod(filepath.Join(dir, "trust.json"), 0o666) },
		"another version": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "trust.json"), []byte(`{"version": 3}`), 0o600)
		},
	} {
		dir := t.TempDir()
		earlier(t, dir)
		must(t, harm(dir))
		if s, err := Open(dir); err == nil || s.Doubt() == nil || s.Approved("/p", "/p/a.lua") != "" {
			t.Errorf("%s: it counts: %v", name, err)
		}
	}
}

func TestAStoreInAFolderOfOthersIsNotBelieved(t *testing.T) {
	dir := t.TempDir()
	written(t, dir)
	must(t, os.Chmod(dir, 0o777))
	if s, err := Open(dir); err == nil || s.Doubt() == nil || s.Approved("/p", "/p/a.lua") != "" {
		t.Errorf("it approves: %v", err)
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
			must(t, s.Change(always, approve("/p"+n, fmt.Sprintf("/p%s/%d.lua", n, i), n)))
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
	left, err := filepath.Glob(filepath.Join(dir, ".*-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAChangeThatMayNotCountIsPutBackAndMarked(t *testing.T) {
	dir := t.TempDir()
	mine, other := open(t, dir), open(t, dir)
	must(t, mine.Change(always, approve("/p", "/p/a.lua", "a")))
	must(t, other.Change(always, approve("/q", "/q/evil.lua", "evil")))
	if !mine.Look(never, true) {
		t.Fatal("nothing was noticed")
	}
	must(t, mine.Change(never, approve("/p", "/p/b.lua", "b")))
	if mine.Look(never, true) {
		t.Error("its own file is foreign to it")
	}
	s := open(t, dir)
	if s.Approved("/p", "/p/a.lua") == "" || s.Approved("/p", "/p/b.lua") == "" || s.Approved("/q", "/q/evil.lua") != "" {
		t.Errorf("store is %+v", s.data)
	}
	must(t, mine.Accept(mine.Marks()[mine.Path()].New, never, func(*Data) {})) // as the person said
	if s := open(t, dir); s.Approved("/q", "/q/evil.lua") == "" || s.Approved("/p", "/p/b.lua") == "" {
		t.Errorf("store is %+v", s.data)
	}
}

func TestNoToolKeepsAStoreFromBeingWritten(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"locked": func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
			if err == nil {
				err = lockFile(f)
				t.Cleanup(func() { f.Close() })
			}
			return err
		},
		"no lock": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "lock")), os.Mkdir(filepath.Join(dir, "lock"), 0o700))
		},
		"no directory": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"a link":       func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Symlink(t.TempDir(), dir)) },
		"forbidden":    func(dir string) error { return os.Chmod(dir, 0) },
		"no copies":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "kept"), nil, 0) },
	} {
		dir := t.TempDir()
		s := open(t, dir)
		must(t, s.Change(always, approve("/p", "/p/a.lua", "a")))
		if name == "no copies" {
			must(t, os.Remove(filepath.Join(s.Dir(), "kept")))
		}
		must(t, harm(s.Dir()))
		if err := s.Change(never, approve("/p", "/p/b.lua", "b")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s := open(t, dir); s.Approved("/p", "/p/a.lua") == "" || s.Approved("/p", "/p/b.lua") == "" {
			t.Errorf("%s: store is %+v", name, s.data)
		}
	}
}

func TestTheFolderOfAStoreTellsWhoWroteIt(t *testing.T) {
	d := folder{t.TempDir()}
	if r := d.examine(); r.err != nil || r.raw != nil {
		t.Fatalf("of a new person: %+v", r)
	}
	must(t, d.repair())
	unlock, err := d.lock()
	must(t, err)
	raw, err := d.encode(empty())
	must(t, err)
	must(t, d.replace(d.copyPath(), raw, false))
	must(t, d.replace(d.path(), raw, false))
	unlock()
	if r := d.examine(); r.err != nil || r.foreign || !d.isUntouched(raw) {
		t.Errorf("what was written: %+v", r)
	}
	must(t, os.WriteFile(d.path(), []byte("{}"), 0o600))
	if r := d.examine(); !r.foreign || !bytes.Equal(r.raw, raw) || d.isUntouched(raw) {
		t.Errorf("what somebody else wrote: %+v", r)
	}
	if err := d.checkNew(); err != nil {
		t.Errorf("missed without a witness: %v", err)
	}
	must(t, d.writeWitness())
	if d.checkNew() == nil {
		t.Error("not missed, though there is a witness")
	}
}

func TestKeptCopiesAreWhatTheyWere(t *testing.T) {
	s := open(t, t.TempDir())
	sum, err := s.Keep([]byte("code"))
	must(t, err)
	if code, err := s.disk.readCopy(sum); err != nil || string(code) != "code" {
		t.Errorf("got %q, %v", code, err)
	}
	must(t, os.WriteFile(s.disk.keptPath(sum), []byte("evil"), 0o600))
	if code, err := s.disk.readCopy(sum); err == nil {
		t.Errorf("got %q", code)
	}
	for _, sum := range []string{"", "../../x", Unreadable, strings.Repeat("0", 64)} {
		if _, err := s.disk.readCopy(sum); err == nil {
			t.Errorf("%q is there", sum)
		}
	}
}

// FuzzStore holds that what counts as a store is byte for byte what is written, and
// that what is shown of another one is understood whole or not at all.
func FuzzStore(f *testing.F) {
	d := empty()
	d.Project("/p").Files["/p/a"] = Sum(nil)
	d.Pending["/a"] = Mark{Old: Sum(nil), Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	d.Known.Files["/b"], d.Known.Dirs["/c"] = File{Sum: Unreadable}, "global"
	d.Windows["running-1"] = Window{Groups: []int{7}, Boot: "x"}
	raw, err := d.encode()
	must(f, err)
	for _, seed := range []string{"", "{}", `{"version":2}`, `{"version":2,"projects":{"/p":null}}`, "null", "[]", string(raw), string(raw) + " "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		foreign, foreignErr := parseForeign(raw)
		if foreignErr != nil && len(foreign.Projects)+len(foreign.Pending)+len(foreign.Known.Files)+len(foreign.Windows) > 0 {
			t.Errorf("%+v in spite of %v", foreign, foreignErr)
		}
		for dir, p := range foreign.Projects {
			for path, sum := range p.Files {
				if !filepath.IsAbs(dir) || !filepath.IsAbs(path) || len(sum) != 64 && sum != Unreadable {
					t.Errorf("approves %q %q %q", dir, path, sum)
				}
			}
		}
		d, err := parseData(raw)
		if err != nil {
			return
		}
		if again, err := d.encode(); err != nil || string(again) != string(raw) {
			t.Errorf("%s became %s, %v", raw, again, err)
		}
	})
}
