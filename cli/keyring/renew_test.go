package keyring

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/cli/keyring/oauth"
	"pi/internal/testing/oauthtest"
)

// signedInAt is a ring with a login of acme at a server, which runs out at a time by the clock of testRing.
func signedInAt(t *testing.T, s *oauthtest.Server, expires time.Duration) Key {
	t.Helper()
	s.AddClient("pi", "")
	access, refresh := s.Token("pi")
	now := testRing(t, "", nil).now()
	auth := fmt.Sprintf(`{"acme": {"type": "oauth", "access": %q, "refresh": %q, "expires": %d, "obtained": %d, "token_url": %q, "client_id": "pi", "accountId": "kept"}}`,
		access, refresh, now.Add(expires).UnixMilli(), now.Add(-time.Hour).UnixMilli(), s.URL+"/token")
	return Key{Ring: testRing(t, auth, nil), Provider: "acme", Logins: []string{"acme"}}
}

func server(t *testing.T, b oauthtest.Behaviour) *oauthtest.Server {
	t.Helper()
	s := oauthtest.New(b)
	t.Cleanup(s.Close)
	return s
}

// entryIn is an entry of auth.json as other programs read it.
func entryIn(t *testing.T, r *Ring, name string) map[string]any {
	t.Helper()
	var all map[string]map[string]any
	data, err := os.ReadFile(r.auth.path)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}

func TestWhenALoginIsRenewed(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		left, life time.Duration
		want       bool
	}{
		{6 * time.Minute, time.Hour, false}, {5 * time.Minute, time.Hour, true}, {-time.Hour, time.Hour, true},
		{5 * time.Minute, 25 * time.Minute, true}, {5*time.Minute + time.Second, 25 * time.Minute, false},
		{3 * time.Minute, 10 * time.Minute, false}, {2 * time.Minute, 10 * time.Minute, true}, {15 * time.Second, time.Minute, false}, {12 * time.Second, time.Minute, true},
		{6 * time.Minute, 0, false}, {5 * time.Minute, 0, true}, // of another program: nobody knows how long it lives
	} {
		l := login{Type: "oauth", Expires: float64(now.Add(tt.left).UnixMilli())}
		if tt.life > 0 {
			l.Obtained = float64(now.Add(tt.left - tt.life).UnixMilli())
		}
		if got := l.due(now); got != tt.want {
			t.Errorf("%v of %v left: %v", tt.left, tt.life, got)
		}
	}
	if (login{Type: "oauth"}).due(now) {
		t.Error("a login without an end is due")
	}
}

func TestALoginIsRenewedBeforeItEndsAndTheRestOfItStays(t *testing.T) {
	for _, expires := range []time.Duration{4 * time.Minute, -time.Hour} {
		s := server(t, oauthtest.Behaviour{Rotates: true})
		k := signedInAt(t, s, expires)
		before := entryIn(t, k.Ring, "acme")
		if !k.Present() || k.Missing() != "" || len(k.Ring.Expired(func(string) *llm.Login { return nil })) > 0 {
			t.Error("it counts as gone")
		}
		key, err := k.Resolve(t.Context())
		after := entryIn(t, k.Ring, "acme")
		if err != nil || key == before["access"] || after["access"] != key || after["refresh"] == before["refresh"] || after["accountId"] != "kept" || after["token_url"] != s.URL+"/token" || after["type"] != "oauth" {
			t.Errorf("%q, %v, %v", key, err, after)
		}
		if again, err := k.Resolve(t.Context()); again != key || err != nil || s.Count("POST /token") != 1 {
			t.Errorf("asked %d times: %q, %v", s.Count("POST /token"), again, err)
		}
		if info, err := os.Stat(k.Ring.auth.path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if _, err := os.Stat(k.Ring.auth.path + ".lock"); err == nil {
			t.Error("the lock is left")
		}
	}
}

func TestARefusalTakesNothingAway(t *testing.T) {
	for _, tt := range []struct {
		name      string
		expires   time.Duration
		fail      oauthtest.Failure
		holds     bool
		retryable bool
		want      string
	}{
		{"one that ran out", -time.Minute, oauthtest.Failure{Status: 400, Code: "invalid_grant"}, false, false, "renew the login of acme: the authorization server says invalid_grant: it is a test"},
		{"one that still holds", time.Minute, oauthtest.Failure{Status: 400, Code: "invalid_grant"}, true, false, ""},
		{"a server that is down", -time.Minute, oauthtest.Failure{Status: 503}, false, true, "503"},
		{"a network that is down", -time.Minute, oauthtest.Failure{Drop: true}, false, true, "renew the login of acme: "},
	} {
		s := server(t, oauthtest.Behaviour{Fails: []oauthtest.Failure{tt.fail, tt.fail}})
		k := signedInAt(t, s, tt.expires)
		before, _ := os.ReadFile(k.Ring.auth.path)
		key, err := k.Resolve(t.Context())
		after, _ := os.ReadFile(k.Ring.auth.path)
		if string(before) != string(after) {
			t.Errorf("%s: changed to %s", tt.name, after)
		}
		if tt.holds {
			if _, err2 := k.Resolve(t.Context()); err != nil || err2 != nil || key != entryIn(t, k.Ring, "acme")["access"] || s.Count("POST /token") != 1 {
				t.Errorf("%s: %q, %v, %v, asked %d times", tt.name, key, err, err2, s.Count("POST /token"))
			}
			continue
		}
		failed, ok := errors.AsType[*llm.ProviderError](err)
		if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(failed.NextStep, "/login acme signs in again") || failed.Retryable != tt.retryable || strings.Contains(err.Error(), "refresh-") {
			t.Errorf("%s: %v (%+v)", tt.name, err, failed)
		}
	}
}

func TestOfSeveralRequestsOneRenews(t *testing.T) {
	s := server(t, oauthtest.Behaviour{Rotates: true})
	k := signedInAt(t, s, -time.Hour)
	second := k // another program, with what it has read
	second.Ring = New(Options{AgentDir: filepath.Dir(k.Ring.auth.path), Now: k.Ring.now})
	_, _ = second.Ring.auth.find("acme")
	keys := make(chan string, 8)
	var all sync.WaitGroup
	for i := range cap(keys) {
		all.Go(func() {
			key, err := []Key{k, second}[i%2].Resolve(t.Context())
			if err != nil {
				t.Error(err)
			}
			keys <- key
		})
	}
	all.Wait()
	close(keys)
	want := entryIn(t, k.Ring, "acme")["access"]
	for key := range keys {
		if key != want {
			t.Errorf("%q, want %q", key, want)
		}
	}
	if n := s.Count("POST /token"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// Who leaves in the middle of a renewal does not lose what the server gives for a refresh token that is
// good once.
func TestARenewalGoesOnWhenWhoeverAskedHasLeft(t *testing.T) {
	asked, released := make(chan bool, 2), make(chan bool)
	s := server(t, oauthtest.Behaviour{Rotates: true, Instead: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			asked <- true
			<-released
		}
		return false
	}})
	k := signedInAt(t, s, -time.Hour)
	before := entryIn(t, k.Ring, "acme")["access"]
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := k.Resolve(ctx)
		left <- err
	}()
	<-asked
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(released)
	if key, err := k.Resolve(t.Context()); err != nil || key == before || key != entryIn(t, k.Ring, "acme")["access"] || s.Count("POST /token") != 1 {
		t.Errorf("%q, %v, asked %d times", key, err, s.Count("POST /token"))
	}
}

// A login is renewed at the address that gave it, whatever the settings say by now; one of another
// program as the settings say; and none as a hook says.
func TestWhereALoginIsRenewed(t *testing.T) {
	gave, other := server(t, oauthtest.Behaviour{}), server(t, oauthtest.Behaviour{})
	of := func(s *oauthtest.Server) *llm.Login {
		return &llm.Login{Kind: llm.LoginPKCE, AuthorizeURL: s.URL, TokenURL: s.URL + "/token", ClientID: "pi"}
	}
	k := signedInAt(t, gave, -time.Hour)
	k.Login = of(other)
	if _, err := k.Resolve(t.Context()); err != nil || gave.Count("POST /token") != 1 || other.Count("POST /token") != 0 {
		t.Errorf("%v, %d there, %d elsewhere", err, gave.Count("POST /token"), other.Count("POST /token"))
	}

	theirs := signedInAt(t, gave, -time.Hour)
	text, err := os.ReadFile(theirs.Ring.auth.path)
	if err != nil {
		t.Fatal(err)
	}
	without := strings.ReplaceAll(strings.Replace(string(text), fmt.Sprintf(`"token_url": %q, "client_id": "pi", `, gave.URL+"/token"), "", 1), `"obtained"`, `"at"`)
	if err := os.WriteFile(theirs.Ring.auth.path, []byte(without), 0o600); err != nil {
		t.Fatal(err)
	}
	hooks := theirs
	hooks.Hook, hooks.Script = "evil", &llm.Login{Kind: llm.LoginPKCE, TokenURL: other.URL + "/token", ClientID: "pi", Script: &script{}, Hook: llm.LoginHook{Path: "/evil.lua", Scope: "global"}}
	if key, err := hooks.Resolve(t.Context()); err == nil || other.Count("POST /token") != 0 || !strings.Contains(err.Error(), "ran out") || hooks.Present() {
		t.Errorf("as a hook says: %q, %v", key, err)
	}
	theirs.Login = of(gave)
	if _, err := theirs.Resolve(t.Context()); err != nil || gave.Count("POST /token") != 2 {
		t.Errorf("as the settings say: %v, %d", err, gave.Count("POST /token"))
	}
	if entry := entryIn(t, theirs.Ring, "acme"); entry["token_url"] != nil || entry["accountId"] != "kept" {
		t.Errorf("%v", entry)
	}
}

// script are functions of a hook.
type script struct {
	started, refreshed llm.Credential
	gave               []string // the credentials that it was given
}

func (s *script) Start(context.Context, llm.LoginUI) (llm.Credential, error) { return s.started, nil }
func (s *script) Refreshes() bool                                            { return s.refreshed != nil }
func (s *script) Refresh(_ context.Context, c llm.Credential) (llm.Credential, error) {
	s.gave = append(s.gave, string(c))
	return s.refreshed, nil
}
func (s *script) Auth(_ context.Context, c llm.Credential) (llm.Auth, error) {
	var fields struct{ Access, Team string }
	err := json.Unmarshal(c, &fields)
	return llm.Auth{Key: "key-of-" + fields.Access, BaseURL: "https://" + fields.Team + ".example", Headers: map[string]string{"X-Team": fields.Team}}, err
}

func TestALoginOfAHookGoesToThatHookOnly(t *testing.T) {
	mine := llm.LoginHook{Path: "/hooks/mine.lua", Scope: "global"}
	functions := &script{started: llm.Credential(`{"access": "one", "team": "red", "expires": 1, "type": "api_key", "hook": {"path": "/other.lua"}, "HOOK": null, "Type": "api_key"}`), refreshed: llm.Credential(`{"access": "two", "team": "blue"}`)}
	r := testRing(t, `{"other": {"type": "api_key", "key": "x"}}`, nil)
	if err := r.SignIn(t.Context(), "acme", llm.Login{Script: functions, Hook: mine}, oauth.User{}, nil); err != nil {
		t.Fatal(err)
	}
	if entry := entryIn(t, r, "acme"); len(entry) != 6 || entry["type"] != "oauth" || fmt.Sprint(entry["hook"]) != "map[path:/hooks/mine.lua scope:global]" {
		t.Errorf("%v", entry)
	}
	k := Key{Ring: r, Provider: "acme", Hook: "mine", Logins: []string{"acme"}, Script: &llm.Login{Script: functions, Hook: mine}}
	key, err := k.Resolve(t.Context())
	if along := r.Along("acme", key); err != nil || key != "key-of-two" || along.BaseURL != "https://blue.example" || along.Headers["X-Team"] != "blue" {
		t.Errorf("%q, %v, %+v", key, err, along)
	}
	var given map[string]any
	if len(functions.gave) != 1 || json.Unmarshal([]byte(functions.gave[0]), &given) != nil || given["access"] != "one" || given["type"] != nil || given["hook"] != nil || given["obtained"] != nil {
		t.Errorf("it was given %q", functions.gave)
	}
	for name, hook := range map[string]*llm.Login{"no hook": nil, "one at another place": {Script: functions, Hook: llm.LoginHook{Path: "/hooks/theirs.lua", Scope: "global"}},
		"one of a project": {Script: functions, Hook: llm.LoginHook{Path: "/hooks/mine.lua", Scope: "project"}}} {
		k.Script = hook
		if key, err := k.Resolve(t.Context()); err == nil || !strings.Contains(err.Error(), "is of the hook /hooks/mine.lua") {
			t.Errorf("%s: %q, %v", name, key, err)
		}
	}
	for name, c := range map[string]string{"no table": `"x"`, "an access that is a number": `{"access": 1}`, "a line break": `{"access": "a\nb"}`} {
		functions.started = llm.Credential(c)
		if err := r.SignIn(t.Context(), "acme", llm.Login{Script: functions, Hook: mine}, oauth.User{}, nil); err == nil {
			t.Errorf("%s is kept", name)
		}
	}
}

func TestAfterARefusalALoginIsRenewedOnce(t *testing.T) {
	s := server(t, oauthtest.Behaviour{})
	k := signedInAt(t, s, time.Hour)
	key, err := k.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	auth, again, err := k.Ring.Again(t.Context(), "acme", key)
	if err != nil || !again || auth.Key == key || auth.Key != entryIn(t, k.Ring, "acme")["access"] {
		t.Errorf("%+v, %v, %v", auth, again, err)
	}
	if auth, again, err := k.Ring.Again(t.Context(), "acme", auth.Key); again || err != nil {
		t.Errorf("one that was got just now: %+v, %v, %v", auth, again, err)
	}
	if n := s.Count("POST /token"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	// Another program has signed in anew: that is read, and nobody asked.
	k = signedInAt(t, s, time.Hour)
	if key, err = k.Resolve(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(k.Ring.auth.path)
	if err := os.WriteFile(k.Ring.auth.path, []byte(strings.ReplaceAll(string(text), key, "of-another-program")), 0o600); err != nil {
		t.Fatal(err)
	}
	if auth, again, err := k.Ring.Again(t.Context(), "acme", key); err != nil || !again || auth.Key != "of-another-program" || s.Count("POST /token") != 1 {
		t.Errorf("%+v, %v, %v", auth, again, err)
	}
}

func TestWhatIsKeptIsForgotten(t *testing.T) {
	const both = `{"a": {"type": "api_key", "key": "x"}, "acme": {"type": "oauth", "access": "y", "token_url": "https://t/x?key=s3cret", "refresh": "r", "expires": 4e12}, "acme": {"type": "api_key", "key": "z"}}`
	r := testRing(t, both, nil)
	if held := fmt.Sprint(r.Held()); strings.Contains(held, "s3cret") || len(r.Held()) != 2 {
		t.Errorf("%s", held)
	}
	for name, want := range map[string]bool{"acme": true, "none": false} {
		if was, err := r.Forget(name, "alias"); was != want || err != nil {
			t.Errorf("%s: %v, %v", name, was, err)
		}
	}
	if text, _ := os.ReadFile(r.auth.path); string(text) != `{"a": {"type": "api_key", "key": "x"}}` {
		t.Errorf("left %s", text)
	}
	if was, err := r.Forget("a"); !was || err != nil {
		t.Error(was, err)
	}
	if text, _ := os.ReadFile(r.auth.path); strings.TrimSpace(string(text)) != "{\n}" {
		t.Errorf("left %q", text)
	}
	none := testRing(t, "", nil)
	if was, err := none.Forget("a"); was || err != nil {
		t.Error(was, err)
	}
	if _, err := os.Stat(none.auth.path); err == nil {
		t.Error("a file was made")
	}
}

// Programs that know the lock of the file only as a folder, and programs that are killed.

// TestMain lets the test be another program too.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("KEYRING_DIR"); os.Getenv("KEYRING_DOES") {
	case "":
		os.Exit(m.Run())
	case "renew":
		_, err := Key{Ring: New(Options{AgentDir: dir}), Provider: "acme", Logins: []string{"acme"}}.Resolve(context.Background())
		fmt.Println(err)
	case "hold": // as another program does: it makes the folder and sets its time
		lock := filepath.Join(dir, "auth.json.lock")
		if err := os.Mkdir(lock, 0o777); err != nil {
			panic(err)
		}
		fmt.Println("locked")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		path := filepath.Join(dir, "auth.json")
		text, _ := os.ReadFile(path)
		var all map[string]map[string]any
		if err := json.Unmarshal(text, &all); err != nil {
			panic(err)
		}
		all["acme"]["access"], all["acme"]["refresh"], all["acme"]["expires"] = "of-the-other", "next", 4e12
		text, _ = json.Marshal(all)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			panic(err)
		}
		_ = os.Remove(lock)
	}
}

// program is another one that does something with the file.
func program(t *testing.T, k Key, does string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "KEYRING_DOES="+does, "KEYRING_DIR="+filepath.Dir(k.Ring.auth.path))
	c.Stderr = os.Stderr
	return c
}

func TestAProgramThatHasTheFolderIsWaitedForAndItsTokenIsRead(t *testing.T) {
	s := server(t, oauthtest.Behaviour{Rotates: true})
	k := signedInAt(t, s, -time.Hour)
	c := program(t, k, "hold")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		key, err := k.Resolve(t.Context())
		got <- fmt.Sprint(key, err)
	}()
	kept := make(chan error)
	go func() { kept <- k.Ring.Keep("other", "sk-kept") }()
	select {
	case key := <-got:
		t.Fatalf("it was not waited for: %s", key)
	case err := <-kept:
		t.Fatalf("a key was written meanwhile: %v", err)
	case <-time.After(150 * time.Millisecond): // it cannot be seen that nothing happens
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if key := <-got; key != "of-the-other<nil>" || s.Count("POST /token") != 0 {
		t.Errorf("%s, asked %d times", key, s.Count("POST /token"))
	}
	if err := <-kept; err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if entryIn(t, k.Ring, "acme")["access"] != "of-the-other" || entryIn(t, k.Ring, "other")["key"] != "sk-kept" {
		t.Error("one of the two is lost")
	}
}

// A program that is killed while it renews leaves the folder, which grows old; the file is whole.
func TestAProgramThatIsKilledInTheMiddleOfARenewal(t *testing.T) {
	asked, released := make(chan bool, 2), make(chan bool)
	s := server(t, oauthtest.Behaviour{Instead: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			select {
			case asked <- true:
				<-released
			default:
			}
		}
		return false
	}})
	k := signedInAt(t, s, -time.Hour)
	asked <- true // the second one is held
	before, _ := os.ReadFile(k.Ring.auth.path)
	c := program(t, k, "renew")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	<-asked
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	close(released)
	lock := k.Ring.auth.path + ".lock"
	if text, err := os.ReadFile(k.Ring.auth.path); err != nil || string(text) != string(before) {
		t.Errorf("%v\n%s", err, text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := k.Resolve(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the folder of a killed program is passed at once: %v", err)
	}
	old := time.Now().Add(-staleAfter - time.Second)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	if key, err := k.Resolve(t.Context()); err != nil || key != entryIn(t, k.Ring, "acme")["access"] {
		t.Errorf("%q, %v", key, err)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the folder is left")
	}
}

func TestTheTimeOfTheFolderIsRenewedAndATakeoverIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.json")
	l, err := lockFolder(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	l.mu.Lock()
	if err := os.Chtimes(l.path, old, old); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(l.path)
	l.set = info.ModTime()
	l.mu.Unlock()
	if !l.isOurs() {
		t.Error("it is not ours any more")
	}
	l.renew()
	if info, err = os.Stat(l.path); err != nil || time.Since(info.ModTime()) > staleAfter {
		t.Errorf("%v, %v", info.ModTime(), err)
	}
	if err := os.Chtimes(l.path, old, old); err != nil { // another program has made it anew
		t.Fatal(err)
	}
	l.release()
	if _, err := os.Stat(l.path); err != nil {
		t.Error("the lock of another program was given back")
	}
	var watched standstill
	now := time.Now()
	ahead := now.Add(time.Hour) // by a clock that is fast
	if err := os.Chtimes(l.path, ahead, ahead); err != nil {
		t.Fatal(err)
	}
	info, _ = os.Stat(l.path)
	if watched.isStale(info, now) || watched.isStale(info, now.Add(staleAfter)) || !watched.isStale(info, now.Add(staleAfter+time.Second)) {
		t.Error("a time that is ahead and stands still")
	}
}
