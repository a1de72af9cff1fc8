//go:build unix

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pi/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBashTellsTheEndAsWhatItIs(t *testing.T) {
	b := newHarness(t, Options{Grace: 50 * time.Millisecond})
	for command, c := range map[string]struct {
		timeout float64
		text    string
		details string
		failed  bool
	}{
		"echo out":                    {text: "out\n", details: `{"exitCode":0}`},
		"true":                        {text: "(no output)", details: `{"exitCode":0}`},
		"echo x; exit 3":              {text: "x\n\n[exit code 3]", details: `{"exitCode":3}`, failed: true},
		"no-such-program 2>/dev/null": {text: "(no output)\n\n[exit code 127]", details: `{"exitCode":127}`, failed: true},
		"echo x; kill -SEGV $$":       {text: "x\n\n[killed by SIGSEGV]", details: `{}`, failed: true},
		"echo x; sleep 60": {timeout: 0.2, details: `{}`, failed: true,
			text: "x\n\n[timed out after 0.2 s and was stopped; give a longer timeout, or run it in the background with its output in a file]"},
	} {
		r := b.run("bash", args{"command": command, "timeout": c.timeout})
		equal(t, textOf(r), c.text)
		equal(t, string(r.Details), c.details)
		if r.IsError != c.failed {
			t.Errorf("%s: is_error is %v", command, r.IsError)
		}
	}
	b.refused("bash", args{"command": " "}, "the command is empty")
	b.refused("bash", args{"command": "true", "timeout": -1}, "give a positive number")
}

func TestBashRunsBashInTheWorkingDirectoryWithoutInput(t *testing.T) {
	b := newHarness(t, Options{})
	equal(t, b.text("bash", args{"command": `pwd; echo "$PWD"; [[ -n $BASH_VERSION ]] && echo bash; cat; echo end`}),
		b.dir+"\n"+b.dir+"\nbash\nend\n")
	equal(t, b.text("bash", args{"command": "echo 1; echo 2 >&2; echo 3; echo 4 >&2"}), "1\n2\n3\n4\n")
}

func TestBashFallsBackToShAndTakesAConfiguredShell(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"sh", "mine"} {
		script := "#!/bin/sh\necho this is " + name + ": $2\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	equal(t, newHarness(t, Options{}).text("bash", args{"command": "x"}), "this is sh: x\n")
	equal(t, newHarness(t, Options{Shell: "mine"}).text("bash", args{"command": "x"}), "this is mine: x\n")
	newHarness(t, Options{Shell: "none"}).refused("bash", args{"command": "x"}, "the configured shell", "none")
	t.Setenv("PATH", t.TempDir())
	newHarness(t, Options{}).refused("bash", args{"command": "x"}, "neither bash nor sh is installed")
}

func TestBashEnvironment(t *testing.T) {
	t.Setenv("PI_MODEL", "old")
	t.Setenv("KEPT", "kept")
	b := newHarness(t, Options{Env: func() []string { return []string{"PI_SESSION_ID=s1", "PI_MODEL=new"} }})
	equal(t, b.text("bash", args{"command": `echo "$PI_SESSION_ID $PI_MODEL $KEPT"`}), "s1 new kept\n")
}

func TestBashKeepsTheTailWithTrueLineNumbersAndAllInAFile(t *testing.T) {
	temp := t.TempDir()
	b := newHarness(t, Options{TempDir: temp})
	r := b.run("bash", args{"command": "seq 1 5000"})
	d := details[bashDetails](t, r)
	if *d.Truncation != (Truncation{Truncated: true, TotalLines: 5000, OutputLines: 2000}) {
		t.Errorf("truncation %+v", *d.Truncation)
	}
	text := textOf(r)
	if !strings.HasPrefix(text, "3001\n") || !strings.HasSuffix(text, "\n5000\n\n[lines 3001-5000 of 5000; all of it: "+d.FullOutputPath+"]") {
		t.Errorf("text: %.40q … %q", text, text[len(text)-120:])
	}
	all, err := os.ReadFile(d.FullOutputPath)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(all), "\n"); n != 5000 || !strings.HasPrefix(string(all), "1\n2\n") {
		t.Errorf("the file has %d lines", n)
	}
	info, err := os.Stat(d.FullOutputPath)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, info.Mode().String(), "-rw-------")

	// By bytes: whole lines, and their numbers are those of the file.
	text = textOf(b.run("bash", args{"command": `for i in $(seq 1 1000); do printf 'n%d %0200d\n' $i 0; done`}))
	var first, last, total int
	notice := text[strings.LastIndex(text, "[lines"):]
	if _, err := fmt.Sscanf(notice, "[lines %d-%d of %d;", &first, &last, &total); err != nil {
		t.Fatalf("%v: %q", err, notice)
	}
	if !strings.HasPrefix(text, fmt.Sprintf("n%d ", first)) || last != 1000 || total != 1000 || len(text) > maxBytes+300 {
		t.Errorf("%d-%d of %d, %d bytes, begins %.10q", first, last, total, len(text), text)
	}
}

func TestBashCutsALineThatIsTooLong(t *testing.T) {
	b := newHarness(t, Options{})
	text := b.text("bash", args{"command": `echo first; printf '%060000d' 7`})
	if !strings.Contains(text, "7\n\n[only the last 50.0 KiB of line 2, the last one; all of it: ") {
		t.Errorf("ends %q", text[len(text)-200:])
	}
}

func TestBashLeavesNoFileForShortOutput(t *testing.T) {
	temp := t.TempDir()
	b := newHarness(t, Options{TempDir: temp})
	r := b.run("bash", args{"command": "seq 1 2000"})
	equal(t, string(r.Details), `{"exitCode":0}`)
	if entries, _ := os.ReadDir(temp); len(entries) != 0 {
		t.Errorf("files: %v", entries)
	}
}

func TestBashSaysSoWhenTheFileCannotBeHad(t *testing.T) {
	b := newHarness(t, Options{TempDir: filepath.Join(t.TempDir(), "missing")})
	r := b.run("bash", args{"command": "seq 1 3000"})
	if d := details[bashDetails](t, r); d.FullOutputPath != "" {
		t.Errorf("a path that is not real: %s", d.FullOutputPath)
	}
	if text := textOf(r); !strings.Contains(text, "[lines 1001-3000 of 3000; the rest is lost: ") {
		t.Errorf("ends %q", text[len(text)-200:])
	}
}

func TestBashIsNotHeldByABackgroundChild(t *testing.T) {
	b := newHarness(t, Options{})
	began := time.Now()
	text := b.text("bash", args{"command": "sleep 30 & echo $!"})
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("held for %v", d)
	}
	first, rest, _ := strings.Cut(text, "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if !strings.Contains(rest, "a process in the background still holds the output") {
		t.Errorf("not told: %q", text)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the child did not live on: %v", err)
	}
}

func TestABackgroundChildMayGoOnWriting(t *testing.T) {
	b := newHarness(t, Options{})
	fifo := filepath.Join(b.dir, "done")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(b.dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The child waits until the tool has returned, writes to the pipe that the
	// tool read, and tells whether it could.
	b.run("bash", args{"command": `(read x <go; echo line && echo alive >done || echo broken >done) & echo started`})
	if err := os.WriteFile(filepath.Join(b.dir, "go"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile(fifo)
		got <- string(data)
	}()
	select {
	case s := <-got:
		equal(t, s, "alive\n")
	case <-time.After(5 * time.Second):
		f, _ := os.OpenFile(fifo, os.O_WRONLY, 0)
		f.Close()
		t.Error("the child was ended by its own output")
	}
}

func TestBashReportsAllItsOutputSoFarAndNothingAtFirst(t *testing.T) {
	b := newHarness(t, Options{})
	fifo := filepath.Join(b.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	input, _ := json.Marshal(args{"command": "echo one; cat fifo; echo three"})
	var texts []string
	_, err := b.tools["bash"].Run(t.Context(), input, func(r agent.Result) {
		if texts = append(texts, textOf(r)); textOf(r) == "one\n" {
			go os.WriteFile(fifo, []byte("two\n"), 0) // waits for the reader
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 3 || texts[0] != "" || texts[1] != "one\n" || texts[len(texts)-1] != "one\ntwo\nthree\n" {
		t.Errorf("reports %q", texts)
	}
}

func TestCancellingEndsTheWholeGroup(t *testing.T) {
	for name, command := range map[string]string{
		"that ends when asked":    `sleep 60 & echo $!; wait`,
		"that does not":           `bash -c 'trap "" TERM; echo $$; while :; do sleep 0.05; done' & trap "" TERM; wait`,
		"whose output is away":    `bash -c 'trap "" TERM; echo $$; exec >/dev/null 2>&1; while :; do sleep 0.05; done' & wait`,
		"of which one is stopped": `bash -c 'echo $$; kill -STOP $$; sleep 60' & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, Options{Grace: 100 * time.Millisecond})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			input, _ := json.Marshal(args{"command": command})
			r, err := b.tools["bash"].Run(ctx, input, func(r agent.Result) {
				if strings.Contains(textOf(r), "\n") {
					cancel()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(textOf(r), "\n")
			equal(t, rest, "\n[cancelled]")
			if !r.IsError {
				t.Error("not an error")
			}
			pid, err := strconv.Atoi(first)
			if err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				syscall.Kill(pid, syscall.SIGKILL)
				t.Error("a process of the group lives on")
			}
		})
	}
}

// alive waits a little for a process that was killed to be gone; one that only
// waits to be collected is gone.
func alive(pid int) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return false
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && regexp.MustCompile(`\) Z `).Match(stat) {
			return false
		}
	}
	return true
}

func TestADeadlineFromOutsideIsNotTheToolsOwn(t *testing.T) {
	b := newHarness(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := b.tools["bash"].Run(ctx, json.RawMessage(`{"command":"sleep 60","timeout":50}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, textOf(r), "(no output)\n\n[stopped: the time limit of the whole run was reached]")
}

func TestOutputIsReportedLiveInOrderAndWhole(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	reports, opened := 0, false
	out, err := RunShell(t.Context(), Options{Cwd: dir}, `printf 'a\303'; read x <go; printf '\251b\n'; seq 1 3000`, func(text string) {
		reports++
		said.WriteString(text)
		if !opened && said.String() == "a" { // the command waits for this: the report came live
			opened = true
			if err := os.WriteFile(filepath.Join(dir, "go"), []byte("x\n"), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(out.FullOutputPath)
	var want strings.Builder
	want.WriteString("aéb\n")
	for i := range 3000 {
		fmt.Fprintln(&want, i+1)
	}
	equal(t, said.String(), want.String())
	if !out.Ok() || reports > 50 {
		t.Errorf("outcome %+v after %d reports", out.ExitCode, reports)
	}
}

func TestControlSequencesDoNotReachTheModel(t *testing.T) {
	b := newHarness(t, Options{})
	equal(t, b.text("bash", args{"command": `printf '\033[1;31mred\033[0m \033]0;title\007x\0y\tz\r\n\377\n'`}), "red xy\tz\n\uFFFD\n")
}
