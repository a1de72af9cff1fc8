package oauthtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// DeviceBehaviour is how codes for other devices are given (RFC 8628).
type DeviceBehaviour struct {
	Answer  map[string]json.RawMessage // fields of the answer in place of the usual ones
	Pending int                        // questions before somebody has typed the code; below zero: until they visit /activate
}

// Failure is an answer of the token address that is none.
type Failure struct {
	Status   int
	Body     string // in place of an error by Code
	Code     string
	Location string // where a redirect leads
	Drop     bool   // the connection is closed without an answer
}

func (f Failure) write(w http.ResponseWriter) {
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Location != "":
		w.Header().Set("Location", f.Location)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case f.Body != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body)) // to whoever still listens
	default:
		answer(w, f.Status, map[string]string{"error": f.Code, "error_description": "it is a test"})
	}
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// device is a code that was given and not used yet.
type device struct {
	grant   grant
	user    string // code
	asked   int
	isTyped bool
}

// handleDevices adds the addresses of other devices, and those of a sign-in that gives a key.
func (s *Server) handleDevices(mux *http.ServeMux) {
	mux.HandleFunc("POST /device", s.deviceCode)
	mux.HandleFunc("GET /activate", s.activate)
	mux.HandleFunc("GET /auth", s.authorizeKey)
	mux.HandleFunc("POST /api/v1/auth/keys", s.key)
}

func (s *Server) deviceCode(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PostFormValue("client_id")
	if _, known := s.clients[id]; !known || s.Audience != r.PostForm.Get("audience") {
		refuse(w, "invalid_client", "who are you")
		return
	}
	code, user := "device-"+rand.Text(), rand.Text()[:8]
	s.devices[code] = &device{grant: grant{client: id, scopes: strings.Fields(r.PostForm.Get("scope"))}, user: user}
	said := map[string]any{"device_code": code, "user_code": user, "verification_uri": s.URL + "/activate",
		"verification_uri_complete": s.URL + "/activate?user_code=" + user, "expires_in": 600, "interval": 1}
	for name, value := range s.Device.Answer {
		said[name] = value
	}
	answer(w, http.StatusOK, said)
}

// activate is where somebody types a code.
func (s *Server) activate(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.devices {
		if d.user == r.URL.Query().Get("user_code") {
			d.isTyped = true
		}
	}
	_, _ = w.Write([]byte("thank you"))
}

// deviceToken returns what a code is good for, once; or it answers why it is not, and returns false.
func (s *Server) deviceToken(w http.ResponseWriter, code string) (g grant, ok bool) {
	d := s.devices[code]
	if d == nil {
		refuse(w, "invalid_grant", "no such code")
		return g, false
	}
	d.asked++
	switch {
	case s.Denies:
		refuse(w, "access_denied", "you said no")
		return g, false
	case !d.isTyped && (s.Device.Pending < 0 || d.asked <= s.Device.Pending):
		refuse(w, "authorization_pending", "")
		return g, false
	}
	delete(s.devices, code)
	return d.grant, true
}

// authorizeKey sends a browser back with a code for a key: without a client and without a state.
func (s *Server) authorizeKey(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("callback_url"))
	if err != nil || back.Hostname() != "localhost" || len(back.Path) < 20 || q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256" || q.Has("client_id") || q.Has("state") {
		http.Error(w, "this is no request for a key", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	code := "keycode-" + rand.Text()
	s.codes[code] = grant{challenge: q.Get("code_challenge")}
	back.RawQuery = url.Values{"code": {code}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *Server) key(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Code     string `json:"code"`
		Verifier string `json:"code_verifier"`
		Method   string `json:"code_challenge_method"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.codes[asked.Code]
	delete(s.codes, asked.Code)
	sum := sha256.Sum256([]byte(asked.Verifier))
	if err != nil || !ok || asked.Method != "S256" || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		answer(w, http.StatusForbidden, map[string]any{"error": map[string]any{"code": 403, "message": "Invalid \x1b[31mcode"}})
		return
	}
	key := "sk-or-" + rand.Text()
	s.keys[key] = true
	answer(w, http.StatusOK, map[string]any{"key": key, "user_id": "user"})
}
