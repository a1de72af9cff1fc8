package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/testing/acptest"
	sessions "pi/session"
	"pi/session/message"
)

func TestTheDirectoryOfASessionIsChecked(t *testing.T) {
	t.Parallel()
	r := serve(t, &host{})
	r.Initialize(object{})
	file := r.write(t, "file", "")
	nowhere := filepath.Join(r.cwd, "nowhere")
	if err := os.Symlink(filepath.Join(r.cwd, "gone"), nowhere); err != nil {
		t.Skip(err)
	}
	for _, method := range []string{"session/new", "session/load", "session/resume"} {
		for _, c := range []struct{ params, says string }{
			{`{"cwd":` + asJSON(nowhere) + `}`, `-32602 "cwd": `},
			{`{"mcpServers":[]}`, `-32602 "cwd" is missing`},
			{`{"cwd":null}`, `-32602 "cwd" is missing`},
			{`{"cwd":7}`, `-32602 "cwd" must be a string`},
			{`{"cwd":""}`, `-32602 "cwd" must be an absolute path`},
			{`{"cwd":"here"}`, `-32602 "cwd" must be an absolute path`},
			{`{"cwd":"/nothing/such"}`, `-32602 "cwd": `},
			{`{"cwd":` + asJSON(file) + `}`, `-32602 "cwd" must be a directory`},
		} {
			params := strings.Replace(c.params, "{", `{"sessionId":"x",`, 1)
			if _, failed := r.Request(method, json.RawMessage(params)); failed == nil || !strings.HasPrefix(failed.Error(), c.says) {
				t.Errorf("%s %s: %v", method, params, failed)
			}
		}
	}
}

// A session that cannot be opened is told in words, and is not there then.
func TestWhyASessionIsNotOpenIsTold(t *testing.T) {
	t.Parallel()
	h := &host{fail: fmt.Errorf("hooks wait\nfor approval")}
	r := serve(t, h)
	r.Initialize(object{})
	if _, failed := r.Request("session/new", object{"cwd": r.cwd}); failed == nil || failed.Error() != "-32010 hooks wait for approval" {
		t.Error(failed)
	}
	for _, id := range []string{"nothing", "", "..", "../../etc/passwd", "a/b", "01"} {
		for _, method := range []string{"session/load", "session/resume"} {
			if _, failed := r.Request(method, object{"cwd": r.cwd, "sessionId": id}); failed == nil || failed.Code != codeNoSession {
				t.Errorf("%s %q: %v", method, id, failed)
			}
		}
		if _, failed := r.Request("session/close", object{"sessionId": id}); failed == nil || failed.Code != codeNoSession {
			t.Errorf("close %q: %v", id, failed)
		}
		if result, failed := r.Request("session/delete", object{"sessionId": id}); string(result) != "{}" {
			t.Errorf("delete %q: %v", id, failed)
		}
	}
	for _, method := range []string{"session/prompt", "session/set_mode", "session/set_config_option", "session/close", "session/delete", "session/load"} {
		if _, failed := r.Request(method, object{}); failed == nil || !strings.HasPrefix(failed.Error(), `-32602 "sessionId" is missing`) {
			t.Errorf("%s: %v", method, failed)
		}
	}
	if ends := r.Prompt("nothing", "x"); !strings.HasPrefix(ends, "-32002 ") {
		t.Error(ends)
	}
}

// What hooks show while a session is opened comes behind the answer, and so does the list
// of commands.
func TestNothingNamesASessionBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	h := &host{hooks: func(o SessionRequest) agent.Listener {
		return listening(func(ctx context.Context, e agent.Event) error {
			if e.Kind() == agent.KindSessionStart {
				o.UI.Notify("hello", agent.LevelInfo)
			}
			return nil
		})
	}}
	r := serve(t, h)
	r.Initialize(object{"session": object{"notices": object{}}})
	id := r.New(r.cwd)
	r.WaitUpdate("the commands", func(u acptest.Update) bool { return u.Kind == "available_commands_update" })
	var kinds []string
	for _, l := range r.Lines()[1:] {
		if l.Method == "" {
			kinds = append(kinds, "answer")
			continue
		}
		if l.Params.SessionID != id {
			t.Errorf("an update of %q", l.Params.SessionID)
		}
		kinds = append(kinds, l.Params.Update.Kind)
	}
	if got := strings.Join(kinds, ", "); got != "answer, notice, available_commands_update" {
		t.Error(got)
	}
}

// A question of a hook that is told of the start waits for the first prompt, which waits for
// the answer. Until then the client can choose, and close the session.
func TestAQuestionAtTheStartIsAnswered(t *testing.T) {
	t.Parallel()
	answers := make(chan agent.Answer, 1)
	h := &host{hooks: func(o SessionRequest) agent.Listener {
		return listening(func(ctx context.Context, e agent.Event) error {
			if e.Kind() == agent.KindSessionStart {
				answer, _ := o.UI.Confirm(ctx, "begin?", "", agent.DialogOptions{})
				answers <- answer
			}
			return nil
		})
	}}
	r := serve(t, h)
	r.Initialize(object{})
	asked := make(chan acptest.Line, 1)
	r.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
		asked <- l
		return nil, nil
	})
	id := r.New(r.cwd)
	r.Must("session/set_config_option", object{"sessionId": id, "configId": "model", "value": "test/two"}, nil)
	select {
	case l := <-asked:
		t.Errorf("asked before there is a prompt: %s", l.Raw)
	default:
	}
	prompt := r.StartPrompt(id, "go")
	question := <-asked
	if question.Params.SessionID != id || !strings.HasPrefix(question.Params.ToolCall.CallID, "dialog-") {
		t.Errorf("%s", question.Raw)
	}
	r.Answer(question, object{"outcome": object{"outcome": "selected", "optionId": question.Params.Options[0].ID}}, nil)
	if ends := r.Ending(prompt); ends != "end_turn" || <-answers != agent.Yes {
		t.Error(ends)
	}
	other := r.New(r.cwd)
	r.Must("session/close", object{"sessionId": other}, nil)
	if answer := <-answers; answer != agent.No {
		t.Error(answer)
	}
}

// So does what hooks ask behind the start, as at the choice of a model, and the prompt does not
// wait for that choice before it lets them ask.
func TestNothingIsAskedBeforeAPrompt(t *testing.T) {
	t.Parallel()
	waits := make(chan struct{})
	h := &host{hooks: func(o SessionRequest) agent.Listener {
		return listening(func(ctx context.Context, e agent.Event) error {
			if e.Kind() == agent.KindModelSelect {
				close(waits)
				_, _ = o.UI.Confirm(ctx, "Really?", "", agent.DialogOptions{})
			}
			return nil
		})
	}}
	r, id := openedIn(t, h, object{})
	asked := make(chan acptest.Line, 1)
	r.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
		asked <- l
		return object{"outcome": object{"outcome": "selected", "optionId": "allow"}}, nil
	})
	choice := r.Start("session/set_config_option", object{"sessionId": id, "configId": "model", "value": "test/two"})
	<-waits
	r.Must("session/list", object{}, nil)
	select {
	case l := <-asked:
		t.Fatalf("asked before there is a prompt: %s", l.Raw)
	default:
	}
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Error(ends)
	}
	<-asked
	if _, failed := r.Await(choice); failed != nil {
		t.Error(failed)
	}
}

// A file is no question: the client is asked for it at the start.
func TestAFileIsReadBeforeAPrompt(t *testing.T) {
	t.Parallel()
	texts := make(chan string, 1)
	h := &host{hooks: func(o SessionRequest) agent.Listener {
		return listening(func(ctx context.Context, e agent.Event) error {
			if e.Kind() == agent.KindSessionStart {
				text, err := o.Files.Read(ctx, filepath.Join(o.Cwd, "a"))
				texts <- fmt.Sprint(text, err)
			}
			return nil
		})
	}}
	r := serve(t, h)
	r.Initialize(object{"fs": object{"readTextFile": true}})
	r.Handle("fs/read_text_file", func(acptest.Line) (any, *acptest.Error) { return object{"content": "unsaved"}, nil })
	r.New(r.cwd)
	select {
	case text := <-texts:
		if text != "unsaved<nil>" {
			t.Error(text)
		}
	case <-time.After(20 * time.Second):
		t.Error("the client is not asked")
	}
}

// While a session is being opened nothing can be asked, for the client does not know it.
func TestAQuestionBeforeTheStartIsANo(t *testing.T) {
	t.Parallel()
	answers := make(chan agent.Answer, 1)
	h := &host{}
	h.edit = func(*agent.Options) {
		answer, _ := h.ui.Confirm(t.Context(), "begin?", "", agent.DialogOptions{})
		answers <- answer
	}
	r := serve(t, h)
	r.Initialize(object{})
	if id := r.New(r.cwd); id == "" || <-answers != agent.No {
		t.Error("it was a yes")
	}
}

// stored writes a session with one prompt and returns its id.
func stored(t *testing.T, root, cwd, prompt string) string {
	t.Helper()
	s := sessions.New(sessions.Options{Dir: root, Cwd: cwd})
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(prompt)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.ID()
}

func TestSessionsAreListedNewestFirstInPages(t *testing.T) {
	t.Parallel()
	r := serve(t, &host{})
	r.Initialize(object{})
	other := t.TempDir()
	for i := range 205 {
		cwd := r.cwd
		if i%41 == 0 { // five of them
			cwd = other
		}
		id := stored(t, r.host.root, cwd, fmt.Sprintf("prompt %d\nmore", i))
		path, _, err := r.server.lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1700000000+int64(i/3), 0) // some at the same time
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	empty := sessions.New(sessions.Options{Dir: r.host.root, Cwd: r.cwd})
	if err := empty.Flush(); err != nil || empty.Close() != nil {
		t.Fatal(err)
	}
	type page struct {
		Sessions   []sessionInfo
		NextCursor string
	}
	seen := map[string]bool{}
	last := "9"
	for cursor, pages := any(nil), 1; ; pages++ {
		var p page
		r.Must("session/list", object{"cwd": r.cwd, "cursor": cursor}, &p)
		for _, s := range p.Sessions {
			if seen[s.SessionID] || s.UpdatedAt > last || s.Cwd != r.cwd || !strings.HasPrefix(s.Title, "prompt ") || strings.Contains(s.Title, "more") {
				t.Errorf("%+v behind %s", s, last)
			}
			seen[s.SessionID], last = true, s.UpdatedAt
		}
		if cursor = p.NextCursor; cursor == "" {
			if pages != 2 || len(seen) != 200 {
				t.Errorf("%d sessions in %d pages", len(seen), pages)
			}
			break
		}
		if len(p.Sessions) != pageSize {
			t.Errorf("a page of %d", len(p.Sessions))
		}
	}
	var all page
	r.Must("session/list", object{"cwd": other}, &all)
	if len(all.Sessions) != 5 {
		t.Errorf("%d sessions in the other directory", len(all.Sessions))
	}
	for _, wrong := range []object{{"cursor": "x"}, {"cursor": ""}, {"cursor": "WyJhIiwiMSBiIl0"}, {"cursor": 7}, {"cwd": "here"}, {"cwd": 7}} {
		if _, failed := r.Request("session/list", wrong); failed == nil || failed.Code != codeParams {
			t.Errorf("%v: %v", wrong, failed)
		}
	}
}

func TestWhereNoSessionsAreKeptNoneAreListed(t *testing.T) {
	got, err := New(Options{}).page(t.Context(), "", place{})
	if asJSON(got) != `{"sessions":[]}` || err != nil {
		t.Error(asJSON(got), err)
	}
}

func TestTitlesAreShort(t *testing.T) {
	for _, c := range []struct{ name, prompt, title string }{
		{"", "", ""}, {"a name", "prompt", "a name"}, {"", "\n first \n second", "first"}, {" \t", "x", "x"},
		{"", strings.Repeat("ä", 90), strings.Repeat("ä", 79) + "…"}, {"a\nb\x1b[2J", "", "a b"},
		{"", "<file name=\"a\" uri=\"file:///a\">\nx\n</file>\n[@b](file:///b) [@c](file:///c)\nwhy?\nmore", "why?"},
		{"", "[@b](file:///b)", "[@b](file:///b)"}, {"", "see [@b](file:///b)", "see [@b](file:///b)"}, {"", "<file name=\"a\" uri=\"u\">", "<file name=\"a\" uri=\"u\">"},
	} {
		if got := titleOf(c.name, c.prompt); got != c.title {
			t.Errorf("%q, %q: %q", c.name, c.prompt, got)
		}
	}
}

func TestTheTitleIsToldWhenItIsKnownAndWhenItChanges(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{}, object{})
	for _, text := range []string{"/model test/one", "first\nof all", "second", "/name better"} {
		if ends := r.Prompt(id, text); ends != "end_turn" {
			t.Fatal(ends)
		}
	}
	var titles []string
	for _, u := range r.Updates(id) {
		if u.Kind == "session_info_update" {
			titles = append(titles, u.Title)
		}
	}
	if got := strings.Join(titles, "|"); got != "first|better" {
		t.Error(got)
	}
}

// A session without a prompt, of which nothing is on the disk, can be loaded, open or closed.
func TestASessionWithoutAPromptIsLoaded(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{}, object{})
	load := object{"sessionId": id, "cwd": r.cwd, "mcpServers": []any{}}
	r.Must("session/load", load, nil)
	r.Must("session/close", object{"sessionId": id}, nil)
	if _, failed := r.Request("session/load", object{"sessionId": id, "cwd": t.TempDir(), "mcpServers": []any{}}); failed == nil || failed.Code != codeParams {
		t.Error(failed)
	}
	r.Must("session/load", load, nil)
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Error(ends)
	}
	r.Must("session/close", object{"sessionId": id}, nil)
	r.Must("session/resume", object{"sessionId": id, "cwd": r.cwd}, nil)
	if _, failed := r.Request("session/load", object{"sessionId": id + "0", "cwd": r.cwd, "mcpServers": []any{}}); failed == nil || failed.Code != codeNoSession {
		t.Error(failed)
	}
}

// What was said is shown again, each call with how it ended, and then how full the context is.
func TestALoadedSessionIsShown(t *testing.T) {
	t.Parallel()
	h := &host{model: answering(map[string][]llm.Delta{
		"look": {think("hm"), text("I look"), calling("c1", "ls", `{"path":"sub"}`), calling("c2", "read", `{"path":"none"}`), stop(message.StopToolUse)}})}
	r := serve(t, h)
	if err := os.Mkdir(filepath.Join(r.cwd, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.Initialize(object{})
	id := r.New(r.cwd)
	for _, text := range []string{"look", "and\nagain"} {
		if ends := r.Prompt(id, text); ends != "end_turn" {
			t.Fatal(ends)
		}
	}
	for _, open := range []bool{true, false} { // here, and only on the disk
		if !open {
			r.Must("session/close", object{"sessionId": id}, nil)
		}
		r.Forget()
		r.Must("session/load", object{"sessionId": id, "cwd": r.cwd, "mcpServers": []any{}}, nil)
		r.WaitUpdate("the usage", func(u acptest.Update) bool { return u.Kind == "usage_update" })
		var got []string
		for _, l := range r.Lines() {
			u := l.Params.Update
			switch {
			case l.Method == "":
				got = append(got, "answer")
			case u.Kind == "tool_call":
				got = append(got, fmt.Sprintf("%s %s %s (%s)", u.Kind, u.Name, u.Status, u.Tool))
			case u.Kind == "tool_call_update":
				got = append(got, fmt.Sprintf("%s %s %s", u.Kind, u.Status, shownContent(t, u.Content)))
			case u.Kind == "session_info_update": // at the first time
			case strings.HasSuffix(u.Kind, "chunk"):
				got = append(got, u.Kind+" "+u.Text())
			default:
				got = append(got, u.Kind)
			}
		}
		want := []string{"user_message_chunk look", "agent_thought_chunk hm", "agent_message_chunk I look", "tool_call ls pending (read)", "tool_call_update completed (the directory is empty)", "tool_call read pending (read)", "tool_call_update failed read: none does not exist; list what is there with ls or find",
			"agent_message_chunk done", "user_message_chunk and\nagain", "agent_message_chunk re: and\nagain", "answer", "available_commands_update", "usage_update"}
		if strings.Join(got[:min(len(got), len(want))], "|") != strings.Join(want, "|") {
			t.Errorf("%q\nnot\n%q", got, want)
		}
		if open {
			continue
		}
		// Its ids are known to the client: a further call has another one.
		if ends := r.Prompt(id, "look"); ends != "end_turn" {
			t.Fatal(ends)
		}
		r.WaitUpdate("a call with a new id", func(u acptest.Update) bool { return u.CallID == "c1#2" })
	}
	r.Forget()
	r.Must("session/resume", object{"sessionId": id, "cwd": r.cwd}, nil)
	for _, u := range r.Updates(id) {
		if strings.HasSuffix(u.Kind, "chunk") || u.Kind == "tool_call" {
			t.Errorf("resuming shows %s", u.Kind)
		}
	}
	if _, failed := r.Request("session/load", object{"sessionId": id, "cwd": t.TempDir(), "mcpServers": []any{}}); failed == nil ||
		failed.Code != codeParams || !strings.Contains(failed.Message, r.cwd) {
		t.Error(failed)
	}
}

// Prompts of two sessions run at the same time, and nothing mixes.
func TestTwoSessionsWorkAtTheSameTime(t *testing.T) {
	t.Parallel()
	h := &host{model: answering(map[string][]llm.Delta{"wait": {text("one"), {}}})}
	r, one := openedIn(t, h, object{})
	two := r.New(t.TempDir())
	first := r.StartPrompt(one, "wait")
	r.WaitUpdate("a chunk", func(u acptest.Update) bool { return u.Text() == "one" })
	if ends := r.Prompt(two, "go"); ends != "end_turn" {
		t.Error(ends)
	}
	if got := r.Texts(two, agentChunk) + "|" + r.Texts(one, agentChunk); got != "re: go|one" {
		t.Error(got)
	}
	r.Notify("session/cancel", object{"sessionId": one})
	if ends := r.Ending(first); ends != "cancelled" {
		t.Error(ends)
	}
}

// The end of the input ends prompts and sessions, and what was said is stored.
func TestTheEndOfTheInputIsAnOrderlyEnd(t *testing.T) {
	t.Parallel()
	h := &host{model: answering(map[string][]llm.Delta{"wait": {text("half"), {}}})}
	r, id := openedIn(t, h, object{})
	prompt := r.StartPrompt(id, "wait")
	r.WaitUpdate("a chunk", func(u acptest.Update) bool { return u.Text() == "half" })
	r.Close()
	if ends := r.Ending(prompt); ends != "cancelled" {
		t.Error(ends)
	}
	if err := r.ends(t); err != nil {
		t.Error(err)
	}
	if h.closed != 1 {
		t.Errorf("%d sessions closed", h.closed)
	}
	s, err := sessions.Read(h.agent(0).Session().File())
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range s.Branch() {
		if m := e.Message(); m != nil {
			texts = append(texts, string(m.Role)+" "+m.Text())
		}
	}
	if got := strings.Join(texts, "|"); got != "user wait|assistant half" {
		t.Error(got)
	}
}

// A request that is read is worked on, though the input ends behind it.
func TestRequestsBeforeTheEndAreAnswered(t *testing.T) {
	t.Parallel()
	r := serve(t, &host{})
	r.Initialize(object{})
	id := r.Start("session/new", object{"cwd": r.cwd, "mcpServers": []any{}})
	r.Close()
	if _, failed := r.Await(id); failed != nil {
		t.Error(failed)
	}
	if err := r.ends(t); err != nil || r.host.closed != 1 {
		t.Error(err, r.host.closed)
	}
}

// A client that is gone ends the server, in the middle of what it does.
func TestAClientThatIsGoneEndsTheServer(t *testing.T) {
	t.Parallel()
	h := &host{model: answering(map[string][]llm.Delta{"wait": {text("half"), {}}})}
	r, id := openedIn(t, h, object{})
	r.StartPrompt(id, "wait")
	r.WaitUpdate("a chunk", func(u acptest.Update) bool { return u.Text() == "half" })
	_ = r.fromServer.CloseWithError(io.ErrClosedPipe)
	r.StartPrompt(id, "again") // whose answer cannot be written
	if err := r.ends(t); err != ErrGone {
		t.Error(err)
	}
}

// A client that reads nothing for a while gets everything, in order.
func TestASlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	const n = 20000
	r, id := openedIn(t, &host{model: func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for i := range n {
			if !yield(text(fmt.Sprintf("%d,", i)), nil) {
				return
			}
		}
		yield(stop(message.StopEnd), nil)
	}}, object{})
	r.Pause(true)
	prompt := r.StartPrompt(id, "go")
	time.AfterFunc(300*time.Millisecond, func() { r.Pause(false) })
	if ends := r.Ending(prompt); ends != "end_turn" {
		t.Fatal(ends)
	}
	var want strings.Builder
	for i := range n {
		fmt.Fprintf(&want, "%d,", i)
	}
	if r.Texts(id, agentChunk) != want.String() {
		t.Error("the chunks are others")
	}
}

// A client that reads nothing any more does not delay the end for long, and what was said is
// stored.
func TestAClientThatReadsNothingDoesNotDelayTheEnd(t *testing.T) {
	t.Parallel()
	h := &host{model: func(ctx context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for piece := strings.Repeat("x", 1<<20); ctx.Err() == nil && yield(text(piece), nil); {
		}
		yield(llm.Delta{}, context.Canceled)
	}}
	r, id := openedIn(t, h, object{})
	r.Pause(true)
	r.StartPrompt(id, "go")
	for h.agent(0).Session().Leaf() == "" {
		time.Sleep(time.Millisecond)
	}
	r.Close()
	err := r.ends(t)
	r.Pause(false)
	if err != nil || h.closed != 1 {
		t.Error(err, h.closed)
	}
}

// What a client hands over goes to who makes the session, as it is; nothing fails because of it.
func TestServersOfTheClientAreHandedOn(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []string
	h := &host{opening: func(o SessionRequest) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, string(o.Servers))
	}}
	r := serve(t, h)
	r.Initialize(object{})
	for _, servers := range []string{`[]`, `[{"name":"a","command":"/bin/x","args":[],"env":[]},7]`, `7`, `null`} {
		var opened struct{ SessionID string }
		r.Must("session/new", object{"cwd": r.cwd, "mcpServers": json.RawMessage(servers)}, &opened)
		if ends := r.Prompt(opened.SessionID, "go"); ends != "end_turn" {
			t.Fatal(ends)
		}
		r.Must("session/close", object{"sessionId": opened.SessionID}, nil)
		for _, method := range []string{"session/load", "session/resume"} {
			r.Must(method, object{"sessionId": opened.SessionID, "cwd": r.cwd, "mcpServers": json.RawMessage(servers)}, nil)
			r.Must(method, object{"sessionId": opened.SessionID, "cwd": r.cwd, "mcpServers": []any{}}, nil) // it is open already
			r.Must("session/close", object{"sessionId": opened.SessionID}, nil)
		}
		mu.Lock()
		if want := slices.Repeat([]string{servers}, 3); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		got = nil
		mu.Unlock()
	}
}

// What begins when a session is open comes behind the answer, and never keeps it back.
func TestTheAnswerDoesNotWaitForWhatBeginsBehindIt(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	begun := make(chan struct{}, 3)
	h := &host{answered: func() { begun <- struct{}{}; <-over }}
	r := serve(t, h)
	t.Cleanup(func() { close(over) })
	r.Initialize(object{})
	id := r.New(r.cwd)
	<-begun
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Error(ends)
	}
	r.Must("session/close", object{"sessionId": id}, nil)
	r.Must("session/load", object{"sessionId": id, "cwd": r.cwd, "mcpServers": []any{}}, nil)
	<-begun
	r.Must("session/resume", object{"sessionId": id, "cwd": r.cwd, "mcpServers": []any{}}, nil)
	if len(begun) > 0 {
		t.Error("a session that was open has begun again")
	}
}

// A notice for a client that shows none waits for the end of a message, outside of a prompt
// for the next one, and is a message of its own.
func TestNoticesAreToldInTheConversation(t *testing.T) {
	t.Parallel()
	half := make(chan struct{})
	h := &host{model: func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		_ = yield(text("on"), nil)
		<-half
		_ = yield(text("e"), nil) && yield(stop(message.StopEnd), nil)
	}}
	r, id := openedIn(t, h, object{})
	h.ui.Notify("before", agent.LevelWarning)
	h.ui.Notify("before", agent.LevelWarning)
	go func() {
		defer close(half)
		for r.Texts(id, agentChunk) == "" || !strings.HasSuffix(r.Texts(id, agentChunk), "on") {
			time.Sleep(time.Millisecond)
		}
		h.ui.Notify("meanwhile", agent.LevelInfo)
	}()
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	var got []string
	ids := map[string]bool{}
	for _, u := range r.Updates(id) {
		if u.Kind == agentChunk {
			got, ids[u.MessageID] = append(got, u.Text()), true
		}
	}
	if want := []string{"[pi] before\n\n", "on", "e", "[pi] meanwhile\n\n"}; !slices.Equal(got, want) || len(ids) != 3 {
		t.Errorf("%q, %d messages, not %q", got, len(ids), want)
	}
}

// What the model says because of a hook, outside of a prompt, brings no notice along: there are
// clients that drop it.
func TestANoticeOutsideOfAPromptWaitsForOne(t *testing.T) {
	t.Parallel()
	h := &host{}
	r, id := openedIn(t, h, object{})
	h.ui.Notify("careful", agent.LevelWarning)
	if err := h.agent(0).Submit(t.Context(), agent.Prompt{Text: "tick"}); err != nil {
		t.Fatal(err)
	}
	r.WaitUpdate("the answer", func(u acptest.Update) bool { return u.Kind == agentChunk && u.Text() == "re: tick" })
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	if texts := r.Texts(id, agentChunk); texts != "re: tick[pi] careful\n\nre: go" {
		t.Errorf("%q", texts)
	}
}
