//go:build unix

package api

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sh runs a shell as pi.exec does.
func sh(t *testing.T, line string) (execResult, time.Duration) {
	t.Helper()
	began := time.Now()
	r, err := execCall{command: "sh", args: []string{"-c", line}, timeout: time.Minute, cwd: t.TempDir()}.run(t.Context(), func(group int) {
		t.Cleanup(func() { _ = syscall.Kill(-group, syscall.SIGKILL) })
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, time.Since(began)
}

func TestAChildThatIsLeftBehindIsNotWaitedFor(t *testing.T) {
	// What it wrote before it ended fills the pipes, and nobody else may read it
	// before the child holds them.
	r, took := sh(t, "sleep 600 & head -c 50000 /dev/zero | tr '\\0' x; echo problem >&2; exit 3")
	if r.code != 3 || len(r.stdout) != 50000 || r.stderr != "problem\n" || r.killed {
		t.Errorf("code %d, %d bytes, %q", r.code, len(r.stdout), r.stderr)
	}
	if took >= killAfter {
		t.Errorf("it took %s", took)
	}
	if r, took := sh(t, "yes & exit 0"); took >= killAfter || r.code != 0 {
		t.Errorf("a child that writes without end: %s, code %d", took, r.code)
	}
}

func TestAllThatAProgramWroteIsTaken(t *testing.T) {
	for range 50 {
		if r, _ := sh(t, "head -c 300000 /dev/zero | tr '\\0' x; echo end >&2"); len(r.stdout) != 300000 || r.stderr != "end\n" {
			t.Fatalf("%d bytes, %q", len(r.stdout), r.stderr)
		}
	}
	if r, _ := sh(t, "cat; echo $?"); strings.TrimSpace(r.stdout) != "0" { // nothing to read is an end, not a wait
		t.Errorf("without input: %q", r.stdout)
	}
}

func TestATapThatNobodyReadInTimeHasAllTheSame(t *testing.T) {
	// As if the reader had had no time: all is still in the pipe.
	var stream io.Writer
	stdout, err := newTap(&stream)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.close()
	_, err = stdout.w.WriteString(strings.Repeat("y", 60000))
	if err != nil {
		t.Fatal(err)
	}
	holder, err := syscall.Dup(int(stdout.w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(holder)
	stdout.drain()
	if n := stdout.kept.Len(); n != 60000 {
		t.Errorf("%d bytes", n)
	}
}

func TestOutputIsKeptUpToItsLimit(t *testing.T) {
	var c tap
	chunk := []byte(strings.Repeat("x", maxCapture/2+1))
	for range 3 {
		if n, err := c.Write(chunk); n != len(chunk) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if c.kept.Len() != maxCapture {
		t.Errorf("kept %d bytes", c.kept.Len())
	}
}

func TestProgramsRunInTheWorkingDirectoryWithTheirVariables(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	groups := 0
	l := newLab(t, func(l *lab) part {
		l.cwd = dir
		p := &programs{bridge: l.bridge, environ: func() []string { return []string{"OF_PROGRAM=1"} },
			started: func(context.Context) func(int) { return func(int) { groups++ } }}
		return part{"exec": p.exec}
	})
	l.want("12sub", `local r = api.exec("sh", { "-c", 'printf "$OF_PROGRAM$OF_HOOK"; basename "$PWD" | tr -d "\n"' }, { cwd = "sub", env = { OF_HOOK = "2" } }) return r.stdout`)
	l.want("true", `return select(2, api.exec("true", {}, { cwd = "none" })):find("cwd: ") ~= nil`)
	if groups != 1 {
		t.Errorf("%d groups were started", groups)
	}
}
