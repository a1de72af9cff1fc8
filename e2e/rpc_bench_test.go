//go:build unix

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkFirstAnswer measures from the start of the program to the first byte that it
// writes: the answer of get_state, and, right behind it, the answer of a model that needs no
// time, in print mode. Only the ratio means something.
func BenchmarkFirstAnswer(b *testing.B) {
	w := newWorld(b)
	m := newModelServer("openai-completions", strings.Repeat("text Hello.\n---\n", 5000)+"text Hello.", "")
	b.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	var served, printed []time.Duration
	var ratios []float64
	for b.Loop() {
		rpc := w.firstByte(b, `{"type":"get_state"}`+"\n", "--mode", "rpc", "--no-session")
		text := w.firstByte(b, "", "-p", "hello", "--no-session")
		served, printed = append(served, rpc), append(printed, text)
		ratios = append(ratios, float64(rpc)/float64(text))
	}
	slices.Sort(ratios)
	slices.Sort(printed)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(float64(printed[len(printed)/2].Microseconds())/1000, "ms/print")
	reportTimes(b, served)
}

// firstByte runs the program with an input and returns when it wrote the first byte.
func (w *world) firstByte(b *testing.B, input string, args ...string) time.Duration {
	b.Helper()
	cmd := w.command(args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	n, err := out.Read(make([]byte, 1))
	took := time.Since(began)
	if n == 0 {
		b.Fatalf("pi %q wrote nothing: %v", args, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return took
}
