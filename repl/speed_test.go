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
	"pi/session/message"
)

// markdownSteps are 20,000 steps of an answer in Markdown.
func markdownSteps() (steps []string) {
	const document = "## A heading\n\nThe *quick* brown **fox** jumps over the `lazy` dog and says naïve things about 日本語, all day long.\n\n" +
		"- an item with [a link](https://example.com)\n- another\n\n```go\nfunc main() { println(1) }\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
	words := strings.SplitAfter(document, " ")
	for i := range 20000 {
		steps = append(steps, words[i%len(words)])
	}
	return steps
}

// BenchmarkAnswer shows a long answer in Markdown on a pseudo-terminal, with a live zone,
// and compares that with a loop that does nothing but one write per step.
func BenchmarkAnswer(b *testing.B) {
	steps := markdownSteps()
	var ours, bare time.Duration
	for b.Loop() {
		bare += onTerminal(b, func(tty *os.File) (end func()) {
			for _, step := range steps {
				if _, err := tty.WriteString(step); err != nil {
					b.Fatal(err)
				}
			}
			return func() {}
		})
		ours += onTerminal(b, func(tty *os.File) (end func()) {
			r := New(Options{In: tty, Out: tty, Background: "dark"})
			if err := r.user.begin(); err != nil {
				b.Fatal(err)
			}
			for _, step := range steps {
				_ = r.Handle(b.Context(), &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaText, Text: step}})
			}
			_ = r.Handle(b.Context(), &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant, StopReason: message.StopEnd}})
			r.user.term.Flush()
			return r.Close
		})
	}
	b.ReportMetric(float64(ours)/float64(bare), "×bare")
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms/answer")
}

// onTerminal runs write on a pseudo-terminal whose other end reads everything.
// What write returns is called when the time is taken.
func onTerminal(b *testing.B, write func(tty *os.File) (end func())) time.Duration {
	master, tty, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, master) // ends with an error when the terminal does
	}()
	start := time.Now()
	end := write(tty)
	took := time.Since(start)
	end()
	tty.Close()
	<-read
	master.Close()
	return took
}
