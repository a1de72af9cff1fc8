//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/internal/testing/acptest"
	"pi/internal/testing/mcptest"
)

// handed is an MCP server of a kind as an editor hands it over, which leaves its number in a file
// of the project.
func (w *world) handed(name, kind string) object {
	w.t.Helper()
	program, err := exec.LookPath("mcp-server")
	if err != nil {
		w.t.Fatal(err)
	}
	return object{"name": name, "command": "/bin/sh", "args": []string{"-c", `echo $$ >> "$1"; exec "$2" "$3"`, "sh", w.numbers(), program, kind},
		"env": []any{object{"name": "LEVEL", "value": "1"}}}
}

// silent is an MCP server that never answers.
func (w *world) silent(name string) object {
	return object{"name": name, "command": "/bin/sh", "args": []string{"-c", `echo $$ >> "$1"; exec cat >/dev/null`, "sh", w.numbers()}, "env": []any{}}
}

func (w *world) numbers() string { return filepath.Join(w.project, "numbers") }

// started waits until so many servers were started.
func (w *world) started(n int) (pids []string) {
	w.t.Helper()
	for late := time.Now().Add(patience); len(pids) < n; time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(w.numbers())
		if pids = strings.Fields(string(b)); time.Now().After(late) {
			w.t.Fatalf("%d servers were started, not %d", len(pids), n)
		}
	}
	return pids
}

// gone waits until none of the servers is there any more.
func (w *world) gone(pids []string) {
	w.t.Helper()
	for late := time.Now().Add(patience); slices.ContainsFunc(pids, processExists); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			w.t.Fatalf("servers are left: %v", pids)
		}
	}
}

// begin begins a session with servers and returns its id.
func (e *editor) begin(cwd string, servers ...any) string {
	var opened struct{ SessionID string }
	e.Must("session/new", object{"cwd": cwd, "mcpServers": servers}, &opened)
	return opened.SessionID
}

// notices are the titles of the notices so far.
func (e *editor) notices() (all []string) {
	for _, u := range e.Updates("") {
		if u.Kind == "notice" {
			all = append(all, u.Title)
		}
	}
	return all
}

// call returns the last state of the call that is the nth of those so far, with what is known of it.
func (e *editor) call(session string, n int) (call acptest.Update) {
	var ids []string
	for _, u := range e.Updates(session) {
		if u.Kind != "tool_call" && u.Kind != "tool_call_update" {
			continue
		}
		if !slices.Contains(ids, u.CallID) {
			ids = append(ids, u.CallID)
		}
		if slices.Index(ids, u.CallID) != n {
			continue
		}
		was := call
		call = u
		if call.Title == "" {
			call.Title = was.Title
		}
		if call.Name == "" {
			call.Name = was.Name
		}
		if call.Tool == "" {
			call.Tool = was.Tool
		}
		if call.RawInput == nil {
			call.RawInput = was.RawInput
		}
		if call.Status == "" {
			call.Status = was.Status
		}
	}
	return call
}

// An editor hands over a program and an address: their tools are called directly, pass the gates,
// and ask in the editor. The servers end with the session.
func TestAnEditorHandsOverServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := w.model(`call mcp__my_files__echo {"text":"hello"}
call mcp__docs__echo {"text":"over http"}
call mcp__docs__delete_all {}
---
text Said.
---
call mcp__my_files__ask {}
call mcp__docs__ask_page {}
---
text Asked.`)
	var keys sync.Map
	docs := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		keys.Store(r.Header.Get("X-Key"), true)
		return mcptest.Server("few")
	}, nil))
	defer docs.Close()
	w.write(w.agentFile("mcp.json"), `{"mcpServers": {"docs": {"command": "no-such-program"}}}`)
	w.write(w.agentFile("hooks/gate.lua"), `pi.on("tool_call", function(event)
  if event.tool_name == "mcp__docs__delete_all" then return { block = true, reason = "not here: " .. event.mcp.server .. " " .. event.mcp.via } end
end)`)
	e := w.editor(object{"elicitation": object{"form": object{}, "url": object{}}, "session": object{"notices": object{}}})
	asked := make(chan acptest.Line, 2)
	e.Handle("elicitation/create", func(l acptest.Line) (any, *acptest.Error) {
		asked <- l
		if l.Params.Schema != nil {
			return object{"action": "accept", "content": object{"name": "Ada", "age": 36}}, nil
		}
		return object{"action": "decline"}, nil
	})
	id := e.begin(w.project, w.handed("my files", "few"),
		object{"type": "http", "name": "docs", "url": docs.URL, "headers": []any{object{"name": "X-Key", "value": "k"}}},
		object{"type": "sse", "name": "old", "url": "https://example.com/sse", "headers": []any{}})
	pids := w.started(1) // behind the answer, before there is a prompt
	if ends := e.Prompt(id, "say it"); ends != "end_turn" {
		t.Fatal(ends)
	}
	for n, want := range []struct{ name, title, input, status, text string }{
		{"mcp__my_files__echo", `mcp__my_files__echo {"text":"hello"}`, `{"text":"hello"}`, "completed", "hello"},
		{"mcp__docs__echo", `mcp__docs__echo {"text":"over http"}`, `{"text":"over http"}`, "completed", "over http"},
		{"mcp__docs__delete_all", `mcp__docs__delete_all`, `{}`, "failed", "not here: docs direct"},
	} {
		if c := e.call(id, n); c.Name != want.name || c.Title != want.title || c.Tool != "other" || string(c.RawInput) != want.input || c.Status != want.status || !strings.Contains(c.Text(), want.text) {
			t.Errorf("the call is shown as %+v, want %+v", c, want)
		}
	}
	if body := string(model.asked()[0].body); strings.Contains(body, `"name":"mcp"`) || !strings.Contains(body, "mcp__docs__ask_page") {
		t.Errorf("the model was given %s", body)
	}
	if _, ok := keys.Load("k"); !ok {
		t.Error("the header did not come")
	}
	told := strings.Join(e.notices(), "\n")
	for _, want := range []string{`server "docs": the editor has one of this name, which is used in this session`, `server "old" of the editor is left out: type "sse" is the old way`} {
		if strings.Count(told, want) != 1 {
			t.Errorf("the notices are\n%s\nwithout %s", told, want)
		}
	}

	if ends := e.Prompt(id, "ask me"); ends != "end_turn" {
		t.Fatal(ends)
	}
	for range 2 {
		l := <-asked
		n, want := 3, `"mode":"form","message":"MCP server my_files: Who are you?"`
		if l.Params.Schema == nil {
			n, want = 4, `"mode":"url","message":"MCP server docs: Open it","url":"https://example.com/open"`
		}
		if id := e.call(id, n).CallID; !strings.Contains(string(l.Raw), want) || !strings.Contains(string(l.Raw), `"toolCallId":"`+id+`"`) {
			t.Errorf("asked %s", l.Raw)
		}
	}
	if got := e.call(id, 3).Text() + "|" + e.call(id, 4).Text(); got != `accept {"age":36,"name":"Ada"}|decline null` {
		t.Errorf("the servers got %s", got)
	}

	e.Must("session/close", object{"sessionId": id}, nil)
	w.gone(pids)
	if status := e.end(); status != 0 {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
}

// The answer that a session is open waits for no server, nor does one that fails keep a prompt from
// being sent. Whatever ends the session ends the servers.
func TestServersOfAnEditorDelayNoSession(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(e *editor, id string){
		"closed":       func(e *editor, id string) { e.Must("session/close", object{"sessionId": id}, nil) },
		"end of input": func(e *editor, _ string) { e.end() },
		"TERM":         func(e *editor, _ string) { _ = e.cmd.Process.Signal(syscall.SIGTERM); e.status() },
		"killed":       func(e *editor, _ string) { _ = e.cmd.Process.Kill(); e.status() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.model("text There.\n---\ntext Again.\n---\ntext Again.")
			e := w.editor(object{"session": object{"notices": object{}}})
			id := e.begin(w.project, w.silent("silent"), object{"name": "broken", "command": "/no/such/program", "args": []any{}, "env": []any{}})
			e.WaitUpdate("that one cannot be used", func(u acptest.Update) bool {
				return u.Kind == "notice" && strings.Contains(u.Title, "MCP server broken: ")
			})
			pids := w.started(1)
			prompt := e.StartPrompt(id, "go") // waits for the server that is silent
			e.Notify("session/cancel", object{"sessionId": id})
			if ends := e.Ending(prompt); ends != "cancelled" {
				t.Error(ends)
			}
			if name == "closed" {
				e.Must("session/close", object{"sessionId": id}, nil)
				w.gone(pids)
				w.write(w.numbers(), "")
				other := e.begin(w.project, object{"name": "broken", "command": "/no/such/program", "args": []any{}, "env": []any{}})
				if ends := e.Prompt(other, "go"); ends != "end_turn" || e.Texts(other, "agent_message_chunk") != "There." {
					t.Errorf("%s, %q", ends, e.Texts(other, "agent_message_chunk"))
				}
				told := 0
				for _, u := range e.Updates(other) {
					if u.Kind == "notice" && strings.Contains(u.Title, "broken") {
						told++
					}
				}
				if told != 1 {
					t.Errorf("told %d times: %q", told, e.notices())
				}
				e.Must("session/close", object{"sessionId": other}, nil)
				for n, method := range []string{"session/load", "session/resume"} {
					e.Must(method, object{"sessionId": other, "cwd": w.project, "mcpServers": []any{w.silent("silent")}}, nil)
					if pids = w.started(n + 1); n == 0 {
						e.Must("session/close", object{"sessionId": other}, nil)
					}
				}
				id = other
			}
			ends(e, id)
			w.gone(pids)
		})
	}
}

// Where there are many tools the model finds them; the editor sees what was called, and not how,
// also when the session is opened again. --no-mcp leaves the editor's alone.
func TestManyToolsOfAnEditorAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := w.model(`call mcp {"call":"a/progress","arguments":{"n":3}}
call mcp {"search":"echo"}
---
text Called.
---
text Again.`)
	w.write(w.agentFile("mcp.json"), `{"mcpServers": {"mine": {"command": "no-such-program", "exposure": "direct"}}}`)
	e := w.editor(object{"session": object{"notices": object{}}}, "--no-mcp")
	id := e.begin(w.project, w.handed("a", "good"), w.handed("b", "good"))
	if ends := e.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	check := func(when string) {
		t.Helper()
		if c := e.call(id, 0); c.Name != "mcp__a__progress" || c.Title != `mcp__a__progress {"n":3}` || string(c.RawInput) != `{"n":3}` || c.Status != "completed" || c.Text() != "done" {
			t.Errorf("%s: %+v", when, c)
		}
		if c := e.call(id, 1); c.Name != "mcp" || c.Status != "completed" || !strings.Contains(c.Text(), "b/echo") {
			t.Errorf("%s: %+v", when, c)
		}
		for _, u := range e.Updates(id) {
			if u.CallID == e.call(id, 0).CallID && (u.Name == "mcp" || strings.HasPrefix(u.Title, "mcp ")) {
				t.Errorf("%s: %+v", when, u)
			}
		}
	}
	check("at once")
	if !slices.ContainsFunc(e.Updates(id), func(u acptest.Update) bool { return strings.HasPrefix(u.Text(), "step 1") }) {
		t.Error("its progress was not shown")
	}
	if body := string(model.asked()[0].body); !strings.Contains(body, `"mcp"`) || strings.Contains(body, "mcp__a__") || strings.Contains(body, "- mine") {
		t.Errorf("the model was given %s", body)
	}
	if told := e.notices(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
	e.Must("session/close", object{"sessionId": id}, nil)
	e.Forget()
	e.Must("session/load", object{"sessionId": id, "cwd": w.project, "mcpServers": []any{}}, nil)
	check("loaded")
	pids := w.started(2)
	w.gone(pids)
	if status := e.end(); status != 0 || len(w.started(2)) != 2 {
		t.Errorf("status %d, servers %v, %s", status, w.started(2), e.stderr.String())
	}
}

// Without forms a question of several values has no answer, which the model and the user are told;
// a page is a permission, and opened here.
func TestAnEditorWithoutFormsIsAskedByPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := w.model(`call mcp__s__ask {}
---
call mcp__s__ask_page {}
---
text Asked.`)
	browser := filepath.Join(w.home, "browser")
	w.write(browser, "#!/bin/sh\necho \"$1\" > \""+filepath.Join(w.home, "opened")+"\"\n")
	if err := os.Chmod(browser, 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "BROWSER="+browser)
	e := w.editor(object{"session": object{"notices": object{}}})
	e.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
		if text := l.Params.ToolCall.Text(); !strings.Contains(text, "MCP server s: Open it") || !strings.Contains(text, "https://example.com/open") {
			t.Errorf("asked %q", text)
		}
		return object{"outcome": object{"outcome": "selected", "optionId": "allow"}}, nil
	})
	id := e.begin(w.project, w.handed("s", "few"))
	if ends := e.Prompt(id, "ask me"); ends != "end_turn" {
		t.Fatal(ends)
	}
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(model.asked()[2].body, &body); err != nil {
		t.Fatal(err)
	}
	var results []string
	for _, m := range body.Messages {
		if m.Role == "tool" {
			results = append(results, string(m.Content))
		}
	}
	want := []string{`"cancel null\n[the server asked the user: \"Who are you?\" (name, age, colour, sure); there was no answer]"`, `"accept null"`}
	if fmt.Sprint(results) != fmt.Sprint(want) {
		t.Errorf("the model was told %s\nwant %s", results, want)
	}
	if told := strings.Join(e.notices(), "\n"); !strings.Contains(told, `"MCP server s: Who are you?", which this client cannot show`) {
		t.Errorf("told %q", told)
	}
	if opened := mustRead(t, filepath.Join(w.home, "opened")); opened != "https://example.com/open\n" {
		t.Errorf("opened %q", opened)
	}
	if status := e.end(); status != 0 {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
}

// A server that takes its time is there with the first prompt: that waits for it.
func TestTheFirstPromptWaitsForServersOfAnEditor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := w.model("call mcp__slow__echo {\"text\":\"late\"}\n---\ntext Said.")
	program, err := exec.LookPath("mcp-server")
	if err != nil {
		t.Fatal(err)
	}
	next := w.mailbox("go")
	e := w.editor(object{})
	id := e.begin(w.project, object{"name": "slow", "command": "/bin/sh", "args": []string{"-c", `echo started > go; until [ -e now ]; do sleep 0.01; done; exec "$1" few`, "sh", program}, "env": []any{}})
	if got := next(); got != "started" {
		t.Fatal(got)
	}
	prompt := e.StartPrompt(id, "say it")
	w.write(filepath.Join(w.project, "now"), "")
	if ends := e.Ending(prompt); ends != "end_turn" || e.call(id, 0).Text() != "late" {
		t.Errorf("%s, %+v", ends, e.call(id, 0))
	}
	model.asks(t, 1, `"mcp__slow__echo"`, true)
	if status := e.end(); status != 0 {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
}

// What a server claims of a tool is what an editor is shown only where the user believes it.
func TestAnEditorIsShownWhatIsBelievedOfATool(t *testing.T) {
	t.Parallel()
	for believed, kind := range map[bool]string{true: "read", false: "other"} {
		w := newWorld(t)
		w.asksUser()
		w.model("call mcp {\"call\":\"s/echo\",\"arguments\":{\"text\":\"a\"}}\n---\ntext Said.")
		entry := mustRead(t, w.agentFile("mcp.json"))
		w.write(w.agentFile("mcp.json"), strings.Replace(entry, `"args"`, fmt.Sprintf(`"trust_annotations": %v, "args"`, believed), 1))
		e := w.editor(object{})
		id := e.begin(w.project)
		if ends := e.Prompt(id, "go"); ends != "end_turn" {
			t.Fatal(ends)
		}
		if c := e.call(id, 0); c.Tool != kind || c.Text() != "a" {
			t.Errorf("believed: %v; %+v", believed, c)
		}
		if status := e.end(); status != 0 {
			t.Errorf("status %d, %s", status, e.stderr.String())
		}
	}
}
