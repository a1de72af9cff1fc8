package session

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// The bar for resume is a multiple of reading the same file into a buffer that
// is there already.
func BenchmarkReadFile(b *testing.B) {
	path := writeLarge(b, 30000, 50<<20)
	buf := make([]byte, 1<<20)
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buf)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
		f.Close()
	}
}

func BenchmarkResume50MB(b *testing.B) { benchmarkResume(b, 30000, 50<<20, false) }
func BenchmarkResume50MBToFirstRequest(b *testing.B) {
	benchmarkResume(b, 30000, 50<<20, true)
}
func BenchmarkResume10000Entries(b *testing.B) { benchmarkResume(b, 10000, 10<<20, false) }

func benchmarkResume(b *testing.B, entries, size int, request bool) {
	path := writeLarge(b, entries, size)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if len(s.Branch()) != entries {
			b.Fatal("entries are missing")
		}
		if _, m := s.Model(); m != "m" {
			b.Fatal("no model")
		}
		if request && len(ForModel(s.Context())) != entries {
			b.Fatal("messages are missing")
		}
		s.Close()
	}
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
