package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// startChild starts this program in a role.
func startChild(t testing.TB, role ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "SESSION_TEST_CHILD="+strings.Join(role, "\t"))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, in, bufio.NewReader(out)
}

// victim is a child that appends until it is killed, and what it said it had
// appended.
type victim struct {
	path string
	ids  []string
}

// killed runs a child that appends to path, and kills it after some
// acknowledged entries, if it does not do so itself at the n-th time of a step.
func killed(t testing.TB, path, step string, n, after int, more time.Duration) victim {
	t.Helper()
	c, _, out := startChild(t, "append", path, step, fmt.Sprint(n))
	v := victim{path: path}
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			break // it is dead; what it said before is said
		}
		line = strings.TrimSpace(line)
		if file, ok := strings.CutPrefix(line, "file "); ok {
			v.path = file
		} else {
			v.ids = append(v.ids, line)
		}
		if len(v.ids) == after && after > 0 {
			for end := time.Now().Add(more); time.Now().Before(end); {
			}
			c.Process.Kill()
		}
	}
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() >= 0 {
		t.Fatalf("the child was not killed: %v", c.ProcessState)
	}
	return v
}

// hasAll fails if an acknowledged entry is missing or in another place, and if
// there is more than what the child may have been writing when it died.
func (v victim) hasAll(t testing.TB, before []string) {
	t.Helper()
	var have []string
	for _, e := range read(t, v.path).Entries() {
		have = append(have, e.ID)
	}
	want := append(slices.Clone(before), v.ids...)
	if len(have) < len(want) || !slices.Equal(have[:len(want)], want) {
		t.Fatalf("%d entries were acknowledged, of %d in the file:\n%q\nnot\n%q", len(want), len(have), have, want)
	}
	if most := 3; len(have) > len(want)+most {
		t.Fatalf("%d entries that were never acknowledged: %q", len(have)-len(want), have[len(want):])
	}
}

func ids(t testing.TB, path string) (ids []string) {
	t.Helper()
	for _, e := range read(t, path).Entries() {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestFaultWhatWasAcknowledgedSurvivesAKillAtAnyMoment(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	path := write(t, story("u1")...)
	for i := range times(15, 600) {
		if i%20 == 0 {
			path = write(t, story("u1")...)
		}
		before := ids(t, path)
		v := killed(t, path, "-", 0, 1+r.IntN(40), time.Duration(r.IntN(400))*time.Microsecond)
		v.hasAll(t, before)
		goesOn(t, path)
		if t.Failed() {
			t.Fatalf("run %d, seed %d", i, seed)
		}
	}
}

func TestFaultWhatWasAcknowledgedSurvivesAKillAtEachStep(t *testing.T) {
	for _, step := range []string{"before the write", "half", "written", "synced"} {
		path := write(t, story("u1")...)
		for i := range times(3, 50) {
			before := ids(t, path)
			v := killed(t, path, step, i%25, 0, 0)
			if i%25 > 0 && len(v.ids) == 0 {
				t.Fatalf("%s: nothing was acknowledged", step)
			}
			v.hasAll(t, before)
			goesOn(t, path)
		}
	}
}

func TestFaultAKillWhileTheFileIsMadeLosesNothing(t *testing.T) {
	for _, step := range []string{"made", "before the write", "half", "written"} {
		for range times(1, 25) {
			dir := t.TempDir()
			killed(t, dir, step, 0, 0, 0)
			files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%s: %q, %v", step, files, err)
			}
			if text := contents(t, files[0]); text != "" && !strings.Contains(text, "\n") {
				refusedAndLeft(t, files[0], text) // half a header is nobody's session
				continue
			}
			goesOn(t, files[0])
		}
	}
}

func refusedAndLeft(t testing.TB, path, text string) {
	t.Helper()
	if s, err := Open(path, Options{}); err == nil {
		s.Close()
		t.Error("a file without a whole header was opened")
	}
	if contents(t, path) != text {
		t.Error("the file has changed")
	}
}

func TestFaultAKillDuringAMigrationLosesNothing(t *testing.T) {
	for _, c := range []struct {
		step string
		nth  int
	}{
		{"backup made", 0}, {"half", 0}, {"made", 0}, {"before the write", 0}, {"half", 1}, {"written", 0},
		{"synced", 0}, {"new file complete", 0}, {"renamed", 0}, {"before the write", 1}, {"half", 2}, {"written", 1},
	} {
		t.Run(fmt.Sprint(c.step, c.nth), func(t *testing.T) {
			for range times(1, 12) {
				path := write(t, versionOne...)
				original := contents(t, path)
				v := killed(t, path, c.step, c.nth, 0, 0)
				survivesMigration(t, path, original, v.ids)
			}
		})
	}
}

func TestFaultAKillDuringACopyLeavesAllOfItOrNothingThatIsASession(t *testing.T) {
	path := write(t, story("u1 a2 u3 a4")...)
	for step, want := range map[string]int{"made": 0, "before the write": 0, "half": 0, "written": 0, "synced": 0, "renamed": 1} {
		dir := t.TempDir()
		c, _, _ := startChild(t, "copy", path, dir, step)
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() >= 0 {
			t.Fatalf("%s: the child was not killed: %v", step, c.ProcessState)
		}
		copies := sessionsIn(t, dir)
		if len(copies) != want {
			t.Fatalf("%s: %v", step, copies)
		}
		for _, path := range copies {
			if got := gist(read(t, path).Context()); got != "1 2 3 4" {
				t.Errorf("%s: the copy has %q", step, got)
			}
		}
	}
}

// sessionsIn returns the files below a folder that have the name and the header of a
// session.
func sessionsIn(t testing.TB, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		var not *NotSessionError
		if _, err := ReadHeader(path); errors.As(err, &not) {
			return nil
		} else if err != nil {
			return err
		}
		paths = append(paths, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// survivesMigration holds what is true of a file of version 1 whose first writer
// was killed, and of the same file after the next one.
func survivesMigration(t testing.TB, path, original string, acknowledged []string) {
	t.Helper()
	if contents(t, path) != original && !hasBackup(t, path, original) {
		t.Fatalf("the original is gone:\n%s", contents(t, path))
	}
	s := open(t, path, Options{})
	for _, id := range acknowledged {
		if s.Entry(id) == nil {
			t.Errorf("entry %s was acknowledged and is gone", id)
		}
	}
	say(t, s, "after")
	s.Close()
	got := gist(read(t, path).Context())
	if !strings.HasPrefix(got, "sum 3 5") || !strings.HasSuffix(got, "after") {
		t.Errorf("context %q", got)
	}
	if !hasBackup(t, path, original) {
		t.Error("no whole backup")
	}
}

func hasBackup(t testing.TB, path, original string) bool {
	t.Helper()
	backups, err := filepath.Glob(path + ".v1*.bak")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(backups, func(b string) bool { return contents(t, b) == original })
}
