// Package slowmodel is a model on loopback whose answers somebody plays step by step,
// for tests and for trying the program by hand. Only tests and bench import it.
//
// A Server speaks the Chat Completions API. Each request is a Turn, which Next returns;
// nothing is answered until its player does so, and every piece is sent at once:
//
//	turn, err := server.Next(ctx)
//	turn.Think("hm")
//	turn.Text("I look ")            // one delta
//	turn.Begin("c1", "bash")        // a call whose arguments are written slowly
//	turn.Arguments(`{"command":`)
//	turn.Arguments(`"ls"}`)
//	turn.End()
//
// Turn.Request says what was asked, Turn.Fail refuses it, Turn.Cut breaks the
// connection, and Turn.Abandoned is closed when the program gives up. Settings is the text of
// a config.toml with the server as its provider.
package slowmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Server is a model that answers as it is played. Its methods may be called
// concurrently.
type Server struct {
	listener net.Listener
	http     *http.Server
	turns    chan *Turn

	mu    sync.Mutex
	asked []Request
}

// mostWaiting is how many requests may be made before anybody calls Next.
const mostWaiting = 1000

// Listen starts a server on loopback. Close ends it.
func Listen() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a model on loopback: %w", err)
	}
	s := &Server{listener: listener, turns: make(chan *Turn, mostWaiting)}
	s.http = &http.Server{Handler: s}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// Close breaks all connections.
func (s *Server) Close() error { return s.http.Close() }

// URL is what base_url of the provider has to be.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Settings is a config.toml with this server as the only provider: the model slow/small
// with a context of 100,000 tokens, and slow/large, which thinks. Both see images. retry
// is the pause before the first retry, as "3s".
func (s *Server) Settings(retry string) string {
	const text = `model = "slow/small"

[retry]
base_delay = %q

[providers.slow]
base_url = %q
api = "openai-completions"
api_key = "none"

[[providers.slow.models]]
id = "small"
context_window = 100000
input = ["text", "image"]

[[providers.slow.models]]
id = "large"
context_window = 200000
reasoning = true
input = ["text", "image"]
`
	return fmt.Sprintf(text, retry, s.URL())
}

// Next waits for the next request.
func (s *Server) Next(ctx context.Context) (*Turn, error) {
	select {
	case t := <-s.turns:
		return t, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a request: %w", ctx.Err())
	}
}

// Asked are the requests so far, those included that Next has not returned yet.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request{}, s.asked...)
}

// ServeHTTP makes a turn of each request for an answer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"small","object":"model"},{"id":"large","object":"model"}]}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	asked := Request{Body: body}
	if err := json.Unmarshal(body, &asked); err != nil {
		http.Error(w, "no request: "+err.Error(), http.StatusBadRequest)
		return
	}
	t := newTurn(w, asked)
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	s.mu.Unlock()
	s.turns <- t
	t.serve(r.Context())
}
