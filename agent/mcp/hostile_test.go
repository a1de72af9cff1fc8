package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pi/internal/printable"
	"pi/internal/testing/mcptest"
)

func TestWhatIsNoMessageDoesNotEndTheConnection(t *testing.T) {
	l := one(t, "banner")
	for range 3 {
		if got := l.ask("echo", `{}`); got != "after the banner" {
			t.Fatalf("got %q", got)
		}
	}
	l.Close()
	for _, row := range []string{"s: stdout: Welcome to the server!", `s: stdout: {"level":30,"msg":"json log"}`, "s: stdout: [1,2]", "s: stdout: {broken", "s: stdout: log: called"} {
		if !strings.Contains(l.logged(), row+"\n") {
			t.Errorf("mcp.log has no row %q", row)
		}
	}
	if info, err := os.Stat(l.log.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestOnlyTheAnswerToACallCounts(t *testing.T) {
	for kind, want := range map[string]string{
		"answers-twice":     "one",
		"answers-otherwise": "mine",
	} {
		l := one(t, kind)
		for range 5 {
			if got := l.ask("echo", `{}`); got != want {
				t.Errorf("%s: %q", kind, got)
			}
		}
	}
	l := one(t, "answers-nonsense")
	if got := l.ask("echo", `{}`); !strings.HasPrefix(got, "error: server s: ") {
		t.Errorf("got %q", got)
	}
}

// peak returns what was kept in memory at most while f ran, beside what there was. Garbage is none of
// it: on a machine that is busy that is collected late.
func peak(f func()) (mib int) {
	kept := func() int64 {
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		return int64(now.HeapAlloc)
	}
	before := kept()
	var highest atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			highest.Store(max(highest.Load(), kept()))
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	f()
	stop()
	<-ended
	return int(highest.Load()-before) >> 20
}

func TestFloodsDoNotFillTheMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes the heap another one; .ci/run has it without")
	}
	for kind, want := range map[string]string{
		"long-line":           "error: server s: it wrote a line longer than 16 MiB",
		"floods-stderr":       "flooded",
		"floods-stdout":       "flooded",
		"floods-logs":         "flooded",
		"floods-progress":     "flooded",
		"floods-list-changed": "flooded",
		"floods-questions":    "flooded",
	} {
		t.Run(kind, func(t *testing.T) {
			e := entry("s", kind)
			e.Timeout = usualMaxTimeout // no matter how busy the machine is
			l := open(t, Options{Entries: []Entry{e}})
			if got := l.ask("hit", `{"n":"x"}`); !strings.Contains(got, "expected integer") { // it runs now
				t.Fatal(got)
			}
			got := ""
			grew := peak(func() { got = l.ask("echo", `{}`) })
			if !strings.HasPrefix(got, want) {
				t.Errorf("got %.200q", got)
			}
			if grew > 64 {
				t.Errorf("the memory grew by %d MiB", grew)
			}
			t.Logf("%d MiB", grew)
			l.Close()
			if info, err := os.Stat(l.log.path); err == nil && info.Size() > logSize {
				t.Errorf("mcp.log has %d bytes", info.Size())
			}
		})
	}
}

func TestAFloodIsTold(t *testing.T) {
	l := one(t, "floods-stderr")
	if got := l.ask("echo", `{}`); got != "flooded" {
		t.Fatal(got)
	}
	eventually(t, "the last row", func() bool { return slices.Contains(l.List()[0].Stderr, "the last row") })
	l.Close()
	if !strings.Contains(l.logged(), "rows left out") {
		t.Error("mcp.log does not say that rows are left out")
	}
}

func TestListsEnd(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes the heap another one; .ci/run has it without")
	}
	for kind, test := range map[string]struct {
		tools int
		left  string
	}{
		"counting-pages": {maxPages, "what follows on 200 pages of tools"},
		"endless-pages":  {3, "the list of tools: its pages go in a circle"},
		"many-tools":     {maxListed, "what follows on 10000 tools"},
	} {
		t.Run(kind, func(t *testing.T) {
			l := one(t, kind)
			var tools []Tool
			var err error
			grew := peak(func() { tools, _, _, err = l.Definitions(t.Context(), "s") })
			st := l.List()[0]
			t.Logf("%d MiB", grew)
			if grew > 64 {
				t.Errorf("the memory grew by %d MiB", grew)
			}
			if err != nil || len(tools) != test.tools && kind != "endless-pages" || len(tools) > test.tools || !slices.Contains(st.LeftOut, test.left) {
				t.Errorf("%d tools, %v, left out %q", len(tools), err, st.LeftOut)
			}
		})
	}
}

// What the SDK makes of a list takes many times its length, so it gets no more than is kept.
func TestLongPagesAreCut(t *testing.T) {
	tool := func(n, size int) string {
		return fmt.Sprintf(`{"name":"t%d","description":%q}`, n, strings.Repeat("x", size))
	}
	tools := func(n, size int) string {
		var all []string
		for i := range n {
			all = append(all, tool(i, size))
		}
		return strings.Join(all, ",")
	}
	for name, test := range map[string]struct {
		list string
		kept int
	}{
		"many":             {tools(3*maxListed, 20), maxListed + 1},
		"no more":          {tools(maxListed, 20), maxListed},
		"long":             {tools(100, 100<<10), maxDefinitions/(100<<10) + 1},
		"one that is huge": {tools(3, 10) + "," + tool(3, 2*maxListItem) + "," + tool(4, 10), 4},
	} {
		var logged []string
		s := newSieve(func(row string) { logged = append(logged, row) })
		got := s.sift([]byte(`{"jsonrpc":"2.0","id":7,"result":{"nextCursor":"c","tools":[` + test.list + `]}}`))
		var is struct {
			ID     int
			Result struct {
				NextCursor string
				Tools      []struct{ Name string }
			}
		}
		if err := json.Unmarshal(got, &is); err != nil || is.ID != 7 || is.Result.NextCursor != "c" || len(is.Result.Tools) != test.kept || is.Result.Tools[0].Name != "t0" {
			t.Errorf("%s: %d tools of %d, %v, %.100q", name, len(is.Result.Tools), test.kept, err, got)
		}
		if isTold := len(logged) > 0; isTold != (name == "one that is huge") {
			t.Errorf("%s: logged %q", name, logged)
		}
	}
	for name, line := range map[string]string{
		"the answer of a tool": `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}}`,
		"no list":              `{"jsonrpc":"2.0","id":7,"result":{"tools":"` + strings.Repeat("x", 1<<20) + `"}}`,
		"a request":            `{"jsonrpc":"2.0","id":7,"method":"x","params":{"tools":[` + tools(3*maxListed, 1) + `]}}`,
	} {
		if got := newSieve(func(string) {}).sift([]byte(line)); string(got) != line {
			t.Errorf("%s: %d bytes become %d", name, len(line), len(got))
		}
	}
}

// A notification is counted however it is written.
func TestNotificationsAreCountedHoweverTheyAreWritten(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","id":null,"method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","ID":1,"method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}`,
		`{"jsonrpc":"2.0","ID":1,"method":"notifications/message","params":{"data":"x"}}`,
	} {
		s, passed := newSieve(func(string) {}), 0
		start := time.Now()
		for range 20_000 {
			if s.sift([]byte(line)) != nil {
				passed++
			}
		}
		if most := 500 + 200*int(time.Since(start)/time.Second+1); passed > most || strings.Contains(line, "message") && passed > 0 {
			t.Errorf("%s: %d were passed on", line, passed)
		}
	}
}

func TestDeepSchemasAreLeftOut(t *testing.T) {
	l := one(t, "deep-schema")
	if tools, _, _, err := l.Definitions(t.Context(), "s"); err != nil || len(tools) != 1 || tools[0].Tool != "flat" {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	if left := l.List()[0].LeftOut; !slices.Equal(left, []string{`the tool "deep": its schema is more than 64 deep`}) {
		t.Errorf("left out %q", left)
	}
	l = one(t, "deeper-schema")
	if got := l.ask("deep", `{}`); !strings.HasPrefix(got, "error: server s: list its tools: ") || !strings.Contains(got, "its answer cannot be read: ") {
		t.Errorf("got %q", got)
	}
}

func TestASchemaThatNobodyCanReadIsTold(t *testing.T) {
	l := one(t, "too-deep-schema")
	if got := l.ask("deep", `{}`); !strings.HasPrefix(got, "error: server s: list its tools: ") || !strings.Contains(got, "its answer cannot be read: ") {
		t.Errorf("got %q", got)
	}
}

func TestWhichAnswerALineBeginsAs(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10_001)
	for line, want := range map[string]any{
		`{"jsonrpc":"2.0","id":7,"result":` + deep:                                             json.Number("7"),
		`{"result":` + deep + "1" + strings.Repeat("}", 10_001) + `,"id":"x","jsonrpc":"2.0"}`: "x",
		`{"jsonrpc":"2.0","id":7,"error":{"id":8,"x":[{"id":9}]},"y":[`:                        json.Number("7"),
		`{"jsonrpc":"2.0","id":7,"params":` + deep:                                             nil,
		`{"jsonrpc":"1.0","id":7,"result":` + deep:                                             nil,
		`{"jsonrpc":"2.0","result":{"id":7}`:                                                   nil,
		`{"jsonrpc":"2.0","params":{"result":1},"id":7`:                                        nil,
		`{"jsonrpc":"2.0","id":null,"result":{`:                                                nil,
		`["jsonrpc","2.0","id",7,"result",1]`:                                                  nil,
		`{broken`:                                                                              nil,
		``:                                                                                     nil,
	} {
		if got := answerID([]byte(line)); got != want {
			t.Errorf("%.60s: %v, want %v", line, got, want)
		}
	}
}

func TestDescriptionsAreCleaned(t *testing.T) {
	l := one(t, "hidden-text")
	d, err := l.Describe(t.Context(), "s", "trap")
	if err != nil || d.Description != "Harmless words" || d.Hidden != 4 || strings.Contains(string(d.Schema), "\u200b") || !strings.Contains(string(d.Schema), `"quiet"`) {
		t.Errorf("%+v %s, %v", d, d.Schema, err)
	}
	if text := describeText(d); !strings.Contains(text, "[4 hidden characters taken out]") {
		t.Errorf("%q", text)
	}
}

func TestNothingThatNobodySeesComesToTheModel(t *testing.T) {
	l := one(t, "commands-terminals")
	tools, _, _, err := l.Definitions(t.Context(), "s")
	if err != nil || len(tools) != 5 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	texts := []string{l.Section(), foundText(l.Search(t.Context(), "tool", nil)), l.ask("say", `{}`), l.ask("fail", `{}`), l.ask("refuse", `{}`), l.ask("ask", `{}`), l.ask("none", `{}`), l.ask("die", `{}`)}
	for i := range tools {
		texts = append(texts, describeText(&tools[i]))
		var schema struct {
			Properties map[string]struct{ Enum []string }
		}
		commands := mcptest.RawCommands()
		if err := json.Unmarshal(tools[i].Schema, &schema); err != nil || len(schema.Properties[commands].Enum) != 1 || schema.Properties[commands].Enum[0] != commands {
			t.Errorf("the schema is another one: %v %s", err, tools[i].Schema)
		}
	}
	for _, text := range texts {
		if hidden := printable.HiddenIn(text); hidden != "" {
			t.Errorf("%s: %q", hidden, text)
		}
	}
}

func TestNamesDoNotCollide(t *testing.T) {
	e := entry("s", "colliding-names")
	e.Exposure = Direct
	l := open(t, Options{Entries: []Entry{e}})
	tools, _, _, err := l.Definitions(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Tool+" "+tool.Name)
	}
	want := []string{"read mcp__s__read", "a.b mcp__s__a_b_", "a_b mcp__s__a_b", "a b mcp__s__a_b_", "noschema mcp__s__noschema"}
	if len(names) != len(want) {
		t.Fatalf("%q", names)
	}
	seen := map[string]bool{}
	for i, name := range names {
		if !strings.HasPrefix(name, want[i]) || seen[tools[i].Name] {
			t.Errorf("%q, want %q", name, want[i])
		}
		seen[tools[i].Name] = true
	}
	var direct []string
	for _, tool := range l.Tools(nil) {
		direct = append(direct, tool.Spec().Name)
	}
	if len(direct) != len(want) {
		t.Errorf("%q", direct)
	}
}

func TestNamesOfTools(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		server, tool, want string
		changed            bool
	}{
		{"github", "create_issue", "mcp__github__create_issue", false},
		{"a-b", "c-d", "mcp__a-b__c-d", false},
		{"a", "b.c", "mcp__a__b_c", true},
		{"a", "b/c", "mcp__a__b_c", true},
		{"a", "ä", "mcp__a___", true},
		{"a", long, "mcp__a__" + long[:49], true},
		{"a", "_t", "mcp__a___t", true}, // else it would be that of the next
		{"a_", "t", "mcp__a___t", true},
		{"a", "", "mcp__a__", true},
	} {
		got := Name(test.server, test.tool)
		ok := got == test.want
		if test.changed {
			ok = strings.HasPrefix(got, test.want+"_") && len(got) == len(test.want)+7
		}
		if !ok || len(got) > maxName {
			t.Errorf("%s/%s: %s", test.server, test.tool, got)
		}
	}
	if Name("a", "_t") == Name("a_", "t") || Name("a", "b.c") == Name("a", "b/c") {
		t.Error("two tools have one name")
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a", "_t", "a_", "t")
	f.Add("a", "b.c", "a", "b_c")
	f.Add("s", strings.Repeat("x", 70), "s", strings.Repeat("x", 71))
	f.Fuzz(func(t *testing.T, server, tool, otherServer, otherTool string) {
		if CheckName(server) != nil || CheckName(otherServer) != nil {
			t.Skip()
		}
		name, other := Name(server, tool), Name(otherServer, otherTool)
		if (name == other) != (server == otherServer && tool == otherTool) {
			t.Errorf("%q/%q and %q/%q: %s, %s", server, tool, otherServer, otherTool, name, other)
		}
		if len(name) > maxName || strings.ContainsFunc(name, isNoNameRune) || !IsName(name) {
			t.Errorf("%q", name)
		}
	})
}

// FuzzSieve checks that what is passed on is what was written, without what is no message,
// however it came.
func FuzzSieve(f *testing.F) {
	f.Add("hello\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 3)
	f.Add("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}  \r\n[1]\n{}\n", 1)
	f.Add("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 100)
	f.Fuzz(func(t *testing.T, written string, size int) {
		if size < 1 {
			t.Skip()
		}
		read := func(size int) (all []string) {
			s := newSieve(func(string) {})
			for rest := written; rest != ""; {
				n := min(size, len(rest))
				if err := s.add(rest[:n], func(line []byte) error { all = append(all, string(line)); return nil }); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			return all
		}
		whole, parts := read(max(1, len(written))), read(size)
		if !slices.Equal(whole, parts) {
			t.Errorf("whole %q, in parts %q", whole, parts)
		}
		for _, line := range whole {
			isOwn := strings.Contains(line, "its answer cannot be read: ")
			if !isOwn && !strings.Contains(written, strings.TrimSuffix(line, "\n")) || !strings.HasPrefix(line, "{") || strings.Count(line, "\n") != 1 {
				t.Errorf("%q", line)
			}
		}
	})
}

func TestPatternsOfTools(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		fits          bool
	}{
		{"*", "", true}, {"*", "a/b", true}, {"get_*", "get_x", true}, {"get_*", "get", false}, {"?", "a", true}, {"?", "", false},
		{"*b*d", "abcd", true}, {"*b*d", "abcde", false}, {"", "", true}, {"", "a", false}, {"a*", "a", true}, {"a**b", "ab", true},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 5000), false},
	} {
		if Match(test.pattern, test.name) != test.fits {
			t.Errorf("%q %q: %v", test.pattern, test.name, !test.fits)
		}
	}
	e := Entry{Exposure: Search, Tools: map[string]Exposure{"*": Off, "get_*": Direct, "get_secret": Off, "?et_*": Search}}
	for name, want := range map[string]Exposure{"x": Off, "get_a": Search, "get_secret": Off, "set_a": Search} {
		if got := e.ExposureOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if (&Entry{}).ExposureOf("x") != Search {
		t.Error("the usual exposure is search")
	}
}

func TestAToolThatIsOffIsNowhere(t *testing.T) {
	e := entry("s", "good")
	e.Tools = map[string]Exposure{"delete_*": Off}
	l := open(t, Options{Entries: []Entry{e}})
	if got := l.ask("delete_all", `{}`); !strings.HasPrefix(got, `error: server s has no tool "delete_all"`) {
		t.Errorf("called: %q", got)
	}
	if _, err := l.Describe(t.Context(), "s", "delete_all"); err == nil {
		t.Error("described")
	}
	for _, hit := range l.Search(t.Context(), "delete everything", nil).Hits {
		if hit.Tool == "delete_all" {
			t.Error("found")
		}
	}
}

func TestTheNamesOfServers(t *testing.T) {
	for name, ok := range map[string]bool{"a": true, "A-1_b": true, "": false, "a__b": false, "a b": false, "ä": false, strings.Repeat("a", 41): false} {
		if (CheckName(name) == nil) != ok {
			t.Errorf("%q: %v", name, CheckName(name))
		}
		if clean := CleanName(name); CheckName(clean) != nil || ok && clean != name {
			t.Errorf("%q becomes %q", name, clean)
		}
	}
}
