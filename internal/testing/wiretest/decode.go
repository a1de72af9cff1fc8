package wiretest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
)

// Decoding is a stream of many deltas, for benchmarks and tests of memory.
type Decoding struct {
	Client         func(*http.Client) llm.Provider
	API            string
	Begin, End     string  // the events around the deltas
	Name           string  // the event name of a delta; "" for none
	Delta          string  // the data of one
	AllocsPerDelta float64 // at most
	KeepsText      bool    // to hold it against what the server says at the end
}

const deltas = 20_000

func (d *Decoding) event() string {
	if d.Name == "" {
		return "data: " + d.Delta + "\n\n"
	}
	return "event: " + d.Name + "\ndata: " + d.Delta + "\n\n"
}

// run decodes a stream of n deltas and returns how many bytes of text it brought.
// atEnd is called when they have been decoded and the stream is not at its end.
func (d *Decoding) run(t testing.TB, n int, atEnd func()) (text int) {
	t.Helper()
	one := d.event()
	f := Folder{Status: http.StatusOK, Headers: map[string]string{"Content-Type": "text/event-stream"}}
	p := d.Client(f.Client(func() io.Reader {
		return io.MultiReader(strings.NewReader(d.Begin), &repeated{text: one, left: n}, emptyReader(atEnd), strings.NewReader(d.End))
	}))
	r := &llm.Request{Model: &llm.Model{Provider: "p", ID: "m", API: d.API, BaseURL: "http://model.test"}}
	for delta, err := range p.Stream(context.Background(), r) {
		if err != nil {
			t.Fatal(err)
		}
		text += len(delta.Text)
	}
	if text < n {
		t.Fatalf("%d bytes of text in %d deltas", text, n)
	}
	return text
}

// emptyReader is a reader without contents, which calls itself when it is read.
type emptyReader func()

func (atEnd emptyReader) Read([]byte) (int, error) {
	atEnd()
	return 0, io.EOF
}

// repeated reads as the same text many times.
type repeated struct {
	text string
	at   int
	left int
}

// Read fills p as far as the text, repeated, goes.
func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.left > 0 {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, r.at+c
		if r.at == len(r.text) {
			r.at, r.left = 0, r.left-1
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Benchmark measures how long it takes to decode 20,000 deltas, from the bytes of
// the stream to what the agent gets, as a multiple of the time in which the JSON of
// them is checked once.
func (d *Decoding) Benchmark(b *testing.B) {
	var decoding, checking time.Duration
	data := []byte(d.Delta)
	b.ReportAllocs()
	b.SetBytes(deltas * int64(len(d.event())))
	for b.Loop() {
		start := time.Now()
		d.run(b, deltas, func() {})
		decoding += time.Since(start)
		b.StopTimer()
		start = time.Now()
		for range deltas {
			if !json.Valid(data) {
				b.Fatal("a delta is no JSON")
			}
		}
		checking += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(decoding)/float64(checking), "x-check")
	b.ReportMetric(float64(decoding.Nanoseconds())/float64(b.N)/deltas, "ns/delta")
}

// Memory holds that a client keeps nothing of a delta once it has passed it on,
// and does not allocate more for each than what is in it asks for.
func (d *Decoding) Memory(t *testing.T) {
	t.Helper()
	d.run(t, 100, func() {})
	allocsOf := func(n int) float64 { return testing.AllocsPerRun(3, func() { d.run(t, n, func() {}) }) }
	allocs := allocsOf(2000) - allocsOf(1000)
	if allocs /= 1000; allocs > d.AllocsPerDelta {
		t.Errorf("%.1f allocations per delta; at most %.1f", allocs, d.AllocsPerDelta)
	}
	few, _ := d.kept(t, deltas/8)
	many, text := d.kept(t, 3*deltas)
	limit := int64(64 << 10)
	if d.KeepsText {
		limit += 2 * int64(text) // a buffer that grows
	}
	if kept := many - few; kept > limit {
		t.Errorf("%d bytes more are held in mid-stream after %d deltas than after %d; at most %d", kept, 3*deltas, deltas/8, limit)
	}
}

// kept returns how many bytes the heap has when n deltas have been decoded and the
// stream is not at its end, and how many bytes of text they brought.
func (d *Decoding) kept(t *testing.T, n int) (heap int64, text int) {
	t.Helper()
	var m runtime.MemStats
	text = d.run(t, n, func() {
		runtime.GC()
		runtime.ReadMemStats(&m)
	})
	return int64(m.HeapAlloc), text
}
