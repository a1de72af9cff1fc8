package jsonlines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines reads all lines of in; "!" stands for one that was too long.
func lines(t *testing.T, in io.Reader, limit int) []string {
	t.Helper()
	r := NewReader(in)
	r.limit = limit
	all := []string{}
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, ErrTooLong):
			all = append(all, "!")
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		default:
			all = append(all, string(line))
		}
	}
}

func TestLinesAreReadWhateverTheirShape(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", []string{}},
		{"two", "a\nb\n", []string{"a", "b"}},
		{"the last without an end", "a\nb", []string{"a", "b"}},
		{"blank ones", "\n\na\n \n", []string{"", "", "a", " "}},
		{"one CR before the LF is dropped", "a\r\nb\r\r\nc\rd\n", []string{"a", "b\r", "c\rd"}},
		{"a CR at the very end is data", "a\r", []string{"a\r"}},
		{"the mark at the start only", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}},
		{"the mark alone", "\ufeff", []string{""}},
		{"only LF separates", "a\u2028b\u2029c\u0085d\n", []string{"a\u2028b\u2029c\u0085d"}},
		{"no UTF-8", "a\xffb\n", []string{"a\ufffdb"}},
		{"as long as may be", "12345678\n12345678\r\n12345678", []string{"12345678", "12345678", "12345678"}},
		{"too long", "123456789\nok\n123456789\r\nok\n" + strings.Repeat("x", 300_000) + "\nok\n", []string{"!", "ok", "!", "ok", "!", "ok"}},
		{"too long without an end", "ok\n" + strings.Repeat("x", 300_000), []string{"ok", "!"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := 8
			if strings.Contains(c.name, "separates") {
				limit = 100
			}
			for kind, in := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "bytes": iotest.OneByteReader(strings.NewReader(c.in)),
				"halves": iotest.HalfReader(strings.NewReader(c.in)), "end with data": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				if got := lines(t, in, limit); !slices.Equal(got, c.want) {
					t.Errorf("%s: %q, want %q", kind, got, c.want)
				}
			}
		})
	}
}

func TestALineIsTheCallers(t *testing.T) {
	r := NewReader(strings.NewReader("one\ntwo\n"))
	first, _ := r.Next()
	_, _ = r.Next()
	if string(first) != "one" {
		t.Errorf("the first line became %q", first)
	}
}

func TestAnErrorOfReadingIsHandedOn(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if line, err := r.Next(); string(line) != "a" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	if line, err := r.Next(); line != nil || !errors.Is(err, broken) {
		t.Errorf("%q, %v", line, err)
	}
}

// FuzzLinesAreThoseOfANaiveReader compares the reader with the obvious one.
func FuzzLinesAreThoseOfANaiveReader(f *testing.F) {
	for _, text := range []string{"", "a\nb", "\r\n\n", "\ufeff\ufeff\n", "1234567890\n\r", "\xff\xfe\n", "\xef\xbb\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 10
		want := []string{}
		for i, line := range strings.SplitAfter(string(text), "\n") {
			if line == "" {
				continue
			}
			if whole, ended := strings.CutSuffix(line, "\n"); ended {
				line = strings.TrimSuffix(whole, "\r")
			}
			if len(line) > limit {
				want = append(want, "!")
				continue
			}
			if i == 0 {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			want = append(want, strings.ToValidUTF8(line, "\ufffd"))
		}
		if got := lines(t, iotest.HalfReader(bytes.NewReader(text)), limit); !slices.Equal(got, want) {
			t.Errorf("%q was read as %q, want %q", text, got, want)
		}
	})
}

// gate is an output that takes nothing before it is opened.
type gate struct {
	open  chan struct{}
	mu    sync.Mutex
	text  bytes.Buffer
	calls int
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	return g.text.Write(b)
}

func TestEachRecordIsOneLineAndOneWrite(t *testing.T) {
	g := newGate()
	close(g.open)
	w := NewWriter(g)
	for _, record := range []any{
		map[string]string{"a": "<b>&\u2028\u2029\n"}, json.RawMessage("{\"raw\":\n\r\n\"\u2028\"}"), "\xff", nil,
	} {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteJSON([]byte("[1,\n\"\u2029\xff\u2014\"]")); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(func() {}); err == nil {
		t.Error("a function was encoded")
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `{"a":"<b>&\u2028\u2029\n"}
{"raw":"\u2028"}
"\ufffd"
null
[1, "\u2029` + "\ufffd\u2014" + `"]
`
	if got := g.text.String(); got != want || g.calls != 5 {
		t.Errorf("%d writes of\n%s", g.calls, got)
	}
	if err := w.Write(1); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestRecordsOfManyWritersKeepTheirOrder(t *testing.T) {
	g := newGate()
	w := NewWriter(g)
	w.limit = 200
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for j := range 100 {
				if err := w.Write([]int{i, j}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(g.open)
	writers.Wait()
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := make([]int, 8)
	for _, line := range lines(t, &g.text, MaxLine) {
		var record [2]int
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if next[record[0]] != record[1] {
			t.Fatalf("record %v is not at its place", record)
		}
		next[record[0]]++
	}
	if want := slices.Repeat([]int{100}, 8); !slices.Equal(next, want) {
		t.Errorf("records of each: %v", next)
	}
}

func TestWhoWritesWaitsWhileTheOtherProgramReadsNothing(t *testing.T) {
	g := newGate()
	w := NewWriter(g)
	w.limit = 30
	put := make(chan int)
	go func() {
		defer close(put)
		for i := range 100 {
			if err := w.WriteJSON(fmt.Appendf(nil, "%09d", i)); err != nil {
				t.Error(err)
			}
			put <- i
		}
	}()
	for range 3 {
		<-put
	}
	w.mu.Lock()
	held := len(w.waiting) + w.writing
	w.mu.Unlock()
	if held != 30 {
		t.Errorf("%d bytes wait", held)
	}
	select {
	case <-put:
		t.Error("a fourth record was taken")
	default:
	}
	close(g.open)
	for range put {
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(g.text.Bytes(), []byte("\n")); n != 100 {
		t.Errorf("%d records were written", n)
	}
}

func TestARecordOfAnySizeFits(t *testing.T) {
	g := newGate()
	close(g.open)
	w := NewWriter(g)
	w.limit = 10
	long := strings.Repeat("x", 100)
	for range 3 {
		if err := w.Write(long); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g.text.Len() != 3*len("\"\"\n")+300 {
		t.Errorf("%d bytes", g.text.Len())
	}
}

func TestABrokenPipeIsKnownToAll(t *testing.T) {
	in, out := io.Pipe()
	w := NewWriter(out)
	w.limit = 10
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for w.Write("12345678") == nil {
			}
		})
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	<-w.Broken()
	writers.Wait()
	if err := w.Err(); !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("%v", err)
	}
	if err := w.Close(t.Context()); !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("%v", err)
	}
}

func TestAnotherErrorOfWritingIsNamed(t *testing.T) {
	w := NewWriter(failing{})
	_ = w.Write(1)
	<-w.Broken()
	if err := w.Flush(t.Context()); err == nil || err.Error() != "write a record: the disk is full" {
		t.Errorf("%v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestTheEndDoesNotWaitForAReaderForever(t *testing.T) {
	g := newGate()
	w := NewWriter(g)
	w.limit = 3
	if err := w.Write(1); err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() { waits <- w.Write(22222) }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	close(g.open)
	<-w.ended
}

func BenchmarkWrite(b *testing.B) {
	w := NewWriter(io.Discard)
	record := []byte(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"word "}}`)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.WriteJSON(record); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReadLongLine(b *testing.B) {
	for _, size := range []int{1 << 20, 16 << 20, 100 << 20} {
		b.Run(fmt.Sprint(size>>20, "MiB"), func(b *testing.B) {
			text := append(bytes.Repeat([]byte("x"), size), '\n')
			b.SetBytes(int64(size))
			for b.Loop() {
				if line, err := NewReader(bytes.NewReader(text)).Next(); len(line) != size || err != nil {
					b.Fatal(len(line), err)
				}
			}
		})
	}
}
