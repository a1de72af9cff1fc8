//go:build unix

package repl

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"pi/agent"
	"pi/agent/llm"
)

// answerSteps are the steps of a long answer.
func answerSteps() (steps []string) {
	words := strings.Fields("The quick brown fox jumps over the lazy dog and says naïve things about it,\n all day long.")
	for i := range 20000 {
		steps = append(steps, words[i%len(words)]+" ")
	}
	return steps
}

// BenchmarkAnswer shows a long answer on a pseudo-terminal and compares that
// with a loop that does nothing but one write per step.
func BenchmarkAnswer(b *testing.B) {
	steps := answerSteps()
	var ours, bare time.Duration
	for b.Loop() {
		bare += onTerminal(b, func(tty *os.File) {
			for _, step := range steps {
				if _, err := tty.WriteString(step); err != nil {
					b.Fatal(err)
				}
			}
		})
		ours += onTerminal(b, func(tty *os.File) {
			r := New(Options{In: tty, Out: tty})
			for _, step := range steps {
				if err := r.Handle(b.Context(), &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaText, Text: step}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.ReportMetric(float64(ours)/float64(bare), "×bare")
}

// onTerminal runs write on a pseudo-terminal whose other end reads everything.
func onTerminal(b *testing.B, write func(tty *os.File)) time.Duration {
	master, tty, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, master) // ends with an error when the terminal does
	}()
	start := time.Now()
	write(tty)
	took := time.Since(start)
	tty.Close()
	<-read
	master.Close()
	return took
}
