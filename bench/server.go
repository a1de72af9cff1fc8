package main

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// server answers every request with the same few words, and notes when the first
// byte of each arrived.
type server struct {
	http     *http.Server
	listener net.Listener
	asked    chan time.Time // the first byte of each request
	mu       sync.Mutex
	body     []byte        // of the last request
	answer   chan struct{} // one value lets one answer out
}

// listen starts a server that plays a model: it sends the time at which a request arrives
// to asked, and answers when answer is written to.
func listen() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: l, asked: make(chan time.Time, 1), answer: make(chan struct{})}
	s.http = &http.Server{Handler: s, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateActive { // the first byte has been read
			s.asked <- time.Now()
		}
	}}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

func (s *server) url() string { return "http://" + s.listener.Addr().String() + "/v1" }

func (s *server) close() { _ = s.http.Close() }

// last returns the body of the last request.
func (s *server) last() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.body
}

const words = `data: {"choices":[{"index":0,"delta":{"content":"well done"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`

// ServeHTTP keeps the body of the request and answers with a fixed stream once answer is
// written to.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.body = body
	s.mu.Unlock()
	<-s.answer
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, words)
}
