package provider_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/openai"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

const secret = "sk-proj-0123456789abcdefGHIJ_klmn"

// requestTo is a small request to a server that speaks Chat Completions.
func requestTo(base string) *llm.Request {
	return &llm.Request{
		Model:    &llm.Model{Provider: "acme", ID: "big-1", API: "openai-completions", BaseURL: base},
		Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}}},
		APIKey:   secret,
	}
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// fixed answers with the same thing always.
func fixed(status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func providerError(t testing.TB, err error) *llm.ProviderError {
	t.Helper()
	var e *llm.ProviderError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v; want a ProviderError", err)
	}
	return e
}

func ask(client *http.Client, r *llm.Request) wiretest.Answer {
	return wiretest.Collect(openai.New(client).Stream(context.Background(), r))
}

var (
	isJSON = map[string]string{"Content-Type": "application/json"}
	isHTML = map[string]string{"Content-Type": "text/html"}
)

func TestAnErrorSaysWhatToDo(t *testing.T) {
	cases := []struct {
		name, body string
		status     int
		header     map[string]string
		message    string // part of it
		hint       string // part of it
		retry      bool
		overflow   bool
	}{
		{"wrong key", `{"error":{"message":"Bad key","code":"invalid_api_key"}}`, 401, isJSON, "Bad key", "check api_key of [providers.acme] in config.toml, or its environment variable", false, false},
		{"wrong key as bad request", `{"code":"x","error":"Incorrect API key provided"}`, 400, isJSON, "Incorrect API key", "api_key of [providers.acme]", false, false},
		{"forbidden", `{"message":"no"}`, 403, isJSON, "no", "may not use big-1", false, false},
		{"no such model", `{"error":{"message":"unknown model"}}`, 404, isJSON, "unknown model", `check the model id "big-1", and base_url of [providers.acme] (http://127.0.0.1`, false, false},
		{"nothing said", ``, 404, nil, "Not Found", "base_url", false, false},
		{"rate limit", `{"error":{"message":"slow down"}}`, 429, isJSON, "slow down", "wait", true, false},
		{"rate limit about tokens", `{"error":{"message":"Request too large for m on tokens per minute (TPM): Limit 6000","code":"rate_limit_exceeded"}}`, 429, isJSON, "TPM", "more than the account may send in a minute; /compact", false, false},
		{"rate limit about a prompt", `{"error":{"message":"This request would exceed your rate limit of 40,000 input tokens per minute.","type":"rate_limit_error"}}`, 429, isJSON, "40,000", "wait", true, false},
		{"no credit", `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`, 429, isJSON, "quota", "billing", false, false},
		{"payment", `{"error":{"message":"more credits","code":402}}`, 402, isJSON, "more credits", "max_tokens", false, false},
		{"server fault", `oops`, 500, nil, "oops", "ask again", true, false},
		{"server fault, but no use trying", `oops`, 500, map[string]string{"X-Should-Retry": "false"}, "oops", "ask again", false, false},
		{"bad request worth trying", `oops`, 400, map[string]string{"X-Should-Retry": "true"}, "oops", "ask again", true, false},
		{"timeout", ``, 408, nil, "Request Timeout", "", true, false},
		{"conflict", ``, 409, nil, "Conflict", "", true, false},
		{"page of a gateway", `<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>`, 502, isHTML, "502 Bad Gateway", "the server behind it does not answer; ask again", true, false},
		{"page, unavailable", `<html><title>503 Service Temporarily Unavailable</title></html>`, 503, isHTML, "503", "the server behind it does not answer; ask again", true, false},
		{"page, too late", `<html><title>504 Gateway Time-out</title></html>`, 504, isHTML, "504", "the server behind it does not answer; ask again", true, false},
		{"page of a fault", `<html><title>500 Internal Server Error</title></html>`, 500, isHTML, "500", "has a fault; ask again", true, false},
		{"page, too often", `<html><title>429 Too Many Requests</title></html>`, 429, isHTML, "429", "wait a little", true, false},
		{"page of a login", `<html><title>401 Authorization Required</title></html>`, 401, isHTML, "401", "check api_key of [providers.acme] in config.toml, or its environment variable; or a gateway before the server has a login of its own", false, false},
		{"page, forbidden", `<html><title>403 Forbidden</title></html>`, 403, isHTML, "403", "may not use big-1; check api_key of [providers.acme] in config.toml, or its environment variable; or a gateway before", false, false},
		{"page, not found", `<html><title>404 Not Found</title></html>`, 404, isHTML, "404", "check base_url of [providers.acme]: a web page came back", false, false},
		{"page, no TLS", `<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>`, 400, isHTML, "400", ": the server speaks TLS there; use https://", false, false},
		{"line of Go, no TLS", "Client sent an HTTP request to an HTTPS server.\n", 400, nil, "HTTPS server", ": the server speaks TLS there; use https://", false, false},
		{"page with status 200", `<html><title>Sign in</title></html>`, 200, isHTML, "Sign in", "check base_url of [providers.acme]: a web page came back, so another server answered", false, false},
		{"a login wanted by no proxy of ours", ``, 407, nil, "Proxy Authentication Required", "check base_url of [providers.acme]: a proxy answers there", false, false},
		{"JSON with status 200", `{"hello":1}`, 200, isJSON, "application/json instead of an event stream", "base_url of [providers.acme]", false, false},
		{"error with status 200", `{"error":{"message":"kaputt","code":503}}`, 200, isJSON, "kaputt", "ask again", true, false},
		{"validation list", `{"detail":[{"loc":["body"],"msg":"field required"}]}`, 422, isJSON, "field required", "", false, false},
		{"error in a list", `[{"error":{"code":400,"message":"bad","status":"INVALID"}}]`, 400, isJSON, "bad", "", false, false},
		{"wrong limit field", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`, 400, isJSON, "Unsupported", `max_tokens_field = "max_completion_tokens"`, false, false},
		{"wrong role", `{"error":{"message":"'messages[0].role' does not support 'developer' with this model."}}`, 400, isJSON, "role", "developer_role = false", false, false},
		{"a value, not the field", `{"error":{"message":"max_completion_tokens is too large"}}`, 400, isJSON, "too large", "", false, false},
		{"moved", `<html>moved</html>`, 301, map[string]string{"Location": "https://elsewhere.test/v1"}, "moved", "the server sends us to https://elsewhere.test/v1", false, false},
		{"too large", `no`, 413, nil, "no", "too large", false, true},

		{"overflow: anthropic", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 3 tokens > 2 maximum"}}`, 400, isJSON, "too long", "/compact", false, true},
		{"overflow: openai", `{"error":{"message":"x","code":"context_length_exceeded"}}`, 400, isJSON, "x", "/compact", false, true},
		{"overflow: vllm", `{"object":"error","message":"This model's maximum context length is 4096 tokens."}`, 400, isJSON, "4096", "/compact", false, true},
		{"overflow: gemini", `{"error":{"message":"The input token count (2) exceeds the maximum number of tokens allowed (1)."}}`, 400, isJSON, "input", "/compact", false, true},
		{"overflow: ollama", `{"error":{"message":"prompt too long; exceeded max context length by 4 tokens"}}`, 400, isJSON, "too long", "/compact", false, true},
		{"overflow: mistral", `{"message":"x","code":"too_many_prompt_tokens"}`, 400, isJSON, "x", "/compact", false, true},
		{"overflow: llama.cpp", `{"error":{"message":"x","type":"exceed_context_size_error"}}`, 400, isJSON, "x", "/compact", false, true},
		{"overflow: as a rate limit", `{"error":{"message":"maximum context length is 8"}}`, 429, isJSON, "8", "/compact", false, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := providerError(t, ask(nil, requestTo(serve(t, fixed(c.status, c.header, c.body)).URL)).Err)
			if !strings.Contains(e.Message, c.message) || !strings.Contains(e.NextStep, c.hint) || (e.NextStep == "") != (c.hint == "") && c.status < 405 {
				t.Errorf("message %q, hint %q", e.Message, e.NextStep)
			}
			if strings.Contains(e.NextStep, "_PROXY") {
				t.Errorf("a proxy is named: %q", e.NextStep)
			}
			if e.Retryable != c.retry || e.Overflow != c.overflow {
				t.Errorf("retryable %t, overflow %t", e.Retryable, e.Overflow)
			}
			if e.Provider != "acme" || c.status != 200 && e.Status != c.status {
				t.Errorf("provider %q, status %d", e.Provider, e.Status)
			}
		})
	}
}

func TestARefusedLevelOfThinkingIsRecognised(t *testing.T) {
	said := func(message string) string { return fmt.Sprintf(`{"error":{"message":%q,"code":null}}`, message) }
	for _, c := range []struct {
		name, body string
		status     int
		off, want  bool
		hint       string
	}{
		{"a word for which the model has no use", said(`think value "medium" is not supported for this model`), 400, false, true, "reasoning_efforts = {"},
		{"a model that does not think", said(`"say:latest" does not support thinking`), 400, false, true, "reasoning = false"},
		{"as if it would pass", said(`think value "medium" is not supported for this model`), 503, false, false, "ask again"},
		{"a field of a reasoning model", said("Unsupported parameter: 'reasoning.effort' is not supported with this model."), 400, false, false, ""},
		{"off", said("Unsupported parameter: 'reasoning.effort' is not supported with this model."), 400, true, true, "the levels that it offers"},
		{"off, by its word", said("Unsupported value: 'none' is not supported with the 'o' model. Supported values are: 'low', 'high'."), 400, true, true, "the levels that it offers"},
		{"off, by its type", said(`"thinking.type.disabled" is not supported for this model.`), 422, true, true, "reasoning = false, or"},
		{"off, and something else", said("temperature is too high"), 400, true, false, ""},
		{"off, and no key", said("no thinking without a key"), 401, true, false, "api_key"},
		{"off, and no room", said("prompt is too long for thinking: 9 tokens > 8 maximum"), 400, true, false, "/compact"},
	} {
		r := requestTo(serve(t, fixed(c.status, isJSON, c.body)).URL)
		r.Off = c.off
		e := providerError(t, ask(nil, r).Err)
		if e.NoLevel != c.want || !strings.Contains(e.NextStep, c.hint) || e.NoLevel && e.Retryable {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestNoKeyIsSaid(t *testing.T) {
	r := requestTo(serve(t, fixed(401, isJSON, `{"error":{"message":"who are you"}}`)).URL)
	r.APIKey = ""
	if e := providerError(t, ask(nil, r).Err); !strings.HasPrefix(e.NextStep, "no key was sent: set api_key of [providers.acme]") {
		t.Errorf("hint %q", e.NextStep)
	}
}

func TestAWordInPlaceOfAKeyIsOne(t *testing.T) {
	r := requestTo(serve(t, fixed(401, isJSON, `{"error":{"message":"ask registry.ollama.ai"}}`)).URL)
	r.APIKey = "ollama"
	if e := providerError(t, ask(nil, r).Err); !strings.HasPrefix(e.NextStep, "check api_key of [providers.acme]") || e.Message != "ask registry.ollama.ai" {
		t.Errorf("message %q, hint %q", e.Message, e.NextStep)
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	cases := []struct {
		header map[string]string
		want   time.Duration
	}{
		{map[string]string{"Retry-After": "17"}, 17 * time.Second},
		{map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After-Ms": "250", "Retry-After": "9"}, 250 * time.Millisecond},
		{map[string]string{"Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT"}, time.Minute},
		{map[string]string{"Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:00:00 GMT"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "-4"}, 0},
		{nil, 0},
	}
	for _, c := range cases {
		e := providerError(t, ask(nil, requestTo(serve(t, fixed(429, c.header, "")).URL)).Err)
		if e.RetryAfter != c.want {
			t.Errorf("%v: %v; want %v", c.header, e.RetryAfter, c.want)
		}
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestAFailedConnectionSaysWhatToDo(t *testing.T) {
	closed := httptest.NewServer(nil)
	refused := closed.URL
	closed.Close()
	private := httptest.NewUnstartedServer(nil)
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	private.StartTLS()
	defer private.Close()
	plain := serve(t, fixed(200, nil, ""))
	alert := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(conn, "\x15\x03\x01\x00\x02\x02\x16")
		conn.Close()
	})
	cases := []struct {
		name, base string
		client     *http.Client
		hint       string
		retry      bool
	}{
		{"refused", refused, nil, "base_url of [providers.acme] is " + refused + ": is the server running?", false},
		{"unknown host", "http://nowhere.invalid", &http.Client{Transport: failing{&net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}}}, "no host of that name", false},
		{"name service down", "http://x.invalid", &http.Client{Transport: failing{&net.DNSError{Err: "timeout", IsTemporary: true}}}, "name service", true},
		{"unknown certificate", private.URL, nil, "SSL_CERT_FILE", false},
		{"another name", strings.Replace(private.URL, "127.0.0.1", "localhost", 1), trusting(private), "the certificate there is for another name; check the host in base_url", false},
		{"TLS there", alert.URL, nil, "the server speaks TLS there; use https://", false},
		{"no TLS there", strings.Replace(plain.URL, "http", "https", 1), nil, "use http://", false},
		{"reset", "http://x.invalid", &http.Client{Transport: failing{errors.New("connection reset by peer")}}, "ask again", true},
		{"no scheme", "localhost:1", nil, "http://", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := providerError(t, ask(c.client, requestTo(c.base)).Err)
			if !strings.Contains(e.NextStep, c.hint) || e.Message == "" || e.Retryable != c.retry || e.Status != 0 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// trusting is a client that trusts a server of the test.
func trusting(s *httptest.Server) *http.Client {
	c := provider.NewClient()
	t := c.Transport.(*http.Transport)
	t.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	return c
}

func TestAFileOfAuthoritiesThatIsOfNoUseIsNamed(t *testing.T) {
	private := httptest.NewUnstartedServer(nil)
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	private.StartTLS()
	defer private.Close()
	none := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(none, []byte("no certificate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		none:                        "SSL_CERT_FILE names a file without a certificate (PEM): " + none,
		none + ".missing":           "SSL_CERT_FILE cannot be read: open " + none + ".missing",
		"":                          "SSL_CERT_FILE names a file with further authorities",
		certificateFile(t, private): "SSL_CERT_FILE names a file with further authorities", // read too late
	} {
		t.Setenv("SSL_CERT_FILE", path)
		// Trust in nothing, for the system's authorities were read once.
		client := provider.NewClient()
		client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		e := providerError(t, ask(client, requestTo(private.URL)).Err)
		if !strings.Contains(e.NextStep, want) || e.Retryable {
			t.Errorf("%s: %q", path, e.NextStep)
		}
	}
}

func TestAProxyIsNamedWhereOneIsOnTheWay(t *testing.T) {
	answer := func(status int, body string) string { return serve(t, fixed(status, isHTML, body)).URL }
	page := func(status int) string {
		return answer(status, "<html><title>"+http.StatusText(status)+"</title></html>")
	}
	cases := []struct {
		name, base, proxy, hint string
		retry                   bool
	}{
		{"nobody behind it", "http://model.test", page(502), "the server behind it does not answer; ask again (the request went through the proxy of HTTP_PROXY (HOST))", true},
		{"it does not get through, as tinyproxy says", "http://model.test", page(500), "has a fault; ask again (the request went through the proxy of HTTP_PROXY (HOST))", true},
		{"a wrong password, as tinyproxy says", "https://model.test", "http://me:s3cr3tword@" + page(401)[7:], "the proxy of HTTPS_PROXY (HOST) refuses the name and the password: check them in HTTPS_PROXY", false},
		{"a page", "http://model.test", page(200), "another server answered (the request went through the proxy of HTTP_PROXY (HOST))", false},
		{"forbidden", "http://model.test", page(403), "(the request went through the proxy of HTTP_PROXY (HOST))", false},
		{"too often", "http://model.test", page(429), "too many requests or tokens for now; wait a little, or use another model", true},
		{"a login", "http://model.test", page(407), "the proxy of HTTP_PROXY (HOST) wants a name and a password: HTTP_PROXY=http://NAME:PASSWORD@HOST", false},
		{"a login, over CONNECT", "https://model.test", page(407), "the proxy of HTTPS_PROXY (HOST) wants a name and a password: HTTPS_PROXY=http://NAME:PASSWORD@HOST", false},
		{"a wrong password", "http://model.test", "http://me:s3cr3tword@" + page(407)[7:], "the proxy of HTTP_PROXY (HOST) refuses the name and the password: check them in HTTP_PROXY", false},
		{"a wrong password, over CONNECT", "https://model.test", "http://me:s3cr3tword@" + page(407)[7:], "the proxy of HTTPS_PROXY (HOST) refuses the name and the password: check them in HTTPS_PROXY", false},
		{"it speaks no TLS", "https://model.test", "https" + page(200)[4:], "the proxy of HTTPS_PROXY (HOST) does not speak TLS: use http:// in HTTPS_PROXY", false},
		{"it speaks no TLS, for plain requests", "http://model.test", "https" + page(200)[4:], "the proxy of HTTP_PROXY (HOST) does not speak TLS: use http:// in HTTP_PROXY", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			proxy, err := url.Parse(c.proxy)
			if err != nil {
				t.Fatal(err)
			}
			client := provider.NewClient()
			client.Transport.(*http.Transport).Proxy = http.ProxyURL(proxy)
			e := providerError(t, ask(client, requestTo(c.base)).Err)
			if !strings.HasSuffix(e.NextStep, strings.ReplaceAll(c.hint, "HOST", proxy.Host)) || e.Retryable != c.retry || strings.Contains(e.Error()+e.NextStep, "s3cr3t") {
				t.Errorf("retryable %t, %v\nhint %q", e.Retryable, e, e.NextStep)
			}
		})
	}
}

func TestAVariableThatDoesNotCountIsSaid(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "")
	}
	unknown := &http.Client{Transport: failing{&net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}}}
	hint := func(base string) string { return providerError(t, ask(unknown, requestTo(base)).Err).NextStep }
	const said = "; ALL_PROXY does not count, HTTPS_PROXY does"
	if h := hint("https://nowhere.invalid"); strings.Contains(h, "_PROXY") {
		t.Errorf("without any: %q", h)
	}
	t.Setenv("ALL_PROXY", "http://proxy.invalid:3128")
	if h := hint("https://nowhere.invalid"); !strings.HasSuffix(h, said) {
		t.Errorf("alone: %q", h)
	}
	if h := hint("http://localhost:1"); strings.Contains(h, "_PROXY") {
		t.Errorf("on this machine: %q", h)
	}
	t.Setenv("https_proxy", "http://proxy.invalid:3128")
	if h := hint("https://nowhere.invalid"); strings.Contains(h, "_PROXY") {
		t.Errorf("beside another: %q", h)
	}
}

func TestTheAddressesOfProxiesAreChecked(t *testing.T) {
	for value, good := range map[string]bool{
		"": true, "http://127.0.0.1:3128": true, "127.0.0.1:3128": true, "proxy": true, "https://me:secret@proxy.test": true, "socks5://proxy.test:1080": true,
		"http://[bad": false, "[bad": false, "http://": false, "http://me:sec/ret@proxy.test": false, "http://me:sec%zzret@proxy.test": false,
	} {
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
			err := provider.CheckProxies(func(asked string) string {
				if asked == name {
					return value
				}
				return ""
			})
			if (err == nil) != good || err != nil && (!strings.HasPrefix(err.Error(), name+" is no address of a proxy") || strings.Contains(err.Error(), "sec")) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
}

func TestAKeyNeverStandsInAnError(t *testing.T) {
	echo := func(format string, status int, contentType string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			if key == "" {
				key = r.Header.Get("X-Api-Key")
			}
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			io.WriteString(w, strings.ReplaceAll(strings.ReplaceAll(format, "HALF", key[:len(key)-8]), "KEY", key))
		}
	}
	handlers := map[string]http.HandlerFunc{
		"message":       echo(`{"error":{"message":"no such key: KEY","type":"KEY","code":"KEY"}}`, 401, "application/json"),
		"half of it":    echo(`{"error":{"message":"no such key: HALF..."}}`, 401, "application/json"),
		"plain text":    echo("bad header Authorization: Bearer KEY", 400, "text/plain"),
		"long text":     echo(strings.Repeat("x", 1990)+"KEY", 400, "text/plain"),
		"page":          echo("<title>KEY</title>", 502, "text/html"),
		"200 with JSON": echo(`{"you":"KEY"}`, 200, "application/json"),
		"in the stream": echo("event: error\ndata: {\"error\":{\"message\":\"KEY\"}}\n\n", 200, "text/event-stream"),
		"garbled":       echo("data: {KEY\n\n", 200, "text/event-stream"),
		"other header":  func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.Header.Get("X-My-Token"), 400) },
		"query":         func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.URL.RawQuery, 400) },
	}
	for name, handler := range handlers {
		for api, p := range map[string]llm.Provider{"openai": openai.New(nil), "anthropic": anthropic.New(nil)} {
			t.Run(name+" "+api, func(t *testing.T) {
				r := requestTo(serve(t, handler).URL + "?api_key=" + secret)
				r.Headers = map[string]string{"X-My-Token": secret}
				e := providerError(t, wiretest.Collect(p.Stream(context.Background(), r)).Err)
				for _, shown := range []string{e.Error(), fmt.Sprintf("%+v %#v %v", *e, *e, e.Err), e.NextStep} {
					if strings.Contains(shown, secret[:16]) || strings.Contains(shown, secret[len(secret)-16:]) {
						t.Errorf("the key is in %q", shown)
					}
				}
			})
		}
	}
}

func TestAKeyNeverStandsInAConnectionError(t *testing.T) {
	client := &http.Client{Transport: failing{fmt.Errorf("proxy said: bad token %s", secret)}}
	e := providerError(t, ask(client, requestTo("http://user:"+secret+"@x.invalid")).Err)
	if shown := fmt.Sprintf("%+v %v %s", *e, e.Err, e.NextStep); strings.Contains(shown, secret) {
		t.Error(shown)
	}
}

const hello = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func TestHeadersOfALoginAreSentLastAndSeenByNobody(t *testing.T) {
	const pass = "pass-of-a-login-0123456789"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "you are "+r.Header.Get("X-Seat")+" of "+r.Header.Get("X-Team"), http.StatusBadRequest)
	})
	r := requestTo(s.URL)
	r.Headers, r.Secret = map[string]string{"X-Team": "blue"}, map[string]string{"X-Seat": pass}
	r.Header = func(_ context.Context, h http.Header) error {
		if h.Get("X-Seat") != "" || h.Get("X-Team") != "blue" {
			t.Errorf("headers %v", h)
		}
		h.Set("X-Seat", "of a listener")
		return nil
	}
	if text := providerError(t, ask(nil, r).Err).Error(); !strings.Contains(text, "you are [key] of blue") {
		t.Error(text)
	}
}

func TestCallbacksSeeAndChangeTheRequest(t *testing.T) {
	var got http.Header
	var body string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r.Header, string(b)
		w.Header().Set("X-Answer", "42")
		io.WriteString(w, hello)
	})
	r := requestTo(s.URL)
	r.Model.Headers = map[string]string{"X-Model": "m", "X-Both": "model"}
	r.Headers = map[string]string{"x-both": "request"}
	r.Body = func(_ context.Context, b []byte) ([]byte, error) {
		if !strings.Contains(string(b), `"model":"big-1"`) {
			t.Errorf("body %s", b)
		}
		return []byte(`{"mine":true}`), nil
	}
	r.Header = func(_ context.Context, h http.Header) error {
		if h.Get("Authorization") != "Bearer "+secret || h.Get("X-Both") != "request" || h.Get("X-Model") != "m" {
			t.Errorf("headers %v", h)
		}
		h.Set("Authorization", "Bearer other")
		h.Set("X-Mine", "1")
		return nil
	}
	answered := 0
	r.Response = func(_ context.Context, status int, h http.Header) {
		if answered++; status != 200 || h.Get("X-Answer") != "42" {
			t.Errorf("%d %v", status, h)
		}
	}
	if a := ask(nil, r); a.Err != nil || a.Text(message.BlockText) != "hi" {
		t.Errorf("%v", a)
	}
	if body != `{"mine":true}` || got.Get("Authorization") != "Bearer other" || got.Get("X-Mine") != "1" || answered != 1 {
		t.Errorf("sent %s with %v; %d answers", body, got, answered)
	}
}

func TestACallbackCanStopTheRequest(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the request was sent") })
	no := errors.New("no")
	r := requestTo(s.URL)
	r.Body = func(context.Context, []byte) ([]byte, error) { return nil, no }
	if a := ask(nil, r); !errors.Is(a.Err, no) {
		t.Errorf("body: %v", a.Err)
	}
	r = requestTo(s.URL)
	r.Header = func(context.Context, http.Header) error { return no }
	if a := ask(nil, r); !errors.Is(a.Err, no) {
		t.Errorf("header: %v", a.Err)
	}
}

// endless streams a word and then waits until the client goes away.
func endless(gone chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, ": still here\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n")
		w.(http.Flusher).Flush()
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		close(gone)
	}
}

func TestBreakCancelsTheRequestAndLeaksNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	gone := make(chan struct{})
	s := httptest.NewServer(endless(gone))
	defer s.Close()
	client := provider.NewClient()
	defer client.CloseIdleConnections()
	var kinds []llm.DeltaKind
	for d, err := range openai.New(client).Stream(context.Background(), requestTo(s.URL)) {
		if err != nil {
			t.Fatal(err)
		}
		if kinds = append(kinds, d.Kind); d.Kind == llm.DeltaText {
			break
		}
	}
	<-gone
	if fmt.Sprint(kinds) != fmt.Sprint([]llm.DeltaKind{llm.DeltaPing, llm.DeltaText}) {
		t.Errorf("deltas %v", kinds)
	}
}

func TestACancelledCallSaysSoAndWhy(t *testing.T) {
	gone := make(chan struct{})
	s := serve(t, endless(gone))
	idle := errors.New("nothing came")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var last error
	for d, err := range openai.New(nil).Stream(ctx, requestTo(s.URL)) {
		last = err
		if d.Kind == llm.DeltaText {
			cancel(idle)
		}
	}
	<-gone
	if !errors.Is(last, context.Canceled) || !errors.Is(last, idle) {
		t.Errorf("error %v", last)
	}
}

func TestAStreamThatBreaksIsRetryable(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		buf.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n" + strings.Split(hello, "]}\n")[0])
		buf.Flush()
		conn.Close()
	})
	e := providerError(t, ask(nil, requestTo(s.URL)).Err)
	if !e.Retryable || !strings.Contains(e.NextStep, "ask again") {
		t.Errorf("%+v", e)
	}
}

func TestARedirectionKeepsTheKeyAtItsHost(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") })
	var s *httptest.Server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away/chat/completions":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/here/chat/completions":
			http.Redirect(w, r, s.URL+"/there", http.StatusPermanentRedirect)
		default:
			io.WriteString(w, hello)
		}
	})
	if e := providerError(t, ask(nil, requestTo(s.URL+"/away")).Err); e.Status != 307 || !strings.Contains(e.NextStep, other.URL) {
		t.Errorf("%+v", e)
	}
	if a := ask(nil, requestTo(s.URL+"/here")); a.Err != nil {
		t.Error(a.Err)
	}
}

// TestTheEnvironmentsProxyAndCertificatesApply runs itself: the environment is
// read once in a process.
func TestTheEnvironmentsProxyAndCertificatesApply(t *testing.T) {
	if base := os.Getenv("TEST_ASK"); base != "" {
		if a := ask(nil, requestTo(base)); a.Err != nil || a.Text(message.BlockText) != "hi" {
			t.Errorf("%v", a)
		}
		return
	}
	proxied := make(chan string, 1)
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		proxied <- r.URL.String()
		io.WriteString(w, hello)
	})
	runSelf(t, "TEST_ASK=http://model.test/v1", "HTTP_PROXY="+proxy.URL)
	if url := <-proxied; url != "http://model.test/v1/chat/completions" {
		t.Errorf("the proxy was asked for %s", url)
	}
	private := httptest.NewTLSServer(fixed(200, nil, hello))
	defer private.Close()
	runSelf(t, "TEST_ASK="+private.URL, "SSL_CERT_FILE="+certificateFile(t, private))
}
