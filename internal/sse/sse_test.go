package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	gosse "github.com/tmaxmax/go-sse"
)

type seen struct {
	Name, Data string
	Comment    bool
}

func (s seen) String() string { return fmt.Sprintf("{%q %q %t}", s.Name, s.Data, s.Comment) }

func readAll(t testing.TB, src io.Reader) ([]seen, error) {
	t.Helper()
	r := NewReader(src)
	var all []seen
	for {
		e, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, seen{e.Name, string(e.Data), e.Comment})
	}
}

func TestReaderTakesWhatServersWrite(t *testing.T) {
	one := func(name, data string) []seen { return []seen{{Name: name, Data: data}} }
	cases := []struct {
		name, in string
		want     []seen
	}{
		{"space after the colon", "data: x\n\n", one("", "x")},
		{"no space after the colon", "data:x\n\n", one("", "x")},
		{"only one space is dropped", "data:  x\n\n", one("", " x")},
		{"space before the field", " data: x\n\n", one("", "x")},
		{"named", "event: ping\ndata: {}\n\n", one("ping", "{}")},
		{"CRLF", "event: a\r\ndata: x\r\n\r\n", one("a", "x")},
		{"CR", "event: a\rdata: x\r\r", one("a", "x")},
		{"several data lines", "data: a\ndata:\ndata: b\n\n", one("", "a\n\nb")},
		{"no blank line at the end", "data: x\n", one("", "x")},
		{"no line end at the end", "data: x", one("", "x")},
		{"byte order mark", "\xef\xbb\xbfdata: x\n\n", one("", "x")},
		{"line separator inside", "data: a\u2028b\u0085c\n\n", one("", "a\u2028b\u0085c")},
		{"comment first", ": hello\n\ndata: x\n\n", []seen{{Data: "hello", Comment: true}, {Data: "x"}}},
		{"comment inside an event", "data: a\n: c\ndata: b\n\n", []seen{{Data: "c", Comment: true}, {Data: "a\nb"}}},
		{"bare error line", "data: a\n\nerror: {\"m\":1}\n", []seen{{Data: "a"}, {Name: "error", Data: `{"m":1}`}}},
		{"bare error line right after data", "data: a\r\nerror: b\r\n\r\ndata: c\r\n\r\n",
			[]seen{{Data: "a"}, {Name: "error", Data: "b"}, {Data: "c"}}},
		{"event without data", "event: ping\n\n", one("ping", "")},
		{"id, retry and unknown fields", "id: 1\nretry: 5\nfoo: x\ndata: y\n\n", one("", "y")},
		{"field without colon", "data\n\n", one("", "")},
		{"a line of blanks does not end an event", "data: a\n  \ndata: b\n\n", one("", "a\nb")},
		{"name does not leak into the next event", "event: a\ndata: 1\n\ndata: 2\n\n", []seen{{Name: "a", Data: "1"}, {Data: "2"}}},
		{"nothing", "", nil},
		{"blank lines only", "\n\r\n\r\r\n", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := readAll(t, strings.NewReader(c.in))
			if err != io.EOF || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestReaderKnowsIDsAndTheWaitBeforeAnotherConnection(t *testing.T) {
	r := NewReader(strings.NewReader("retry: soon\nid: 1\ndata: a\n\ndata: b\n\nid\nretry: 1500\ndata: c\n\nid: x\x00\ndata: d\n\n"))
	var ids []string
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		ids = append(ids, e.ID)
	}
	if strings.Join(ids, ",") != "1,1,," || r.Retry() != 1500*time.Millisecond {
		t.Errorf("ids %q, retry %s", ids, r.Retry())
	}
}

func TestReaderTakesLongLines(t *testing.T) {
	long := strings.Repeat("é", 3<<20)
	got, err := readAll(t, iotest.HalfReader(strings.NewReader("data: "+long+"\n\ndata: x\n\n")))
	if err != io.EOF || len(got) != 2 || got[0].Data != long || got[1].Data != "x" {
		t.Fatalf("%d events, %v", len(got), err)
	}
}

func TestReaderRefusesBeyondTheLimit(t *testing.T) {
	for name, in := range map[string]string{
		"one line":   "data: " + strings.Repeat("x", 20_000) + "\n\n",
		"many lines": strings.Repeat("data: 0123456789\n", 2_000) + "\n",
	} {
		r := NewReader(strings.NewReader(in))
		r.limit = 10_000
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReaderReportsTheSourcesErrorAfterWhatWasComplete(t *testing.T) {
	broken := errors.New("reset")
	got, err := readAll(t, io.MultiReader(strings.NewReader("data: a\n\ndata: b\ndata: half"), iotest.ErrReader(broken)))
	want := []seen{{Data: "a"}, {Data: "b"}}
	if err != broken || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// cutReader gives its text in two reads.
func cutReader(in string, at int) io.Reader {
	return io.MultiReader(strings.NewReader(in[:at]), strings.NewReader(in[at:]))
}

func TestReaderDoesNotMindWhereReadsEnd(t *testing.T) {
	in := "\xef\xbb\xbf: hi\r\n\r\n event: a\rdata: x\r\rdata:é\u2028\ndata: y\n\nerror: z\r\n\r\ndata: last"
	want, _ := readAll(t, strings.NewReader(in))
	for at := range len(in) {
		if got, _ := readAll(t, cutReader(in, at)); !reflect.DeepEqual(got, want) {
			t.Errorf("cut at %d: %v; want %v", at, got, want)
		}
	}
}

var seeds = []string{
	"data: x\n\n", "event: a\r\ndata: {\"k\":1}\r\n\r\n", "data:a\rdata:b\r\r", ": ping\n\ndata: [DONE]\n\n",
	" data: x\n\n", "error: {}\n", "data: a\nerror: b", "\xef\xbb\xbfdata: 1\n\n", "\r\n\r\n\n", "event\ndata\n\n", "data: \u2028\n\n",
}

func FuzzCutAnywhere(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, in string, at int) {
		want, _ := readAll(t, strings.NewReader(in))
		if at < 0 || at > len(in) {
			at = len(in) / 2
		}
		for name, src := range map[string]io.Reader{
			"two reads": cutReader(in, at),
			"bytewise":  iotest.OneByteReader(strings.NewReader(in)),
			"data+EOF":  iotest.DataErrReader(strings.NewReader(in)),
		} {
			if got, err := readAll(t, src); err != io.EOF || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, %v; want %v", name, got, err, want)
			}
		}
	})
}

// FuzzAgainstOracle compares with another reader of the standard format, on the
// inputs for which both promise the same: no indented or bare error lines, no
// ids and retries (there they make an event), no mark, a blank line at the end.
func FuzzAgainstOracle(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		in = standard(in)
		got, err := readAll(t, strings.NewReader(in))
		if err != io.EOF {
			t.Fatal(err)
		}
		got = withoutComments(got)
		var want []seen
		for e, err := range gosse.Read(strings.NewReader(in), &gosse.ReadConfig{MaxEventSize: 1 << 24}) {
			if err != nil {
				t.Skip(err)
			}
			want = append(want, seen{Name: e.Type, Data: e.Data})
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of %q\n got %v\nwant %v", in, got, want)
		}
	})
}

// standard keeps the lines on which both readers agree, with their ends.
func standard(in string) string {
	var out bytes.Buffer
	for in != "" {
		n := strings.IndexAny(in, "\r\n")
		line, end := in, "\n"
		if n >= 0 {
			line, end, in = in[:n], in[n:n+1], in[n+1:]
		} else {
			in = ""
		}
		if agreed(line) {
			out.WriteString(line + end)
		} else {
			out.WriteString("data: " + fmt.Sprintf("%q", line) + end)
		}
	}
	return out.String() + "\n\n"
}

func agreed(line string) bool {
	name, _, _ := strings.Cut(line, ":")
	return line == "" || name == "data" || name == "event" || name == "" && line[0] == ':'
}

func withoutComments(all []seen) []seen {
	var kept []seen
	for _, e := range all {
		if !e.Comment {
			kept = append(kept, e)
		}
	}
	return kept
}

func BenchmarkReader(b *testing.B) {
	var in bytes.Buffer
	for range 20_000 {
		in.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n")
	}
	b.SetBytes(int64(in.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(bytes.NewReader(in.Bytes()))
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
