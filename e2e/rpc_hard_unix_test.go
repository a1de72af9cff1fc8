//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestManyCommandsInOneWriteAndOneInManyWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("--model", "demo/tour", "--no-session")
	var lines strings.Builder
	kinds := []string{`"get_state"`, `"get_entries"`, `"set_session_name","name":"x"`, `"bash","command":"echo x"`, `"follow_up","message":"x"`}
	for i := range 50 {
		fmt.Fprintf(&lines, `{"id":%d,"type":%s}`+"\n", i, kinds[i%len(kinds)])
	}
	c.write(lines.String())
	for i := range 50 {
		c.succeeds(strconv.Itoa(i), nil)
	}
	for _, b := range []byte(`{"id":"in pieces","type":"get_state"}` + "\r\n") {
		c.write(string(b))
	}
	c.succeeds(`"in pieces"`, nil)
	seen := map[string]int{}
	for _, r := range c.sofar() {
		if r.Type == "response" {
			seen[string(r.ID)]++
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s has %d answers", id, n)
		}
	}
	if len(seen) != 51 || c.end() != 0 {
		t.Errorf("%d answers", len(seen))
	}
}

func TestAVeryLongCommand(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it takes much memory")
	}
	t.Parallel()
	w := newWorld(t)
	c := w.client("--model", "demo/tour", "--no-session")
	c.write(`{"id":"1","type":"get_state","padding":"` + strings.Repeat("x", 100<<20) + "\"}\n")
	c.succeeds(`"1"`, nil)
	c.write(`{"id":"2","type":"prompt","message":"help"}` + "\n" + strings.Repeat("y", 130<<20) + "\n" + `{"id":"3","type":"get_state"}` + "\n")
	c.succeeds(`"2"`, nil)
	c.succeeds(`"3"`, nil)
	tooLong := c.wait("the refusal", func(r rpcRecord) bool { return r.Command == "parse" })
	if tooLong.Success || tooLong.ID != nil || len(tooLong.line) > 500 || c.end() != 0 {
		t.Errorf("%.500s", tooLong.line)
	}
}

// What is sent in one write keeps its order.
func TestCommandsInOneWriteKeepTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "text half\nstall\n---\ntext new\n---\ntext no", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	c := w.client("--model", "local/small")
	before := c.state().SessionID
	c.write(`{"id":"a","type":"prompt","message":"one"}` + "\n" + `{"id":"b","type":"prompt","message":"two"}` + "\n")
	c.succeeds(`"a"`, nil)
	if r := c.answer(`"b"`); r.Success || !strings.Contains(r.Error, "already processing") {
		t.Error(r.line)
	}
	c.wait("a delta", func(r rpcRecord) bool { return strings.Contains(r.line, `"text_delta"`) })
	n := len(c.sofar())
	c.write(`{"id":"c","type":"new_session"}` + "\n" + `{"id":"d","type":"prompt","message":"three"}` + "\n")
	c.succeeds(`"c"`, nil)
	c.succeeds(`"d"`, nil)
	c.event(n, "agent_settled") // of the run that the new session ended
	c.waitFrom(n, "the new answer", func(r rpcRecord) bool { return r.Type == "agent_settled" && strings.Contains(r.line, "false") })
	var text struct{ Text string }
	c.call("get_last_assistant_text", nil, &text)
	if s := c.state(); s.SessionID == before || s.MessageCount != 2 || text.Text != "new" {
		t.Errorf("%+v, %q", s, text.Text)
	}
	c.write(`{"id":"e","type":"prompt","message":"four"}` + "\n" + `{"id":"f","type":"abort"}` + "\n")
	c.succeeds(`"f"`, nil)
	c.answer(`"e"`)
	if s := c.state(); s.IsStreaming {
		t.Errorf("%+v", s)
	}
	if c.end() != 0 {
		t.Error(c.stderr.String())
	}
}

// counting is a model that says the numbers up to n, one in each piece.
type counting struct {
	n    int
	said atomic.Int64
}

func (m *counting) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	a := &openaiAnswer{w: w, used: [4]int{10, 5}}
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range m.n {
		a.text(strconv.Itoa(i) + "\n")
		m.said.Add(1)
	}
	a.end()
}

// A client that reads nothing stops the model; when it reads, nothing is lost.
func TestAClientThatReadsNothing(t *testing.T) {
	t.Parallel()
	n := 200_000
	if raceEnabled || testing.Short() {
		n = 60_000 // still more than may wait
	}
	m := &counting{n: n}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	w := newWorld(t)
	w.write(w.agentFile("config.toml"), (&modelServer{name: "local", api: "openai-completions", http: server}).settings())
	c := w.silentClient("--model", "local/small")
	c.write(`{"id":"1","type":"prompt","message":"count"}` + "\n")
	waitUntilStill(t, m.said.Load)
	if said := m.said.Load(); said == int64(n) {
		t.Errorf("nothing held up the model, which said all %d", n)
	}
	if peak, ok := peakMemory(c.cmd.Process.Pid); ok && !raceEnabled && peak > 150<<20 {
		t.Errorf("it took %d MiB", peak>>20)
	}
	c.startReading()
	c.event(0, "agent_settled")
	if peak, ok := peakMemory(c.cmd.Process.Pid); ok && !raceEnabled && peak > 200<<20 {
		t.Errorf("in the end it took %d MiB", peak>>20)
	}
	next := 0
	var text strings.Builder
	for _, r := range c.sofar() {
		var e struct {
			AssistantMessageEvent struct{ Type, Delta, Content string }
		}
		if r.Type != "message_update" {
			continue
		}
		if err := json.Unmarshal([]byte(r.line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.AssistantMessageEvent.Type {
		case "text_delta":
			text.WriteString(e.AssistantMessageEvent.Delta)
		case "text_end":
			if e.AssistantMessageEvent.Content != text.String() {
				t.Error("the whole text is another than that of the pieces")
			}
		}
	}
	for line := range strings.Lines(text.String()) {
		if line != strconv.Itoa(next)+"\n" {
			t.Fatalf("%d is %q", next, line)
		}
		next++
	}
	if next != n || c.end() != 0 {
		t.Errorf("%d of %d came", next, n)
	}
}

// waitUntilStill waits until a count that has begun does not grow any more.
func waitUntilStill(t *testing.T, count func() int64) {
	t.Helper()
	var last int64
	since := time.Now()
	waitUntil(t, func() bool {
		if now := count(); now != last || now == 0 {
			last, since = now, time.Now()
		}
		return time.Since(since) > 300*time.Millisecond
	})
}

// peakMemory is how much memory a process had at most, if the system says it.
func peakMemory(pid int) (bytes int64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.ParseInt(strings.Fields(rest + " x")[0], 10, 64)
	return kB << 10, ok && err == nil
}

// rpcPhase is what a prompt is in when something ends it.
type rpcPhase struct {
	name    string
	answers string // of the model
	hook    string
	talk    string // a session that is there before, see sessionLines
	command string
	until   string // a part of the record that says that the phase is reached; "": what is started says so
	stored  []string
	refused string // how the command is refused, if it is
}

func rpcPhases() []rpcPhase {
	const prompt = `{"id":"p","type":"prompt","message":"begin"}`
	const held = `{"command":"echo $$ > box; sleep 1000"}`
	return []rpcPhase{
		{name: "preflight", command: prompt, refused: "Prompt aborted",
			hook: `pi.on("input", function() pi.exec("sh", { "-c", "echo $$ > box; sleep 1000" }) end)`},
		{name: "stream", command: prompt, answers: "text half\nstall", until: `"text_delta"`, stored: []string{"begin", "half"}},
		{name: "tool", command: prompt, answers: "text I run it.\ncall bash " + held, stored: []string{"begin", "I run it."}},
		{name: "retry wait", command: prompt, answers: busy, until: `"auto_retry_start"`, stored: []string{"begin"}},
		{name: "compaction", command: `{"id":"p","type":"compact"}`, talk: "uaua", answers: "text half\nstall", until: `"compaction_start"`, refused: "Compaction cancelled"},
		{name: "dialog", command: prompt, answers: `call bash {"command":"echo never"}`, until: `"confirm"`, stored: []string{"begin", "never"},
			hook: `pi.on("tool_call", function(event, ctx) if not ctx.ui.confirm("Run it?", "") then return { block = true, reason = "no" } end end)`},
	}
}

// However a prompt is ended, and in whatever phase, the client is told, the session is whole
// and no process stays.
func TestTheEndOfAPromptInEveryPhase(t *testing.T) {
	t.Parallel()
	ends := map[string]func(c *rpcClient){
		"abort":            func(c *rpcClient) { c.call("abort", nil, nil) },
		"end of the input": func(c *rpcClient) { _ = c.in.Close() },
		"end of the client": func(c *rpcClient) { // as when it is killed: both pipes are closed
			_ = c.in.Close()
			_ = c.out.Close()
		},
	}
	for _, p := range rpcPhases() {
		for how, end := range ends {
			t.Run(p.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				p.run(t, end, how == "abort", how != "end of the client")
			})
		}
	}
}

func (p rpcPhase) run(t *testing.T, end func(c *rpcClient), goesOn, reads bool) {
	w := newWorld(t)
	m := newModelServer("openai-completions", p.answers, "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), "[retry]\nbase_delay = \"50s\"\n"+m.settings())
	if p.hook != "" {
		w.write(w.agentFile("hooks/test.lua"), p.hook)
	}
	args := []string{"--model", "local/small"}
	if p.talk != "" {
		args = append(args, "--session", w.talk(p.talk))
	}
	began := w.mailbox("box")
	c := w.client(args...)
	c.write(p.command + "\n")
	pid := ""
	if p.until == "" {
		pid = began()
	} else {
		c.wait(p.until, func(r rpcRecord) bool { return strings.Contains(r.line, p.until) })
	}
	end(c)
	if goesOn {
		if s := c.state(); s.IsStreaming || s.IsCompacting {
			t.Errorf("it goes on: %+v", s)
		}
		_ = c.in.Close()
	}
	if status := c.status(); status != 0 {
		t.Errorf("status %d, %s", status, c.stderr.String())
	}
	if reads {
		if r := c.answer(`"p"`); r.Success != (p.refused == "") || r.Error != p.refused {
			t.Error(r.line)
		}
		got := c.words()
		if p.refused == "" && !strings.HasSuffix(got, "agent_settled!") {
			t.Error(got)
		}
	}
	if pid != "" && processExists(pid) {
		t.Error("what was started still runs")
	}
	w.wholeSessions(p.stored...)
}

// talk writes a session and returns its path.
func (w *world) talk(parts string) string {
	w.t.Helper()
	lines := sessionLines{}
	if err := lines.part(parts); err != nil {
		w.t.Fatal(err)
	}
	path := w.project + "/talk.jsonl"
	w.write(path, fmt.Sprintf(`{"type":"session","version":3,"id":"conversation","timestamp":"2026-01-02T03:04:05.000Z","cwd":%q}`+"\n", w.project)+lines.String())
	return path
}

// wholeSessions wants all lines of all sessions to be JSON, and these texts in them.
func (w *world) wholeSessions(texts ...string) {
	w.t.Helper()
	var all []byte
	for _, path := range append(w.sessions(), w.project+"/talk.jsonl") {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
		all = append(all, text...)
	}
	if len(all) > 0 && !bytes.HasSuffix(all, []byte("\n")) {
		w.t.Error("the last line has no end")
	}
	for line := range bytes.Lines(all) {
		if !json.Valid(line) {
			w.t.Errorf("no JSON: %s", line)
		}
	}
	missing := slices.DeleteFunc(texts, func(text string) bool { return bytes.Contains(all, []byte(text)) })
	if len(missing) > 0 {
		w.t.Errorf("%q is not in\n%s", missing, all)
	}
}
