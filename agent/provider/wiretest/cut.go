package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"pi/agent"
	"pi/agent/provider/sse"
	"pi/session"
)

// workPerFolder bounds the bytes that are decoded to cut one recording, so that
// all of them together take seconds. PI_WIRE_CUTS=all lifts it.
const workPerFolder = 1 << 20

// Cut decodes the recording over and over: in single bytes, in two pieces, and
// broken off. Pieces must not matter; a broken answer must be an error, or the
// whole answer if only what follows it is missing.
//
// The smallest recordings are cut at every byte. Of larger ones every line end
// is, and a selection of what lies between; that the event reader minds no cut is
// shown at more places by [Folder.CutEvents]. PI_WIRE_CUTS=all cuts at every byte
// of everything, which takes many minutes.
func (f *Folder) Cut(t *testing.T, api func(*http.Client) agent.Provider) {
	ask := func(body func() io.Reader) Answer { return f.Ask(api(f.Client(body)), "http://model.test") }
	whole := ask(func() io.Reader { return bytes.NewReader(f.Body) })
	want := whole.String()
	bytewise := ask(func() io.Reader { return iotest.OneByteReader(bytes.NewReader(f.Body)) })
	if got := bytewise.String(); got != want {
		t.Errorf("in single bytes:\n%s\nwant\n%s", got, want)
	}
	for at := range f.offsets() {
		got := ask(func() io.Reader {
			return io.MultiReader(bytes.NewReader(f.Body[:at]), bytes.NewReader(f.Body[at:]))
		})
		if got.String() != want {
			t.Fatalf("cut at %d:\n%s\nwant\n%s", at, got, want)
		}
		f.broken(t, at, whole, ask(func() io.Reader { return bytes.NewReader(f.Body[:at]) }))
	}
}

func cutAll() bool { return os.Getenv("PI_WIRE_CUTS") == "all" }

func (f *Folder) offsets() func(yield func(int) bool) {
	stride := 1 + 2*len(f.Body)*len(f.Body)/workPerFolder
	if cutAll() {
		stride = 1
	}
	lineEnds := len(f.Body) < 64<<10
	return func(yield func(int) bool) {
		for at := range f.Body {
			if at%stride == 0 || lineEnds && stride < 50 && f.Body[at] == '\n' {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func (f *Folder) broken(t *testing.T, at int, whole, got Answer) {
	t.Helper()
	if f.Status != http.StatusOK {
		if got.Err == nil {
			t.Fatalf("broken off at %d: no error", at)
		}
		return
	}
	late := whole.Err != nil && f.Expected.StopReasonRaw != "" // an error after the regular end
	if got.Err == nil && !late && (whole.Err != nil || !sameContent(got, whole)) {
		t.Fatalf("broken off at %d: success with\n%s\nwant an error or\n%s", at, got, whole)
	}
	for _, kind := range []session.BlockType{session.BlockText, session.BlockThinking} {
		if !strings.HasPrefix(whole.Text(kind), got.Text(kind)) {
			t.Fatalf("broken off at %d: %s is %q", at, kind, got.Text(kind))
		}
	}
	if len(got.Calls()) > len(whole.Calls()) {
		t.Fatalf("broken off at %d: %d calls of %d", at, len(got.Calls()), len(whole.Calls()))
	}
}

// sameContent leaves out usage, which may come after the answer.
func sameContent(a, b Answer) bool {
	a.Usage, b.Usage = nil, nil
	return a.String() == b.String()
}

// CutEvents cuts every event of the recording, with its neighbours, at every
// byte, and compares the events. Long events, and all but the first of a stream,
// are cut near their ends: between them there is nothing but text.
func (f *Folder) CutEvents(t *testing.T) {
	const whole = 8 // events
	parts := bytes.SplitAfter(f.Body, []byte("\n\n"))
	for i := range parts {
		near := 1000
		if i > whole && !cutAll() {
			near = 20
		}
		window := bytes.Join(parts[max(0, i-1):min(len(parts), i+2)], nil)
		want := events(bytes.NewReader(window))
		start := 0
		if i > 0 {
			start = len(parts[i-1])
		}
		for at := start; at < start+len(parts[i]); at++ {
			if at == start+near && len(parts[i]) > 2*near {
				at = start + len(parts[i]) - near
			}
			got := events(io.MultiReader(bytes.NewReader(window[:at]), bytes.NewReader(window[at:])))
			if !bytes.Equal(got, want) {
				t.Fatalf("event %d cut at %d: %q; want %q", i, at-start, got, want)
			}
		}
	}
}

func events(src io.Reader) []byte {
	var out []byte
	r := sse.NewReader(src)
	for {
		e, err := r.Next()
		if err != nil {
			return out
		}
		out = append(append(append(out, e.Name...), 0), e.Data...)
		if e.Comment {
			out = append(out, 1)
		}
	}
}
