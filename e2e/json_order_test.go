//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The order of records in JSON mode, as the protocol has it, for what the program really
// does.

// jsonRun is a run of JSON mode, and the records that it has to write, in a notation where
// u a t c are messages that begin and end at once.
type jsonRun struct {
	name    string
	answers string // of the model, see modelServer
	hook    string // Lua; "": none
	config  string // settings besides the model
	talk    string // a session that is there before, see scriptConversation; "": none
	prompts []string
	until   string         // the record upon which a signal is sent; "": none is
	signal  syscall.Signal // that is sent then
	status  int
	want    string
}

// answerOfWords are the records of an answer of words.
const answerOfWords = "start(a:pending) text_start text_delta text_end end(a:stop) turn_end(stop,0)"

// answerOfCall are the records of an answer that is one call, which then runs.
const answerOfCall = "start(a:pending) toolcall_start toolcall_delta toolcall_end end(a:toolUse) tool_execution_start tool_execution_end t turn_end(toolUse,1)"

const busy = `status 529 {"error":{"message":"busy"}}`

const tooMuch = `status 400 {"error":{"message":"too much","code":"context_length_exceeded"}}`

func jsonRuns() []jsonRun {
	return []jsonRun{
		{name: "a: two prompts", answers: "text hello\n---\ntext hello", prompts: []string{"hi", "and?"},
			want: "session agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "a: thoughts", answers: "think hm\ntext hello", prompts: []string{"hi"},
			want: "session agent_start turn_start u start(a:pending) thinking_start thinking_delta thinking_end text_start text_delta text_end end(a:stop) turn_end(stop,0) agent_end(ua,false) agent_settled"},
		{name: "b: tools", answers: "text I look.\ncall ls {}\ncall read {\"path\":\"a.txt\"}\n---\ntext done", prompts: []string{"hi"},
			want: "session agent_start turn_start u start(a:pending) text_start text_delta text_end toolcall_start toolcall_delta toolcall_end toolcall_start toolcall_delta toolcall_end end(a:toolUse) " +
				"tool_execution_start tool_execution_start tool_execution_end tool_execution_end t t turn_end(toolUse,2) turn_start " + answerOfWords + " agent_end(uatta,false) agent_settled"},
		{name: "b: a call that a hook blocks", answers: "call ls {}\n---\ntext done", prompts: []string{"hi"}, hook: `pi.on("tool_call", function() return { block = true, reason = "no" } end)`,
			want: "session agent_start turn_start u " + strings.Replace(answerOfCall, "tool_execution_end", "tool_execution_end!", 1) + " turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "b: a hook that fails", answers: "call ls {}\n---\ntext done", prompts: []string{"hi"}, hook: `pi.on("tool_call", function() error("boom") end)`,
			want: "session agent_start turn_start u " + strings.Replace(answerOfCall, "tool_execution_end", "extension_error tool_execution_end!", 1) + " turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "a hook that does not load", answers: "text hello", prompts: []string{"hi"}, hook: `error("boom")`,
			want: "session extension_error agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "a hook that fails in front of the event", answers: "text hello", prompts: []string{"hi"}, hook: `pi.on("agent_start", function() error("boom") end)`,
			want: "session extension_error agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "c: steering", answers: "call ls {}\n---\ntext done", prompts: []string{"hi"}, hook: `pi.on("tool_result", function() pi.send_user_message("and?", { deliver_as = "steer" }) end)`,
			want: "session agent_start turn_start u " + answerOfCall + " turn_start u " + answerOfWords + " agent_end(uatua,false) agent_settled"},
		{name: "d: follow-up", answers: "call ls {}\n---\ntext done\n---\ntext more", prompts: []string{"hi"}, hook: `pi.on("tool_result", function() pi.send_user_message("and?", { deliver_as = "follow_up" }) end)`,
			want: "session agent_start turn_start u " + answerOfCall + " turn_start " + answerOfWords + " turn_start u " + answerOfWords + " agent_end(uataua,false) agent_settled"},
		{name: "e: a retry that succeeds", answers: busy + "\n---\ntext hello", prompts: []string{"hi"}, config: atOnce,
			want: "session agent_start turn_start u a:error turn_end(error,0) agent_end(ua,true) auto_retry_start agent_start turn_start " +
				strings.Replace(answerOfWords, "end(a:stop)", "end(a:stop) auto_retry_end(true)", 1) + " agent_end(a,false) agent_settled"},
		{name: "e: a stream that was cut", answers: "text hel\ncut\n---\ntext hello", prompts: []string{"hi"}, config: atOnce,
			want: "session agent_start turn_start u start(a:pending) text_start text_delta end(a:error) turn_end(error,0) agent_end(ua,true) auto_retry_start agent_start turn_start " +
				strings.Replace(answerOfWords, "end(a:stop)", "end(a:stop) auto_retry_end(true)", 1) + " agent_end(a,false) agent_settled"},
		{name: "e: exhausted", answers: strings.Repeat(busy+"\n---\n", 3) + busy, prompts: []string{"hi", "never sent"}, config: atOnce, status: statusProvider,
			want: "session agent_start turn_start u a:error turn_end(error,0) agent_end(ua,true) auto_retry_start" +
				strings.Repeat(" agent_start turn_start a:error turn_end(error,0) agent_end(a,true) auto_retry_start", 2) +
				" agent_start turn_start a:error turn_end(error,0) agent_end(a,false) auto_retry_end(false) agent_settled"},
		{name: "e: a wait that is cancelled", answers: busy, prompts: []string{"hi"}, config: "[retry]\nbase_delay = \"50s\"\n", until: "auto_retry_start", signal: syscall.SIGINT, status: statusInterrupted,
			want: "session agent_start turn_start u a:error turn_end(error,0) agent_end(ua,true) auto_retry_start auto_retry_end(false) agent_start turn_start a:aborted turn_end(aborted,0) agent_end(a,false) agent_settled!"},
		{name: "f: the end in a stream", answers: "text hello\nstall", prompts: []string{"hi"}, until: "text_delta", signal: syscall.SIGTERM, status: statusTerminated,
			want: "session agent_start turn_start u start(a:pending) text_start text_delta text_end end(a:aborted) turn_end(aborted,0) agent_end(ua,false) agent_settled!"},
		{name: "f: the end before the first byte", answers: "stall", prompts: []string{"hi"}, until: "end(u)", signal: syscall.SIGTERM, status: statusTerminated,
			want: "session agent_start turn_start u a:aborted turn_end(aborted,0) agent_end(ua,false) agent_settled!"},
		{name: "g: the end in a tool", answers: `call bash {"command":"sleep 60"}`, prompts: []string{"hi"}, until: "tool_execution_start", signal: syscall.SIGINT, status: statusInterrupted,
			want: "session agent_start turn_start u " + strings.Replace(answerOfCall, "tool_execution_end", "tool_execution_end!", 1) + " agent_end(uat,false) agent_settled!"},
		{name: "h: compaction at the end", answers: "text one\n---\nusage 95000 5 0 0\ntext two\n---\ntext notes", prompts: []string{"hi", "and?"},
			want: "session agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled agent_start turn_start u " + answerOfWords + " agent_end(ua,false) compaction_start compaction_end(done) agent_settled"},
		{name: "h: compaction between turns", answers: "text one\n---\nusage 95000 5 0 0\ncall ls {}\n---\ntext notes\n---\ntext done", prompts: []string{"hi", "and?"},
			want: "session agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled agent_start turn_start u " + answerOfCall + " compaction_start compaction_end(done) turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "i: overflow", answers: tooMuch + "\n---\ntext notes\n---\ntext fits", talk: "uaua", prompts: []string{"next"},
			want: "session agent_start turn_start u a:error turn_end(error,0) agent_end(ua,false) entry_appended compaction_start compaction_end(done,retry) agent_start turn_start " + answerOfWords + " agent_end(a,false) agent_settled"},
		{name: "i: a second overflow", answers: tooMuch + "\n---\ntext notes\n---\n" + tooMuch, talk: "uaua", prompts: []string{"next"}, status: statusDenied,
			want: "session agent_start turn_start u a:error turn_end(error,0) agent_end(ua,false) entry_appended compaction_start compaction_end(done,retry) agent_start turn_start a:error turn_end(error,0) agent_end(a,false) compaction_end(error) agent_settled"},
		{name: "i: the compaction fails", answers: tooMuch + "\n---\nstatus 401 {\"error\":{\"message\":\"no\"}}", talk: "uaua", prompts: []string{"next"}, status: statusDenied,
			want: "session agent_start turn_start u a:error turn_end(error,0) agent_end(ua,false) entry_appended compaction_start compaction_end(error) agent_settled"},
		{name: "j: manual compaction", answers: "text notes", talk: "uaua", prompts: []string{"/compact"},
			want: "session compaction_start compaction_end(done)"},
		{name: "k: a summary that is retried", answers: busy + "\n---\n" + busy + "\n---\ntext notes", talk: "uaua", prompts: []string{"/compact"}, config: atOnce,
			want: "session compaction_start summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_finished compaction_end(done)"},
		{name: "m: a length stop with a call", prompts: []string{"hi"},
			answers: `raw data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":null}]}` + "\n" +
				`raw data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\nraw data: [DONE]\n---\ntext done",
			want: "session agent_start turn_start u start(a:pending) toolcall_start toolcall_delta toolcall_end end(a:length) tool_execution_start tool_execution_end! t turn_end(length,1) turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "n: a message of a hook", answers: "text hello", prompts: []string{"/note", "hi"},
			hook: `pi.command("note", { handler = function() pi.send_message({ custom_type = "note", content = "x" }) end })`,
			want: "session c agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "n: one that triggers", answers: "text hello", prompts: []string{"/wake"},
			hook: `pi.command("wake", { handler = function() pi.send_message({ custom_type = "note", content = "x" }, { trigger_turn = true }) end })`,
			want: "session agent_start turn_start c " + answerOfWords + " agent_end(ca,false) agent_settled"},
		{name: "n: one in a run", answers: "call ls {}\n---\ntext done", prompts: []string{"hi"},
			hook: `pi.on("tool_result", function() pi.send_message({ custom_type = "note", content = "x" }, { deliver_as = "steer" }) end)`,
			want: "session agent_start turn_start u " + answerOfCall + " turn_start c " + answerOfWords + " agent_end(uatca,false) agent_settled"},
		{name: "a prompt that a hook handled", prompts: []string{"hi"}, hook: `pi.on("input", function() return { handled = true } end)`, answers: "text no", want: "session"},
		{name: "commands leave only what they cause", prompts: []string{"/name milk", "/thinking"}, answers: "text no", want: "session session_info_changed"},
	}
}

func TestRecordsOfJSONModeComeInTheOrderOfTheProtocol(t *testing.T) {
	t.Parallel()
	for _, c := range jsonRuns() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := newModelServer("openai-completions", c.answers, "")
			t.Cleanup(m.http.Close)
			w.write(w.agentFile("config.toml"), "model = \"local/small\"\n"+c.config+m.settings())
			args := []string{"--mode", "json"}
			if c.hook != "" {
				w.write(w.agentFile("hooks/test.lua"), c.hook)
			}
			if c.talk != "" {
				args = append(args, "--session", w.talk(c.talk))
			}
			r := startJSON(t, w.command(append(args, c.prompts...)...))
			words := r.words(c.until, c.signal)
			if got := r.wait(); got != c.status {
				t.Errorf("exit status %d, want %d; stderr:\n%s", got, c.status, r.stderr.String())
			}
			if got := strings.Join(words, " "); got != c.want {
				t.Errorf("\n%s\nwant\n%s\n%s", got, c.want, r.stderr.String())
			}
		})
	}
}

// jsonProcess is the program in JSON mode.
type jsonProcess struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func startJSON(t *testing.T, cmd *exec.Cmd) *jsonProcess {
	t.Helper()
	p := &jsonProcess{t: t, cmd: cmd}
	cmd.Stderr = &p.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return p
}

// wait returns the exit status.
func (p *jsonProcess) wait() int {
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// words reads all records and returns them as words. Behind the first that is until, it
// sends a signal.
func (p *jsonProcess) words(until string, signal os.Signal) (words []string) {
	p.t.Helper()
	for {
		line, err := p.stdout.ReadString('\n')
		if err == io.EOF && line == "" {
			return joinWords(words)
		}
		if err != nil || !strings.HasSuffix(line, "\n") {
			p.t.Fatalf("%q: %v", line, err)
		}
		if strings.Contains(line, testKey) {
			p.t.Errorf("the key is in %s", line)
		}
		word := recordWord(p.t, line)
		words = append(words, word)
		if word == until {
			until = ""
			if err := p.cmd.Process.Signal(signal); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// joinWords leaves out updates of tools, which come as often as they like, and all but the
// first of pieces in a row, and joins a message that begins and ends at once.
func joinWords(words []string) (joined []string) {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "tool_execution_update" })
	for i := 0; i < len(words); i++ {
		word := words[i]
		if kind, isStart := strings.CutPrefix(word, "start("); isStart && i+1 < len(words) && words[i+1] == "end("+kind {
			word = strings.TrimSuffix(kind, ")")
			i++
		}
		isPiece := strings.HasSuffix(word, "_delta") || word == "bash_execution_update"
		if n := len(joined); !isPiece || n == 0 || joined[n-1] != word {
			joined = append(joined, word)
		}
	}
	return joined
}

// recordWord is what the tables call a record.
func recordWord(t *testing.T, line string) string {
	t.Helper()
	var r struct {
		Type                  string
		Message               json.RawMessage
		Messages, ToolResults []json.RawMessage
		WillRetry             bool
		IsError               bool
		Aborted               bool
		Success               bool
		Result                json.RawMessage
		ErrorMessage          string
		AssistantMessageEvent struct{ Type string }
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	failed := func(is bool) string { return map[bool]string{true: "!"}[is] }
	switch r.Type {
	case "message_start", "message_end":
		return strings.TrimPrefix(r.Type, "message_") + "(" + messageLetter(t, r.Message) + ")"
	case "message_update":
		return r.AssistantMessageEvent.Type
	case "turn_end":
		return fmt.Sprintf("turn_end(%s,%d)", strings.TrimPrefix(messageLetter(t, r.Message), "a:"), len(r.ToolResults))
	case "agent_end":
		letters := ""
		for _, m := range r.Messages {
			letters += messageLetter(t, m)[:1]
		}
		return fmt.Sprintf("agent_end(%s,%v)", letters, r.WillRetry)
	case "tool_execution_end":
		return r.Type + failed(r.IsError)
	case "agent_settled":
		return r.Type + failed(r.Aborted)
	case "auto_retry_end":
		return fmt.Sprintf("%s(%v)", r.Type, r.Success)
	case "compaction_end":
		what := map[bool]string{true: "done"}[r.Result != nil] + map[bool]string{true: "aborted"}[r.Aborted] +
			map[bool]string{true: "error"}[r.ErrorMessage != ""] + map[bool]string{true: ",retry"}[r.WillRetry]
		return r.Type + "(" + what + ")"
	}
	return r.Type
}

func messageLetter(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var m struct{ Role, StopReason string }
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	switch m.Role {
	case "assistant":
		return "a:" + m.StopReason
	case "toolResult":
		return "t"
	}
	return m.Role[:1]
}
