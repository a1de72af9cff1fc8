package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pi/session"
	"pi/session/message"
)

func TestCommandOfTheUserIsPartOfTheTalk(t *testing.T) {
	three := 3
	shell := func(_ context.Context, command string, output func(string)) (BashOutcome, error) {
		output("out")
		return BashOutcome{Output: "out of " + command, ExitCode: &three, Truncated: true, FullOutputPath: "/tmp/x"}, nil
	}
	r := newHarness(t, Options{Shell: shell}, say("ok"))
	shown := ""
	for _, exclude := range []bool{false, true} {
		outcome, err := r.Bash(t.Context(), UserCommand{Line: "make", Exclude: exclude, Output: func(s string) { shown += s }})
		if err != nil || outcome.ExitCode != &three {
			t.Errorf("%+v, %v", outcome, err)
		}
	}
	m := r.Session().Context()[0].Message
	if shown != "outout" || m.Role != message.RoleBashExecution || m.Command != "make" || m.Output != "out of make" || *m.ExitCode != 3 || !m.Truncated || m.FullOutputPath == "" {
		t.Errorf("shown %q, stored %+v", shown, m)
	}
	r.prompt("go")
	if sent := r.model.requests[0].Messages; len(sent) != 2 || !strings.Contains(sent[0].Text(), "out of make") {
		t.Errorf("sent %+v", sent)
	}
}

func TestListenersAnswerOrBlockACommand(t *testing.T) {
	answer := func(s string) Listener { return on(func(e *UserBash) { e.Result = &BashOutcome{Output: s} }) }
	block := on(func(e *UserBash) { e.Blocked = "not " + e.Command })
	for _, c := range []struct {
		name      string
		listeners []Listener
		want, err string
		stored    int
	}{
		{"nobody minds", []Listener{on(func(*UserBash) {})}, "ran", "", 1},
		{"an answer", []Listener{answer("a"), answer("b")}, "a", "", 1},
		{"a block", []Listener{block, answer("b")}, "", "not rm", 0},
		{"an answer before a block", []Listener{answer("a"), block}, "a", "", 1},
		{"a failure", []Listener{try(func(*UserBash) error { return errors.New("hook x failed") }), answer("b")}, "", "hook x failed", 0},
		{"a crash", []Listener{on(func(*UserBash) { panic("oh") })}, "", "listener for user_bash crashed: oh", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			shell := func(context.Context, string, func(string)) (BashOutcome, error) {
				if c.want != "ran" {
					t.Error("the command ran")
				}
				return BashOutcome{Output: "ran"}, nil
			}
			r := newHarness(t, Options{Shell: shell, Listeners: c.listeners})
			outcome, err := r.Bash(t.Context(), UserCommand{Line: "rm"})
			if outcome.Output != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err || len(r.Session().Context()) != c.stored || !r.IsIdle() {
				t.Errorf("%q, %v, %d stored", outcome.Output, err, len(r.Session().Context()))
			}
		})
	}
}

// What runs is what is stored: the command as the last listener has rewritten it.
func TestListenersRewriteACommand(t *testing.T) {
	behind := func(s string) Listener { return on(func(e *UserBash) { e.Command += s }) }
	ran := ""
	shell := func(_ context.Context, command string, _ func(string)) (BashOutcome, error) {
		ran = command
		return BashOutcome{}, nil
	}
	r := newHarness(t, Options{Shell: shell, Listeners: []Listener{behind(" -l"), behind(" -a")}})
	for _, detached := range []bool{false, true} {
		if _, err := r.Bash(t.Context(), UserCommand{Line: "ls", Detached: detached}); err != nil || ran != "ls -l -a" {
			t.Errorf("%q ran, %v", ran, err)
		}
	}
	for _, item := range r.Session().Context() {
		if item.Message.Command != "ls -l -a" {
			t.Errorf("%q is stored", item.Message.Command)
		}
	}
}

func TestAnotherShellIsAskedAboutToo(t *testing.T) {
	blocked := false
	gate := on(func(e *UserBash) {
		if blocked {
			e.Blocked = "not " + e.Command
		}
	})
	usual := func(context.Context, string, func(string)) (BashOutcome, error) {
		t.Error("the usual shell ran")
		return BashOutcome{}, nil
	}
	r := newHarness(t, Options{Shell: usual, Listeners: []Listener{gate}})
	ran := 0
	other := func(_ context.Context, command string, _ func(string)) (BashOutcome, error) {
		ran++
		return BashOutcome{Output: "other " + command}, nil
	}
	outcome, err := r.Bash(t.Context(), UserCommand{Line: "vi x", Shell: other})
	if err != nil || outcome.Output != "other vi x" || r.Session().Context()[0].Message.Output != "other vi x" {
		t.Errorf("%+v, %v", outcome, err)
	}
	blocked = true
	if _, err := r.Bash(t.Context(), UserCommand{Line: "vi x", Shell: other}); err == nil || ran != 1 {
		t.Errorf("blocked: %v, ran %d times", err, ran)
	}
}

func TestInterruptedQuestionRunsNoCommand(t *testing.T) {
	var r *harness
	r = newHarness(t, Options{Listeners: []Listener{on(func(*UserBash) { r.Abort() })},
		Shell: func(context.Context, string, func(string)) (BashOutcome, error) {
			t.Error("it ran")
			return BashOutcome{}, nil
		}})
	if _, err := r.Bash(t.Context(), UserCommand{Line: "x"}); !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
}

func TestACommandOfTheUserRunsBesideAPrompt(t *testing.T) {
	shell := func(_ context.Context, command string, _ func(string)) (BashOutcome, error) {
		return BashOutcome{Output: "out of " + command}, nil
	}
	var r *harness
	beside := func(command string) func() {
		return func() {
			if _, err := r.Bash(t.Context(), UserCommand{Line: command}); err != nil {
				t.Error(err)
			}
		}
	}
	during, atEnd := beside("during"), beside("late")
	r = newHarness(t, Options{Shell: shell, Tools: []Tool{echo("look")}, Listeners: []Listener{
		on(func(*ToolExecutionEnd) { during() }), on(func(e *MessageEnd) {
			if e.Message.Text() == "done" {
				atEnd()
			}
		}),
	}}, use(call{"a", "look", `{}`}), say("done"))
	r.prompt("go")
	var roles []string
	for _, item := range r.Session().Context() {
		roles = append(roles, string(item.Message.Role))
	}
	if want := "user assistant toolResult bashExecution assistant bashExecution"; strings.Join(roles, " ") != want {
		t.Errorf("the session has %v, want %s", roles, want)
	}
	if n := len(r.model.requests); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// shells is a Shell whose commands end when they are told to, or interrupted.
type shells struct {
	mu    sync.Mutex
	goOn  map[string]chan struct{}
	begun chan string // has the commands that began
}

func newShells() *shells {
	return &shells{goOn: map[string]chan struct{}{}, begun: make(chan string, 16)}
}

// end is closed to end a command.
func (s *shells) end(command string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.goOn[command] == nil {
		s.goOn[command] = make(chan struct{})
	}
	return s.goOn[command]
}

func (s *shells) run(ctx context.Context, command string, output func(string)) (BashOutcome, error) {
	output("so far ")
	s.begun <- command
	select {
	case <-s.end(command):
		return BashOutcome{Output: "out of " + command, ExitCode: new(int)}, nil
	case <-ctx.Done():
		return BashOutcome{Output: "part of " + command, Cancelled: true}, nil
	}
}

// endedCommand is how a command ended.
type endedCommand struct {
	BashOutcome
	err error
}

// detached runs a command for a program and returns when it has begun.
func (r *harness) detached(s *shells, command string) <-chan endedCommand {
	r.t.Helper()
	end := make(chan endedCommand, 1)
	go func() {
		o, err := r.Bash(context.Background(), UserCommand{Line: command, Detached: true})
		end <- endedCommand{o, err}
	}()
	if began := <-s.begun; began != command {
		r.t.Errorf("%s began, want %s", began, command)
	}
	return end
}

// commands are the commands in a session, in order, with a star if they were cancelled.
func commands(s *session.Session) string {
	var all []string
	for _, it := range s.Context() {
		if m := it.Message; m.Role == message.RoleBashExecution {
			all = append(all, m.Command+strings.Repeat("*", map[bool]int{true: 1}[m.Cancelled]))
		}
	}
	return strings.Join(all, " ")
}

func TestCommandsOfProgramsRunWhateverGoesOn(t *testing.T) {
	s, started, goOn := newShells(), make(chan struct{}), make(chan struct{})
	wait := tool("wait", func(context.Context) (Result, error) {
		close(started)
		<-goOn
		return TextResult("done"), nil
	})
	var atEnd, settled string
	var r *harness
	r = newHarness(t, Options{Shell: s.run, Tools: []Tool{wait}, Listeners: []Listener{
		on(func(*AgentEnd) { atEnd = commands(r.Session()) }), on(func(*AgentSettled) { settled = commands(r.Session()) }),
	}}, use(call{"a", "wait", `{}`}), say("ok"), say("again"))
	before := r.detached(s, "before")
	if !r.IsIdle() {
		t.Error("a command of a program occupies the agent")
	}
	run := r.works(started)
	one, two := r.detached(s, "one"), r.detached(s, "two")
	for _, c := range []struct {
		name string
		end  <-chan endedCommand
	}{{"two", two}, {"before", before}} {
		close(s.end(c.name))
		if e := <-c.end; e.err != nil || e.Output != "out of "+c.name || e.ExitCode == nil || e.Cancelled {
			t.Errorf("%+v", e)
		}
	}
	close(goOn)
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if atEnd != "" || settled != "two before" {
		t.Errorf("at agent_end the session has %q, at agent_settled %q", atEnd, settled)
	}
	close(s.end("one"))
	<-one
	r.wantTalk("user: go", "assistant a=wait{}", "toolResult a: done", "assistant: ok", "bashExecution", "bashExecution", "bashExecution")
	if got := commands(r.Session()); got != "two before one" {
		t.Error(got)
	}
	r.prompt("next")
	sent := r.model.requests[2].Messages
	if len(sent) != 8 || !strings.Contains(sent[4].Text(), "out of two") {
		t.Errorf("sent %d messages", len(sent))
	}
}

func TestOnlyAbortBashEndsCommandsOfPrograms(t *testing.T) {
	s, started := newShells(), make(chan struct{})
	r := newHarness(t, Options{Shell: s.run}, hang(started))
	run := r.works(started)
	one, two := r.detached(s, "one"), r.detached(s, "two")
	r.Abort()
	if err := run(); !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
	close(s.end("one"))
	if e := <-one; e.Cancelled || e.err != nil {
		t.Errorf("an interrupt of the agent ended it: %+v", e)
	}
	r.AbortBash()
	if e := <-two; !e.Cancelled || e.err != nil || e.ExitCode != nil || e.Output != "part of two" {
		t.Errorf("%+v", e)
	}
	if got := commands(r.Session()); got != "one two*" {
		t.Error(got)
	}
	r.AbortBash() // nothing runs
}

func TestWhatCommandsDidIsPartOfTheSessionThatIsLeft(t *testing.T) {
	for name, do := range changes {
		for _, working := range []bool{true, false} {
			t.Run(fmt.Sprint(name, working), func(t *testing.T) {
				s, started := newShells(), make(chan struct{})
				r := newHarness(t, Options{Shell: s.run}, say("hi"), hang(started))
				r.prompt("one")
				first, run := r.Session(), func() error { return nil }
				if working {
					run = r.works(started)
				}
				one, two := r.detached(s, "one"), r.detached(s, "two")
				close(s.end("one"))
				<-one
				if err := do(r, t.Context(), otherSession(t)); err != nil {
					t.Fatal(err)
				}
				_ = run()
				if e := <-two; !e.Cancelled || e.err != nil {
					t.Errorf("%+v", e)
				}
				if got := commands(first); got != "one two*" || r.Session() == first {
					t.Errorf("the session that was left has %q", got)
				}
				if got, want := commands(r.Session()), map[string]string{"clone": "one two*"}[name]; got != want {
					t.Errorf("the next session has %q", got)
				}
				onDisk, err := session.Read(first.File())
				if err != nil || commands(onDisk) != "one two*" {
					t.Errorf("the file has %q, %v", commands(onDisk), err)
				}
			})
		}
	}
}

func TestWhatCommandsDidIsThereWhenTheProgramHasEnded(t *testing.T) {
	for _, working := range []bool{true, false} {
		s, started := newShells(), make(chan struct{})
		r := newHarness(t, Options{Shell: s.run}, say("hi"), hang(started))
		r.prompt("one")
		file, run := r.Session().File(), func() error { return nil }
		if working {
			run = r.works(started)
		}
		one, two := r.detached(s, "one"), r.detached(s, "two")
		close(s.end("one"))
		<-one
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = run()
		<-two
		onDisk, err := session.Read(file)
		if err != nil || commands(onDisk) != "one two*" {
			t.Errorf("the file has %q, %v", commands(onDisk), err)
		}
		if _, err := r.Bash(t.Context(), UserCommand{Line: "late", Detached: true}); !errors.Is(err, ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	}
}

func TestACommandIsNotLostWithAFileThatCannotBeSaved(t *testing.T) {
	s, l := newShells(), &log{}
	r := newHarness(t, Options{Shell: s.run, Listeners: []Listener{l}}, say("hi"), say("again"))
	r.prompt("one")
	file := r.Session().File()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	one := r.detached(s, "one")
	close(s.end("one"))
	if e := <-one; e.err != nil || e.Output != "out of one" {
		t.Errorf("%+v", e)
	}
	if got := commands(r.Session()); got != "one" || len(l.notes) != 1 || !strings.Contains(l.notes[0], filepath.Base(file)) {
		t.Errorf("the session has %q, told %q", got, l.notes)
	}
	_ = r.Prompt(t.Context(), Prompt{Text: "two"})
	if sent := r.model.requests[1].Messages; len(sent) != 4 || !strings.Contains(sent[2].Text(), "out of one") {
		t.Errorf("sent %d messages", len(sent))
	}
}

func TestListenersAnswerForACommandOfAProgramOrRefuseIt(t *testing.T) {
	shell := func(context.Context, string, func(string)) (BashOutcome, error) {
		return BashOutcome{}, errors.New("no shell")
	}
	var answer func(*UserBash)
	r := newHarness(t, Options{Shell: shell, Listeners: []Listener{on(func(e *UserBash) { answer(e) })}})
	for name, c := range map[string]struct {
		answer    func(*UserBash)
		want      BashOutcome
		err       string
		cancelled bool
	}{
		"an answer":       {answer: func(e *UserBash) { e.Result = &BashOutcome{Output: "a\r\n"} }, want: BashOutcome{Output: "a\r\n"}},
		"a block":         {answer: func(e *UserBash) { e.Blocked = "not that" }, err: "not that"},
		"no opinion":      {answer: func(*UserBash) {}, err: "no shell"},
		"ended meanwhile": {answer: func(*UserBash) { r.AbortBash() }, want: BashOutcome{Cancelled: true}},
	} {
		answer = c.answer
		before := commands(r.Session())
		o, err := r.Bash(t.Context(), UserCommand{Line: "x", Detached: true, Output: func(s string) { t.Errorf("%s: output %q", name, s) }})
		if o != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if got := commands(r.Session()); got != before && name != "an answer" {
			t.Errorf("%s: the session has %q", name, got)
		}
	}
}

func TestOutputForAProgramHasNoControlCharacters(t *testing.T) {
	shell := func(_ context.Context, _ string, output func(string)) (BashOutcome, error) {
		for _, piece := range []string{"\x1b[3", "1mred\x1b", "[0m\r", "\n\a", "\x1b]0;t"} {
			output(piece)
		}
		return BashOutcome{Output: "red\r\ndone\r"}, nil
	}
	r, told := newHarness(t, Options{Shell: shell}), []string{}
	o, err := r.Bash(t.Context(), UserCommand{Line: "x", Detached: true, Output: func(s string) { told = append(told, s) }})
	if err != nil || o.Output != "red\ndone" || strings.Join(told, "|") != "red|\n" {
		t.Errorf("%q, told %q, %v", o.Output, told, err)
	}
	if m := r.Session().Context()[0].Message; m.Output != "red\ndone" {
		t.Errorf("stored %q", m.Output)
	}
}

// A prompt that comes in the moment in which the end of a command is stored is not refused.
func TestPromptsAndCommandsDoNotGetIntoEachOthersWay(t *testing.T) {
	const each = 50
	shell := func(context.Context, string, func(string)) (BashOutcome, error) { return BashOutcome{Output: "x"}, nil }
	var replies []reply
	for range each {
		replies = append(replies, say("ok"))
	}
	r := newHarness(t, Options{Shell: shell}, replies...)
	var both sync.WaitGroup
	for range 4 {
		both.Go(func() {
			for range each {
				if _, err := r.Bash(t.Context(), UserCommand{Line: "x", Detached: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range each {
		r.prompt("go")
	}
	both.Wait()
	if got := strings.Count(r.talk(), "bashExecution"); got != 4*each {
		t.Errorf("%d commands are in the session", got)
	}
	seen := map[string]bool{}
	for _, e := range r.Session().Branch() {
		if seen[e.ID] {
			t.Errorf("%s comes twice", e.ID)
		}
		seen[e.ID] = true
	}
}

func TestASessionForReadingTakesNoCommandOfAProgram(t *testing.T) {
	r := newHarness(t, Options{})
	if err := r.Session().Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Bash(t.Context(), UserCommand{Line: "x", Detached: true}); !errors.Is(err, session.ErrReadOnly) {
		t.Error(err)
	}
}
