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

	"pi/internal/safefile"
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

// harms are what may happen to the file; they are given what is there.
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

func TestNothingOfADamagedStoreCounts(t *testing.T) {
	for name, harm := range harms() {
		if name == "for nobody" && os.Geteuid() == 0 { // root reads it
			continue
		}
		dir := t.TempDir()
		text := written(t, dir)
		must(t, harm(filepath.Join(dir, "trust.json"), text))
		s, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), "nothing in it counts") || s.Damaged() == nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.Approved("/p", "/p/a.lua") != "" {
			t.Errorf("%s: approves", name)
		}
		if again, err := Open(dir); err == nil || again.Damaged() == nil {
			t.Errorf("%s: a look mends it", name)
		}
		must(t, s.Change(always, approve("/p", "/p/b.lua", "b")))
		if s := open(t, dir); s.Approved("/p", "/p/b.lua") == "" || s.Approved("/p", "/p/a.lua") != "" {
			t.Errorf("%s: not written anew", name)
		}
	}
}

func TestAStoreThatIsGoneIsMissed(t *testing.T) {
	dir := t.TempDir()
	written(t, dir)
	must(t, errors.Join(os.Remove(filepath.Join(dir, "trust.json")), os.RemoveAll(filepath.Join(dir, "trust"))))
	if s, err := Open(dir); err == nil || s.Damaged() == nil {
		t.Errorf("nobody misses it: %v", err)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "locks")))
	for name, want := range map[string]bool{"hooks": false, "locks": false, "trust/kept": false, "trust/kept/" + Sum(nil): true, "locks/trust.json.exists": true} {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		if s, err := Open(dir); (err != nil) != want || (s.Damaged() != nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "locks"), nil, 0o600)) // so that nobody can look there
	if s, err := Open(dir); err == nil || s.Damaged() == nil {
		t.Errorf("nobody misses it: %v", err)
	}
}

// TestAStoreThatIsBeingMadeIsNotMissed holds that nobody takes the first write of another program,
// which keeps bytes before the file is there, for the end of a store.
func TestAStoreThatIsBeingMadeIsNotMissed(t *testing.T) {
	for range 50 {
		dir := t.TempDir()
		s, began := open(t, dir), make(chan struct{})
		written := make(chan error)
		go func() {
			written <- s.Change(always, func(*Data) {
				_, err := s.Keep([]byte("code"))
				if err != nil {
					t.Error(err)
				}
				close(began)
			})
		}()
		<-began
		_, err := Open(dir)
		must(t, errors.Join(err, <-written))
	}
}

// TestAStoreThatWasMadeAndLostIsToldOf holds that a program which began before there was a store
// does not write one in the place of another program's that is gone, as if there had been none.
func TestAStoreThatWasMadeAndLostIsToldOf(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	written(t, dir)
	must(t, os.Remove(first.Path()))
	if !first.Look(always) {
		t.Error("nothing was noticed")
	}
	must(t, first.Change(always, approve("/q", "/q/a.lua", "a")))
	if _, marked := open(t, dir).Marks()[first.Path()]; !marked {
		t.Error("nobody is asked")
	}
}

func TestPruneKnowsWhatOthersWrote(t *testing.T) {
	dir := t.TempDir()
	mine, other := open(t, dir), open(t, dir)
	must(t, mine.Change(always, func(*Data) {}))
	old := time.Now().Add(-2 * pruneAge)
	sums := map[string]string{}
	for _, name := range []string{"needed", "left"} {
		sum, err := other.Keep([]byte(name))
		must(t, err)
		sums[name] = sum
		must(t, os.Chtimes(filepath.Join(other.keptDir(), sum), old, old))
	}
	window, err := other.Begin(Window{}, always, func(d *Data) { d.Pending["/a"] = Mark{Old: sums["needed"]} })
	must(t, err)
	must(t, os.Chtimes(window.path(), old, old))
	window.Abandon()
	mine.Prune()
	if _, err := other.kept(sums["needed"]); err != nil {
		t.Error(err)
	}
	if _, err := other.kept(sums["left"]); err == nil {
		t.Error("nobody needs it, and it is there")
	}
	if w := open(t, dir).OtherWindows(nil)[window.name]; w.lost {
		t.Error("the file of a window that was abandoned is gone")
	}
}

func TestAFirstWriteThatCameToNothingIsNotMissed(t *testing.T) {
	_, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
	g, err := NewGuard(o)
	must(t, err)
	g.Store().TestOnlyFails = errors.New("no space left")
	if g.OpenWindow(g.state.home.places(), nil, false) == nil {
		t.Fatal("the disk is full")
	}
	if s := open(t, o.AgentDir); s.Damaged() != nil {
		t.Errorf("it is missed: %v", s.Damaged())
	}
}

func TestAStoreOfVersion2GoesOnToCount(t *testing.T) {
	dir := t.TempDir()
	before := open(t, dir).data
	before.Version, before.Prev = 2, Sum(nil)
	approve("/p", "/p/a.lua", "a")(&before)
	before.Windows["running-1"] = Window{Groups: []int{7}, Boot: "x"}
	text, err := before.encode()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "trust.json"), text, 0o600))
	s := open(t, dir)
	must(t, s.Change(never, approve("/p", "/p/b.lua", "b")))
	for _, s := range []*Store{s, open(t, dir)} {
		if s.Approved("/p", "/p/a.lua") == "" || s.Approved("/p", "/p/b.lua") == "" || !s.isNamed("running-1") || len(s.Marks()) != 0 {
			t.Errorf("store is %+v", s.data)
		}
	}
	if after, err := os.ReadFile(s.Path()); err != nil || !strings.Contains(string(after), `"version": 3`) || strings.Contains(string(after), `"prev"`) {
		t.Errorf("written is %s, %v", after, err)
	}
	before.Version = 1 // of which one is asked
	text, err = before.encode()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "trust.json"), text, 0o600))
	if s, err := Open(dir); err == nil || s.Damaged() == nil || s.Approved("/p", "/p/a.lua") != "" {
		t.Errorf("version 1 counts: %v", err)
	}
}

func TestAStoreInAFolderOfOthersIsNotBelieved(t *testing.T) {
	dir := t.TempDir()
	written(t, dir)
	must(t, os.Chmod(dir, 0o777))
	if s, err := Open(dir); err == nil || s.Damaged() == nil || s.Approved("/p", "/p/a.lua") != "" {
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
	if !mine.Look(never) {
		t.Fatal("nothing was noticed")
	}
	must(t, mine.Change(never, approve("/p", "/p/b.lua", "b")))
	if mine.Look(never) {
		t.Error("its own file is foreign to it")
	}
	s := open(t, dir)
	if s.Approved("/p", "/p/a.lua") == "" || s.Approved("/p", "/p/b.lua") == "" || s.Approved("/q", "/q/evil.lua") != "" {
		t.Errorf("store is %+v", s.data)
	}
	must(t, mine.Change(never, func(d *Data) { d.approve(mine.approvalsIn(mine.data.Pending[mine.Path()].New)) })) // as the user said
	if s := open(t, dir); s.Approved("/q", "/q/evil.lua") == "" || s.Approved("/p", "/p/b.lua") == "" {
		t.Errorf("store is %+v", s.data)
	}
}

func TestAProgramThatSleptAndLostItsLockKeepsWhatOthersWrote(t *testing.T) {
	dir := t.TempDir()
	slow, other := open(t, dir), open(t, dir)
	slept := false
	must(t, slow.Change(always, func(d *Data) {
		if !slept { // as long as nobody waits for a lock: another program has removed it
			slept = true
			must(t, os.Remove(filepath.Join(dir, ".trust.json.lock")))
			must(t, other.Change(always, approve("/q", "/q/b.lua", "b")))
		}
		approve("/p", "/p/a.lua", "a")(d)
	}))
	if s := open(t, dir); s.Approved("/p", "/p/a.lua") == "" || s.Approved("/q", "/q/b.lua") == "" {
		t.Errorf("store is %+v", s.data)
	}
}

func TestNoToolKeepsAStoreFromBeingWritten(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"locked": func(dir string) error {
			unlock, err := safefile.LockPath(filepath.Join(filepath.Dir(dir), "trust.json"))
			if err == nil {
				t.Cleanup(unlock)
			}
			return err
		},
		"no lock": func(dir string) error {
			return os.MkdirAll(filepath.Join(filepath.Dir(dir), ".trust.json.lock", "x"), 0o700)
		},
		"a linked lock": func(dir string) error {
			return os.Symlink("trust.json", filepath.Join(filepath.Dir(dir), ".trust.json.lock"))
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
		if _, err := os.Lstat(filepath.Join(dir, ".trust.json.lock")); err == nil {
			t.Errorf("%s: nobody can lock it", name)
		}
	}
}

func TestKeptCopiesAreWhatTheyWere(t *testing.T) {
	s := open(t, t.TempDir())
	sum, err := s.Keep([]byte("code"))
	must(t, err)
	if code, err := s.kept(sum); err != nil || string(code) != "code" {
		t.Errorf("got %q, %v", code, err)
	}
	must(t, os.WriteFile(filepath.Join(s.keptDir(), sum), []byte("evil"), 0o600))
	if code, err := s.kept(sum); err == nil {
		t.Errorf("got %q", code)
	}
	for _, sum := range []string{"", "../../x", Unreadable, strings.Repeat("0", 64)} {
		if _, err := s.kept(sum); err == nil {
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
	for _, seed := range []string{"", "{}", `{"version":2}`, `{"version":3}`, `{"version":3,"projects":{"/p":null}}`, "null", "[]", string(raw), string(raw) + " "} {
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
		if err != nil || !bytes.HasPrefix(raw, []byte("{\n  \"version\": 3,")) || bytes.Contains(raw, []byte(`"prev"`)) {
			return // another version becomes this one
		}
		if again, err := d.encode(); err != nil || string(again) != string(raw) {
			t.Errorf("%s became %s, %v", raw, again, err)
		}
	})
}
