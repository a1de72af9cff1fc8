package provider_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/openai"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

// counting is a server that counts connections, or over TLS handshakes.
type counting struct {
	*httptest.Server
	connections atomic.Int64
}

func count(t testing.TB, handler http.HandlerFunc, start func(*httptest.Server)) *counting {
	c := &counting{Server: httptest.NewUnstartedServer(handler)}
	c.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.connections.Add(1)
		}
	}
	start(c.Server)
	t.Cleanup(c.Close)
	return c
}

func plain(s *httptest.Server) { s.Start() }

func encrypted(s *httptest.Server) { s.StartTLS() }

func encrypted2(s *httptest.Server) {
	s.EnableHTTP2 = true
	s.StartTLS()
}

// clientFor is a client of the program's own making that trusts a server.
func clientFor(t testing.TB, s *counting) *http.Client {
	t.Helper()
	client := provider.NewClient()
	transport, ok := client.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("the transport is a %T", client.Transport)
	}
	t.Cleanup(transport.CloseIdleConnections)
	if certificate := s.Certificate(); certificate != nil {
		pool := x509.NewCertPool()
		pool.AddCert(certificate)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return client
}

const (
	helloEvents = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	failEvents  = "event: error\ndata: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n"
)

func TestOneConnectionServesARun(t *testing.T) {
	stream := func(w http.ResponseWriter, events string) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, events)
		w.(http.Flusher).Flush()
	}
	answers := map[string]http.HandlerFunc{
		"a whole answer":        func(w http.ResponseWriter, _ *http.Request) { stream(w, helloEvents) },
		"a late end":            func(w http.ResponseWriter, _ *http.Request) { stream(w, helloEvents); time.Sleep(5 * time.Millisecond) },
		"something behind it":   func(w http.ResponseWriter, _ *http.Request) { stream(w, helloEvents+": bye\n\n") },
		"an error status":       fixed(529, isJSON, `{"error":{"message":"overloaded"}}`),
		"a long error":          fixed(500, isHTML, "<html>"+string(make([]byte, 40<<10))),
		"an error without body": fixed(503, nil, ""),
		"an error in a stream":  func(w http.ResponseWriter, _ *http.Request) { stream(w, failEvents) },
		"JSON with status 200":  fixed(200, isJSON, `{"error":{"message":"no"}}`),
	}
	for over, start := range map[string]func(*httptest.Server){"HTTP": plain, "TLS": encrypted, "HTTP/2": encrypted2} {
		for name, answer := range answers {
			t.Run(over+"/"+name, func(t *testing.T) {
				s := count(t, answer, start)
				client := clientFor(t, s)
				const requests = 4
				for range requests {
					ask(client, requestTo(s.URL))
				}
				if n := s.connections.Load(); n != 1 {
					t.Errorf("%d connections for %d requests", n, requests)
				}
			})
		}
	}
}

// A server that keeps an answer open behind its end gets another connection; the
// answer is there all the same, and soon.
func TestAServerThatKeepsItsStreamOpenIsNotWaitedFor(t *testing.T) {
	for name, events := range map[string]string{"an answer": helloEvents, "an error": failEvents} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{})
			s := count(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, events)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(gone)
			}, plain)
			got := ask(clientFor(t, s), requestTo(s.URL))
			<-gone // or else the test does not end
			if name == "an answer" && (got.Err != nil || got.Text(message.BlockText) != "hello") {
				t.Errorf("%+v", got)
			}
			if name == "an error" && providerError(t, got.Err).Status != 503 {
				t.Errorf("%v", got.Err)
			}
		})
	}
}

// Endless rubbish behind the end of an answer is not read for ever.
func TestWhatFollowsTheEndOfAnAnswerIsReadInPartOnly(t *testing.T) {
	s := count(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, helloEvents)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, ": more\n\n"); err != nil {
				return
			}
		}
	}, plain)
	if got := ask(clientFor(t, s), requestTo(s.URL)); got.Err != nil || got.Text(message.BlockText) != "hello" {
		t.Errorf("%+v", got)
	}
}

// deadLine is a connection to a server over which nothing comes any more once it
// is cut, and nobody says so: a machine that slept has such.
type deadLine struct {
	net.Conn
	cut, closed chan struct{}
	once        sync.Once
}

func (c *deadLine) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.cut:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *deadLine) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Over HTTP/2 a request that is given up leaves its connection to the next one,
// so that every further try would wait for the same dead line.
func TestAFreshRequestDoesNotTrustTheConnectionThatWasUsedLast(t *testing.T) {
	for over, start := range map[string]func(*httptest.Server){"TLS": encrypted, "HTTP/2": encrypted2} {
		t.Run(over, func(t *testing.T) {
			s := count(t, fixed(200, map[string]string{"Content-Type": "text/event-stream"}, helloEvents), start)
			client := clientFor(t, s)
			first := &deadLine{cut: make(chan struct{}), closed: make(chan struct{})}
			client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, addr)
				if err != nil || first.Conn != nil {
					return conn, err
				}
				first.Conn = conn
				return first, nil
			}
			if got := ask(client, requestTo(s.URL)); got.Err != nil {
				t.Fatal(got.Err)
			}
			close(first.cut)
			briefly := func(r *llm.Request) error {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				return wiretest.Collect(openai.New(client).Stream(ctx, r)).Err
			}
			if briefly(requestTo(s.URL)) == nil {
				t.Fatal("the line is not dead")
			}
			r := requestTo(s.URL)
			r.Fresh = true
			tries := 1
			for briefly(r) != nil {
				if tries++; tries > 100 {
					t.Fatalf("%d tries over %d connections", tries, s.connections.Load())
				}
				// A request that is given up leaves its connection a moment later, and
				// so the program waits before it tries again.
				<-time.After(10 * time.Millisecond)
			}
		})
	}
}

// BenchmarkTurns is a request and its short answer over TLS, on a connection that
// is used again and on one of its own.
func BenchmarkTurns(b *testing.B) {
	s := count(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, helloEvents)
	}, encrypted)
	for name, fresh := range map[string]bool{"reused": false, "fresh": true} {
		b.Run(name, func(b *testing.B) {
			client := clientFor(b, s)
			transport := client.Transport.(*http.Transport)
			r := requestTo(s.URL)
			before := s.connections.Load()
			for b.Loop() {
				if got := ask(client, r); got.Err != nil {
					b.Fatal(got.Err)
				}
				if fresh {
					transport.CloseIdleConnections()
				}
			}
			b.ReportMetric(float64(s.connections.Load()-before)/float64(b.N), "handshakes/op")
		})
	}
}
