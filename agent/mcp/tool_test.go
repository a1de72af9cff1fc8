package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/session/compaction"
	"pi/session/message"
)

// run runs the tool mcp and returns the text of its result, or of its error.
func (l *lab) run(allows func(string) bool, input string) string {
	l.t.Helper()
	tools := l.Tools(allows)
	if len(tools) == 0 || tools[0].Spec().Name != ToolName {
		return "no tool"
	}
	f := tools[0].(agent.Forwarder)
	if _, arguments, ok := f.Forwards(json.RawMessage(input)); ok {
		target, err := f.Target(l.within(), json.RawMessage(input))
		if err != nil {
			return "error: " + err.Error()
		}
		return textOf(target.Run(l.within(), arguments, nil))
	}
	return textOf(tools[0].Run(l.within(), json.RawMessage(input), nil))
}

func textOf(r agent.Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return text(r.Content)
}

func TestTheModelFindsDescribesAndCalls(t *testing.T) {
	l := one(t, "good")
	if got := l.run(nil, `{"search":"say text"}`); !strings.HasPrefix(got, "s/echo: Says a text back") {
		t.Errorf("search: %q", got)
	}
	if got := l.run(nil, `{"search":"first resource"}`); !strings.Contains(got, "s: resource test://one (one)") {
		t.Errorf("search: %q", got)
	}
	if got := l.run(nil, `{"describe":"s/echo"}`); !strings.HasPrefix(got, "s/echo\n\nSays a text back\n\nArguments, as JSON Schema:\n{") || !strings.Contains(got, `"description":"what to say"`) {
		t.Errorf("describe: %q", got)
	}
	for input, want := range map[string]string{
		`{"call":"s/echo","arguments":{"text":"a"}}`:            "a",
		`{"call":"s/echo","arguments":"{\"text\":\"a\"}"}`:      "a", // models slip
		`{"call":"mcp__s__echo","arguments":{"text":"a"}}`:      "a",
		`{"call":"echo","server":"s","arguments":{"text":"a"}}`: "a",
		`{"call":"s/echo","arguments":"\n{\"text\":\"a\"}"}`:    "a",
		`{"call":"s/add","arguments":null}`:                     `error: invalid arguments: /: required property "a" is missing`,
		`{"read":"test://one","server":"s"}`:                    "this is test://one",
		`{"read":"test://one"}`:                                 "error: read: say of which server, as search shows it",
		`{"search":"a","read":"b"}`:                             "error: give one of search, describe, call and read",
		`{}`:                                                    "error: give one of search, describe, call and read",
		`{"call":"x/echo"}`:                                     `error: there is no server "x"; there are s`,
		`{"call":"s/nothing"}`:                                  `error: server s has no tool "nothing"; it has add, ask, ask_page, audio, child, delete_all, die, echo, embedded, environment, escape, fail, grow, image, link, long, open_first, progress, wait`,
		`{"call":"echo"}`:                                       `error: call "echo": it is "server/tool"`,
		`{"describe":"echo"}`:                                   `error: describe "echo": it is "server/tool"`,
		`{"search":"zzz qqq"}`:                                  "Nothing found.",
	} {
		if got := l.run(nil, input); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
	if got := l.run(nil, `{"search":""}`); strings.Count(got, "\n") != shownHits || !strings.Contains(got, " more]") {
		t.Errorf("everything: %q", got)
	}
}

// The agent says of a call that was interrupted that it was.
func TestAnInterruptedCallHasNoWordsOfItsOwn(t *testing.T) {
	l := one(t, "good")
	target, err := l.Tools(nil)[0].(agent.Forwarder).Target(l.within(), json.RawMessage(`{"call":"s/wait"}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(l.within())
	r, err := target.Run(ctx, json.RawMessage(`{}`), func(agent.Result) { cancel() })
	if err == nil || len(r.Content) > 0 {
		t.Errorf("%v, %q", err, text(r.Content))
	}
}

func TestOnlyWhatIsAllowedIsFoundAndCalled(t *testing.T) {
	l := one(t, "good")
	only := func(names ...string) func(string) bool {
		return func(name string) bool {
			if IsAnyOf(name) {
				return slices.ContainsFunc(names, func(p string) bool { return p == ToolName || Reaches(p, name) })
			}
			return slices.ContainsFunc(names, func(p string) bool { return Match(p, name) })
		}
	}
	for _, test := range []struct {
		allows func(string) bool
		input  string
		want   string
	}{
		{only("mcp", "mcp__s__e*"), `{"call":"s/echo","arguments":{"text":"a"}}`, "a"},
		{only("mcp", "mcp__s__e*"), `{"call":"s/add","arguments":{"a":1,"b":2}}`, "error: s/add may not be called here: the tool mcp__s__add is not among the active ones"},
		{only("mcp__s__echo"), `{"call":"s/echo","arguments":{"text":"a"}}`, "a"},
		{only("mcp__s__echo"), `{"search":"echo"}`, "error: only calls of tools that are named are allowed here, and describe of those that are known"},
		{only("mcp__s__echo"), `{"read":"test://one","server":"s"}`, "error: only calls of tools that are named are allowed here, and describe of those that are known"},
		{only("mcp", "mcp__s__echo"), `{"search":"adds numbers"}`, "Nothing found."},
	} {
		if got := l.run(test.allows, test.input); got != test.want {
			t.Errorf("%s: %q, want %q", test.input, got, test.want)
		}
	}
	if got := l.run(only("mcp__s__echo"), `{"describe":"s/add"}`); !strings.HasPrefix(got, "s/add\n") {
		t.Errorf("describe: %q", got)
	}
	fresh := one(t, "good")
	if got := fresh.run(only("mcp__s__echo"), `{"describe":"s/add"}`); !strings.HasPrefix(got, "error: only calls") || len(fresh.states()) != 0 {
		t.Errorf("a describe that would start a server: %q, %v", got, fresh.states())
	}
	within := l.Tools(only("mcp", "mcp__s__*"))[0].(agent.Forwarder).Within(only("mcp", "mcp__s__echo")).(agent.Forwarder)
	if _, err := within.Target(t.Context(), json.RawMessage(`{"call":"s/add"}`)); err == nil {
		t.Error("within a narrower one")
	}
	if _, err := within.Target(t.Context(), json.RawMessage(`{"call":"s/echo"}`)); err != nil {
		t.Error(err)
	}
}

func TestSearchNamesTheServersThatDoNotAnswer(t *testing.T) {
	l := open(t, Options{Entries: []Entry{entry("s", "good"), entry("bad", "crash"), entry("slow", "silent")}, testOnlyStart: 2 * time.Second})
	got := l.run(nil, `{"search":"echo"}`)
	for _, part := range []string{"s/echo", "[server bad: it ended with status 7; it wrote: first row", "[server slow: it did not begin within 2s]"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q has no %q", got, part)
		}
	}
}

func TestACachedServerIsNotStartedByASearch(t *testing.T) {
	l := one(t, "good")
	_ = l.ask("echo", `{"text":"a"}`)
	again := open(t, Options{Entries: []Entry{entry("other", "good")}, Dir: l.o.Dir})
	if got := again.run(nil, `{"search":"say text"}`); !strings.HasPrefix(got, "other/echo: ") {
		t.Errorf("search: %q", got)
	}
	if got := again.run(nil, `{"describe":"other/echo"}`); !strings.HasPrefix(got, "other/echo\n") {
		t.Errorf("describe: %q", got)
	}
	if len(again.states()) != 0 {
		t.Errorf("it was started: %v", again.states())
	}
	if d, err := again.Describe(t.Context(), "other", "echo"); err != nil || d.Name != "mcp__other__echo" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDirectToolsComeFromTheCacheAndStay(t *testing.T) {
	e := entry("s", "good")
	e.Tools = map[string]Exposure{"echo": Direct, "grown": Direct}
	l := open(t, Options{Entries: []Entry{e}, testOnlyPause: time.Millisecond})
	names := func() (all []string) {
		for _, tool := range l.Tools(nil) {
			all = append(all, tool.Spec().Name)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"mcp"}) {
		t.Errorf("before anything is known: %q", got)
	}
	if silent := l.Await(t.Context(), func(e *Entry) bool { return e.mayBe(Direct) }); len(silent) != 0 {
		t.Fatal(silent)
	}
	if got := names(); !slices.Equal(got, []string{"mcp", "mcp__s__echo"}) {
		t.Errorf("direct: %q", got)
	}
	tool := l.Tools(nil)[1]
	if got := textOf(tool.Run(t.Context(), json.RawMessage(`{"text":"a"}`), nil)); got != "a" {
		t.Errorf("called: %q", got)
	}
	_ = l.ask("grow", `{}`)
	eventually(t, "the new tool is known", func() bool { _, err := l.Describe(t.Context(), "s", "grown"); return err == nil })
	if got := names(); !slices.Equal(got, []string{"mcp", "mcp__s__echo"}) {
		t.Errorf("in the same session: %q", got)
	}
	if st := l.List()[0]; st.Direct != 2 || st.Tokens < 20 {
		t.Errorf("%d direct tools for %d tokens", st.Direct, st.Tokens)
	}
}

func TestWhatAServerClaimsIsBelievedOnlyIfTheUserSaysSo(t *testing.T) {
	for _, trust := range []bool{false, true} {
		e := entry("s", "good")
		e.TrustAnnotations = trust
		l := open(t, Options{Entries: []Entry{e}})
		f := l.Tools(nil)[0].(agent.Forwarder)
		for name, readOnly := range map[string]bool{"echo": true, "delete_all": false} {
			target, err := f.Target(t.Context(), json.RawMessage(fmt.Sprintf(`{"call":"s/%s"}`, name)))
			if err != nil {
				t.Fatal(err)
			}
			of := target.(agent.ServerTool).OfServer()
			if of.Claims.ReadOnly != readOnly || of.Claims.Claimed == trust || of.Claims.Destructive == readOnly || len(of.Definition) != 64 || of.Server != "s" || of.Tool != name {
				t.Errorf("trust %v, %s: %+v", trust, name, of)
			}
			believed := agent.AnnotationsOf(target)
			if believed.ReadOnly != (readOnly && trust) || believed.Claimed || !trust && !believed.Destructive {
				t.Errorf("trust %v, %s: believed %+v", trust, name, believed)
			}
		}
	}
}

func TestAToolThatBecameAnotherIsNotCalled(t *testing.T) {
	l := one(t, "good")
	f := l.Tools(nil)[0].(agent.Forwarder)
	target, err := f.Target(t.Context(), json.RawMessage(`{"call":"s/echo"}`))
	if err != nil {
		t.Fatal(err)
	}
	t1 := target.(*serverTool)
	before := *t1.shown
	before.Hash = "of another definition"
	t1.shown = &before
	if _, err := t1.Run(t.Context(), json.RawMessage(`{"text":"a"}`), nil); !errors.Is(err, errChanged) {
		t.Errorf("%v", err)
	}
}

// tokens are those of a text, as the program estimates them.
func tokens(text string) int {
	return compaction.EstimateTokens(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}})
}

func TestServersCostLittleUntilTheyAreUsed(t *testing.T) {
	var entries []Entry
	for i := range 50 {
		entries = append(entries, Entry{Name: fmt.Sprintf("server-with-a-name-%02d", i), Command: "x",
			Description: strings.Repeat("a long description of what it is for ", 20)})
	}
	for n := range 51 {
		l := open(t, Options{Entries: entries[:n]})
		tools := l.Tools(nil)
		if n == 0 {
			if len(tools) != 0 || l.Section() != "" {
				t.Error("without servers there is something")
			}
			continue
		}
		spec := tools[0].Spec()
		sent, err := json.Marshal(map[string]any{"name": spec.Name, "description": spec.Description, "input_schema": spec.Parameters, "type": "function"})
		if err != nil {
			t.Fatal(err)
		}
		cost := tokens(string(sent) + "\n- " + spec.Name + ": " + spec.Snippet + "\n\n" + l.Section())
		if len(tools) != 1 || cost > 200+12*n {
			t.Errorf("%d servers: %d tokens", n, cost)
		}
		if n == 50 {
			t.Logf("50 servers: %d tokens; %s", cost, l.Section())
		}
	}
	l := open(t, Options{Entries: entries[:1]})
	head := tokens(l.Section()) - tokens(sectionRow(entries[0].Name, entries[0].Description))
	if head > 10 {
		t.Errorf("the head of the section costs %d tokens", head)
	}
}

func TestTheSectionHasTheServersThatAreSearched(t *testing.T) {
	direct := Entry{Name: "direct", Command: "x", Exposure: Direct}
	off := Entry{Name: "off", Command: "x", Exposure: Off}
	both := Entry{Name: "both", Command: "x", Exposure: Off, Tools: map[string]Exposure{"a": Search}}
	broken := Entry{Name: "broken", Command: "x", Problem: errors.New("no")}
	disabled := Entry{Name: "disabled", Command: "x", Disabled: true}
	named := Entry{Name: "named", Command: "x", Description: "the manuals\nof us"}
	l := open(t, Options{Entries: []Entry{direct, off, both, broken, disabled, named}})
	if got := l.Section(); got != "MCP servers (tool mcp):\n- both\n- named: the manuals" {
		t.Errorf("%q", got)
	}
	l = open(t, Options{Entries: []Entry{direct}})
	if l.Section() != "" || len(l.Tools(nil)) != 0 {
		t.Errorf("%q, %d tools", l.Section(), len(l.Tools(nil)))
	}
	l = one(t, "good")
	_ = l.ask("echo", `{"text":"a"}`)
	if got := l.Section(); got != "MCP servers (tool mcp):\n- s: A server for tests" {
		t.Errorf("%q", got)
	}
}

// thousand are the options of servers of which 1,000 tools are in the cache, of 25 servers, with
// schemas of the usual size.
func thousand(t testing.TB) Options {
	t.Helper()
	o := Options{Dir: t.TempDir(), Cwd: t.TempDir()}
	for i := range 25 {
		o.Entries = append(o.Entries, Entry{Name: fmt.Sprintf("server%d", i), Command: fmt.Sprintf("x%d", i)})
	}
	s := Open(o)
	defer s.Close()
	verbs, nouns := []string{"get", "create", "delete", "update", "list", "search", "merge", "close"}, []string{"issue", "branch", "commit", "pull_request", "file"}
	parameters := map[string]any{}
	for _, name := range []string{"owner", "repository", "number", "page", "perPage", "sort", "since", "state"} {
		parameters[name] = map[string]any{"type": "string", "description": "The " + name + " that is meant, as the site shows it; what is left out is that of the last call", "minLength": 1}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": parameters, "required": []string{"owner"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range s.servers() {
		d := &definitions{Protocol: older}
		for n := range 40 {
			name := verbs[n%8] + "_" + nouns[n/8]
			d.Tools = append(d.Tools, Tool{Tool: name, Hash: "h", Schema: schema,
				Description: fmt.Sprintf("%s a %s of the repository number %d, with all of its labels, comments and reviewers", verbs[n%8], nouns[n/8], i)})
		}
		if err := s.cache.keep(one.hash, d); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestSearchRanksByWords(t *testing.T) {
	s := Open(thousand(t))
	defer s.Close()
	found := s.Search(t.Context(), "merge pull request server3", nil)
	if len(found.Hits) != shownHits || found.More < 100 || found.Hits[0].Server+"/"+found.Hits[0].Tool != "server3/merge_pull_request" {
		t.Errorf("%d hits, %d more, first %+v", len(found.Hits), found.More, found.Hits[0])
	}
	for query, want := range map[string]string{"pullRequest merge": "merge_pull_request", "issues": "", "delete branch": "delete_branch"} {
		hits := s.Search(t.Context(), query, nil).Hits
		if want == "" && len(hits) > 0 || want != "" && (len(hits) == 0 || hits[0].Tool != want) {
			t.Errorf("%s: %d hits", query, len(hits))
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	s := Open(thousand(b))
	defer s.Close()
	measure(b, func() error { return findSome(s) })
}

// BenchmarkFirstSearch is the first search of a session, which reads the cache.
func BenchmarkFirstSearch(b *testing.B) {
	o := thousand(b)
	measure(b, func() error {
		s := Open(o)
		defer s.Close()
		return findSome(s)
	})
}

func findSome(s *Servers) error {
	if len(s.Search(context.Background(), "merge pull request", nil).Hits) != shownHits {
		return errors.New("nothing found")
	}
	return nil
}

// measure runs a benchmark, and tells beside the mean what the fastest run took, which says
// more on a machine that others use too.
func measure(b *testing.B, work func() error) {
	fastest := time.Hour
	for b.Loop() {
		start := time.Now()
		if err := work(); err != nil {
			b.Fatal(err)
		}
		fastest = min(fastest, time.Since(start))
	}
	b.ReportMetric(float64(fastest.Microseconds())/1000, "fastest-ms")
}

func BenchmarkCall(b *testing.B) {
	s := Open(Options{Entries: []Entry{entry("s", "good")}, Dir: b.TempDir(), Cwd: b.TempDir()})
	defer s.Close()
	measure(b, func() error {
		_, err := s.Call(context.Background(), "s", "echo", json.RawMessage(`{"text":"a"}`), CallOptions{})
		return err
	})
}

func TestACallOfASessionIsKnownForWhatItWas(t *testing.T) {
	for _, test := range []struct{ name, input, called, arguments, server, tool, via string }{
		{"mcp", `{"call":"s/echo","arguments":{"a":1}}`, "mcp__s__echo", `{"a":1}`, "s", "echo", "mcp"},
		{"mcp", `{"call":"mcp__s__a_b_123456"}`, "mcp__s__a_b_123456", `{}`, "s", "a_b_123456", "mcp"},
		{"mcp__s__echo", `{"a":1}`, "mcp__s__echo", `{"a":1}`, "s", "echo", "direct"},
		{"mcp", `{"search":"x"}`, "", "", "", "", ""},
		{"bash", `{"command":"x"}`, "", "", "", "", ""},
	} {
		called, arguments, call, ok := Recorded(test.name, json.RawMessage(test.input))
		if ok != (test.called != "") || ok && (called != test.called || string(arguments) != test.arguments || call.Server != test.server || call.Tool != test.tool || string(call.Via) != test.via || !call.Claims.Claimed) {
			t.Errorf("%s %s: %s %s %+v %v", test.name, test.input, called, arguments, call, ok)
		}
	}
}

// Where mcp is only implied by the names of tools, what other servers have is not looked at, and
// they are not started for it.
func TestOnlyServersOfWhichAToolMayBeCalledAreLookedAt(t *testing.T) {
	l := open(t, Options{Entries: []Entry{entry("s", "good"), entry("other", "good")}})
	implied := func(name string) bool {
		return name == ToolName || name == "mcp__s__echo" || IsAnyOf(name) && Reaches("mcp__s__echo", name)
	}
	if got := l.run(implied, `{"search":"echo resource"}`); !strings.Contains(got, "s/echo") || !strings.Contains(got, "s: resource") || strings.Contains(got, "other") {
		t.Errorf("search: %q", got)
	}
	const refused = "error: other may not be looked at here: none of its tools is among the active ones"
	for input, want := range map[string]string{
		`{"read":"test://one","server":"s"}`:     "this is test://one",
		`{"read":"test://one","server":"other"}`: refused,
		`{"describe":"other/echo"}`:              refused,
	} {
		if got := l.run(implied, input); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
	if st, _ := l.Server("other"); st.State != StateIdle {
		t.Errorf("the other server is %s", st.State)
	}
}

func TestWhichServersAPatternReaches(t *testing.T) {
	for _, test := range []struct {
		pattern, server string
		want            bool
	}{
		{"mcp__docs__*", "docs", true}, {"mcp__docs__get", "docs", true}, {"mcp__*", "docs", true}, {"mcp__d*__get", "docs", true},
		{"mcp__*__get", "docs", true}, {"*", "docs", true}, {"mcp__do?s__g*", "docs", true}, {"mcp__[a-d]ocs__get", "docs", true},
		{"mcp__docs__[a-c]*", "docs", true}, {"mcp__docs__", "docs", true},
		{"mcp__docs__*", "doc", false}, {"mcp__doc__*", "docs", false}, {"mcp", "docs", false}, {"read", "docs", false},
		{"mcp__docs", "docs", false}, {"mcp__x*", "docs", false}, {"mcp__[e-z]ocs__*", "docs", false}, {"", "docs", false},
	} {
		if got := Reaches(test.pattern, AnyOf(test.server)); got != test.want {
			t.Errorf("%s reaches %s: %v", test.pattern, test.server, got)
		}
	}
}
