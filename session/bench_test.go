package session

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeLarge makes a session of about the given size.
func writeLarge(tb testing.TB, entries, size int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "large.jsonl")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, `{"type":"session","version":3,"id":"large","timestamp":"2025-01-02T03:04:05.006Z","cwd":"/w"}`)
	text := strings.Repeat(`func main() {\n\tfmt.Println(\"hello\")\n}\n`, size/entries/40)
	parent := "null"
	for i := range entries {
		body := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%s"}],"timestamp":%d}`, text, i)
		if i%2 == 1 {
			body = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"}],"api":"x","provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":%d}`, text, i)
		}
		fmt.Fprintf(w, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2025-01-02T03:04:05.006Z","message":%s}`+"\n", i, parent, body)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// readThrough reads a file into a buffer that is there already. The bar for
// opening is a multiple of it.
func readThrough(tb testing.TB, path string, buf []byte) time.Duration {
	tb.Helper()
	start := time.Now()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buf); err != nil {
		tb.Fatal(err)
	}
	return time.Since(start)
}

// BenchmarkResume opens sessions to the prompt and to the first request. The
// metric x/read says how many times longer than reading the file that takes.
func BenchmarkResume(b *testing.B) {
	for _, size := range []struct{ entries, bytes int }{{1000, 1 << 20}, {10000, 10 << 20}, {30000, 50 << 20}} {
		path := writeLarge(b, size.entries, size.bytes)
		b.Run(fmt.Sprintf("%dEntriesToPrompt", size.entries), func(b *testing.B) { resumeToPrompt(b, path, size.entries) })
		b.Run(fmt.Sprintf("%dEntriesToRequest", size.entries), func(b *testing.B) { resumeToRequest(b, path, size.entries) })
	}
	path := writeLarge(b, 30000, 50<<20)
	s := open(b, path, Options{})
	kept := s.Entries()[29900].ID
	if _, err := s.Append(TypeCompaction, Compaction{Summary: "all before", FirstKeptEntryID: kept}); err != nil {
		b.Fatal(err)
	}
	s.Close()
	b.Run("30000EntriesCompactedToRequest", func(b *testing.B) { resumeToRequest(b, path, 101) })
}

func resumeToPrompt(b *testing.B, path string, entries int) {
	benchmarkResume(b, path, func(s *Session) {
		if len(s.Branch()) != entries {
			b.Fatal("entries are missing")
		}
	})
}

func resumeToRequest(b *testing.B, path string, messages int) {
	benchmarkResume(b, path, func(s *Session) {
		if len(ForModel(s.Context())) != messages {
			b.Fatal("messages are missing")
		}
	})
}

func benchmarkResume(b *testing.B, path string, use func(*Session)) {
	b.ReportAllocs()
	buf := make([]byte, 1<<20)
	var reading time.Duration
	for b.Loop() {
		b.StopTimer()
		reading += readThrough(b, path, buf)
		b.StartTimer()
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, m := s.Model(); m != "m" {
			b.Fatal("no model")
		}
		use(s)
		s.Close()
		s.closeBodies()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(reading), "x/read")
}

func BenchmarkAppend(b *testing.B)       { benchmarkAppend(b, Options{}) }
func BenchmarkAppendSynced(b *testing.B) { benchmarkAppend(b, Options{SyncEach: true}) }

// benchmarkAppend is the time until an entry of about 1 KB is acknowledged.
func benchmarkAppend(b *testing.B, o Options) {
	o.Dir, o.Cwd = b.TempDir(), "/w"
	s := New(o)
	defer s.Close()
	m := user(strings.Repeat("text ", 200))
	for b.Loop() {
		if _, err := s.AppendMessage(m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite is what an append cannot be faster than.
func BenchmarkWrite(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := []byte(strings.Repeat("text ", 220))
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkContextOf10000Messages(b *testing.B) {
	s, err := Read(writeLarge(b, 10000, 10<<20))
	if err != nil {
		b.Fatal(err)
	}
	s.Context()
	b.ReportAllocs()
	for b.Loop() {
		if len(ForModel(s.Context())) != 10000 {
			b.Fatal("messages are missing")
		}
	}
}
