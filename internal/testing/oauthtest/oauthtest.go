// Package oauthtest is an authorization server with an MCP server behind it, for tests. It is
// strict: a code is good once, with its verifier, redirect and client; a refresh token is good
// once if they rotate. Who comes to the authorization address is signed in at once, as a user
// who says yes, or no.
//
// The MCP server has the tool whoami, which tells the scopes of the caller, and the tool deep, which
// needs the scope deep. device.go has codes for other devices and a sign-in that gives a key, as
// OpenRouter has it, and model.go a model that lets in by a token or such a key.
package oauthtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is both servers, at one address. What it does otherwise than usual is set before it is
// used, with the lock held afterwards.
type Server struct {
	*httptest.Server

	mu sync.Mutex // guards what follows
	Behaviour
	clients  map[string]client
	codes    map[string]grant // not used yet
	devices  map[string]*device
	keys     map[string]bool // that were given away
	access   map[string]grant
	refresh  map[string]grant
	requests []string
}

// Behaviour is what a test can have otherwise.
type Behaviour struct {
	Life        int      // of a token, in seconds; 0: an hour
	OddLife     string   // the JSON of expires_in in its place; "": none
	Rotates     bool     // a refresh token is good once
	NamesItself bool     // with iss in the answer (RFC 9207)
	Denies      bool     // the user says no
	NoRegister  bool     // programs are not registered
	Secrets     bool     // registered clients get a secret, and have to send it
	Scopes      []string // that a token needs, and metadata names; none: any token is let in
	Audience    string   // that every request of a client has to name; "": none
	Device      DeviceBehaviour
	Fails       []Failure // answers to the next requests for tokens, one after the other
	// Instead answers a request to a path in place of the server, if it returns true.
	Instead func(w http.ResponseWriter, r *http.Request) bool
}

type client struct {
	secret    string
	redirects []string
}

// grant is what a code or a token is good for.
type grant struct {
	client, redirect, challenge, resource string
	scopes                                []string
}

// New returns a server that runs until it is closed.
func New(b Behaviour) *Server {
	s := &Server{Behaviour: b, clients: map[string]client{}, codes: map[string]grant{}, access: map[string]grant{}, refresh: map[string]grant{}, devices: map[string]*device{}, keys: map[string]bool{}}
	tools := http.HandlerFunc(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.tools() }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}).ServeHTTP)
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { s.guard(w, r, tools) })
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", s.resource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("/register", s.register)
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("/token", s.token)
	s.handleDevices(mux)
	mux.HandleFunc("/v1/chat/completions", s.model)
	mux.HandleFunc("/api/v1/chat/completions", s.model)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		instead := s.Instead
		s.mu.Unlock()
		if instead == nil || !instead(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	s.Start()
	return s
}

// Change changes the behaviour while the server runs.
func (s *Server) Change(edit func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&s.Behaviour)
}

// MCP is the address of the MCP server.
func (s *Server) MCP() string { return s.URL + "/mcp" }

// AddClient registers a client as a user would by hand.
func (s *Server) AddClient(id, secret string, redirects ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[id] = client{secret, redirects}
}

// Forget makes all access tokens worthless, and the refresh tokens too if all is set.
func (s *Server) Forget(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	if all {
		clear(s.refresh)
	}
}

// Token gives a token away, as if somebody had signed in as this client.
func (s *Server) Token(id string) (access, refresh string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	access, refresh = "access-"+rand.Text(), "refresh-"+rand.Text()
	s.access[access], s.refresh[refresh] = grant{client: id}, grant{client: id}
	return access, refresh
}

// Count is how many requests came to a path: "POST /token".
func (s *Server) Count(request string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r == request {
			n++
		}
	}
	return n
}

type scopesKey struct{}

// guard lets a request through with a token that is good.
func (s *Server) guard(w http.ResponseWriter, r *http.Request, next http.Handler) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	g, ok := s.access[token]
	needs := s.Scopes
	s.mu.Unlock()
	if !ok {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", s.URL+"/.well-known/oauth-protected-resource/mcp"))
		http.Error(w, "sign in", http.StatusUnauthorized)
		return
	}
	if r.Header.Get("Mcp-Name") == "deep" || r.URL.Query().Get("deep") != "" {
		needs = append(slices.Clone(needs), "deep")
	}
	for _, scope := range needs {
		if !slices.Contains(g.scopes, scope) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=\"insufficient_scope\", scope=%q", strings.Join(needs, " ")))
			http.Error(w, "not enough", http.StatusForbidden)
			return
		}
	}
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), scopesKey{}, g.scopes)))
}

// tools is the MCP server of one request.
func (s *Server) tools() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	says := func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		scopes, _ := ctx.Value(scopesKey{}).([]string)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "you have " + strings.Join(slices.Sorted(slices.Values(scopes)), " ")}}}, nil, nil
	}
	mcp.AddTool(server, &mcp.Tool{Name: "whoami", Description: "tells what you may do"}, says)
	mcp.AddTool(server, &mcp.Tool{Name: "deep", Description: "needs more"}, says)
	return server
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // to whoever still listens
}

func refuse(w http.ResponseWriter, code, description string) {
	answer(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": description})
}

func (s *Server) resource(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"resource": s.MCP(), "authorization_servers": []string{s.URL}, "scopes_supported": s.Scopes})
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := map[string]any{"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post", "none"}}
	if !s.NoRegister {
		said["registration_endpoint"] = s.URL + "/register"
	}
	if s.NamesItself {
		said["authorization_response_iss_parameter_supported"] = true
	}
	answer(w, http.StatusOK, said)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.RedirectURIs) == 0 {
		refuse(w, "invalid_redirect_uri", "no address to come back to")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, c := "client-"+rand.Text(), client{redirects: asked.RedirectURIs}
	said := map[string]any{"client_id": id, "redirect_uris": asked.RedirectURIs, "token_endpoint_auth_method": "none"}
	if s.Secrets {
		c.secret = "secret-" + rand.Text()
		said["client_secret"], said["token_endpoint_auth_method"] = c.secret, "client_secret_post"
	}
	s.clients[id] = c
	answer(w, http.StatusCreated, said)
}

// authorize sends the browser back.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	c, known := s.clients[q.Get("client_id")]
	redirect := q.Get("redirect_uri")
	if !known || !c.comesBackTo(redirect) || s.Audience != q.Get("audience") || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("state") == "" {
		http.Error(w, "this is no request of a client", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if s.NamesItself {
		back.Set("iss", s.URL)
	}
	if s.Denies {
		back.Set("error", "access_denied")
		back.Set("error_description", "you said no")
	} else {
		code := "code-" + rand.Text()
		s.codes[code] = grant{q.Get("client_id"), redirect, q.Get("code_challenge"), q.Get("resource"), strings.Fields(q.Get("scope"))}
		back.Set("code", code)
	}
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound)
}

// comesBackTo reports whether an address is one of the client. At this machine the port 0 stands for
// any.
func (c client) comesBackTo(redirect string) bool {
	u, err := url.Parse(redirect)
	if err != nil {
		return false
	}
	anyPort := u.Scheme + "://" + net.JoinHostPort(u.Hostname(), "0") + u.Path
	return slices.Contains(c.redirects, redirect) || slices.Contains(c.redirects, anyPort)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.ParseForm(); err != nil || len(r.URL.RawQuery) > 0 || s.Audience != r.PostForm.Get("audience") {
		refuse(w, "invalid_request", "this is no form of a client")
		return
	}
	if len(s.Fails) > 0 {
		f := s.Fails[0]
		s.Fails = s.Fails[1:]
		f.write(w)
		return
	}
	id := r.PostForm.Get("client_id")
	if c, known := s.clients[id]; !known || c.secret != r.PostForm.Get("client_secret") {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	var g grant
	var ok bool
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		code := r.PostForm.Get("code")
		g, ok = s.codes[code]
		delete(s.codes, code)
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		ok = ok && g.redirect == r.PostForm.Get("redirect_uri") && g.challenge == base64.RawURLEncoding.EncodeToString(sum[:])
	case "refresh_token":
		token := r.PostForm.Get("refresh_token")
		if g, ok = s.refresh[token]; s.Rotates {
			delete(s.refresh, token)
		}
	case deviceGrant:
		if g, ok = s.deviceToken(w, r.PostForm.Get("device_code")); !ok {
			return
		}
	default:
		refuse(w, "unsupported_grant_type", "")
		return
	}
	if !ok || g.client != id || g.resource != r.PostForm.Get("resource") {
		refuse(w, "invalid_grant", "it is not good any more")
		return
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	s.access[access] = g
	said := map[string]any{"access_token": access, "token_type": "bearer", "expires_in": 3600, "scope": strings.Join(g.scopes, " ")}
	if s.Life != 0 {
		said["expires_in"] = s.Life
	}
	if s.OddLife != "" {
		said["expires_in"] = json.RawMessage(s.OddLife)
	}
	if r.PostForm.Get("grant_type") != "refresh_token" || s.Rotates {
		s.refresh[refresh] = g
		said["refresh_token"] = refresh
	}
	answer(w, http.StatusOK, said)
}
