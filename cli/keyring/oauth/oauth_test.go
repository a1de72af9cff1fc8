package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const state = "state-that-nobody-guesses"

// told collects what a user is told.
type told struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *told) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(&t.text, text)
}

func (t *told) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

func listen(t *testing.T) *Loopback {
	t.Helper()
	l, err := Listen(0, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// visit is a browser that is sent to an address.
func visit(t *testing.T, method, address string, change func(*http.Request)) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

func request() Request {
	return Request{Address: "https://login.example/authorize?client_id=pi&state=" + state}
}

func TestOnlyTheAnswerThatIsWaitedForIsTaken(t *testing.T) {
	l := listen(t)
	if status, _ := visit(t, "GET", l.RedirectURL()+"?code=early&state=", nil); status != http.StatusBadRequest {
		t.Errorf("an answer before anybody asked: %d", status)
	}
	open := func(context.Context, string) error {
		for _, tt := range []struct {
			what, method, query string
			change              func(*http.Request)
			want                int
		}{
			{"another state", "GET", "?code=theirs&state=guessed", nil, http.StatusBadRequest},
			{"no state", "GET", "?code=theirs", nil, http.StatusBadRequest},
			{"no code", "GET", "?state=" + state, nil, http.StatusBadRequest},
			{"another path", "GET", "/x?code=theirs&state=" + state, nil, http.StatusNotFound},
			{"another method", "POST", "?code=theirs&state=" + state, nil, http.StatusMethodNotAllowed},
			{"another host", "GET", "?code=theirs&state=" + state, func(r *http.Request) { r.Host = "evil.example" }, http.StatusNotFound},
			{"the answer", "GET", "?code=mine&iss=https%3A%2F%2Flogin.example&state=" + state, nil, http.StatusOK},
			{"a second answer", "GET", "?code=theirs&state=" + state, nil, http.StatusBadRequest},
		} {
			if status, page := visit(t, tt.method, l.RedirectURL()+tt.query, tt.change); status != tt.want || strings.Contains(page, "mine") {
				t.Errorf("%s: %d %q, want %d", tt.what, status, page, tt.want)
			}
		}
		return nil
	}
	var user told
	answer, err := l.SignIn(t.Context(), request(), User{Tell: user.tell, Open: open})
	if err != nil || answer.Code != "mine" || answer.Issuer != "https://login.example" || answer.State != state {
		t.Errorf("%+v, %v", answer, err)
	}
	if !strings.Contains(user.String(), request().Address) {
		t.Errorf("the address is not shown: %s", &user)
	}
}

func TestAnAnswerThatSaysNo(t *testing.T) {
	l := listen(t)
	open := func(context.Context, string) error {
		visit(t, "GET", l.RedirectURL()+"?error=access_denied&error_description=not%1b%5B31m+you%0Aever&state="+state, nil)
		return nil
	}
	_, err := l.SignIn(t.Context(), request(), User{Tell: new(told).tell, Open: open})
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || refused.Code != "access_denied" || refused.Description != "not you ever" {
		t.Errorf("%v", err)
	}
}

func TestWhatIsPasted(t *testing.T) {
	answer := "http://127.0.0.1:1234/callback?code=c0de&state=" + state
	for _, tt := range []struct {
		name, line  string
		needsIssuer bool
		want        string
		wrong       error
	}{
		{"the whole address", " " + answer + "\n", false, "c0de", nil},
		{"with a fragment", answer + "#_=_", false, "c0de", nil},
		{"with its issuer", answer + "&iss=x", true, "c0de", nil},
		{"the query", "code=c0de&state=" + state, false, "c0de", nil},
		{"the code", "4/0Ab_c-d=", false, "4/0Ab_c-d=", nil},
		{"the code alone, where the server names itself", "c0de", true, "", errNeedsAll},
		{"the answer to another request", strings.Replace(answer, state, "other", 1), false, "", errOtherState},
		{"an answer without a state", "http://127.0.0.1/callback?code=c0de", false, "", errOtherState},
		{"an address without an answer", "https://example.com/?q=1", false, "", errNoAnswer},
		{"an address without a query", "https://example.com/", false, "", errNoAnswer},
		{"words", "what do you want", false, "", errNoAnswer},
		{"an escape sequence", "\x1b[200~c0de", false, "", errNoAnswer},
		{"nothing", "  ", false, "", errNoAnswer},
		{"a broken query", "http://127.0.0.1/callback?code=%zz", false, "", errNoAnswer},
	} {
		got, err := ParsePasted(tt.line, state, tt.needsIssuer)
		if got.Code != tt.want || !errors.Is(err, tt.wrong) {
			t.Errorf("%s: %+v, %v; want %q, %v", tt.name, got, err, tt.want, tt.wrong)
		}
	}
}

func FuzzPasted(f *testing.F) {
	for _, line := range []string{"code", "?code=1&state=s", "http://h/?error=x&state=s", "code=1&state=s#y", "?", "\x00"} {
		f.Add(line, true)
		f.Add(line, false)
	}
	f.Fuzz(func(t *testing.T, line string, needsIssuer bool) {
		answer, err := ParsePasted(line, "s", needsIssuer)
		switch {
		case err != nil && answer != (Answer{}):
			t.Errorf("%q: %+v beside %v", line, answer, err)
		case err == nil && (answer.State != "s" || answer.Code == "" && answer.failure == ""):
			t.Errorf("%q is an answer: %+v", line, answer)
		}
	})
}

func TestALineThatIsNoAnswerIsToldAndTheNextOneCounts(t *testing.T) {
	l, lines, user := listen(t), []string{"", "nonsense with blanks", "c0de", "http://x/?code=whole&state=" + state}, new(told)
	paste := func(context.Context) (string, error) {
		if len(lines) == 0 {
			return "", io.EOF
		}
		line := lines[0]
		lines = lines[1:]
		if len(lines) == 0 {
			return line, io.EOF // the last one has no end
		}
		return line, nil
	}
	r := request()
	r.NeedsIssuer = func() bool { return true }
	answer, err := l.SignIn(t.Context(), r, User{Tell: user.tell, Paste: paste})
	if err != nil || answer.Code != "whole" {
		t.Errorf("%+v, %v", answer, err)
	}
	for _, want := range []string{errNoAnswer.Error(), errNeedsAll.Error()} {
		if strings.Count(user.String(), want) != 1 {
			t.Errorf("%q is not told once: %s", want, user)
		}
	}
}

func TestWhereNothingIsPastedTheBrowserIsWaitedFor(t *testing.T) {
	l := listen(t)
	ended := make(chan struct{})
	paste := func(context.Context) (string, error) { close(ended); return "", io.EOF }
	open := func(context.Context, string) error {
		go func() {
			<-ended
			visit(t, "GET", l.RedirectURL()+"?code=late&state="+state, nil)
		}()
		return errors.New("no screen")
	}
	user := new(told)
	answer, err := l.SignIn(t.Context(), request(), User{Tell: user.tell, Paste: paste, Open: open})
	if err != nil || answer.Code != "late" || !strings.Contains(user.String(), "no screen") {
		t.Errorf("%+v, %v, %s", answer, err, user)
	}
}

func TestNobodySignsIn(t *testing.T) {
	l := listen(t)
	waits := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	r := request()
	r.Patience = time.Nanosecond
	if _, err := l.SignIn(t.Context(), r, User{Tell: new(told).tell, Paste: waits}); err == nil || !strings.Contains(err.Error(), "nobody signed in within 1ns") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancels := func(context.Context, string) error { cancel(); return nil }
	if _, err := l.SignIn(ctx, request(), User{Tell: new(told).tell, Open: cancels}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNotOpened(t *testing.T) {
	l := listen(t)
	for _, address := range []string{
		"http://login.example/?state=s", "javascript:alert(1)//?state=s", "file:///etc/passwd?state=s", "ftp://127.0.0.1/?state=s",
		"https://user:secret@login.example/?state=s", "https://login.example/", "//x?state=s", "%", "http://localhost.evil.example/?state=s",
	} {
		opened := false
		_, err := l.SignIn(t.Context(), Request{Address: address}, User{Tell: new(told).tell, Open: func(context.Context, string) error { opened = true; return nil }})
		if err == nil || opened || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, opened %v", address, err, opened)
		}
	}
	for _, address := range []string{"https://login.example/a", "http://localhost:1/", "http://127.0.0.2/", "http://[::1]:80/"} {
		u, err := url.Parse(address)
		if err == nil {
			err = CheckAddress(u)
		}
		if err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	if _, err := Listen(port, ""); err == nil || !strings.Contains(err.Error(), fmt.Sprint(port)) {
		t.Errorf("%v", err)
	}
}

func TestHowLongASignInIsWaitedFor(t *testing.T) {
	hour, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		r    Request
		want time.Duration
	}{
		{"nothing is said", t.Context(), Request{}, patience},
		{"whoever signs in says so", hour, Request{}, time.Hour},
		{"the request says so", hour, Request{Patience: time.Minute}, time.Minute},
	} {
		ctx, cancel := tt.r.within(tt.ctx)
		end, ok := ctx.Deadline()
		if left := time.Until(end); !ok || left > tt.want || left < tt.want-time.Minute/2 {
			t.Errorf("%s: %v, %v", tt.name, left, ok)
		}
		cancel()
	}
}
