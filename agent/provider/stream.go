package provider

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	"pi/agent/llm"
	"pi/internal/sse"
)

// Call is an encoded request of some wire API.
type Call struct {
	URL    string
	Header http.Header // what the API needs, the key included
	Body   []byte
	// Hint is asked first what to do about an error; "" leaves it to the
	// general rules. It may be nil.
	Hint func(status int, message string) string
}

// Decoder turns the events of one answer into deltas.
//
// Event appends what an event means to out. It reports whether the answer is
// complete, so that nothing more has to be read. Its error may be a [Said] or
// [Garbled]; deltas returned with an error are still delivered.
//
// End is called when the stream is over and Event never reported the end. It
// appends what is left, and returns [ErrCut] if the answer is incomplete.
//
// A decoder that keeps more of an answer than what it needs to go on is a [Keeper].
type Decoder interface {
	Event(e sse.Event, out []llm.Delta) ([]llm.Delta, bool, error)
	End(out []llm.Delta) ([]llm.Delta, error)
}

// Keeper is a decoder that has to buffer parts of an answer. Buffered is how many bytes
// of it are in memory that did not become deltas.
type Keeper interface{ Buffered() int }

// ParseEvent parses the JSON of an event into v, which has to be empty, and returns its
// text; an event without data and [DONE] have none. The error is a [Said] for an event
// that is named an error, and a [Garbled] for one that is not JSON.
func ParseEvent(e sse.Event, v any) (data []byte, err error) {
	data = bytes.TrimSpace(e.Data)
	switch {
	case e.Name == "error":
		return nil, &Said{Body: bytes.Clone(data)}
	case len(data) == 0, string(data) == "[DONE]":
		return nil, nil
	}
	if err := json.Unmarshal(data, v); !Readable(err) {
		return nil, &Garbled{Event: bytes.Clone(data), Err: err}
	}
	return data, nil
}

// Parser parses the events of one answer as [ParseEvent] does, all into the same memory;
// but that of a large one is not used again.
type Parser[T any] struct{ now T }

// Parse parses an event. What it returns is good until the next.
func (p *Parser[T]) Parse(e sse.Event) (v *T, data []byte, err error) {
	const large = 1 << 20 // bytes
	var empty T
	if p.now, v = empty, &p.now; len(e.Data) > large {
		v = new(T)
	}
	data, err = ParseEvent(e, v)
	return v, data, err
}

// New returns the client of a wire API: encode makes the call of a request, and decoder
// a new decoder for its answer. The client may be shared; nil is one of its own, see
// [NewClient].
func New(client *http.Client, encode func(*llm.Request) (*Call, error), decoder func(*llm.Request) Decoder) llm.Provider {
	if client == nil {
		client = NewClient()
	}
	return &wireAPI{client, encode, decoder}
}

type wireAPI struct {
	client  *http.Client
	encode  func(*llm.Request) (*Call, error)
	decoder func(*llm.Request) Decoder
}

// Stream sends a request and yields the deltas of the answer. An error is the last that
// it yields. The request is sent once: nothing is tried again.
func (a *wireAPI) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	r = withoutRefused(r)
	return func(yield func(llm.Delta, error) bool) {
		client, d := a.client, a.decoder(r)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		call, err := a.encode(r)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if r.Fresh {
			client.CloseIdleConnections()
		}
		f := &faults{model: r.Model, secrets: collectSecrets(r.APIKey, call.Header), hint: call.Hint, off: r.Off, request: r}
		body, err := send(ctx, client, r, call, f)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		defer body.Close()
		s := &silent{window: r.Model.ContextWindow, fault: func(said []byte) error { return f.answer(0, nil, said) }, yield: yield}
		switch err := decode(body, d, r, s.pass); {
		case err == nil:
			drain(body, cancel)
		case errors.Is(err, llm.ErrAnswerTooLong):
			cancel() // the rest of the answer is of no use
			yield(llm.Delta{}, err)
		case err != errStopped:
			failure := f.stream(ctx, err)
			drain(body, cancel)
			yield(llm.Delta{}, failure)
		}
	}
}

// SendsOff reports whether a request for a model of which nobody knows what it takes is another
// one if it is told not to think. What cannot be encoded says why when it is sent.
func (a *wireAPI) SendsOff(m *llm.Model) bool {
	off, err := a.encode(&llm.Request{Model: m, Thinking: "off", Off: true})
	if err != nil {
		return true
	}
	silent, err := a.encode(&llm.Request{Model: m})
	return err != nil || !bytes.Equal(off.Body, silent.Body)
}

// How much, and for how long, is read of an answer whose end has come.
const (
	drainSize = 64 << 10
	drainTime = 250 * time.Millisecond
)

// drain reads the rest after the end of an answer, which is next to nothing, for a
// connection is used again only if its answer was read to the end. If the server
// leaves the answer open, giveUp ends the reading after drainTime.
func drain(body io.Reader, giveUp func()) {
	timer := time.AfterFunc(drainTime, giveUp)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, drainSize) // an error in the rest does not matter: the answer is complete
}

// errStopped says that the consumer wants no more.
var errStopped = fmt.Errorf("stopped by the consumer")

// smallestLimit is how long an event may be, however short the answer: much of it
// says nothing.
const smallestLimit = 1 << 20

// decode yields the deltas of an answer up to its end, and a ping for each event
// without any. It returns nil at the end of the answer, errStopped if the consumer
// wants no more, else why it ended early.
func decode(body io.Reader, d Decoder, r *llm.Request, yield func(llm.Delta, error) bool) error {
	events := sse.NewReader(body)
	keeper, _ := d.(Keeper)
	if r.MaxAnswer > 0 {
		events.Limit(max(r.MaxAnswer, smallestLimit))
	} else {
		keeper = nil
	}
	var out []llm.Delta
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, sse.ErrTooLong) && r.MaxAnswer > 0:
			return llm.ErrAnswerTooLong
		case err != nil:
			return finish(err, d, out[:0], yield)
		}
		done := false
		if e.Comment {
			out = append(out[:0], llm.Delta{Kind: llm.DeltaPing})
		} else if out, done, err = d.Event(e, out[:0]); len(out) == 0 && err == nil && !done {
			out = append(out, llm.Delta{Kind: llm.DeltaPing})
		}
		for i := range out {
			if !yield(out[i], nil) {
				return errStopped
			}
		}
		switch {
		case done || err != nil:
			return err
		case keeper != nil && keeper.Buffered() > r.MaxAnswer:
			return llm.ErrAnswerTooLong
		}
	}
}

// finish is called when a stream ended with cause before the decoder said that the
// answer is complete. It yields what is left, and returns nil if the answer is complete
// all the same, else cause or the decoder's error.
func finish(cause error, d Decoder, out []llm.Delta, yield func(llm.Delta, error) bool) error {
	out, err := d.End(out)
	for i := range out {
		if !yield(out[i], nil) {
			return errStopped
		}
	}
	if err == ErrCut {
		return cause
	}
	return err
}

// send makes the request and returns the body of an answer that is an event
// stream, or the error that it is instead.
func send(ctx context.Context, client *http.Client, r *llm.Request, call *Call, f *faults) (io.ReadCloser, error) {
	req, err := newRequest(ctx, r, call, f)
	if err != nil {
		return nil, err
	}
	f.proxy = proxyOf(client, req.URL)
	resp, err := client.Do(req)
	if err != nil {
		return nil, f.connection(ctx, err)
	}
	if r.Response != nil {
		r.Response(ctx, resp.StatusCode, f.secrets.without(resp.Header))
	}
	body, err := checked(ctx, resp, f)
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return body, nil
}

// newRequest makes the request of a call, with what the callbacks of r change in it. It
// adds the secrets in its headers and address to those that errors must not show.
func newRequest(ctx context.Context, r *llm.Request, call *Call, f *faults) (*http.Request, error) {
	body := call.Body
	if r.Body != nil {
		var err error
		if body, err = r.Body(ctx, body); err != nil {
			return nil, fmt.Errorf("prepare the request body: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(body))
	if err != nil {
		return nil, f.unreadableAddress()
	}
	setHeaders(req.Header, call.Header, r)
	if r.Header != nil {
		if err := r.Header(ctx, req.Header); err != nil {
			return nil, fmt.Errorf("prepare the request headers: %w", err)
		}
	}
	for name, value := range r.Secret {
		req.Header.Set(name, value)
		f.secrets.add(value)
	}
	f.secrets.addHeaders(req.Header)
	f.secrets.addURL(req.URL)
	f.keyless = !f.secrets.sent
	f.sent = len(body)
	return req, nil
}

// setHeaders sets the headers of a request. Those of the model replace those of the
// API, and the request's own replace both.
func setHeaders(h, api http.Header, r *llm.Request) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	h.Set("User-Agent", "pi")
	for name, values := range api {
		h[http.CanonicalHeaderKey(name)] = values
	}
	for _, more := range []map[string]string{r.Model.Headers, r.Headers} {
		for name, value := range more {
			h.Set(name, value)
		}
	}
}

// checked returns the body of an answer if it is an event stream, else the error that
// it is. Some servers say that their stream is JSON, so for JSON and HTML the first
// byte decides.
func checked(ctx context.Context, resp *http.Response, f *faults) (io.ReadCloser, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, f.answer(resp.StatusCode, resp.Header, errorText(resp.Body))
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "application/json" && kind != "text/html" && kind != "" {
		return resp.Body, nil
	}
	body := bufio.NewReader(resp.Body)
	first, err := firstByte(body)
	if err != nil {
		return nil, f.stream(ctx, err)
	}
	if strings.IndexByte("{[<", first) >= 0 {
		return nil, f.notAStream(kind, resp.Header, errorText(body))
	}
	return struct {
		io.Reader
		io.Closer
	}{body, resp.Body}, nil
}

// firstByte looks for the first byte that is no blank.
func firstByte(r *bufio.Reader) (byte, error) {
	for n := 1; n <= r.Size(); n++ {
		b, err := r.Peek(n)
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \t\r\n", b[n-1]) < 0 {
			return b[n-1], nil
		}
	}
	return 0, io.ErrUnexpectedEOF
}

// errorText reads as much of an error as anybody wants to know.
func errorText(r io.Reader) []byte {
	const most = 64 << 10
	body, _ := io.ReadAll(io.LimitReader(r, most)) // a body that breaks off still tells something
	return body
}
