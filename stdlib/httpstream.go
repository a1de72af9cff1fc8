package stdlib

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/internal/sse"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// What a server sends is handed on while it comes. A function of the hook gets it in jobs
// inside of the one that waits for the end; nothing more is read before it has returned,
// so that a server that sends too fast has to wait. If it returns true the stream ends
// there; if it raises, http.stream or http.events does.

const chunkBytes = 32 << 10

// flow is a response that is handed on while it comes.
type flow struct {
	*http.Response
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   *time.Timer // cancels when the server is silent for too long
	limit  time.Duration
}

// open sends a request. From now on the server may be silent for the timeout of r at a time.
func (r *exchange) open(ctx context.Context) (*flow, error) {
	f := &flow{limit: r.timeout}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	f.idle = time.AfterFunc(f.limit, func() { f.cancel(fmt.Errorf("the server sent nothing for %s", f.limit)) })
	var err error
	if f.Response, err = r.send(f.ctx); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *flow) close() {
	f.idle.Stop()
	f.cancel(nil)
	if f.Response != nil {
		_ = f.Body.Close()
	}
}

// Read reads from the body. Only what passes in it counts for the silence of the server.
func (f *flow) Read(p []byte) (int, error) {
	f.idle.Reset(f.limit)
	n, err := f.Body.Read(p)
	f.idle.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = reason(f.ctx, err)
	}
	return n, err
}

// head is {status, headers, url} of a response.
func head(L *lua.LState, r *http.Response) *lua.LTable {
	return record(L, "status", lua.LNumber(r.StatusCode), "headers", headerTable(L, r.Header), "url", lua.LString(addressOf(r)))
}

// flow opens r and passes the response to take, while other jobs may run. It returns the
// response, whose body is closed, or an error that names the address.
func (m *module) flow(L *lua.LState, function string, r exchange, take func(ctx context.Context, f *flow) error) (*http.Response, error) {
	var resp *http.Response
	r.reach = m.env.Reach
	until := m.env.until(L, "http."+function, r.signal)
	err := m.wait(L, function, func(ctx context.Context) error {
		ctx, end := until(ctx)
		defer end()
		f, err := r.open(ctx)
		if err != nil {
			return err
		}
		defer f.close()
		resp = f.Response
		if err = take(ctx, f); err != nil && ctx.Err() != nil {
			return reason(ctx, err) // also where it was in a function of the hook
		}
		return err
	})
	var misuse *luavm.Misuse
	if err != nil && !errors.As(err, &misuse) {
		err = fmt.Errorf("%s %s: %w", r.verb(), withoutSecrets(r.url), err)
	}
	return resp, err
}

// httpStream is http.stream{url, on_chunk, …} → {status, headers}, or nil and a message. It
// calls on_chunk(bytes, response) with the body, whatever the status is.
func (m *module) httpStream(L *lua.LState, _ *lua.LTable) (lua.LValue, error) {
	r := exchange{limit: math.MaxInt, most: math.MaxInt}
	var fn *lua.LFunction
	r.read(L, 1, "http.stream", luavm.Opt("url", &r.url).Required(), luavm.Opt("method", &r.method), luavm.Opt("on_chunk", &fn).Required())
	resp, err := m.flow(L, "stream", r, func(ctx context.Context, f *flow) error { return m.passChunks(ctx, f, fn, r.limit) })
	if err != nil {
		return nil, err
	}
	return head(L, resp), nil
}

// passChunks gives the body to fn until it has ended, is larger than limit, or fn wants no
// more.
func (m *module) passChunks(ctx context.Context, f *flow, fn *lua.LFunction, limit int) error {
	response := new(*lua.LTable) // made once, in the first job
	buf := make([]byte, chunkBytes)
	for total := 0; ; {
		n, err := f.Read(buf)
		if total += n; total > limit {
			return fmt.Errorf("the answer is larger than %s", printable.Bytes(limit))
		}
		if n > 0 {
			bytes := lua.LString(buf[:n])
			enough, err := m.env.Nested(ctx, "on_chunk", fn, func(L *lua.LState) []lua.LValue {
				if *response == nil {
					*response = head(L, f.Response)
				}
				return []lua.LValue{bytes, *response}
			})
			if err != nil || enough {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// httpEvents is http.events{url, on_event, …} → {status, headers, id, retry}, or nil and a
// message: it calls on_event({event, data, id}) with each event of a text/event-stream.
func (m *module) httpEvents(L *lua.LState, _ *lua.LTable) (lua.LValue, error) {
	var r exchange
	var fn *lua.LFunction
	r.read(L, 1, "http.events", luavm.Opt("url", &r.url).Required(), luavm.Opt("method", &r.method), luavm.Opt("on_event", &fn).Required())
	r.headers = withDefault(r.headers, "Accept", eventStream)
	var events *sse.Reader
	last := ""
	resp, err := m.flow(L, "events", r, func(ctx context.Context, f *flow) error {
		if err := checkEventStream(f); err != nil {
			return err
		}
		events = sse.NewReader(f)
		events.Limit(r.limit)
		ctx = m.env.Outside(ctx, "http.events of "+withoutSecrets(r.url))
		return m.passEvents(ctx, events, fn, &last)
	})
	if err != nil {
		return nil, err
	}
	t := head(L, resp)
	luavm.SetText(t, "id", last)
	if wait := events.Retry(); wait > 0 {
		luavm.Set(t, "retry", lua.LNumber(wait.Milliseconds()))
	}
	return t, nil
}

const eventStream = "text/event-stream"

// checkEventStream returns an error, with the beginning of the body, if a response has no
// events.
func checkEventStream(f *flow) error {
	kind, _, _ := mime.ParseMediaType(f.Header.Get("Content-Type"))
	if f.StatusCode >= 200 && f.StatusCode <= 299 && kind == eventStream {
		return nil
	}
	const enough = 200
	body, _ := io.ReadAll(io.LimitReader(f, enough))
	said := strings.TrimSpace(printable.Line(string(body)))
	if said != "" {
		said = ": " + said
	}
	return fmt.Errorf("the answer has no events: status %d, type %q%s", f.StatusCode, kind, said)
}

// passEvents gives the events to fn until the stream has ended or fn wants no more. last is
// the id of the last one.
func (m *module) passEvents(ctx context.Context, events *sse.Reader, fn *lua.LFunction, last *string) error {
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case e.Comment:
			continue
		}
		*last = e.ID
		name, data := cmp.Or(e.Name, "message"), string(e.Data)
		enough, err := m.env.Nested(ctx, "on_event", fn, func(L *lua.LState) []lua.LValue {
			t := record(L, "event", lua.LString(name), "data", lua.LString(data))
			luavm.SetText(t, "id", e.ID)
			return []lua.LValue{t}
		})
		if err != nil || enough {
			return err
		}
	}
}
