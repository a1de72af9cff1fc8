package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
	"pi/internal/child"
	"pi/internal/process"
)

func TestNothingIsStartedBeforeItIsUsed(t *testing.T) {
	l := one(t, "good")
	_ = l.List()
	_ = l.Section()
	_ = l.Tools(nil)
	if s := l.states(); len(s) != 0 || l.List()[0].State != StateIdle {
		t.Fatalf("states %v, %v", s, l.List()[0].State)
	}
	if got := l.ask("echo", `{"text":"hello"}`); got != "hello" {
		t.Errorf("got %q", got)
	}
	eventually(t, "it is told that the server runs", func() bool { return slices.Contains(l.states(), StateReady) })
	if s := l.states(); !slices.Equal(s, []State{StateStarting, StateReady}) {
		t.Errorf("states %v", s)
	}
	st := l.List()[0]
	if st.State != StateReady || !st.Known || st.Tools < 10 || st.Prompts != 1 || st.Resources != 2 || st.Version != older || st.Description != "A server for tests" {
		t.Errorf("%+v", st)
	}
}

func TestResultsOfEveryKindReachTheModel(t *testing.T) {
	l := one(t, "good")
	for _, test := range []struct{ tool, arguments, want string }{
		{"add", `{"a":1,"b":2}`, `{"sum":3}`},
		{"add", `{"a":"1","b":2}`, `{"sum":3}`}, // models slip
		{"image", ``, "a pixel\n(image/png)"},
		{"link", `{}`, "[resource one: test://one, text/plain, 2.0 kB]"},
		{"escape", `{}`, "red text"},
		{"fail", `{}`, "it does not work"},
		{"add", `{"a":"x","b":2}`, "error: invalid arguments: /a: expected number, got string"},
		{"echo", `{}`, `error: invalid arguments: /: required property "text" is missing`},
		{"ecko", `{}`, `error: server s has no tool "ecko", did you mean "echo"?`},
	} {
		if got := l.ask(test.tool, test.arguments); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.tool, test.arguments, got, test.want)
		}
	}
	r, err := l.Call(t.Context(), "s", "add", json.RawMessage(`{"a":1,"b":2}`), CallOptions{})
	if err != nil || string(r.Structured) != `{"sum":3}` || !strings.Contains(string(r.Tool.Details), `"structuredContent":{"sum":3}`) {
		t.Errorf("%v, %s, %s", err, r.Structured, r.Tool.Details)
	}
	if r, err := l.Call(t.Context(), "s", "fail", nil, CallOptions{}); err != nil || !r.Tool.IsError {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestBytesGoIntoFilesThatAreNamed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l := one(t, "good")
	for tool, want := range map[string]string{"audio": "RIFF", "embedded": "\x00\x01\x02"} {
		r, err := l.Call(t.Context(), "s", tool, nil, CallOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var d details
		if err := json.Unmarshal(r.Tool.Details, &d); err != nil || len(d.Files) != 1 {
			t.Fatalf("%s: %s, %v", tool, r.Tool.Details, err)
		}
		b, err := os.ReadFile(d.Files[0])
		if err != nil || string(b) != want || !strings.Contains(text(r.Tool.Content), d.Files[0]) {
			t.Errorf("%s: %q, %v in %q", tool, b, err, text(r.Tool.Content))
		}
	}
}

func TestWhatIsTooLongIsCutAndKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l := one(t, "good")
	r, err := l.Call(t.Context(), "s", "long", json.RawMessage(`{"n":5000}`), CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var d details
	if err := json.Unmarshal(r.Tool.Details, &d); err != nil {
		t.Fatal(err)
	}
	shown := text(r.Tool.Content)
	if b, err := os.ReadFile(d.FullOutputPath); err != nil || len(b) != 5000*len("a line of text\n") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if !strings.Contains(shown, "2000 lines of 5,000 shown; all of it: "+d.FullOutputPath) || len(shown) > 60<<10 {
		t.Errorf("%d bytes: …%s", len(shown), shown[max(0, len(shown)-200):])
	}
}

func TestAServerGetsNoKeys(t *testing.T) {
	e := entry("s", "good")
	e.Env["OWN"] = "1"
	l := open(t, Options{Entries: []Entry{e}, Environ: func() []string {
		return []string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "LC_ALL=C", "XDG_X=1", "https_proxy=http://p", "ANTHROPIC_API_KEY=secret", "AWS_SECRET=secret", "OWN=other"}
	}})
	got, dir, _ := strings.Cut(l.ask("environment", `{}`), "\n")
	names := strings.Fields(got)
	for name, want := range map[string]bool{"PATH": true, "HOME": true, "LC_ALL": true, "XDG_X": true, "https_proxy": true, "OWN": true, "ANTHROPIC_API_KEY": false, "AWS_SECRET": false} {
		if slices.Contains(names, name) != want {
			t.Errorf("%s: %v in %v", name, !want, names)
		}
	}
	if dir != l.o.Cwd {
		t.Errorf("it works in %s, not %s", dir, l.o.Cwd)
	}
}

func TestSecretsAreAskedForBeforeEachStart(t *testing.T) {
	e := entry("s", "good")
	asked := 0
	e.Secrets = func(context.Context) (env, headers map[string]string, err error) {
		if asked++; asked == 1 {
			return nil, nil, errors.New("the vault is locked")
		}
		return map[string]string{"TOKEN": "x"}, nil, nil
	}
	l := open(t, Options{Entries: []Entry{e}})
	if got := l.ask("echo", `{"text":"a"}`); got != "error: server s: the vault is locked" {
		t.Errorf("got %q", got)
	}
	if got := l.ask("environment", `{}`); !strings.Contains(got, "TOKEN") || asked != 2 {
		t.Errorf("got %q, asked %d times", got, asked)
	}
}

func TestBothErasOfTheProtocolWork(t *testing.T) {
	for kind, version := range map[string]string{"good": older, "newer": newer, "exits-at-discover": older, "ignores-discover": older} {
		t.Run(kind, func(t *testing.T) {
			l := one(t, kind)
			want := map[bool]string{true: "hello", false: "called echo"}[kind == "good" || kind == "newer"]
			if got := l.ask("echo", `{"text":"hello"}`); got != want {
				t.Fatalf("got %q", got)
			}
			if st := l.List()[0]; st.Version != version {
				t.Errorf("version %s, want %s", st.Version, version)
			}
			// What worked is what the next session begins with.
			again := open(t, Options{Entries: []Entry{entry("s", kind)}, Dir: l.o.Dir})
			if got := again.ask("echo", `{"text":"hello"}`); got != want {
				t.Errorf("the second time: %q", got)
			}
		})
	}
}

// What is written to a server that is gone fails before its end is read, or the other way round.
func TestADeathIsToldAlikeHoweverItIsSeen(t *testing.T) {
	for _, seen := range []error{io.EOF, errEnded, child.ErrEnded, sdk.ErrConnectionClosed} {
		err := fmt.Errorf("calling %q: %w", "initialize", seen)
		if got := (&deathError{"it ended with status 7", err}).Error(); got != "it ended with status 7" {
			t.Errorf("%v: %q", seen, got)
		}
	}
}

func TestAServerThatDoesNotStartSaysWhy(t *testing.T) {
	for kind, want := range map[string][]string{
		"crash":             {"server s: it ended with status 7; it wrote: first row / no token in the environment"},
		"dies-initializing": {"server s: it ended with status 9"},
		"dies-listing":      {"server s: ", "it ended with status 9"},
		"silent":            {"server s: it did not begin within 300ms"},
		"never-lists":       {"server s: it did not begin within 300ms"},
	} {
		t.Run(kind, func(t *testing.T) {
			o := Options{Entries: []Entry{entry("s", kind)}}
			if kind == "silent" || kind == "never-lists" {
				o.testOnlyStart = 300 * time.Millisecond
			}
			l := open(t, o)
			got := l.ask("echo", `{}`)
			for _, part := range want {
				if !strings.Contains(got, part) {
					t.Errorf("got %q, without %q", got, part)
				}
			}
			if st := l.List()[0]; st.State != StateFailed || st.Err == nil {
				t.Errorf("%+v", st)
			}
		})
	}
	l := open(t, Options{Entries: []Entry{{Name: "s", Command: "/nowhere/to/be/found"}, {Name: "p", Command: "x", Problem: errors.New("the variable X is not set")}}})
	if got := l.ask("echo", `{}`); !strings.Contains(got, "start /nowhere/to/be/found") {
		t.Errorf("got %q", got)
	}
	if _, err := l.Call(t.Context(), "p", "x", nil, CallOptions{}); err == nil || err.Error() != "server p: the variable X is not set" {
		t.Errorf("%v", err)
	}
	if _, err := l.Call(t.Context(), "S", "x", nil, CallOptions{}); err == nil || err.Error() != `there is no server "S", did you mean "s"?` {
		t.Errorf("%v", err)
	}
}

func TestAServerThatDiesIsStartedAgainAFewTimes(t *testing.T) {
	l := one(t, "good")
	for range mostRestarts + 1 {
		if got := l.ask("die", `{}`); got != "error: server s: it ended with status 3; it wrote: I am out of here" {
			t.Fatalf("got %q", got)
		}
		eventually(t, "the death is noted", func() bool { return l.List()[0].State == StateFailed })
	}
	if got := l.ask("echo", `{"text":"a"}`); !strings.Contains(got, "it was started 4 times within a minute, which is enough; /mcp refresh s tries again: it ended with status 3") {
		t.Errorf("got %q", got)
	}
	if rows := l.List()[0].Stderr; !slices.Contains(rows, "I am out of here") {
		t.Errorf("stderr %q", rows)
	}
	if err := l.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Errorf("after a refresh: %q", got)
	}
}

func TestAServerThatDiesUnusedIsNotedAndStartedAtItsNextUse(t *testing.T) {
	l := one(t, "dies-idle")
	for range 2 {
		if got := l.ask("echo", `{}`); got != "goodbye" {
			t.Fatalf("got %q", got)
		}
		eventually(t, "the death is noted", func() bool { return l.List()[0].State == StateFailed })
		if err := l.List()[0].Err; err == nil || err.Error() != "it ended with status 5" {
			t.Errorf("%v", err)
		}
	}
}

func TestAnIdleServerIsEnded(t *testing.T) {
	l := open(t, Options{Entries: []Entry{entry("s", "good")}, testOnlyIdle: time.Millisecond})
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Fatalf("got %q", got)
	}
	eventually(t, "it is ended", func() bool { return l.List()[0].State == StateIdle })
	if got := l.ask("progress", `{"n":3}`); got != "done" { // also while it is in use for longer
		t.Errorf("got %q", got)
	}
}

func TestTheWholeGroupEndsWithTheSession(t *testing.T) {
	for _, kind := range []string{"good", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			l := one(t, kind)
			got := l.ask("child", `{}`)
			s := l.servers()[0]
			s.mu.Lock()
			leader := s.conn.process.child.Pid()
			s.mu.Unlock()
			if child, err := strconv.Atoi(got); kind == "good" && (err != nil || !process.Running(child)) {
				t.Fatalf("child %q", got)
			}
			l.Close()
			if process.Alive(leader) {
				t.Error("something of its group lives")
			}
			if child, err := strconv.Atoi(got); err == nil && process.Running(child) {
				t.Error("its child lives")
			}
		})
	}
}

func TestAServerThatIsStartingEndsWhenItIsTurnedOffOrTakenOut(t *testing.T) {
	for what, end := range map[string]func(l *lab) error{
		"off":     func(l *lab) error { return l.SetOn("s", false) },
		"removed": func(l *lab) error { return l.Remove("s") },
		"adopted": func(l *lab) error { l.Adopt(nil, ""); return nil },
	} {
		t.Run(what, func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			l := open(t, Options{Entries: []Entry{{Name: "s", Command: "sh", Args: []string{"-c", `echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 1000`, pid}}}})
			failed := make(chan error, 1)
			go func() {
				_, _, _, err := l.Definitions(l.within(), "s")
				failed <- err
			}()
			var leader int
			eventually(t, "it is started", func() bool {
				text, err := os.ReadFile(pid)
				leader, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return err == nil
			})
			began := time.Now()
			if err := end(l); err != nil {
				t.Error(err)
			}
			if process.Alive(leader) || time.Since(began) > startWithin/2 {
				t.Errorf("%d lives for %s more", leader, time.Since(began))
			}
			if err := <-failed; err == nil || !strings.Contains(err.Error(), "turned off") && !strings.Contains(err.Error(), "no server of this session") {
				t.Errorf("who waited is told %v", err)
			}
		})
	}
}

func TestManyCallsAtOnceAreNotMixed(t *testing.T) {
	l := one(t, "good")
	var calls sync.WaitGroup
	for i := range 200 {
		calls.Go(func() {
			want := fmt.Sprintf("text %d", i)
			if got := l.ask("echo", fmt.Sprintf(`{"text":%q}`, want)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	calls.Wait()
	eventually(t, "it is told that the server runs", func() bool { return slices.Contains(l.states(), StateReady) })
	if s := l.states(); !slices.Equal(s, []State{StateStarting, StateReady}) {
		t.Errorf("it was started more than once: %v", s)
	}
}

func TestProgressIsShownAndKeepsACallAlive(t *testing.T) {
	e := entry("s", "good")
	e.Timeout = 20 * time.Second // long: what is shown is what is tested
	l := open(t, Options{Entries: []Entry{e}})
	var mu sync.Mutex
	var last string
	r, err := l.Call(l.within(), "s", "progress", json.RawMessage(`{"n":4}`), CallOptions{Progress: func(r agent.Result) {
		mu.Lock()
		defer mu.Unlock()
		last = text(r.Content)
	}})
	if err != nil || text(r.Tool.Content) != "done" {
		t.Fatalf("%+v, %v", r, err)
	}
	// What comes right before the result may be too late to be shown.
	eventually(t, "progress", func() bool { mu.Lock(); defer mu.Unlock(); return strings.HasPrefix(last, "step 1\nstep 2") })
}

func TestTheClockOfACall(t *testing.T) {
	late := make(chan struct{})
	c := newCallClock(time.Millisecond, func() { close(late) })
	<-late
	c.end()
	rings := make(chan struct{}, 8)
	c = newCallClock(time.Hour, func() { rings <- struct{}{} })
	goOn := c.stand()
	c.ring() // as a timer that rang while it was stopped
	if len(rings) != 0 {
		t.Error("it rings while it stands")
	}
	again := c.stand()
	goOn()
	c.ring()
	if len(rings) != 0 {
		t.Error("it rings while it stands for one reason")
	}
	again()
	c.ring()
	if len(rings) != 1 {
		t.Error("it does not ring")
	}
	c.end()
	c.ring()
	if len(rings) != 1 {
		t.Error("it rings when it is over")
	}
}

func TestACallThatTakesTooLongIsGivenUp(t *testing.T) {
	for _, test := range []struct {
		change func(*Entry)
		want   string
	}{
		{func(e *Entry) { e.Timeout = 100 * time.Millisecond }, "error: server s: no answer and no progress for 100ms (timeout)"},
		{func(e *Entry) { e.MaxTimeout = 100 * time.Millisecond; e.Timeout = time.Hour }, "error: server s: not done within 100ms (max_timeout)"},
	} {
		e := entry("s", "never-answers")
		test.change(&e)
		l := open(t, Options{Entries: []Entry{e}})
		got := l.ask("echo", `{}`)
		if test.want != got && !strings.Contains(got, "100ms") {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestACancelledCallIsGivenUpAtOnceAndToldToTheServer(t *testing.T) {
	l := one(t, "good")
	ctx, cancel := context.WithCancelCause(l.within())
	waits := make(chan struct{})
	var once sync.Once
	ended := make(chan error, 1)
	go func() {
		_, err := l.Call(ctx, "s", "wait", nil, CallOptions{Progress: func(agent.Result) { once.Do(func() { close(waits) }) }})
		ended <- err
	}()
	<-waits
	since := time.Now()
	cancel(errors.New("Esc"))
	if err := <-ended; err == nil || err.Error() != "server s: Esc" {
		t.Errorf("%v", err)
	}
	if took := time.Since(since); took > 2*time.Second { // 200 ms, on a machine that has nothing else to do
		t.Errorf("it took %s", took)
	}
	eventually(t, "the server is told", func() bool { return slices.Contains(l.List()[0].Stderr, "cancelled") })
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestAWaitingCallDoesNotOutliveTheSession(t *testing.T) {
	l := one(t, "good")
	waits := make(chan struct{})
	var once sync.Once
	ended := make(chan error, 1)
	go func() {
		_, err := l.Call(context.Background(), "s", "wait", nil, CallOptions{Progress: func(agent.Result) { once.Do(func() { close(waits) }) }})
		ended <- err
	}()
	<-waits
	l.Close()
	if err := <-ended; err == nil {
		t.Error("the call went well")
	}
	if got := l.ask("echo", `{"text":"a"}`); got != "error: server s: the session has ended" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestServersComeAndGo(t *testing.T) {
	l := one(t, "good")
	if err := l.Add(entry("s", "good")); err == nil || !strings.Contains(err.Error(), "there is a server s already") {
		t.Errorf("%v", err)
	}
	if err := l.Add(entry("a__b", "good")); err == nil {
		t.Error("a name with __")
	}
	if err := l.Add(entry("t", "good")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Call(t.Context(), "t", "echo", json.RawMessage(`{"text":"a"}`), CallOptions{}); err != nil {
		t.Error(err)
	}
	if err := l.SetOn("t", false); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Call(t.Context(), "t", "echo", nil, CallOptions{}); err == nil || err.Error() != "server t: it is turned off" {
		t.Errorf("%v", err)
	}
	if err := l.SetOn("t", true); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove("s"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Call(t.Context(), "s", "echo", nil, CallOptions{}); err == nil || !strings.Contains(err.Error(), "there is no server") {
		t.Errorf("%v", err)
	}
	if len(l.List()) != 1 {
		t.Errorf("%d servers", len(l.List()))
	}
}

func TestAToolThatChangedIsToldAndMayBeBlocked(t *testing.T) {
	dir := t.TempDir()
	kind := "good"
	e := func() Entry {
		// The same entry, of another version of the server: what that is, a variable says that
		// is no part of the entry.
		e := entry("s", "")
		e.Env = nil
		e.Secrets = func(context.Context) (env, headers map[string]string, err error) {
			_, env = "", map[string]string{"PI_TEST_MCP_SERVER": kind}
			return env, nil, nil
		}
		return e
	}
	first := open(t, Options{Entries: []Entry{e()}, Dir: dir})
	if got := first.ask("echo", `{"text":"a"}`); got != "a" {
		t.Fatal(got)
	}
	first.Close()
	kind = "changed"
	for _, test := range []struct {
		on      OnChange
		approve func(context.Context, Change) (bool, error)
		want    string
	}{
		{BlockChange, nil, "error: s/echo is not called: its definition is another"},
		{AskChange, nil, "error: s/echo is not called"},
		{AskChange, func(context.Context, Change) (bool, error) { return false, nil }, "error: s/echo is not called"},
		{TellChange, nil, "a"},
		{AskChange, func(_ context.Context, c Change) (bool, error) {
			return c.Tool == "echo" && c.After.Description == "Says a text back, and sends it to somebody", nil
		}, "a"},
		{BlockChange, nil, "a"}, // for it was accepted
	} {
		l := open(t, Options{Entries: []Entry{e()}, Dir: dir, OnChange: test.on, Approve: test.approve})
		if got := l.ask("echo", `{"text":"a"}`); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q", test.on, got)
		}
		if test.on == BlockChange && test.want != "a" {
			eventually(t, "the change is told", func() bool { return len(l.changes()) > 0 }) // it may be told behind the call
			if c := l.changes(); len(c) != 1 || c[0].Before.Description != "Says a text back" || c[0].Tool != "echo" {
				t.Errorf("told %+v", c)
			}
			if got := l.ask("add", `{"a":1,"b":1}`); got != `{"sum":2}` {
				t.Errorf("another tool: %q", got)
			}
		} else if c := l.changes(); len(c) != 0 {
			t.Errorf("%s: told again: %+v", test.on, c)
		}
		l.Close()
	}
}

func TestWhatBecomesOfAToolWhileTheUserIsAskedIsNotAccepted(t *testing.T) {
	l := one(t, "good")
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Fatal(got)
	}
	changes := func(hash string) {
		d := *l.list[0].definitions()
		d.Tools = slices.Clone(d.Tools)
		d.tool("echo").Hash = hash
		l.list[0].take(&d)
	}
	asked := 0
	l.o.OnChange, l.o.Approve = AskChange, func(context.Context, Change) (bool, error) {
		if asked++; asked == 1 {
			changes("third")
		}
		return true, nil
	}
	changes("second")
	if got := l.ask("echo", `{"text":"a"}`); got != "error: s/echo: "+errChanged.Error() {
		t.Errorf("%q", got)
	}
	for range 2 { // the user has said yes to what it is now
		if got := l.ask("echo", `{"text":"a"}`); got != "a" || asked != 2 {
			t.Errorf("%q, asked %d times", got, asked)
		}
	}
}

func TestAListThatChangesIsReadAgain(t *testing.T) {
	l := open(t, Options{Entries: []Entry{entry("s", "good")}, testOnlyPause: time.Millisecond})
	if got := l.ask("grow", `{}`); got != "grown" {
		t.Fatal(got)
	}
	eventually(t, "the new tool can be called", func() bool { return l.ask("grown", `{}`) == "grown" })
	if hits := l.Search(t.Context(), "came later", nil).Hits; len(hits) == 0 || hits[0].Tool != "grown" {
		t.Errorf("%+v", hits)
	}
}

func TestResourcesAndPromptsAreRead(t *testing.T) {
	l := one(t, "good")
	r, err := l.Read(t.Context(), "s", "test://one")
	if err != nil || text(r.Tool.Content) != "this is test://one" {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := l.Read(t.Context(), "s", "test://missing"); err == nil {
		t.Error("there is none")
	}
	prompts := l.Prompts()
	if len(prompts) != 1 || prompts[0].Name != "greet" || !prompts[0].Arguments[0].Required {
		t.Errorf("%+v", prompts)
	}
	messages, err := l.Prompt(t.Context(), "s", "greet", map[string]string{"who": "you"})
	if err != nil || len(messages) != 1 || text(messages[0].Content) != "Say hello to you" || messages[0].Role != "user" {
		t.Errorf("%+v, %v", messages, err)
	}
	tools, resources, _, err := l.Definitions(t.Context(), "s")
	if err != nil || len(tools) < 10 || len(resources) != 2 {
		t.Errorf("%d tools, %d resources, %v", len(tools), len(resources), err)
	}
}
