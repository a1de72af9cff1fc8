package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/luahooks/trust"
)

// packageOf makes a package of a test.
func packageOf(t *testing.T, name string, files map[string]string) *Package {
	t.Helper()
	var list []TreeFile
	for path, text := range files {
		list = append(list, TreeFile{Path: path, Code: []byte(text)})
	}
	tree, err := newTree(list)
	must(t, err)
	p, err := New(Fetched{Source: Source{Kind: Folder, Address: "/from/" + name}, Files: tree})
	must(t, err)
	return p
}

// storeIn is the store of an agent directory, as a program that starts has it.
func storeIn(t testing.TB, agentDir string) Store {
	t.Helper()
	guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: agentDir, Project: t.TempDir()})
	must(t, err)
	return Store{AgentDir: agentDir, Guard: guard}
}

// lock is the lock as it is on the disk.
func (s Store) lock(t *testing.T) Lock {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.AgentDir, trust.LockFile))
	if !errors.Is(err, os.ErrNotExist) {
		must(t, err)
	}
	lock, err := ParseLock(text)
	must(t, err)
	return lock
}

// put stages a package and puts it in place.
func (s Store) put(p *Package) error {
	staged, err := s.Stage(p)
	if err != nil {
		return err
	}
	defer staged.Close()
	return staged.Commit()
}

// state is what there is of a package, for a test: its files, those that are approved, and what the lock has.
func (s Store) state(t *testing.T, name string) (on, approved, locked map[string]string, left []string) {
	t.Helper()
	if tree, err := ReadFolder(s.Dir(name)); err == nil {
		on = tree.Sums()
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	lock := s.lock(t)
	left, _ = filepath.Glob(filepath.Join(s.packages(), ".*"))
	return on, s.Guard.ApprovedPackage(s.Dir(name)), lock.Packages[name].Files, left
}

func TestAPackageIsPutInPlaceReplacedAndRemoved(t *testing.T) {
	dir := t.TempDir()
	one := packageOf(t, "gate", map[string]string{"hooks/a.lua": "-- 1", "lib.lua": "return 1"})
	two := packageOf(t, "gate", map[string]string{"hooks/a.lua": "-- 2", "README": "x"})
	for _, p := range []*Package{one, two} {
		must(t, storeIn(t, dir).put(p))
		on, approved, locked, left := storeIn(t, dir).state(t, "gate")
		want := p.Files.Sums()
		if !mapsEqual(on, want) || !mapsEqual(approved, want) || !mapsEqual(locked, want) || len(left) > 0 {
			t.Errorf("on the disk %v, approved %v, locked %v, want %v; left %v", on, approved, locked, want, left)
		}
	}
	must(t, storeIn(t, dir).Remove("gate"))
	if on, approved, locked, left := storeIn(t, dir).state(t, "gate"); len(on)+len(approved)+len(locked)+len(left) > 0 {
		t.Errorf("after the removal: %v, %v, %v, %v", on, approved, locked, left)
	}
}

func mapsEqual(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func TestWhatItsTestsChangedIsNotPutInPlace(t *testing.T) {
	s := storeIn(t, t.TempDir())
	staged, err := s.Stage(packageOf(t, "gate", map[string]string{"hooks/a.lua": "-- 1"}))
	must(t, err)
	defer staged.Close()
	must(t, os.WriteFile(filepath.Join(staged.Dir, "hooks", "b.lua"), []byte("-- more"), 0o600))
	if err := staged.Commit(); err == nil || !strings.Contains(err.Error(), "was changed since it was shown") {
		t.Error(err)
	}
	if on, approved, _, _ := s.state(t, "gate"); len(on)+len(approved) > 0 {
		t.Errorf("%v, %v", on, approved)
	}
}

// killed is what a program does that is killed at a step; it is a program of its own.
type killed struct {
	Agent, Step, Remove string
	Files               map[string]string
}

// TestMain is the program that is killed, where a test starts it.
func TestMain(m *testing.M) {
	var k killed
	if text := os.Getenv("PI_TEST_KILLED"); text == "" {
		os.Exit(m.Run())
	} else if err := json.Unmarshal([]byte(text), &k); err != nil {
		panic(err)
	}
	guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: k.Agent, Project: os.TempDir()})
	s := Store{AgentDir: k.Agent, Guard: guard, testOnlyStep: func(step string) {
		if step == k.Step {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	}}
	if err == nil && k.Remove != "" {
		err = s.Remove(k.Remove)
	} else if err == nil {
		var list []TreeFile
		for path, text := range k.Files {
			list = append(list, TreeFile{Path: path, Code: []byte(text)})
		}
		tree, treeErr := newTree(list)
		p, newErr := New(Fetched{Source: Source{Kind: Folder, Address: "/from/gate"}, Files: tree})
		if err = errors.Join(treeErr, newErr); err == nil {
			err = s.put(p)
		}
	}
	fmt.Println("not killed:", err)
	os.Exit(0)
}

func (k killed) run(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(k)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PI_TEST_KILLED="+string(text))
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("step %s was not met: %s", k.Step, out)
	}
}

// Whenever the program is killed, the next one finds the old package whole or the new one whole: files, approvals and
// lock.
func TestKilledAtAnyStepThereIsTheOldPackageOrTheNewOne(t *testing.T) {
	before := map[string]string{"hooks/a.lua": "-- 1", "lib.lua": "return 1"}
	after := map[string]string{"hooks/a.lua": "-- 2", "README": "x"}
	sums := func(files map[string]string) map[string]string {
		if files == nil {
			return map[string]string{}
		}
		return packageOf(t, "gate", files).Files.Sums()
	}
	for _, tt := range []struct {
		name          string
		before, after map[string]string
		steps         []string // in their order; from decided on it is the new one
		decided       string
	}{
		{"add", nil, after, []string{"staged", "checked", "approved", "moved", "locked"}, "approved"},
		{"update", before, after, []string{"staged", "checked", "approved", "moved", "locked"}, "approved"},
		{"remove", before, nil, []string{"noted", "forgotten", "moved", "locked"}, "forgotten"},
	} {
		for i, step := range tt.steps {
			t.Run(tt.name+" "+step, func(t *testing.T) {
				dir := t.TempDir()
				if tt.before != nil {
					must(t, storeIn(t, dir).put(packageOf(t, "gate", tt.before)))
				}
				k := killed{Agent: dir, Step: step, Files: tt.after}
				if tt.after == nil {
					k.Remove = "gate"
				}
				k.run(t)
				want := sums(tt.before)
				if i >= slices.Index(tt.steps, tt.decided) {
					want = sums(tt.after)
				}
				s := storeIn(t, dir)
				must(t, s.Recover())
				on, approved, locked, left := s.state(t, "gate")
				if len(want) == 0 && len(on)+len(approved)+len(locked) > 0 || len(want) > 0 && !(mapsEqual(on, want) && mapsEqual(approved, want) && mapsEqual(locked, want)) {
					t.Errorf("on the disk %v, approved %v, locked %v, want %v", on, approved, locked, want)
				}
				if len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

// Two programs at one package at the same time leave what one of them wanted.
func TestOneAfterTheOtherChangesAPackage(t *testing.T) {
	dir := t.TempDir()
	must(t, storeIn(t, dir).put(packageOf(t, "gate", map[string]string{"init.lua": "-- 1"})))
	adds, removes := storeIn(t, dir), storeIn(t, dir)
	removed := make(chan error, 1)
	began := false
	adds.testOnlyStep = func(step string) {
		if step == "approved" {
			began = true
			go func() { removed <- removes.Remove("gate") }()
			select {
			case err := <-removed:
				t.Errorf("removed while it was put in place: %v", err)
				removed <- err
			case <-time.After(50 * time.Millisecond): // it waits
			}
		}
	}
	must(t, adds.put(packageOf(t, "gate", map[string]string{"init.lua": "-- 2"})))
	if must(t, <-removed); !began {
		t.Error("the package was not put in place")
	}
	if on, approved, locked, left := storeIn(t, dir).state(t, "gate"); len(on)+len(approved)+len(locked)+len(left) > 0 {
		t.Errorf("on the disk %v, approved %v, locked %v, left %v", on, approved, locked, left)
	}
}

func TestWhatAnotherProgramIsAtIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(t, dir)
	staged, err := s.Stage(packageOf(t, "gate", map[string]string{"hooks/a.lua": "-- 1"}))
	must(t, err)
	defer staged.Close()
	must(t, storeIn(t, dir).Recover())
	must(t, staged.Commit())
	if on, _, _, _ := s.state(t, "gate"); len(on) != 1 {
		t.Errorf("%v", on)
	}
}

// What somebody forged there has no effect: the store of approvals decides.
func TestAForgedNoteDoesNothing(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(t, dir)
	good := packageOf(t, "gate", map[string]string{"hooks/a.lua": "-- 1"})
	must(t, s.put(good))
	entry := entryOf(good)
	entry.Source = "/elsewhere/gate"
	evil := packageOf(t, "gate", map[string]string{"hooks/a.lua": "-- evil"})
	evilEntry := entryOf(evil)
	for name, n := range map[string]note{"another source": {"gate", &entry}, "other files": {"gate", &evilEntry}, "a removal": {"gate", nil}, "another place": {"../gate", nil}} {
		stage := filepath.Join(s.packages(), stagePrefix+"x")
		must(t, write(filepath.Join(stage, "gate"), evil.Files))
		text, err := json.Marshal(n)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(stage, noteName), text, 0o600))
		must(t, storeIn(t, dir).Recover())
		on, _, _, left := s.state(t, "gate")
		lock := s.lock(t)
		if !mapsEqual(on, good.Files.Sums()) || lock.Packages["gate"].Source != "/from/gate" || len(left) > 0 {
			t.Errorf("%s: %v, %+v, %v", name, on, lock.Packages["gate"], left)
		}
	}
}
