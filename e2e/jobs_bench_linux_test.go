package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkJobs has GNU parallel run a short task after the other, JOBS (8) at a time, with a model
// that needs no time: go test ./e2e -run NONE -bench Jobs -benchtime 2000x. Its figures are in docs/jobs.md.
func BenchmarkJobs(b *testing.B) {
	w := newWorld(b)
	s := newJobServer(b, b.N)
	close(s.goOn)
	w.write(w.agentFile("config.toml"), fmt.Sprintf(jobSettings, s.http.URL+"/v1"))
	for i := range b.N {
		w.write(filepath.Join(w.project, "prompts", fmt.Sprintf("task %d", i)), fmt.Sprintf("the prompt of number %d.", i))
	}
	run := w.job("parallel.sh", "prompts", "results")
	if jobs := os.Getenv("JOBS"); jobs != "" {
		run.Env = append(run.Env, "JOBS="+jobs)
	}
	done := make(chan struct{})
	memory := make(chan jobMemory)
	go func() { memory <- watchMemory(run.Env, done) }()
	began := time.Now()
	out, err := run.CombinedOutput()
	took := time.Since(began)
	close(done)
	of := <-memory
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	w.eachSessionIsItsOwn(b.N, "")
	times := joblogTimes(b, mustRead(b, filepath.Join(w.project, "results", "joblog")))
	b.ReportMetric(float64(b.N)/took.Seconds(), "tasks/s")
	b.ReportMetric(float64((run.ProcessState.UserTime()+run.ProcessState.SystemTime()).Milliseconds())/float64(b.N), "ms-cpu/task")
	b.ReportMetric(times[len(times)/2]*1000, "ms/median")
	b.ReportMetric(times[len(times)*99/100]*1000, "ms/p99")
	b.ReportMetric(times[len(times)-1]*1000, "ms/slowest")
	b.ReportMetric(float64(of.one)/1024, "MB/one")
	b.ReportMetric(float64(of.all)/1024, "MB/all")
	began = time.Now()
	if tasks, told, err := w.gather(); err != nil || len(tasks) != b.N {
		b.Errorf("%d tasks are gathered, told %q: %v", len(tasks), told, err)
	}
	b.ReportMetric(time.Since(began).Seconds(), "s/gather")
}

// joblogTimes are the seconds that each task took, in order.
func joblogTimes(b *testing.B, joblog string) (seconds []float64) {
	b.Helper()
	for line := range strings.Lines(joblog) {
		if fields := strings.Split(line, "\t"); len(fields) > 3 && fields[0] != "Seq" {
			s, err := strconv.ParseFloat(strings.TrimSpace(fields[3]), 64)
			if err != nil {
				b.Fatal(err)
			}
			seconds = append(seconds, s)
		}
	}
	if len(seconds) != b.N {
		b.Fatalf("%d tasks are in the log, want %d", len(seconds), b.N)
	}
	slices.SortFunc(seconds, cmp.Compare)
	return seconds
}

// jobMemory is the most that one program has had, and that all have had together, with what
// they share counted once; in kilobytes.
type jobMemory struct{ one, all int }

// watchMemory looks at the programs that env names as PI, until done is closed.
func watchMemory(env []string, done chan struct{}) (most jobMemory) {
	var pi string
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PI="); ok {
			pi = path
		}
	}
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		select {
		case <-done:
			tick.Stop()
			return most
		case <-tick.C:
		}
		processes, _ := filepath.Glob("/proc/[0-9]*")
		all := 0
		for _, p := range processes {
			if exe, err := os.Readlink(p + "/exe"); err != nil || exe != pi {
				continue
			}
			most.one = max(most.one, kilobytes(p+"/status", "VmHWM:"))
			all += kilobytes(p+"/smaps_rollup", "Pss:")
		}
		most.all = max(most.all, all)
	}
}

// kilobytes reads a field of a file of /proc; 0 if the process has ended.
func kilobytes(file, field string) int {
	b, _ := os.ReadFile(file)
	_, rest, _ := strings.Cut(string(b), "\n"+field)
	n := 0
	fmt.Sscan(rest, &n)
	return n
}
