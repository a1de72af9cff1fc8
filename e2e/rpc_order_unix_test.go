//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The order of records over RPC, as the protocol has it, for what the program really does:
// each transcript has the answers in their places.

// rpcRun is what a client does, and the records that have to come of it, in the notation of
// jsonRun. An answer is its command with = in front, "!" behind if it is a refusal, and in
// parentheses what became of a prompt. A queue_update has how many wait: steering,
// follow-ups.
type rpcRun struct {
	name    string
	answers string // of the model, see modelServer
	hook    string // Lua; "": none
	config  string // settings besides the model
	talk    string // a session that is there before, see scriptConversation; "": none
	steps   []rpcStep
	holds   []string // texts that are in the records, in this order
	want    string
	want2   string   // the records that may come anywhere between those of want
	besides []string // their words
}

// rpcStep is what a client does when a record has come that it has not acted upon before.
type rpcStep struct {
	upon    string // the word of the record; "": at once
	command string // or openTool or openModel
	fields  object
}

const (
	openTool  = "(the tool goes on)"  // the one that runs gatedCall
	openModel = "(the model goes on)" // from wait
)

// gatedCall is a call that ends when openTool lets it.
const gatedCall = `call bash {"command":"read x < go; echo $x"}`

const (
	begunRun   = "=prompt(started) agent_start turn_start u "
	oneCall    = "start(a:pending) toolcall_start toolcall_delta toolcall_end end(a:toolUse) tool_execution_start "
	oneResult  = "tool_execution_end t turn_end(toolUse,1) "
	inTheWords = "start(a:pending) text_start text_delta "
	abortedRun = "text_end end(a:aborted) turn_end(aborted,0) agent_end(ua,false) agent_settled! "
	failedRun  = begunRun + "a:error turn_end(error,0) "
)

// prompted is the step that most begin with.
func prompted(message string, then ...rpcStep) []rpcStep {
	return append([]rpcStep{{command: "prompt", fields: object{"message": message}}}, then...)
}

func says(message string) object { return object{"message": message} }

func rpcRuns() []rpcRun {
	return slices.Concat(rpcPlainRuns(), rpcQueues(), rpcRetries(), rpcAborts(), rpcCompactions(), rpcBashes(), rpcHookMessages())
}

func rpcPlainRuns() []rpcRun {
	return []rpcRun{
		{name: "a: plain", answers: "text hello", steps: prompted("hi"),
			want: begunRun + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "a: two prompts", answers: "text hello\n---\ntext more", steps: prompted("hi", rpcStep{"agent_settled", "prompt", says("and?")}),
			want: begunRun + answerOfWords + " agent_end(ua,false) agent_settled " + begunRun + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "a: a prompt in a run is refused", answers: "text hel\nwait\ntext lo", steps: prompted("hi", rpcStep{"text_delta", "prompt", says("and?")}, rpcStep{"=prompt!", openModel, nil}),
			want: begunRun + inTheWords + "=prompt! text_delta text_end end(a:stop) turn_end(stop,0) agent_end(ua,false) agent_settled"},
		{name: "b: tools", answers: "call ls {}\ncall bash {\"command\":\"echo a\"}\n---\ntext done", steps: prompted("hi"),
			want: begunRun + "start(a:pending) toolcall_start toolcall_delta toolcall_end toolcall_start toolcall_delta toolcall_end end(a:toolUse) " +
				"tool_execution_start tool_execution_start tool_execution_end tool_execution_end t t turn_end(toolUse,2) turn_start " + answerOfWords + " agent_end(uatta,false) agent_settled"},
		{name: "b: a call that a hook blocks", answers: "call ls {}\n---\ntext done", steps: prompted("hi"), hook: `pi.on("tool_call", function() return { block = true, reason = "not this" } end)`,
			holds: []string{`"text":"not this"`},
			want:  begunRun + oneCall + strings.Replace(oneResult, "_end", "_end!", 1) + "turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "b: a hook that fails", answers: "call ls {}\n---\ntext done", steps: prompted("hi"), hook: `pi.on("tool_call", function() error("boom") end)`,
			holds: []string{`"event":"tool_call","error":"`},
			want:  begunRun + oneCall + "extension_error " + strings.Replace(oneResult, "_end", "_end!", 1) + "turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "a hook that fails in front of the event", answers: "text hello", steps: prompted("hi"), hook: `pi.on("agent_end", function() error("boom") end)`,
			want: begunRun + answerOfWords + " extension_error agent_end(ua,false) agent_settled"},
		{name: "a hook that does not load", answers: "text hello", steps: prompted("hi"), hook: `error("boom")`,
			holds: []string{`"event":"load","error":"`},
			want:  "extension_error " + begunRun + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "a prompt that a hook handled", answers: "text no", steps: prompted("hi"), hook: `pi.on("input", function() return { handled = true } end)`,
			want: "=prompt(handled)"},
		{name: "m: a length stop with calls", steps: prompted("hi"),
			answers: `raw data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":null}]}` + "\n" +
				`raw data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":null}]}` + "\n" +
				`raw data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\nraw data: [DONE]\n---\ntext done",
			want: begunRun + "start(a:pending) toolcall_start toolcall_delta toolcall_end toolcall_start toolcall_delta toolcall_end end(a:length) " +
				"tool_execution_start tool_execution_start tool_execution_end! tool_execution_end! t t turn_end(length,2) turn_start " + answerOfWords + " agent_end(uatta,false) agent_settled"},
	}
}

func rpcQueues() []rpcRun {
	steers := func(kind string) []rpcStep {
		return []rpcStep{{"tool_execution_start", kind, says("A")}, {"=" + kind + "(queued)", kind, says("B")}, {"=" + kind + "(queued)", openTool, nil}}
	}
	all := func(kind string) []rpcStep {
		set := "set_" + kind + "_mode"
		return []rpcStep{{"", set, object{"mode": "all"}}, {"=" + set, "prompt", says("hi")}}
	}
	work := gatedCall + "\n---\ntext one\n---\ntext two\n---\ntext three"
	return []rpcRun{
		{name: "c: steering, one at a time", answers: work, steps: prompted("hi", steers("steer")...),
			want: begunRun + oneCall + "queue_update(1,0) =steer(queued) queue_update(2,0) =steer(queued) " + oneResult +
				"turn_start queue_update(1,0) u " + answerOfWords + " turn_start queue_update(0,0) u " + answerOfWords + " agent_end(uatuaua,false) agent_settled"},
		{name: "c: steering, all", answers: work, steps: append(all("steering"), steers("steer")...),
			want: "=set_steering_mode " + begunRun + oneCall + "queue_update(1,0) =steer(queued) queue_update(2,0) =steer(queued) " + oneResult +
				"turn_start queue_update(1,0) u queue_update(0,0) u " + answerOfWords + " agent_end(uatuua,false) agent_settled"},
		{name: "c: steering behind an answer without calls", answers: "text hel\nwait\ntext lo\n---\ntext two", steps: prompted("hi", rpcStep{"text_delta", "steer", says("A")}, rpcStep{"=steer(queued)", openModel, nil}),
			want: begunRun + inTheWords + "queue_update(1,0) =steer(queued) text_delta text_end end(a:stop) turn_end(stop,0) turn_start queue_update(0,0) u " + answerOfWords + " agent_end(uaua,false) agent_settled"},
		{name: "c: steering while idle", answers: "text one", steps: []rpcStep{{"", "steer", says("A")}, {"=steer(queued)", "prompt", says("hi")}},
			want: "queue_update(1,0) =steer(queued) " + begunRun + "queue_update(0,0) u " + answerOfWords + " agent_end(uua,false) agent_settled"},
		{name: "d: follow-ups, one at a time", answers: work, steps: prompted("hi", steers("follow_up")...),
			want: begunRun + oneCall + "queue_update(0,1) =follow_up(queued) queue_update(0,2) =follow_up(queued) " + oneResult + "turn_start " + answerOfWords +
				" turn_start queue_update(0,1) u " + answerOfWords + " turn_start queue_update(0,0) u " + answerOfWords + " agent_end(uatauaua,false) agent_settled"},
		{name: "d: follow-ups, all", answers: work, steps: append(all("follow_up"), steers("follow_up")...),
			want: "=set_follow_up_mode " + begunRun + oneCall + "queue_update(0,1) =follow_up(queued) queue_update(0,2) =follow_up(queued) " + oneResult + "turn_start " + answerOfWords +
				" turn_start queue_update(0,1) u queue_update(0,0) u " + answerOfWords + " agent_end(uatauua,false) agent_settled"},
		{name: "d: a follow-up behind steering", answers: work,
			steps: prompted("hi", rpcStep{"tool_execution_start", "prompt", object{"message": "A", "streamingBehavior": "followUp"}}, rpcStep{"=prompt(queued)", "steer", says("B")}, rpcStep{"=steer(queued)", openTool, nil}),
			want: begunRun + oneCall + "queue_update(0,1) =prompt(queued) queue_update(1,1) =steer(queued) " + oneResult +
				"turn_start queue_update(0,1) u " + answerOfWords + " turn_start queue_update(0,0) u " + answerOfWords + " agent_end(uatuaua,false) agent_settled"},
		{name: "d: the queue is cleared", answers: gatedCall + "\n---\ntext done", steps: prompted("hi", rpcStep{"tool_execution_start", "follow_up", says("A")}, rpcStep{"=follow_up(queued)", "clear_queue", nil}, rpcStep{"=clear_queue", openTool, nil}),
			want: begunRun + oneCall + "queue_update(0,1) =follow_up(queued) queue_update(0,0) =clear_queue " + oneResult + "turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
	}
}

func rpcRetries() []rpcRun {
	const late = "[retry]\nbase_delay = \"50s\"\n"
	const again = "agent_end(ua,true) auto_retry_start "
	return []rpcRun{
		{name: "e: a retry that succeeds", answers: busy + "\n---\ntext hello", config: atOnce, steps: prompted("hi"),
			want: failedRun + again + "agent_start turn_start " + strings.Replace(answerOfWords, "end(a:stop)", "end(a:stop) auto_retry_end(true)", 1) + " agent_end(a,false) agent_settled"},
		{name: "e: a stream that was cut", answers: "text hel\ncut\n---\ntext hello", config: atOnce, steps: prompted("hi"),
			want: begunRun + inTheWords + "end(a:error) turn_end(error,0) " + again + "agent_start turn_start " +
				strings.Replace(answerOfWords, "end(a:stop)", "end(a:stop) auto_retry_end(true)", 1) + " agent_end(a,false) agent_settled"},
		{name: "e: exhausted", answers: strings.Repeat(busy+"\n---\n", 3) + busy, config: atOnce, steps: prompted("hi"), holds: []string{`"finalError":"`},
			want: failedRun + again + strings.Repeat("agent_start turn_start a:error turn_end(error,0) agent_end(a,true) auto_retry_start ", 2) +
				"agent_start turn_start a:error turn_end(error,0) agent_end(a,false) auto_retry_end(false) agent_settled"},
		{name: "e: a wait that abort_retry ends", answers: busy, config: late, steps: prompted("hi", rpcStep{"auto_retry_start", "abort_retry", nil}),
			holds: []string{`"finalError":"Retry cancelled"`}, besides: []string{"=abort_retry"}, want2: "=abort_retry",
			want: failedRun + again + "auto_retry_end(false) agent_start turn_start a:aborted turn_end(aborted,0) agent_end(a,false) agent_settled!"},
		{name: "e: a wait that abort ends", answers: busy, config: late, steps: prompted("hi", rpcStep{"auto_retry_start", "abort", nil}),
			holds: []string{`"finalError":"Retry cancelled"`},
			want:  failedRun + again + "auto_retry_end(false) agent_start turn_start a:aborted turn_end(aborted,0) agent_end(a,false) agent_settled! =abort"},
		{name: "e: a stream that was cut, and its wait ends", answers: "text hel\ncut", config: late, steps: prompted("hi", rpcStep{"auto_retry_start", "abort", nil}),
			want: begunRun + inTheWords + "end(a:error) turn_end(error,0) " + again + "auto_retry_end(false) agent_start turn_start a:aborted turn_end(aborted,0) agent_end(a,false) agent_settled! =abort"},
		{name: "e: the next attempt is aborted", answers: busy + "\n---\ntext hel\nstall", config: atOnce, steps: prompted("hi", rpcStep{"text_delta", "abort", nil}),
			want: failedRun + again + "agent_start turn_start " + inTheWords + "text_end end(a:aborted) turn_end(aborted,0) agent_end(a,false) auto_retry_end(false) agent_settled! =abort"},
	}
}

func rpcAborts() []rpcRun {
	return []rpcRun{
		{name: "f: abort in a stream", answers: "text hello\nstall", steps: prompted("hi", rpcStep{"text_delta", "abort", nil}), holds: []string{`"errorMessage":"`},
			want: begunRun + inTheWords + abortedRun + "=abort"},
		{name: "f: abort before the first byte", answers: "stall", steps: prompted("hi", rpcStep{"end(u)", "abort", nil}),
			want: begunRun + "a:aborted turn_end(aborted,0) agent_end(ua,false) agent_settled! =abort"},
		{name: "f: a new session in a stream", answers: "text hello\nstall", steps: prompted("hi", rpcStep{"text_delta", "new_session", nil}),
			want: begunRun + inTheWords + abortedRun + "=new_session"},
		{name: "g: abort in tools", answers: `call bash {"command":"sleep 60"}` + "\n" + `call bash {"command":"sleep 61"}`,
			steps: prompted("hi", rpcStep{upon: "tool_execution_start"}, rpcStep{"tool_execution_start", "abort", nil}),
			want: begunRun + "start(a:pending) toolcall_start toolcall_delta toolcall_end toolcall_start toolcall_delta toolcall_end end(a:toolUse) " +
				"tool_execution_start tool_execution_start tool_execution_end! tool_execution_end! t t turn_end(toolUse,2) agent_end(uatt,false) agent_settled! =abort"},
	}
}

// rpcCompactions are compactions. The entry that takes the failed answer out stands between
// the end of its run and the compaction, and stays however that ends.
func rpcCompactions() []rpcRun {
	const full = "usage 95000 5 0 0\n"
	const overflow = failedRun + "agent_end(ua,false) entry_appended compaction_start "
	return []rpcRun{
		{name: "h: compaction behind a run", answers: full + "text two\n---\ntext notes", talk: "uaua", steps: prompted("hi"), holds: []string{`"reason":"threshold"`, `"reason":"threshold"`},
			want: begunRun + answerOfWords + " agent_end(ua,false) compaction_start compaction_end(done) agent_settled"},
		{name: "h: a message is queued in it", answers: full + "text two\n---\nwait\ntext notes\n---\ntext more", talk: "uaua",
			steps: prompted("hi", rpcStep{"compaction_start", "follow_up", says("A")}, rpcStep{"=follow_up(queued)", openModel, nil}),
			want: begunRun + answerOfWords + " agent_end(ua,false) compaction_start queue_update(0,1) =follow_up(queued) compaction_end(done) " +
				"agent_start turn_start queue_update(0,0) u " + answerOfWords + " agent_end(ua,false) agent_settled"},
		{name: "h: compaction between turns", answers: full + "call ls {}\n---\ntext notes\n---\ntext done", talk: "uaua", steps: prompted("hi"),
			want: begunRun + oneCall + oneResult + "compaction_start compaction_end(done) turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "i: overflow", answers: tooMuch + "\n---\ntext notes\n---\ntext fits", talk: "uaua", steps: prompted("hi"), holds: []string{`"type":"context_edit"`, `"reason":"overflow"`, `"reason":"overflow"`},
			want: overflow + "compaction_end(done,retry) agent_start turn_start " + answerOfWords + " agent_end(a,false) agent_settled"},
		{name: "i: a second overflow", answers: tooMuch + "\n---\ntext notes\n---\n" + tooMuch, talk: "uaua", steps: prompted("hi"),
			want: overflow + "compaction_end(done,retry) agent_start turn_start a:error turn_end(error,0) agent_end(a,false) compaction_end(error) agent_settled"},
		{name: "i: the compaction fails", answers: tooMuch + "\n---\nstatus 401 {\"error\":{\"message\":\"no\"}}", talk: "uaua", steps: prompted("hi"),
			want: overflow + "compaction_end(error) agent_settled", besides: []string{"extension_ui_request"}, want2: "extension_ui_request"}, // a notice
		{name: "i: the compaction is aborted", answers: tooMuch + "\n---\nstall", talk: "uaua", steps: prompted("hi", rpcStep{"compaction_start", "abort", nil}),
			want: overflow + "compaction_end(aborted) agent_settled!", besides: []string{"=abort"}, want2: "=abort"},
		{name: "i: nothing to compact", answers: tooMuch, steps: prompted("hi"),
			want: failedRun + "agent_end(ua,false) entry_appended agent_settled"},
		{name: "j: manual compaction", answers: "text notes", talk: "uaua", steps: []rpcStep{{command: "compact"}}, holds: []string{`"reason":"manual"`, `"reason":"manual"`, `"summary":`},
			want: "compaction_start compaction_end(done) =compact"},
		{name: "j: nothing to compact", answers: "text no", steps: []rpcStep{{command: "compact"}},
			want: "compaction_start compaction_end(error) =compact!"},
		{name: "j: in a run", answers: "text hello\nstall\n---\ntext notes", talk: "uaua", steps: prompted("hi", rpcStep{"text_delta", "compact", nil}),
			want: begunRun + inTheWords + abortedRun + "compaction_start compaction_end(done) =compact"},
		{name: "j: aborted", answers: "stall", talk: "uaua", steps: []rpcStep{{command: "compact"}, {"compaction_start", "abort", nil}}, holds: []string{"Compaction cancelled"},
			want: "compaction_start compaction_end(aborted) =compact!", besides: []string{"=abort"}, want2: "=abort"},
		{name: "k: a summary that is retried", answers: busy + "\n---\n" + busy + "\n---\ntext notes", talk: "uaua", config: atOnce, steps: []rpcStep{{command: "compact"}}, holds: []string{`"source":"compaction"`},
			want: "compaction_start summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_finished compaction_end(done) =compact"},
		{name: "k: exhausted", answers: strings.Repeat(busy+"\n---\n", 3) + busy, talk: "uaua", config: atOnce, steps: []rpcStep{{command: "compact"}},
			want: "compaction_start " + strings.Repeat("summarization_retry_scheduled summarization_retry_attempt_start ", 3) + "summarization_retry_finished compaction_end(error) =compact!"},
		{name: "k: its wait is aborted", answers: busy, talk: "uaua", config: "[retry]\nbase_delay = \"50s\"\n", steps: []rpcStep{{command: "compact"}, {"summarization_retry_scheduled", "abort", nil}},
			want: "compaction_start summarization_retry_scheduled summarization_retry_finished compaction_end(aborted) =compact!", besides: []string{"=abort"}, want2: "=abort"},
	}
}

func rpcBashes() []rpcRun {
	ofBash := []string{"bash_execution_update", "=bash", "=abort_bash"}
	shell := object{"command": "echo 1; echo 2"}
	return []rpcRun{
		{name: "l: bash while idle", answers: "text no", steps: []rpcStep{{"", "bash", shell}}, want: "bash_execution_update =bash"},
		{name: "l: bash in a call", answers: gatedCall + "\n---\ntext done", steps: prompted("hi", rpcStep{"tool_execution_start", "bash", shell}, rpcStep{"=bash", openTool, nil}),
			want: begunRun + oneCall + "bash_execution_update =bash " + oneResult + "turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "l: bash through the end of a run", answers: "text hel\nwait\ntext lo", besides: ofBash, want2: "bash_execution_update =bash",
			steps: prompted("hi", rpcStep{"text_delta", "bash", object{"command": "echo 1; read x < go; echo $x"}}, rpcStep{"bash_execution_update", openModel, nil}, rpcStep{"agent_settled", openTool, nil}),
			want:  begunRun + inTheWords + "text_end end(a:stop) turn_end(stop,0) agent_end(ua,false) agent_settled"},
		{name: "l: bash beside a run", answers: gatedCall + "\n---\ntext hello and more words\n---\ntext no", besides: ofBash, want2: "bash_execution_update =bash",
			steps: prompted("hi", rpcStep{"tool_execution_start", "bash", shell}, rpcStep{"", openTool, nil}),
			want:  begunRun + oneCall + oneResult + "turn_start " + answerOfWords + " agent_end(uata,false) agent_settled"},
		{name: "l: abort leaves bash alone", answers: "text hello\nstall", besides: ofBash, want2: "bash_execution_update =bash",
			steps: prompted("hi", rpcStep{"text_delta", "bash", object{"command": "echo 1; read x < go; echo $x"}}, rpcStep{"bash_execution_update", "abort", nil}, rpcStep{"=abort", openTool, nil}),
			want:  begunRun + inTheWords + abortedRun + "=abort"},
	}
}

func rpcHookMessages() []rpcRun {
	note := func(options string) string {
		return `pi.command("note", { handler = function() pi.send_message({ custom_type = "note", content = "x" }` + options + `) end })`
	}
	return []rpcRun{
		{name: "n: a message of a hook", answers: "text no", steps: prompted("/note"), hook: note(""), want: "c =prompt(handled)"},
		{name: "n: one that triggers", answers: "text hello", steps: prompted("/note"), hook: note(", { trigger_turn = true }"),
			want: "agent_start turn_start c " + answerOfWords + " agent_end(ca,false) agent_settled", besides: []string{"=prompt(handled)"}, want2: "=prompt(handled)"}, // the run does not wait for the command's end
		{name: "n: one in a run", answers: gatedCall + "\n---\ntext done", hook: note(""),
			steps: prompted("hi", rpcStep{"tool_execution_start", "prompt", says("/note")}, rpcStep{"=prompt(handled)", openTool, nil}),
			want:  begunRun + oneCall + "=prompt(handled) " + oneResult + "turn_start c " + answerOfWords + " agent_end(uatca,false) agent_settled"},
		{name: "n: one of a handler in a run", answers: "call ls {}\n---\ntext done", steps: prompted("hi"),
			hook: `pi.on("tool_result", function() pi.send_message({ custom_type = "note", content = "x" }, { deliver_as = "steer" }) end)`,
			want: begunRun + oneCall + oneResult + "turn_start c " + answerOfWords + " agent_end(uatca,false) agent_settled"},
	}
}

func TestRecordsOfRPCComeInTheOrderOfTheProtocol(t *testing.T) {
	t.Parallel()
	for _, run := range rpcRuns() {
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := newModelServer("openai-completions", run.answers, "")
			t.Cleanup(m.http.Close)
			w.write(w.agentFile("config.toml"), "model = \"local/small\"\n"+run.config+m.settings())
			w.mailbox("go")
			if run.hook != "" {
				w.write(w.agentFile("hooks/test.lua"), run.hook)
			}
			var args []string
			if run.talk != "" {
				args = []string{"--session", w.talk(run.talk)}
			}
			c := w.client(args...)
			t.Cleanup(func() {
				if t.Failed() {
					_ = c.cmd.Process.Kill()
					c.end()
					t.Logf("it wrote\n%s\n%s", strings.Join(c.orderWords(), " "), c.stderr.String())
				}
			})
			c.follow(run, map[string]func(){
				openTool:  func() { w.write(filepath.Join(w.project, "go"), "on\n") },
				openModel: func() { m.goOn <- struct{}{} },
			})
			c.checkOrder(run)
		})
	}
}

// follow does the steps of a run, waits for its records and ends the program.
func (c *rpcClient) follow(run rpcRun, open map[string]func()) {
	c.t.Helper()
	seen := 0
	for _, s := range run.steps {
		if s.upon != "" {
			seen = c.orderWord(seen, s.upon)
		}
		if act := open[s.command]; act != nil {
			act()
		} else if s.command != "" {
			c.start(s.command, s.fields)
		}
	}
	var words []string
	c.wait("the records of "+run.name, func(r rpcRecord) bool {
		words = append(words, orderWord(c.t, r))
		got, got2 := run.divide(words)
		return got == run.want && got2 == run.want2
	})
	if status := c.end(); status != 0 {
		c.t.Errorf("exit status %d", status)
	}
}

// divide tells the records whose place is free from the others.
func (run rpcRun) divide(words []string) (bound, free string) {
	var parts [2][]string
	for _, word := range words {
		i := 0
		if slices.Contains(run.besides, word) {
			i = 1
		}
		parts[i] = append(parts[i], word)
	}
	return strings.Join(joinWords(parts[0]), " "), strings.Join(joinWords(parts[1]), " ")
}

// checkOrder compares all records with those that a run must have.
func (c *rpcClient) checkOrder(run rpcRun) {
	c.t.Helper()
	if got, got2 := run.divide(c.orderWords()); got != run.want || got2 != run.want2 {
		c.t.Errorf("\n%s\nand %s\nwant\n%s\nand %s", got, got2, run.want, run.want2)
	}
	left := ""
	for _, r := range c.sofar() {
		left += r.line + "\n"
	}
	for _, text := range run.holds {
		_, after, found := strings.Cut(left, text)
		if !found {
			c.t.Errorf("no %s in its place", text)
		}
		left = after
	}
	c.checkCalls()
}

// checkCalls checks that calls begin, end and have their results in the order in which the
// model made them, and that none is updated when it does not run.
func (c *rpcClient) checkCalls() {
	c.t.Helper()
	steps := map[string][]string{} // the ids of calls, by what happened to them
	for _, r := range c.sofar() {
		var e struct {
			ToolCallID            string
			Message               struct{ Role, ToolCallID string }
			AssistantMessageEvent struct{ ToolCall struct{ ID string } }
		}
		if r.Type == "response" || r.Type == "extension_ui_request" {
			continue
		}
		if err := json.Unmarshal([]byte(r.line), &e); err != nil {
			c.t.Fatalf("%s: %v", r.line, err)
		}
		switch {
		case e.AssistantMessageEvent.ToolCall.ID != "":
			steps["made"] = append(steps["made"], e.AssistantMessageEvent.ToolCall.ID)
		case r.Type == "tool_execution_update":
			if !slices.Contains(steps["begun"], e.ToolCallID) || slices.Contains(steps["ended"], e.ToolCallID) {
				c.t.Errorf("it does not run: %s", r.line)
			}
		case r.Type == "tool_execution_start":
			steps["begun"] = append(steps["begun"], e.ToolCallID)
		case r.Type == "tool_execution_end":
			steps["ended"] = append(steps["ended"], e.ToolCallID)
		case r.Type == "message_end" && e.Message.Role == "toolResult":
			steps["told"] = append(steps["told"], e.Message.ToolCallID)
		}
	}
	for what, ids := range steps {
		if !slices.Equal(ids, steps["made"]) {
			c.t.Errorf("%v are %s, the model made %v", ids, what, steps["made"])
		}
	}
}

// orderWords are all records in the notation of rpcRun.
func (c *rpcClient) orderWords() (words []string) {
	c.t.Helper()
	for _, r := range c.sofar() {
		words = append(words, orderWord(c.t, r))
	}
	return words
}

// orderWord waits for a word behind the first n records and returns how many there are up
// to it.
func (c *rpcClient) orderWord(n int, word string) int {
	c.t.Helper()
	c.waitFrom(n, word, func(r rpcRecord) bool {
		n++
		return orderWord(c.t, r) == word
	})
	return n
}

// orderWord is what the table calls a record.
func orderWord(t *testing.T, r rpcRecord) string {
	t.Helper()
	var fields struct {
		Steering, FollowUp []string
		Disposition        string
	}
	from := []byte(r.line)
	if r.Type == "response" {
		from = r.Data
	}
	if len(from) > 0 {
		if err := json.Unmarshal(from, &fields); err != nil {
			t.Fatalf("%s: %v", r.line, err)
		}
	}
	switch {
	case r.Type == "queue_update":
		return fmt.Sprintf("queue_update(%d,%d)", len(fields.Steering), len(fields.FollowUp))
	case r.Type != "response":
		return recordWord(t, r.line)
	case !r.Success:
		return "=" + r.Command + "!"
	case fields.Disposition != "":
		return "=" + r.Command + "(" + fields.Disposition + ")"
	}
	return "=" + r.Command
}
