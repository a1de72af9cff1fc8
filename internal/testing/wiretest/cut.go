package wiretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing/iotest"

	"pi/agent/llm"
	"pi/internal/sse"
	"pi/session/message"
)

// workPerFolder bounds the bytes that are decoded to cut one recording, so that
// all of them together take seconds. PI_WIRE_CUTS=all lifts it.
const workPerFolder = 1 << 17

// API makes a client of the API under test.
type API = func(*http.Client) llm.Provider

// decoder has one client decode bodies instead of the recording, and returns what it made of
// each.
func (f *Folder) decoder(api API) func(body io.Reader) Answer {
	var answer io.Reader
	client, request := api(f.Client(func() io.Reader { return answer })), f.hello("http://model.test")
	return func(body io.Reader) Answer {
		answer = body
		return Collect(client.Stream(context.Background(), request))
	}
}

// Whole decodes the recording at once.
func (f *Folder) Whole(api API) Answer { return f.decoder(api)(bytes.NewReader(f.Body)) }

// Served decodes the recording as a server sends it, and reports what that changes.
func (f *Folder) Served(api API) error {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range f.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(f.Status)
		w.Write(f.Body)
	}))
	defer server.Close()
	if got, want := f.Ask(api(server.Client()), server.URL), f.Whole(api); got.String() != want.String() {
		return fmt.Errorf("from a server:\n%s\nwant\n%s", got, want)
	}
	return nil
}

// Bytewise decodes the recording in single bytes and reports what that changes.
func (f *Folder) Bytewise(api API) error {
	got := f.decoder(api)(iotest.OneByteReader(bytes.NewReader(f.Body)))
	if want := f.Whole(api); got.String() != want.String() {
		return fmt.Errorf("in single bytes:\n%s\nwant\n%s", got, want)
	}
	return nil
}

// Pieces decodes the recording in pieces of all sizes that seed stands for, and
// reports what that changes.
func (f *Folder) Pieces(api API, seed uint64) error {
	want := f.Whole(api).String()
	at := rand.New(rand.NewPCG(seed, uint64(len(f.Body))))
	largest := []int{2, 10, 100, 1000, len(f.Body) + 1}
	decode := f.decoder(api)
	for i := range 2 * len(largest) {
		got := decode(&pieces{rest: f.Body, next: func() int { return 1 + at.IntN(largest[i%len(largest)]) }})
		if got.String() != want {
			return fmt.Errorf("in pieces of at most %d bytes (seed %d, round %d):\n%s\nwant\n%s", largest[i%len(largest)], seed, i, got, want)
		}
	}
	return nil
}

// pieces gives its bytes in portions of the next size.
type pieces struct {
	rest []byte
	next func() int
}

// Read reads no more than the next size, however large b is.
func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.next(), len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

// Halves decodes the recording over and over, in two pieces and broken off
// between them. Pieces must not matter; a broken answer must be an error, or the
// whole answer if only what follows it is missing.
//
// The smallest recordings are cut at every byte. Of larger ones every line end
// is, and a selection of what lies between; that the event reader minds no cut is
// shown at more places by [Folder.Events]. PI_WIRE_CUTS=all cuts at every byte
// of everything, which takes many minutes.
func (f *Folder) Halves(api API) error {
	whole := f.Whole(api)
	want := whole.String()
	decode := f.decoder(api)
	for at := range f.offsets() {
		got := decode(io.MultiReader(bytes.NewReader(f.Body[:at]), bytes.NewReader(f.Body[at:])))
		if got.String() != want {
			return fmt.Errorf("cut at %d:\n%s\nwant\n%s", at, got, want)
		}
		if err := f.broken(whole, decode(bytes.NewReader(f.Body[:at]))); err != nil {
			return fmt.Errorf("broken off at %d: %w", at, err)
		}
	}
	return nil
}

func cutAll() bool { return os.Getenv("PI_WIRE_CUTS") == "all" }

// offsets yields the places where Halves cuts.
func (f *Folder) offsets() func(yield func(int) bool) {
	stride := 1 + 2*len(f.Body)*len(f.Body)/workPerFolder
	if cutAll() {
		stride = 1
	}
	lineEnds := len(f.Body) < 64<<10
	return func(yield func(int) bool) {
		for at := range f.Body {
			if at%stride == 0 || lineEnds && stride < 100 && f.Body[at] == '\n' {
				if !yield(at) {
					return
				}
			}
		}
	}
}

// broken checks what was made of the beginning of the recording: an error, or the whole
// answer, and no more text or calls than the whole answer has.
func (f *Folder) broken(whole, got Answer) error {
	if f.Status != http.StatusOK {
		if got.Err == nil {
			return errors.New("no error")
		}
		return nil
	}
	late := whole.Err != nil && f.Expected.StopReasonRaw != "" // an error after the regular end
	if got.Err == nil && !late && (whole.Err != nil || !sameContent(got, whole)) {
		return fmt.Errorf("success with\n%s\nwant an error or\n%s", got, whole)
	}
	for _, kind := range []message.BlockType{message.BlockText, message.BlockThinking} {
		if !strings.HasPrefix(whole.Text(kind), got.Text(kind)) {
			return fmt.Errorf("%s is %q", kind, got.Text(kind))
		}
	}
	if len(got.Calls()) > len(whole.Calls()) {
		return fmt.Errorf("%d calls of %d", len(got.Calls()), len(whole.Calls()))
	}
	return nil
}

// sameContent compares two answers without their usage, which may come after the
// answer.
func sameContent(a, b Answer) bool {
	a.Usage, b.Usage = nil, nil
	return a.String() == b.String()
}

// Events reads the events of the recording, counts them, and cuts each, with its
// neighbours, at every byte: that must not change what is read. Long events, and
// all but the first of a stream, are cut near their ends: between them there is
// nothing but text. Most events of a stream begin and end like those before; where
// all three do, nothing is cut again.
func (f *Folder) Events() error {
	const all = 3 // events
	if _, n := events(bytes.NewReader(f.Body)); f.Status == http.StatusOK && n != f.Expected.Events {
		return fmt.Errorf("%d events; want %d", n, f.Expected.Events)
	}
	parts := bytes.SplitAfter(f.Body, []byte("\n\n"))
	seen := map[string]bool{}
	for i := range parts {
		near := 300
		if i > all && !cutAll() {
			near = 20
		}
		neighbours := parts[max(0, i-1):min(len(parts), i+2)]
		ends := fmt.Sprint(near)
		for _, part := range neighbours {
			ends += fmt.Sprintf(" %q %q", part[:min(near, len(part))], part[max(0, len(part)-near):])
		}
		if seen[ends] {
			continue
		}
		seen[ends] = true
		window := bytes.Join(neighbours, nil)
		start := 0
		if i > 0 {
			start = len(parts[i-1])
		}
		if err := cutWindow(window, start, start+len(parts[i]), near); err != nil {
			return fmt.Errorf("event %d %w", i, err)
		}
	}
	return nil
}

// cutWindow reads the events of window in two pieces, cut at every byte from start to
// end; of a long event only at those near its ends. It fails if that changes what is
// read.
func cutWindow(window []byte, start, end, near int) error {
	want, _ := events(bytes.NewReader(window))
	for at := start; at < end; at++ {
		if at == start+near && end-start > 2*near {
			at = end - near
		}
		got, _ := events(io.MultiReader(bytes.NewReader(window[:at]), bytes.NewReader(window[at:])))
		if !bytes.Equal(got, want) {
			return fmt.Errorf("cut at %d: %q; want %q", at-start, got, want)
		}
	}
	return nil
}

// events are the events of a stream as one text, and their number without comments.
func events(src io.Reader) (text []byte, n int) {
	r := sse.NewReader(src)
	for {
		e, err := r.Next()
		if err != nil {
			return text, n
		}
		text = append(append(append(text, e.Name...), 0), e.Data...)
		if e.Comment {
			text = append(text, 1)
		} else {
			n++
		}
	}
}
