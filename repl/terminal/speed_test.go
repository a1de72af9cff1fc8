//go:build unix

package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
)

// bench is a Terminal whose master counts bytes and tells when they come.
type bench struct {
	master *os.File
	term   *Terminal
	bytes  atomic.Int64
	came   chan struct{}
	mu     sync.Mutex
	line   string
}

func newBench(b *testing.B) *bench {
	b.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		b.Fatal(err)
	}
	if master, err = closable(master); err != nil {
		b.Fatal(err)
	}
	s := &bench{master: master, came: make(chan struct{}, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 64<<10)
		for {
			n, err := master.Read(buf)
			s.bytes.Add(int64(n))
			select {
			case s.came <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	s.term, err = Start(Config{In: tty, Out: tty, Getenv: func(string) string { return "linux" }, Handler: Handler{
		Key: func(k Key) {
			s.mu.Lock()
			if s.line += k.Text; len(s.line) > 60 {
				s.line = k.Text
			}
			s.mu.Unlock()
			s.term.Echo()
		},
		Zone: func(int, int) Zone {
			s.mu.Lock()
			defer s.mu.Unlock()
			return Zone{Rows: []string{"• bash go test ./...   12 s", strings.Repeat("status ", 10), "> " + s.line}, Row: 2, Column: 2 + len(s.line)}
		},
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		s.term.Close()
		tty.Close()
		master.Close()
		<-ended
	})
	s.term.Changed()
	s.term.Flush()
	time.Sleep(50 * time.Millisecond)
	return s
}

// drain forgets what came until now.
func (s *bench) drain() {
	select {
	case <-s.came:
	default:
	}
}

// BenchmarkEchoAtRest is from a key that is typed to its echo, and the bytes of that.
func BenchmarkEchoAtRest(b *testing.B) {
	s := newBench(b)
	before := s.bytes.Load()
	var took []time.Duration
	for b.Loop() {
		s.drain()
		began := time.Now()
		_, _ = io.WriteString(s.master, "x")
		<-s.came
		took = append(took, time.Since(began))
	}
	report(b, took)
	b.ReportMetric(float64(s.bytes.Load()-before)/float64(b.N), "bytes/key")
}

// BenchmarkEchoDuringRows is the same while 2,000 rows a second are printed. The echo
// is what turns the line into another, so it is waited for in the front end's own terms: the frame
// after the key is written.
func BenchmarkEchoDuringRows(b *testing.B) {
	s := newBench(b)
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-tick.C:
				s.term.Print(fmt.Sprint("row ", i, " of some text that is long enough"))
				s.term.Print(fmt.Sprint("row ", i, " of some text that is long enough"))
				s.term.Changed()
			case <-quit:
				return
			}
		}
	})
	var took []time.Duration
	for b.Loop() {
		s.mu.Lock()
		before := s.line
		s.mu.Unlock()
		began := time.Now()
		_, _ = io.WriteString(s.master, "x")
		for same := true; same; {
			time.Sleep(50 * time.Microsecond)
			s.mu.Lock()
			same = s.line == before
			s.mu.Unlock()
		}
		s.term.Flush()
		took = append(took, time.Since(began))
	}
	close(quit)
	done.Wait()
	report(b, took)
}

// BenchmarkPrint is 1,000 rows of 80 bytes with a zone below.
func BenchmarkPrint(b *testing.B) {
	s := newBench(b)
	row := strings.Repeat("word ", 16)
	for b.Loop() {
		for range 1000 {
			s.term.Print(row)
		}
		s.term.Flush()
	}
}

// report tells the slowest of all and of 99 in 100.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
}
