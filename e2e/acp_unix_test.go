//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pi/internal/process"
	"pi/internal/testing/acptest"
)

// editor is the program as an editor starts it.
type editor struct {
	*acptest.Client
	cmd    *exec.Cmd
	stderr bytes.Buffer // when it has ended
}

type object = map[string]any

// editor starts the program for an editor that can do what capabilities say.
func (w *world) editor(capabilities object, args ...string) *editor {
	w.t.Helper()
	e := &editor{cmd: w.command(append([]string{"--mode", "acp"}, args...)...)}
	in, err := e.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	e.cmd.Stderr = &e.stderr
	process.Group(e.cmd) // as editors do, which may end all of it
	if err := e.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = e.cmd.Process.Kill() })
	e.Client = acptest.Dial(w.t, in, out)
	if capabilities != nil {
		e.Initialize(capabilities)
	}
	return e
}

// end closes the input and returns the exit status.
func (e *editor) end() int {
	e.Close()
	return e.status()
}

// status waits for the end and returns the exit status.
func (e *editor) status() int {
	e.WaitEnd()
	_ = e.cmd.Wait()
	return e.cmd.ProcessState.ExitCode()
}

// chosenOption returns the value of an option in a list of options.
func chosenOption(t *testing.T, options json.RawMessage, id string) (current string, values []string) {
	t.Helper()
	var all []struct {
		ID, CurrentValue string
		Options          []struct{ Value string }
	}
	if err := json.Unmarshal(options, &all); err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	for _, o := range all {
		if o.ID == id {
			for _, v := range o.Options {
				values = append(values, v.Value)
			}
			return o.CurrentValue, values
		}
	}
	return "", nil
}

// An editor begins a session, works in it, closes it, and another process goes on with it.
func TestAnEditorDrivesASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := newModelServer("openai-completions", `think hm
text I look.
call read {"path":"a.txt"}
call edit {"path":"a.txt","oldText":"unsaved","newText":"changed"}
---
text Done it is.
---
text Again.`, "")
	defer server.http.Close()
	w.write(w.agentFile("config.toml"), "model = \"local/small\"\n"+server.settings())
	e := w.editor(object{"fs": object{"readTextFile": true, "writeTextFile": true}})
	var mu sync.Mutex // requests are answered side by side
	buffer := "unsaved\n"
	e.Handle("fs/read_text_file", func(acptest.Line) (any, *acptest.Error) {
		mu.Lock()
		defer mu.Unlock()
		return object{"content": buffer}, nil
	})
	e.Handle("fs/write_text_file", func(l acptest.Line) (any, *acptest.Error) {
		mu.Lock()
		defer mu.Unlock()
		if err := json.Unmarshal(l.Params.Content, &buffer); err != nil {
			t.Error(err)
		}
		w.write(l.Params.Path, buffer)
		return object{}, nil
	})
	var opened struct {
		SessionID     string
		ConfigOptions json.RawMessage
	}
	e.Must("session/new", object{"cwd": w.project, "mcpServers": []any{}}, &opened)
	id := opened.SessionID
	if model, values := chosenOption(t, opened.ConfigOptions, "model"); model != "local/small" || !slices.Contains(values, "local/large") {
		t.Errorf("%s of %v", model, values)
	}
	if ends := e.Prompt(id, "look and change"); ends != "end_turn" {
		t.Fatal(ends)
	}
	var got []string
	for _, u := range e.Updates(id) {
		switch {
		case u.Kind == "agent_message_chunk" || u.Kind == "agent_thought_chunk":
			got = append(got, u.Text())
		case u.Status == "completed" || u.Status == "failed":
			got = append(got, u.Status)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if text := strings.Join(got, ""); text != "hmI look.completedcompletedDone it is." || buffer != "changed\n" {
		t.Errorf("%q, the buffer has %q", text, buffer)
	}
	if disk, _ := os.ReadFile(filepath.Join(w.project, "a.txt")); string(disk) != "changed\n" {
		t.Errorf("the disk has %q", disk)
	}
	var listed struct {
		Sessions []struct{ SessionID, Title, Cwd string }
	}
	e.Must("session/list", object{"cwd": w.project}, &listed)
	if len(listed.Sessions) != 1 || listed.Sessions[0].SessionID != id || listed.Sessions[0].Title != "look and change" {
		t.Errorf("%+v", listed)
	}
	other := w.editor(object{})
	if _, failed := other.Request("session/load", object{"sessionId": id, "cwd": w.project, "mcpServers": []any{}}); failed == nil || failed.Code != -32010 {
		t.Errorf("a session that is open elsewhere: %v", failed)
	}
	if _, failed := other.Request("session/delete", object{"sessionId": id}); failed == nil || failed.Code != -32010 {
		t.Errorf("deleted: %v", failed)
	}
	e.Must("session/close", object{"sessionId": id}, nil)
	other.Must("session/load", object{"sessionId": id, "cwd": w.project, "mcpServers": []any{}}, nil)
	if said := other.Texts(id, "user_message_chunk") + "|" + other.Texts(id, "agent_message_chunk"); said != "look and change|I look.Done it is." {
		t.Error(said)
	}
	if ends := other.Prompt(id, "once more"); ends != "end_turn" {
		t.Error(ends)
	}
	if last := server.asked()[2]; !strings.Contains(string(last.body), "I look.") {
		t.Errorf("the model got %s", last.body)
	}
	for _, each := range []*editor{e, other} {
		if status := each.end(); status != 0 || each.stderr.Len() > 0 {
			t.Errorf("status %d, %s", status, each.stderr.String())
		}
	}
}

// editorHook asks about commands, prints, plans, has a mode, and wants another session.
const editorHook = `
print("loaded in " .. "a hook")
pi.mode{ name = "plan", description = "only look", tools = { "read" } }
pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" then return end
  if not ctx.ui.confirm("Run it?", event.input.command, { always = "bash" }) then
    return { block = true, reason = "no" }
  end
end)
pi.command("show", { description = "shows", handler = function(ctx)
  print("printed")
  local r = ctx.new_session()
  ctx.ui.set_plan{ { content = "first", status = "in_progress" } }
  ctx.ui.notify(ctx.mode .. " " .. tostring(ctx.has_ui) .. " " .. tostring(r and r.cancelled), "info")
  return { status = "chosen: " .. tostring(ctx.ui.select("Which?", { "a", "b" })) }
end })
`

func TestHooksReachTheEditor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := newModelServer("openai-completions", "call bash {\"command\":\"echo one\"}\n---\ncall bash {\"command\":\"echo two\"}\n---\ntext Ran.", "")
	defer server.http.Close()
	w.write(w.agentFile("config.toml"), "model = \"local/small\"\n"+server.settings())
	w.write(w.agentFile("hooks/editor.lua"), editorHook)
	e := w.editor(object{"session": object{"notices": object{}}, "elicitation": object{"form": object{}}})
	e.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
		for _, o := range l.Params.Options {
			if o.Kind == "allow_always" {
				return object{"outcome": object{"outcome": "selected", "optionId": o.ID}}, nil
			}
		}
		return nil, &acptest.Error{Code: -32603, Message: "no always"}
	})
	e.Handle("elicitation/create", func(l acptest.Line) (any, *acptest.Error) {
		var schema struct {
			Properties struct {
				Value struct {
					OneOf []struct{ Const, Title string }
				}
			}
		}
		_ = json.Unmarshal(l.Params.Schema, &schema)
		offered := schema.Properties.Value.OneOf
		if len(offered) != 2 || offered[1].Title != "b" {
			return nil, &acptest.Error{Code: -32603, Message: "a strange form"}
		}
		return object{"action": "accept", "content": object{"value": offered[1].Const}}, nil
	})
	var opened struct {
		SessionID string
		Modes     struct{ CurrentModeID string }
	}
	e.Must("session/new", object{"cwd": w.project, "mcpServers": []any{}}, &opened)
	id := opened.SessionID
	if opened.Modes.CurrentModeID != "default" {
		t.Errorf("%+v", opened)
	}
	if ends := e.Prompt(id, "run it"); ends != "end_turn" {
		t.Fatal(ends)
	}
	asked, ran := 0, 0
	for _, l := range e.Lines() {
		if l.Method == "session/request_permission" {
			asked++
		}
		if l.Params.Update.Status == "completed" {
			ran++
		}
	}
	if asked != 1 || ran != 2 {
		t.Errorf("asked %d times, %d ran", asked, ran)
	}
	if ends := e.Prompt(id, "/show"); ends != "end_turn" {
		t.Error(ends)
	}
	e.WaitUpdate("the plan", func(u acptest.Update) bool {
		return u.Kind == "plan" && strings.Contains(string(u.Entries), `"content":"first"`)
	})
	e.WaitUpdate("the notice", func(u acptest.Update) bool {
		return u.Kind == "notice" && strings.Contains(u.Title, "acp true true")
	})
	if texts := e.Texts(id, "agent_message_chunk"); texts != "Ran.chosen: b" {
		t.Errorf("%q", texts)
	}
	e.Must("session/set_mode", object{"sessionId": id, "modeId": "plan"}, nil)
	e.WaitUpdate("the mode", func(u acptest.Update) bool { return u.ModeID == "plan" })
	e.WaitUpdate("what was printed", func(u acptest.Update) bool { return u.Kind == "notice" && strings.Contains(u.Title, "printed") })
	if status := e.end(); status != 0 || e.stderr.Len() > 0 {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
	e = w.editor(object{}, "--mode-name", "plan")
	e.Must("session/new", object{"cwd": w.project, "mcpServers": []any{}}, &opened)
	if status := e.end(); status != 0 || opened.Modes.CurrentModeID != "plan" || strings.Contains(e.stderr.String(), "crash") {
		t.Errorf("status %d, mode %s, %s", status, opened.Modes.CurrentModeID, e.stderr.String())
	}
}

// What is wrong with the command line is what each session that an editor begins fails with:
// no editor shows why a program has ended before its first answer. The rest works meanwhile.
func TestAnEditorIsToldOfABadStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--bogus"}, -32010, "unknown flag: --bogus; run `pi --help` for the flags of pi"},
		{[]string{"--model", "nothing-like-that"}, -32010, "nothing-like-that"},
		{[]string{"--tools", "redd"}, -32010, "redd"},
		{[]string{"--thinking", "deep"}, -32010, "deep"},
		{[]string{"--hook", "nothing.lua"}, -32010, "nothing.lua"},
		{[]string{"--mode-name", "nothing"}, -32010, "nothing"},
		{[]string{"@a.txt"}, -32010, "a.txt"},
		{[]string{"--model", "anthropic/claude-sonnet-4-5"}, -32010, "key"},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			e := w.editor(object{}, c.args...)
			for range 2 {
				if _, failed := e.Request("session/new", object{"cwd": w.project, "mcpServers": []any{}}); failed == nil || failed.Code != c.code || !strings.Contains(failed.Message, c.says) {
					t.Errorf("%v", failed)
				}
			}
			e.Must("session/list", object{}, nil)
			e.Must("session/delete", object{"sessionId": "nothing"}, nil)
			if status := e.end(); status != 0 {
				t.Errorf("status %d, %s", status, e.stderr.String())
			}
		})
	}
}

// A client that can run a terminal is offered to sign in there, and a key that is missing has
// the code by which it offers that.
func TestAnEditorCanSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.editor(nil, "--model", "anthropic/claude-sonnet-5-5")
	var said struct {
		AuthMethods []struct {
			ID, Type string
			Args     []string
		}
	}
	e.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"auth": object{"terminal": true}}}, &said)
	if len(said.AuthMethods) != 1 || said.AuthMethods[0].Type != "terminal" || !slices.Equal(said.AuthMethods[0].Args, []string{"--login"}) {
		t.Fatalf("%+v", said)
	}
	if _, failed := e.Request("session/new", object{"cwd": w.project, "mcpServers": []any{}}); failed == nil || failed.Code != -32000 || !strings.Contains(failed.Message, "key") {
		t.Errorf("%v", failed)
	}
	e.end()
	for _, args := range [][]string{{"--mode", "acp", "--login"}, {"--login"}} {
		cmd := w.command(args...)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "there is nobody to ask for a key") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
}

// Which session is open says the editor.
func TestFlagsThatNameASessionAreNotForEditors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.editor(object{}, "--continue")
	if status := e.end(); status != 0 || !strings.HasPrefix(e.stderr.String(), "warning: with --mode acp the client says which sessions are opened") {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
}

// A pending change of a global hook fails every session, one of a project those there, until
// it is approved elsewhere.
func TestPendingHooksAndEditors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := filepath.Join(w.project, ".pi/hooks/project.lua")
	w.write(hook, `pi.on("session_start", function() end)`)
	w.write(w.agentFile("hooks/global.lua"), `pi.on("session_start", function() end)`)
	trust := w.command("trust", "--yes")
	if out, err := trust.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.pi("-p", "run `echo '-- x' >> .pi/hooks/project.lua`")
	e := w.editor(object{})
	if _, failed := e.Request("session/new", object{"cwd": w.project, "mcpServers": []any{}}); failed == nil || failed.Code != -32010 || !strings.Contains(failed.Message, "project.lua was changed") {
		t.Errorf("%v", failed)
	}
	elsewhere := shortTempDir(t)
	id := e.New(elsewhere)
	if status := e.end(); status != 0 || id == "" {
		t.Errorf("status %d", status)
	}
	w.project = elsewhere
	w.pi("-p", "run `echo '-- x' >> "+w.agentFile("hooks/global.lua")+"`")
	e = w.editor(object{})
	if _, failed := e.Request("session/new", object{"cwd": elsewhere, "mcpServers": []any{}}); failed == nil || failed.Code != -32010 ||
		!strings.Contains(failed.Message, "global.lua was changed") || !strings.Contains(failed.Message, "`pi trust`") {
		t.Errorf("%v", failed)
	}
	e.Must("session/list", object{}, nil)
	if out, err := w.command("trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if e.New(elsewhere) == "" || e.end() != 0 {
		t.Errorf("%s", e.stderr.String())
	}
}

// A client that says yes to everything approves no hook that the agent has written.
func TestAnEditorIsNotAskedAboutAHookOfTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.editor(object{"session": object{"notices": object{}}})
	e.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
		return object{"outcome": object{"outcome": "selected", "optionId": l.Params.Options[0].ID}}, nil
	})
	id := e.New(w.project)
	if ends := e.Prompt(id, "run `mkdir -p .pi/hooks && echo 'print(1)' > .pi/hooks/new.lua`"); ends != "end_turn" {
		t.Fatal(ends)
	}
	e.WaitUpdate("the warning", func(u acptest.Update) bool { // in other words if the file is noticed before the tool has ended
		return u.Kind == "notice" && strings.Contains(u.Title, "new.lua was added ") && strings.Contains(u.Title, ": it does not run; `pi trust`")
	})
	if _, failed := e.Request("session/prompt", object{"sessionId": id, "prompt": []any{object{"type": "text", "text": "/hooks approve new"}}}); failed == nil || !strings.Contains(failed.Message, "a person has to approve") {
		t.Errorf("%v", failed)
	}
	for _, l := range e.Lines() {
		if l.Method == "session/request_permission" {
			t.Errorf("asked: %+v", l)
		}
	}
	if status := e.end(); status != 0 {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
}

// However the editor goes, the session is whole and no process stays.
func TestTheEndOfAnEditor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		end    func(e *editor)
		status int
	}{
		{"input", func(e *editor) { e.Close() }, 0},
		{"TERM", func(e *editor) { _ = e.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		{"cancel", func(e *editor) {}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			server := newModelServer("openai-completions", "text I begin.\ncall bash {\"command\":\"echo $$ > box; sleep 1000\"}\n---\ntext Again.", "")
			defer server.http.Close()
			w.write(w.agentFile("config.toml"), "model = \"local/small\"\n"+server.settings())
			pid := w.mailbox("box")
			e := w.editor(object{})
			id := e.New(w.project)
			prompt := e.StartPrompt(id, "run it")
			shell := pid()
			if c.name == "cancel" {
				e.Notify("session/cancel", object{"sessionId": id})
				if ends := e.Ending(prompt); ends != "cancelled" {
					t.Error(ends)
				}
				if processExists(shell) {
					t.Error("the command still runs")
				}
				if ends := e.Prompt(id, "again"); ends != "end_turn" {
					t.Error(ends)
				}
				e.Close()
			}
			c.end(e)
			if status := e.status(); status != c.status || processExists(shell) {
				t.Errorf("status %d, the command runs: %v; %s", status, processExists(shell), e.stderr.String())
			}
			if c.name != "cancel" {
				if ends := e.Ending(prompt); ends != "cancelled" {
					t.Error(ends)
				}
			}
			files := w.sessions()
			if len(files) != 1 {
				t.Fatalf("%d sessions", len(files))
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
				if !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
			}
			if !strings.Contains(string(text), "run it") || !strings.Contains(string(text), "I begin.") {
				t.Errorf("%s", text)
			}
		})
	}
}

// A very long line is answered by its id, and the next one too.
func TestAVeryLongLineOfAnEditor(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it takes much memory")
	}
	t.Parallel()
	w := newWorld(t)
	e := w.editor(object{})
	long := strings.Repeat("x", 100<<20)
	if _, failed := e.Request("session/load", object{"sessionId": long, "cwd": w.project, "mcpServers": []any{}}); failed == nil || failed.Code != -32002 || len(failed.Message) > 500 {
		t.Errorf("%.300v", failed)
	}
	if id := e.New(w.project); id == "" || e.end() != 0 {
		t.Error("it did not go on")
	}
}

// A client that writes for a tool, and once more when the run has ended, changes a gate that
// is a link into the project: the next start asks, as if a tool had done it, and so does a
// session that would begin meanwhile. What a user writes there, while the client
// wrote something else, is in force.
func TestAClientThatWritesLateCannotReplaceTheGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, writes string // the path that the tool hands to the client
		status       int    // of the next start
	}{
		{"the gate", "gate.lua", statusUntrusted},
		{"another file", "other.lua", statusDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			const gate = `pi.on("tool_call", function() return { block = true, reason = "shut" } end)` + "\n"
			w.write(filepath.Join(w.project, "gate.lua"), "-- not yet\n")
			w.write(w.agentFile("hooks/z.lua"), "-- here\n")
			if err := os.Symlink(filepath.Join(w.project, "gate.lua"), w.agentFile("hooks/gate.lua")); err != nil {
				t.Fatal(err)
			}
			arguments, err := json.Marshal(object{"path": c.writes, "content": "-- not yet\n"})
			if err != nil {
				t.Fatal(err)
			}
			server := newModelServer("openai-completions", "call write "+string(arguments)+"\n---\ntext done\n---\ntext hello", "")
			defer server.http.Close()
			w.write(w.agentFile("config.toml"), "model = \"local/small\"\n"+server.settings())
			e := w.editor(object{"fs": object{"writeTextFile": true}})
			e.Handle("fs/write_text_file", func(l acptest.Line) (any, *acptest.Error) {
				w.write(l.Params.Path, "-- not yet\n")
				return object{}, nil
			})
			id := e.New(w.project)
			if ends := e.Prompt(id, "write"); ends != "end_turn" {
				t.Fatal(ends)
			}
			w.write(filepath.Join(w.project, "gate.lua"), gate) // long after its answer
			if _, failed := e.Request("session/new", object{"cwd": w.project, "mcpServers": []any{}}); (failed != nil) != (c.status == statusUntrusted) {
				t.Errorf("a session that begins now: %v", failed)
			}
			if status := e.end(); status != 0 {
				t.Errorf("status %d, %s", status, e.stderr.String())
			}
			next := w.command("-p", "hi")
			out, _ := next.CombinedOutput()
			if status := next.ProcessState.ExitCode(); status != c.status {
				t.Errorf("the next start has status %d: %s", status, out)
			}
		})
	}
}
