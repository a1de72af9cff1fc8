//go:build unix

package e2e

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// far is a model behind a host name that nobody can look up, so that it is
// reached through the proxy only. Its certificate is one for that name.
type far struct {
	*modelServer
	tls         *httptest.Server
	connections atomic.Int64
}

const farHost = "example.com" // one that certificates of httptest are for

func newFar(t *testing.T, answers string) *far {
	t.Helper()
	f := &far{modelServer: newModelServer("openai-completions", answers, "")}
	f.tls = httptest.NewUnstartedServer(f.modelServer)
	f.tls.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			f.connections.Add(1)
		}
	}
	f.tls.StartTLS()
	t.Cleanup(f.tls.Close)
	t.Cleanup(f.http.Close)
	return f
}

// at are the settings of the model at another address.
func (f *far) at(base string) string { return strings.ReplaceAll(f.settings(), f.baseURL(), base) }

// trusted is the setting of the environment that has its certificate trusted.
func (f *far) trusted(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("certificates come from the system's own store here")
	}
	w := &world{t: t}
	path := filepath.Join(t.TempDir(), "ca.pem")
	w.write(path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.tls.Certificate().Raw})))
	return "SSL_CERT_FILE=" + path
}

// gateway is a proxy that leads to one model whatever it is asked for.
type gateway struct {
	*httptest.Server
	model *far

	mu    sync.Mutex
	asked []string
}

func newGateway(t *testing.T, model *far) *gateway {
	t.Helper()
	g := &gateway{model: model}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.asked = append(g.asked, r.Method+" "+r.URL.Host+" "+r.Header.Get("Proxy-Authorization"))
	g.mu.Unlock()
	if r.Method != http.MethodConnect {
		target, _ := url.Parse(g.model.http.URL)
		proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }}
		proxy.ServeHTTP(w, r)
		return
	}
	for name, status := range map[string]int{"locked.": http.StatusProxyAuthRequired, "down.": http.StatusBadGateway} {
		if strings.HasPrefix(r.URL.Host, name) {
			w.WriteHeader(status)
			return
		}
	}
	there, err := net.Dial("tcp", g.model.tls.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	w.WriteHeader(http.StatusOK)
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	go func() {
		_, _ = io.Copy(there, early) // the server may have read the first byte already
		there.Close()
	}()
	_, _ = io.Copy(here, there)
}

func (g *gateway) requests() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.asked, "\n")
}

// turns is a run of four requests, one of which fails at first.
const turns = `call bash {"command":"echo one"}
---
status 529 {"error":{"message":"Overloaded"}}
---
call bash {"command":"echo two"}
---
text Hello wor
cut
---
call bash {"command":"echo three"}
---
text Done.`

const atOnce = "[retry]\nbase_delay = \"1ms\"\n"

func TestARunGoesThroughTheProxyWithOneHandshake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := newFar(t, strings.Replace(turns, "text Hello wor\ncut\n---\n", "", 1))
	g := newGateway(t, f)
	w.write(w.agentFile("config.toml"), atOnce+f.at("https://"+farHost+"/v1"))
	w.env = []string{f.trusted(t), "HTTPS_PROXY=" + strings.Replace(g.URL, "//", "//me:secret@", 1)}
	if got := w.pi("-p", "go"); got != "Done.\n" {
		t.Errorf("the answer is %q", got)
	}
	if got := g.requests(); got != "CONNECT "+farHost+":443 Basic bWU6c2VjcmV0" {
		t.Errorf("the proxy was asked for\n%s", got)
	}
	if n := f.connections.Load(); n != 1 || len(f.modelServer.asked()) != 5 {
		t.Errorf("%d connections for %d requests", n, len(f.modelServer.asked()))
	}
}

func TestAConnectionThatBrokeIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := newFar(t, turns)
	w.write(w.agentFile("config.toml"), atOnce+f.at(f.tls.URL+"/v1"))
	w.env = []string{f.trusted(t)}
	if got := w.pi("-p", "go"); got != "Done.\n" {
		t.Errorf("the answer is %q", got)
	}
	if n := f.connections.Load(); n != 2 || len(f.modelServer.asked()) != 6 {
		t.Errorf("%d connections for %d requests, one of which broke", n, len(f.modelServer.asked()))
	}
}

func TestPlainRequestsGoThroughTheirProxyUnlessTheHostIsExcepted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		except  string
		proxied string
	}{
		"proxied":  {"NO_PROXY=elsewhere.test", "POST 0.0.0.0:PORT "},
		"excepted": {"NO_PROXY=elsewhere.test,0.0.0.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f := newFar(t, "text Hello.")
			g := newGateway(t, f)
			// An address that leads here but is none of those that no proxy is asked for.
			_, port, err := net.SplitHostPort(f.http.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			w.write(w.agentFile("config.toml"), f.at("http://0.0.0.0:"+port+"/v1"))
			w.env = []string{"HTTP_PROXY=" + g.URL, c.except}
			if got := w.pi("-p", "go"); got != "Hello.\n" {
				t.Errorf("the answer is %q", got)
			}
			if got, want := g.requests(), strings.Replace(c.proxied, "PORT", port, 1); got != want {
				t.Errorf("the proxy was asked for %q, want %q", got, want)
			}
		})
	}
}

func TestACertificateThatNobodyTrustsIsRefusedAndNotTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := newFar(t, "text Hello.")
	w.write(w.agentFile("config.toml"), f.at(f.tls.URL+"/v1"))
	told := w.fails(statusDenied, "-p", "go")
	if !strings.Contains(told, "SSL_CERT_FILE") || strings.Contains(told, "retry 1") || len(f.modelServer.asked()) != 0 {
		t.Errorf("asked %d times:\n%s", len(f.modelServer.asked()), told)
	}
}

func TestWhatAProxyRefusesNamesTheProxy(t *testing.T) {
	t.Parallel()
	f := newFar(t, "text Hello.")
	g := newGateway(t, f)
	for name, c := range map[string]struct {
		base, proxy, want string
		again             bool
	}{
		"it speaks no TLS":        {"https://" + farHost + "/v1", strings.Replace(g.URL, "http://", "https://me:s3cr3t@", 1), "does not speak TLS: use http:// in HTTPS_PROXY\n", false},
		"it wants a password":     {"https://locked.test/v1", strings.Replace(g.URL, "//", "//me:s3cr3t@", 1), "the proxy refused the connection: 407 Proxy Authentication Required\n", false},
		"it is not there":         {"https://" + farHost + "/v1", "http://me:s3cr3t@127.0.0.1:1", "connection refused\n", false},
		"it does not get through": {"https://down.test/v1", g.URL, "the proxy refused the connection: 502 Bad Gateway (tried 4 times)\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.agentFile("config.toml"), atOnce+f.at(c.base))
			w.env = []string{"HTTPS_PROXY=" + c.proxy}
			status := statusDenied
			if c.again || name == "it is not there" { // it may be there another time
				status = statusProvider
			}
			told := w.fails(status, "-p", "go")
			if !strings.Contains(told, c.want) || !strings.Contains(told, "HTTPS_PROXY") || strings.Contains(told, "retry 1") != c.again || strings.Contains(told, "s3cr3t") {
				t.Error(told)
			}
		})
	}
}

// fails runs the program, wants an exit status, and returns what it said.
func (w *world) fails(status int, args ...string) string {
	w.t.Helper()
	cmd := w.released(args...)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status {
		w.t.Errorf("pi %q ended with %v, want exit status %d", args, err, status)
	}
	if strings.Contains(string(out), testKey) {
		w.t.Errorf("the key is in the output:\n%s", out)
	}
	return string(out)
}
