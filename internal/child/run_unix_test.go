//go:build unix

package child

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

const mib = 1 << 20

// shell is a call of a shell.
func shell(t *testing.T, line string) Call {
	return Call{Command: Command{Name: "sh", Args: []string{"-c", line}, Dir: t.TempDir(), Env: os.Environ(), Starting: func() func(int) {
		return func(group int) { t.Cleanup(func() { _ = syscall.Kill(-group, syscall.SIGKILL) }) }
	}}, Timeout: time.Minute, Max: mib}
}

func run(t *testing.T, call Call) (Result, time.Duration) {
	t.Helper()
	began := time.Now()
	r, err := Run(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return r, time.Since(began)
}

func TestAChildThatIsLeftBehindIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	// What it wrote before it ended fills the pipes, and nobody else may read it
	// before the child holds them.
	r, took := run(t, shell(t, "sleep 600 & head -c 50000 /dev/zero | tr '\\0' x; echo problem >&2; exit 3"))
	if r.Code != 3 || len(r.Stdout) != 50000 || r.Stderr != "problem\n" || r.Killed {
		t.Errorf("code %d, %d bytes, %q", r.Code, len(r.Stdout), r.Stderr)
	}
	if took >= killAfter {
		t.Errorf("it took %s", took)
	}
	if r, took := run(t, shell(t, "yes & exit 0")); took >= killAfter || r.Code != 0 {
		t.Errorf("a child that writes without end: %s, code %d", took, r.Code)
	}
}

func TestAllThatAProgramWroteIsTaken(t *testing.T) {
	t.Parallel()
	for range 50 {
		if r, _ := run(t, shell(t, "head -c 300000 /dev/zero | tr '\\0' x; echo end >&2")); len(r.Stdout) != 300000 || r.Stderr != "end\n" || r.Truncated {
			t.Fatalf("%d bytes, %q", len(r.Stdout), r.Stderr)
		}
	}
	if r, _ := run(t, shell(t, "cat; echo $?")); strings.TrimSpace(r.Stdout) != "0" { // nothing to read is an end, not a wait
		t.Errorf("without input: %q", r.Stdout)
	}
	call := shell(t, "cat")
	call.Stdin = strings.Repeat("in", 100000)
	if r, _ := run(t, call); r.Stdout != call.Stdin {
		t.Errorf("of %d bytes %d came back", len(call.Stdin), len(r.Stdout))
	}
	call = shell(t, "exit 4")
	call.Stdin = strings.Repeat("in", 100000) // more than a pipe has room for
	if r, _ := run(t, call); r.Code != 4 {
		t.Errorf("input that nobody reads: %+v", r)
	}
}

func TestAStreamThatNobodyReadInTimeHasAllTheSame(t *testing.T) {
	t.Parallel()
	// As if the reader had had no time: all is still in the pipe.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := io.WriteString(w, strings.Repeat("y", 60000)); err != nil {
		t.Fatal(err)
	}
	s := &Stream{r: r}
	if n := len(s.drain()); n != 60000 {
		t.Errorf("%d bytes", n)
	}
}

func TestOutputIsStoredUpToItsLimit(t *testing.T) {
	t.Parallel()
	for max, want := range map[int]Result{
		0:  {Stdout: "", Stderr: "", Truncated: true},
		3:  {Stdout: "out", Stderr: "er", Truncated: true},
		12: {Stdout: "output", Stderr: "er", Truncated: false},
	} {
		call := shell(t, "printf output; printf er >&2")
		call.Max = max
		if r, _ := run(t, call); r != want {
			t.Errorf("%d bytes: %+v, want %+v", max, r, want)
		}
	}
}

func TestOutputIsPassedOnAsItIsWritten(t *testing.T) {
	t.Parallel()
	call := shell(t, "echo one; read go; echo two >&2; read go; echo three; read never")
	var got []string
	call.Output = func(ctx context.Context, text string, ofStderr bool) (Answer, error) {
		if ofStderr {
			text = "err " + text
		}
		got = append(got, text)
		return Taken, nil
	}
	call.Stdin = "\n\n"
	if r, _ := run(t, call); r.Stdout != "one\nthree\n" || r.Stderr != "two\n" {
		t.Errorf("stored %+v", r)
	}
	if all := strings.Join(got, ""); !strings.Contains(all, "one\n") || !strings.Contains(all, "err two\n") || !strings.Contains(all, "three\n") {
		t.Errorf("passed on %q", got)
	}

	call = shell(t, "trap 'echo pipe >&2; exit 5' PIPE; while :; do echo more; done")
	call.Output = func(context.Context, string, bool) (Answer, error) { return Enough, nil }
	if r, _ := run(t, call); !r.Truncated || r.Killed {
		t.Errorf("enough: %+v", r)
	}

	failed := errors.New("boom")
	call = shell(t, "echo x; sleep 600")
	call.Output = func(context.Context, string, bool) (Answer, error) { return Taken, failed }
	if _, err := Run(t.Context(), call); !errors.Is(err, failed) {
		t.Errorf("a failed callback: %v", err)
	}
}

func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		line, signal string
	}{
		"it ends":          {"echo begun; exec sleep 600", "TERM"},
		"it has to be":     {"trap '' TERM; echo begun; while :; do sleep 0.01; done", "KILL"},
		"it ends in order": {"trap 'echo bye; exit 7' TERM; echo begun; while :; do sleep 0.01; done", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			call := shell(t, test.line)
			call.Output = func(context.Context, string, bool) (Answer, error) { cancel(); return Taken, nil }
			r, err := Run(ctx, call)
			if err != nil || !r.Killed || r.Signal != test.signal || (r.Code == -1) != (test.signal != "") || !strings.HasPrefix(r.Stdout, "begun\n") {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	call := shell(t, "sleep 600")
	call.Timeout = time.Millisecond
	if r, _ := run(t, call); !r.Killed {
		t.Errorf("timeout: %+v", r)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ended, call); err == nil || err.Error() != "start sh: interrupted" {
		t.Errorf("after the end: %v", err)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := dir + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		command Command
		want    string
	}{
		{Command{Name: "no-such-program-here"}, `start no-such-program-here: exec: "no-such-program-here": executable file not found in $PATH`},
		{Command{Name: "true", Dir: dir + "/none"}, "start true: cwd: stat " + dir + "/none: no such file or directory"},
		{Command{Name: "true", Dir: file}, "start true: cwd: " + file + " is no directory"},
	} {
		if _, err := Start(test.command); err == nil || err.Error() != test.want {
			t.Errorf("%v: %v", test.command, err)
		}
	}
}

// TestAProgramIsAnnouncedBeforeItRuns holds that nothing of a program runs before Starting was
// called, and that what that returns is told of each that was announced.
func TestAProgramIsAnnouncedBeforeItRuns(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"cat announced": "group", "no shell": "none"} {
		call := shell(t, line)
		if want == "none" {
			call.Name = "no-such-program-here"
		}
		told := ""
		call.Starting = func() func(int) {
			if err := os.WriteFile(call.Dir+"/announced", []byte("before"), 0o600); err != nil {
				t.Error(err)
			}
			return func(group int) {
				told += "group"
				if group == 0 {
					told = "none"
				}
			}
		}
		r, err := Run(t.Context(), call)
		if told != want || (err == nil) != (want == "group") || err == nil && r.Stdout != "before" {
			t.Errorf("%s: told of %q; %+v, %v", line, told, r, err)
		}
	}
}
