package record

import (
	"os"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/jsonlines"
	"pi/session/message"
)

// deltas is how many pieces the answer has that the benchmarks stream.
const deltas = 20_000

// BenchmarkDeltas streams an answer through the translator and the writer to a pipe, and
// beside it writes the same bytes: the difference is what the translator takes.
func BenchmarkDeltas(b *testing.B) {
	updates := make([]agent.Event, deltas)
	for i := range updates {
		updates[i] = agent.NewMessageUpdate(llm.Delta{Kind: llm.DeltaText, Text: "of the \"same\" ", Usage: &message.Usage{Input: 100}}, nil, nil)
	}
	stream := func(out func([]byte)) {
		t := NewTranslator(out)
		t.Handle(&agent.AgentStart{})
		t.Handle(&agent.TurnStart{})
		t.Handle(start())
		for _, e := range updates {
			t.Handle(e)
		}
	}
	var records [][]byte
	stream(func(record []byte) { records = append(records, append([]byte(nil), record...)) })
	b.Run("translated", func(b *testing.B) {
		measure(b, func(w *jsonlines.Writer) { stream(func(record []byte) { _ = w.WriteJSON(record) }) })
	})
	b.Run("written", func(b *testing.B) {
		measure(b, func(w *jsonlines.Writer) {
			for _, record := range records {
				_ = w.WriteJSON(record)
			}
		})
	})
}

// measure calls write with a writer to a pipe that is read.
func measure(b *testing.B, write func(*jsonlines.Writer)) {
	in, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for room := make([]byte, 64<<10); ; {
			if _, err := in.Read(room); err != nil {
				return
			}
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		w := jsonlines.NewWriter(out)
		write(w)
		if err := w.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
	_ = out.Close()
	<-read
	_ = in.Close()
}
