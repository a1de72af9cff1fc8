package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pi/internal/testing/oauthtest"
)

// direct asks a server without a network, so that the clock of a test can be played.
type direct struct{ server *oauthtest.Server }

func (d direct) RoundTrip(r *http.Request) (response *http.Response, err error) {
	defer func() {
		if recover() != nil {
			response, err = nil, errors.New("the connection broke")
		}
	}()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	d.server.Config.Handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// authorizationServer is a server with the client pi, and what asks it.
func authorizationServer(t *testing.T, b oauthtest.Behaviour) (*oauthtest.Server, Client) {
	t.Helper()
	b.Audience = "models"
	s := oauthtest.New(b)
	t.Cleanup(s.Close)
	s.AddClient("pi", "", "http://127.0.0.1:0/callback", "http://localhost:0/back")
	return s, Client{AuthorizeURL: s.URL + "/authorize", DeviceURL: s.URL + "/device", TokenURL: s.URL + "/token", ID: "pi",
		Scopes: []string{"a", "b"}, Extra: map[string]string{"audience": "models"}, Base: s.Client().Transport}
}

// browse is a browser that goes where it is sent.
func browse(t *testing.T) func(context.Context, string) error {
	return func(_ context.Context, address string) error {
		visit(t, "GET", address, nil)
		return nil
	}
}

func TestAUserSignsInWithABrowserAndTheTokenIsRenewed(t *testing.T) {
	for _, redirect := range []string{"", "http://127.0.0.1:0/callback", "http://localhost:0/back"} {
		s, c := authorizationServer(t, oauthtest.Behaviour{Rotates: true})
		c.Redirect = redirect
		c.Now = func() time.Time { return time.Unix(1000, 0) } // the clock of the server is another
		token, err := c.PKCE(t.Context(), User{Tell: new(told).tell, Open: browse(t)})
		if err != nil || token.Access == "" || token.Refresh == "" || !token.Expires.Equal(time.Unix(4600, 0)) {
			t.Fatalf("%q: %+v, %v", redirect, token, err)
		}
		renewed, err := c.Renew(t.Context(), token.Refresh)
		if err != nil || renewed.Access == token.Access || renewed.Refresh == "" || renewed.Refresh == token.Refresh {
			t.Errorf("%+v, %v", renewed, err)
		}
		if _, err := c.Renew(t.Context(), token.Refresh); err == nil || !strings.Contains(err.Error(), "invalid_grant: it is not good any more") {
			t.Errorf("a refresh token that was used: %v", err)
		}
		s.Change(func(b *oauthtest.Behaviour) { b.Rotates = false })
		if again, err := c.Renew(t.Context(), renewed.Refresh); err != nil || again.Refresh != "" {
			t.Errorf("without another refresh token: %+v, %v", again, err)
		}
		if n := s.Count("POST /token"); n != 4 {
			t.Errorf("asked %d times", n)
		}
	}
}

// Another program of this machine that calls back first, with a code of its own, is refused, and the
// user is signed in as themselves.
func TestAnotherProgramThatCallsBackFirstIsRefused(t *testing.T) {
	s, c := authorizationServer(t, oauthtest.Behaviour{})
	open := func(ctx context.Context, address string) error {
		u, _ := url.Parse(address)
		redirect := u.Query().Get("redirect_uri")
		for _, query := range []string{"?code=theirs", "?code=theirs&state=guessed"} {
			if status, _ := visit(t, "GET", redirect+query, nil); status != http.StatusBadRequest {
				t.Errorf("%s: %d", query, status)
			}
		}
		if s.Count("POST /token") != 0 {
			t.Error("a code of somebody else was traded")
		}
		return browse(t)(ctx, address)
	}
	if token, err := c.PKCE(t.Context(), User{Tell: new(told).tell, Open: open}); err != nil || token.Access == "" {
		t.Errorf("%+v, %v", token, err)
	}
}

func TestOpenRouterGivesAKey(t *testing.T) {
	s, c := authorizationServer(t, oauthtest.Behaviour{})
	o := OpenRouter{AuthorizeURL: s.URL + "/auth", KeysURL: s.URL + "/api/v1/auth/keys", Base: c.Base}
	open := func(ctx context.Context, address string) error {
		u, _ := url.Parse(address)
		back, _ := url.Parse(u.Query().Get("callback_url"))
		if status, _ := visit(t, "GET", "http://"+back.Host+"/callback?code=theirs", nil); status != http.StatusNotFound {
			t.Errorf("a path that was guessed: %d", status)
		}
		if status, _ := visit(t, "GET", back.String()+"?code=theirs&state=x", nil); status != http.StatusBadRequest {
			t.Errorf("a state where none is: %d", status)
		}
		return browse(t)(ctx, address)
	}
	key, err := o.Key(t.Context(), User{Tell: new(told).tell, Open: open})
	if err != nil || !strings.HasPrefix(key, "sk-or-") {
		t.Errorf("%q, %v", key, err)
	}
	pasted := make(chan string, 3)
	pasted <- "http://localhost:1234/another?code=theirs"
	pasted <- "wrong-code"
	var user told
	_, err = o.Key(t.Context(), User{Tell: user.tell, Paste: func(ctx context.Context) (string, error) {
		select {
		case line := <-pasted:
			return line, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}})
	if err == nil || err.Error() != "sign in: the authorization server says 403 Forbidden: Invalid code" {
		t.Errorf("%v", err)
	}
	if !strings.Contains(user.String(), "the answer to another sign-in") {
		t.Errorf("%s", &user)
	}
}

func TestWhatAnAuthorizationServerRefusesIsToldClean(t *testing.T) {
	for _, code := range []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"} {
		s, c := authorizationServer(t, oauthtest.Behaviour{Fails: []oauthtest.Failure{{Status: 400, Code: code}}})
		_, err := c.Renew(t.Context(), "old")
		said, ok := errors.AsType[*ServerError](err)
		if !ok || !said.IsFinal() || err.Error() != "the authorization server says "+code+": it is a test" {
			t.Errorf("%s: %v", code, err)
		}
		if s.Count("POST /token") != 1 {
			t.Errorf("%s: asked %d times", code, s.Count("POST /token"))
		}
	}
	for _, tt := range []struct {
		name string
		fail oauthtest.Failure
		want string
	}{
		{"an escape sequence", oauthtest.Failure{Status: 400, Body: `{"error":"invalid_grant","error_description":"no\u001b[31m\u001b]52;c;eA==\u0007 more\nlines"}`}, "the authorization server says invalid_grant: no more lines"},
		{"one in the code", oauthtest.Failure{Status: 400, Body: `{"error":"\u001b[2Jinvalid"}`}, "the authorization server says invalid"},
		{"a body that is none", oauthtest.Failure{Status: 502, Body: "\x1b[31msecret-in-a-page"}, "the authorization server says 502 Bad Gateway"},
		{"an error with status 200", oauthtest.Failure{Status: 200, Body: `{"error":"invalid_grant"}`}, "the authorization server says invalid_grant"},
		{"no token", oauthtest.Failure{Status: 200, Body: `{"token_type":"bearer"}`}, "oauth2: server response missing access_token"},
		{"a token of another type", oauthtest.Failure{Status: 200, Body: `{"access_token":"a","token_type":"mac"}`}, "the authorization server gave a token that is no Bearer token"},
		{"a token that is no header", oauthtest.Failure{Status: 200, Body: `{"access_token":"a\r\nX-Evil: 1"}`}, "the authorization server gave a token that cannot be sent"},
		{"too much", oauthtest.Failure{Status: 200, Body: strings.Repeat(" ", 1<<20) + "{}"}, "answers with more than 1 MiB"},
	} {
		_, c := authorizationServer(t, oauthtest.Behaviour{Fails: []oauthtest.Failure{tt.fail}})
		_, err := c.Renew(t.Context(), "refresh-secret")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\x1b\a\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q", tt.name, err)
		}
	}
}

// What is sent to a token address is for it alone.
func TestATokenAddressThatRedirectsGetsNothingSentElsewhere(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other address was asked") }))
	defer elsewhere.Close()
	_, c := authorizationServer(t, oauthtest.Behaviour{Fails: []oauthtest.Failure{{Location: elsewhere.URL}}})
	if _, err := c.Renew(t.Context(), "refresh-secret"); err == nil || !strings.Contains(err.Error(), "redirects what is for it alone; nothing was sent there") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestOnlyHTTPSIsOpenedAndAsked(t *testing.T) {
	_, c := authorizationServer(t, oauthtest.Behaviour{})
	plain := c
	plain.AuthorizeURL = "http://login.example/authorize"
	opened := func(context.Context, string) error { t.Error("it was opened"); return nil }
	if _, err := plain.PKCE(t.Context(), User{Tell: new(told).tell, Open: opened}); err == nil || !strings.Contains(err.Error(), "only https addresses are") {
		t.Errorf("%v", err)
	}
	plain = c
	plain.TokenURL = "http://login.example/token"
	if _, err := plain.Renew(t.Context(), "secret"); err == nil || !strings.Contains(err.Error(), "only https addresses are") {
		t.Errorf("%v", err)
	}
	plain.DeviceURL = "http://login.example/device"
	if _, err := plain.Device(t.Context(), User{Tell: new(told).tell}); err == nil || !strings.Contains(err.Error(), "only https addresses are") {
		t.Errorf("%v", err)
	}
	for address, ok := range map[string]bool{"https://login.example/a?b=c": true, "http://[::1]:80/": true, "http://localhost/": true, "http://login.example": false,
		"https://u:p@login.example": false, "javascript:alert(1)": false, "https://login.example/#x": false, "": false, "https://": false, "%": false} {
		if err := CheckText(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestWhereABrowserComesBackTo(t *testing.T) {
	taken := listen(t)
	port, _ := url.Parse(taken.RedirectURL())
	if _, err := ListenAt("http://127.0.0.1:" + port.Port() + "/callback"); err == nil || !strings.Contains(err.Error(), "at port "+port.Port()) || !strings.Contains(err.Error(), "another program may have it") {
		t.Errorf("a port that is taken: %v", err)
	}
	for redirect, ok := range map[string]bool{"http://127.0.0.1:0/callback": true, "http://localhost:1455/auth/callback": true, "https://127.0.0.1:0/": false,
		"http://0.0.0.0:0/": false, "http://login.example:80/": false, "http://127.0.0.1/callback": false, "http://127.0.0.1:99999/": false, "http://127.0.0.1:0/?x": false, "pi://callback": false} {
		if err := CheckRedirectURL(redirect); (err == nil) != ok {
			t.Errorf("%q: %v", redirect, err)
		}
	}
}

func TestADeviceSignsIn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		device oauthtest.DeviceBehaviour
		fails  []oauthtest.Failure
		denies bool
		audi   string
		err    string
		least  time.Duration // that it takes
		most   time.Duration
	}{
		{name: "at once", least: time.Second, most: time.Second},
		{name: "after a while", device: oauthtest.DeviceBehaviour{Pending: 3}, least: 4 * time.Second, most: 4 * time.Second},
		{name: "asked too often", fails: []oauthtest.Failure{{Status: 400, Code: "slow_down"}, {Status: 400, Code: "slow_down"}}, least: 18 * time.Second, most: 18 * time.Second},
		{name: "the network drops", fails: []oauthtest.Failure{{Drop: true}, {Status: 503}, {Status: 429}}, least: 34 * time.Second, most: 34 * time.Second},
		{name: "who says no", denies: true, err: "access_denied: you said no"},
		{name: "the code runs out there", fails: []oauthtest.Failure{{Status: 400, Code: "expired_token"}}, err: "expired_token: it is a test"},
		{name: "another error", fails: []oauthtest.Failure{{Status: 400, Code: "invalid_client"}}, err: "invalid_client: it is a test"},
		{name: "the code runs out here", device: deviceAnswer(`{"expires_in": 5}`, -1), err: "the code ran out before somebody typed it", least: 5 * time.Second, most: 5 * time.Second},
		{name: "an interval below zero", device: deviceAnswer(`{"interval": -7}`, 0), least: time.Second, most: time.Second},
		{name: "an interval of a year", device: deviceAnswer(`{"interval": 31536000}`, 0), least: time.Minute, most: time.Minute},
		{name: "one beyond all numbers", device: deviceAnswer(`{"interval": 1e999}`, 0), least: time.Minute, most: time.Minute},
		{name: "one as text", device: deviceAnswer(`{"interval": "2"}`, 0), least: 2 * time.Second, most: 2 * time.Second},
		{name: "none", device: deviceAnswer(`{"interval": null}`, 0), least: 5 * time.Second, most: 5 * time.Second},
		{name: "a life beyond all numbers", device: deviceAnswer(`{"expires_in": 99999999999999999999, "interval": 60}`, -1), err: "the code ran out", least: 30 * time.Minute, most: 30 * time.Minute},
		{name: "a life that is over", device: deviceAnswer(`{"expires_in": -5}`, -1), err: "the code ran out", least: time.Second, most: time.Second},
		{name: "no code", device: deviceAnswer(`{"user_code": ""}`, 0), err: "what is no code for a device"},
		{name: "a code of a thousand letters", device: deviceAnswer(`{"user_code": "`+strings.Repeat("x", 1000)+`"}`, 0), err: "cannot be typed"},
		{name: "an address that is no https", device: deviceAnswer(`{"verification_uri": "http://login.example/"}`, 0), err: "only https addresses are"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := authorizationServer(t, oauthtest.Behaviour{Device: tt.device, Fails: tt.fails, Denies: tt.denies})
			c.Base = direct{s}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				token, err := c.Device(t.Context(), User{Tell: new(told).tell})
				if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || err == nil && token.Access == "" {
					t.Errorf("%+v, %v", token, err)
				}
				if took := time.Since(began); tt.most > 0 && (took < tt.least || took > tt.most) {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func deviceAnswer(text string, pending int) (b oauthtest.DeviceBehaviour) {
	b.Pending = pending
	if err := json.Unmarshal([]byte(text), &b.Answer); err != nil && !strings.Contains(text, "e999") {
		panic(err)
	}
	return b
}

func TestWhatADeviceIsShownCannotCommandATerminal(t *testing.T) {
	s, c := authorizationServer(t, oauthtest.Behaviour{Device: deviceAnswer(`{"user_code": "AB\u001b[31m-\u001b]52;c;eA==\u0007CD\n", "verification_uri": "https://login.example/\u001b[2Jx\u202e"}`, 0)})
	c.Base = direct{s}
	var user told
	if _, err := c.Device(t.Context(), User{Tell: user.tell}); err == nil { // no such address can be asked for
		t.Error("an address with control characters was taken")
	}
	s.Change(func(b *oauthtest.Behaviour) { delete(b.Device.Answer, "verification_uri") })
	synctest.Test(t, func(t *testing.T) {
		if _, err := c.Device(t.Context(), User{Tell: user.tell}); err != nil {
			t.Error(err)
		}
	})
	if text := user.String(); strings.ContainsAny(text, "\x1b\a") || !strings.Contains(text, "type this code there: AB-CD\n") {
		t.Errorf("%q", text)
	}
}

func TestWhoLeavesADeviceSignsInNoMore(t *testing.T) {
	s, c := authorizationServer(t, oauthtest.Behaviour{Device: oauthtest.DeviceBehaviour{Pending: -1}})
	c.Base = direct{s}
	left := errors.New("the user has left")
	synctest.Test(t, func(t *testing.T) {
		_, err := c.Device(t.Context(), User{Tell: new(told).tell, Wait: func(_ context.Context, code string) error {
			if len(code) != 8 {
				t.Errorf("%q", code)
			}
			time.Sleep(10 * time.Second)
			return left
		}})
		if !errors.Is(err, left) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Device(ctx, User{Tell: new(told).tell}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestOddLivesOfTokens(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for life, want := range map[string]time.Duration{"3600": time.Hour, `"3600"`: time.Hour, "90.5": 90 * time.Second, "1e3": 1000 * time.Second, "-1": 0, "0": 0,
		"null": 0, `"soon"`: 0, "1e12": 365 * 24 * time.Hour, "99999999999999999999": 365 * 24 * time.Hour, "true": 0, "[]": 0} {
		_, c := authorizationServer(t, oauthtest.Behaviour{Fails: []oauthtest.Failure{{Status: 200, Body: `{"access_token":"a","expires_in":` + life + `}`}}})
		c.Now = func() time.Time { return now }
		token, err := c.Renew(t.Context(), "r")
		if err != nil || want == 0 && !token.Expires.IsZero() || want > 0 && !token.Expires.Equal(now.Add(want)) {
			t.Errorf("%s: %v, %v", life, token.Expires, err)
		}
	}
}

// No answer makes the library panic, or wait for ever.
func FuzzDeviceAnswer(f *testing.F) {
	for _, seed := range []string{`{"device_code":"d","user_code":"u","verification_uri":"https://x/","interval":-1,"expires_in":-1}`, `{"interval":"x"}`, `[]`, `{"expires_in":1e400}`, "\x1b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := Client{DeviceURL: "https://login.example/device", TokenURL: "https://login.example/token", ID: "pi"}
		asked := false
		c.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
			text := body
			if asked {
				text = []byte(`{"access_token":"a"}`)
			}
			asked = true
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(text))), Request: r}, nil
		})
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var user told
			_, err := c.Device(t.Context(), User{Tell: user.tell})
			if took := time.Since(began); took > 30*time.Minute || err != nil && strings.ContainsAny(err.Error(), "\x1b\a") || strings.ContainsAny(user.String(), "\x1b\a") {
				t.Errorf("%v, %v, %q", took, err, user.String())
			}
		})
	})
}
