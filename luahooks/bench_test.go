package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/luahooks/trust"
	"pi/session/message"
)

// trivial reads two of the four fields that it is given.
const trivial = `pi.on("session_start", function(e) local x = e.reason == "new" and e.session_id end)
pi.on("tool_call", function(e) if e.tool_name == "write" and e.tool_call_id then return nil end end)`

func hooks(n int, code string) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("h%03d.lua", i)] = code
	}
	return files
}

func BenchmarkNobodyListens(b *testing.B) {
	r := newRig(b, hooks(10, trivial))
	b.ReportAllocs()
	for b.Loop() {
		if r.chain.Wants(agent.KindTurnStart) {
			b.Fatal("somebody does")
		}
	}
}

func BenchmarkAsk(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("hooks=%d", n), func(b *testing.B) {
			r := newRig(b, hooks(n, trivial))
			e := &agent.ToolCall{ID: "c", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)}
			b.ReportAllocs()
			for b.Loop() {
				r.emit(e)
			}
		})
	}
}

func BenchmarkTell(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("hooks=%d", n), func(b *testing.B) {
			r := newRig(b, hooks(n, trivial))
			e := &agent.SessionStart{Reason: "new", SessionID: "i", SessionFile: "f", PreviousSessionFile: "p"}
			b.ReportAllocs()
			for b.Loop() {
				r.emit(e)
			}
		})
	}
}

// long is a session of n messages, as if a hundred turns of tools had been.
func long(b *testing.B, r *rig, n int) {
	for i := range n {
		m := &message.Message{Role: message.RoleUser, Plain: i%4 == 0, Content: []message.Block{message.TextBlock(fmt.Sprint("text ", i))}, Timestamp: 1}
		if i%2 == 1 {
			m = &message.Message{Role: message.RoleToolResult, ToolName: "bash", ToolCallID: fmt.Sprint(i), Content: m.Content}
		}
		if _, err := r.host.session.AppendMessage(m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkContext(b *testing.B) {
	const readAll = `local n = 0
		for _, m in ipairs(e.messages) do
			if type(m.content) == "string" then n = n + #m.content else for _, x in ipairs(m.content) do n = n + #x.text end end
		end`
	for _, c := range []struct{ name, body string }{
		{"untouched", `return { messages = e.messages }`},
		{"one edited", `e.messages[5000].content = "short"; return { messages = e.messages }`},
		{"every text read", readAll},
		{"every text read and returned", readAll + ` return { messages = e.messages }`},
		{"every entry's type read", `for _, x in ipairs(e.entries) do local t = x.type end`},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b, map[string]string{"a.lua": `pi.on("context", function(e) ` + c.body + ` end)`})
			long(b, r, 10000)
			entries, items := r.host.session.Branch(), r.host.session.Context()
			b.ReportAllocs()
			for b.Loop() {
				r.emit(&agent.Context{Entries: entries, Items: items})
			}
		})
	}
	b.Run("every entry's type read the first time", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			r := newRig(b, map[string]string{"a.lua": `pi.on("context", function(e) for _, x in ipairs(e.entries) do local t = x.type end end)`})
			long(b, r, 10000)
			entries, items := r.host.session.Branch(), r.host.session.Context()
			b.StartTimer()
			r.emit(&agent.Context{Entries: entries, Items: items})
		}
	})
}

// BenchmarkPortedContext is the cost of a handler that reads the role of 10,000 messages, of
// a hook that was written for this program and of those for others.
func BenchmarkPortedContext(b *testing.B) {
	const read = `(%q, function(e) local n = 0 for _, m in ipairs(e.messages) do if m.role == "user" then n = n + 1 end end end)`
	for _, c := range []struct{ name, on, event string }{
		{"native", `pi.on`, "context"},
		{"pi_v2", `require("pi.compat.pi_v2").on`, "context"},
		{"omp", `require("pi.compat.omp").on`, "context"},
		{"marvin", `require("pi.compat.marvin").on`, "chat.messages.transform"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b, map[string]string{"a.lua": c.on + fmt.Sprintf(read, c.event)})
			long(b, r, 10000)
			entries, items := r.host.session.Branch(), r.host.session.Context()
			b.ReportAllocs()
			for b.Loop() {
				r.emit(&agent.Context{Entries: entries, Items: items})
			}
		})
	}
}

func BenchmarkMemoryPerHook(b *testing.B) {
	const n = 100
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := newRig(b, hooks(n, trivial))
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/hook")
		r.chain.Close(context.Background())
	}
}

// BenchmarkSaveToLive is the time from the end of a write to the first event that
// the new code answers.
func BenchmarkSaveToLive(b *testing.B) {
	r := watched(b, hooks(10, says("x")))
	path := filepath.Join(r.dir, "h005.lua")
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		code := []byte(fmt.Sprintf(`pi.on("input", function() return { text = "%d" } end)`, i))
		mustDo(b, os.WriteFile(path, code, 0o644))
		began := time.Now()
		for h := r.chain.roster.list()[5]; ; {
			e := &agent.Input{}
			r.chain.dispatcher.ask(context.Background(), r.chain.roster.events[agent.KindInput], []*hook{h}, e)
			if e.Text == fmt.Sprint(i) {
				break
			}
			time.Sleep(100 * time.Microsecond)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkWindow is what a batch of tools costs besides the tools: the files are
// looked at before and after it.
func BenchmarkWindow(b *testing.B) {
	for _, hooks := range []int{0, 10} {
		b.Run(fmt.Sprint(hooks, " hooks"), func(b *testing.B) {
			dir := b.TempDir()
			guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: filepath.Join(dir, "agent"), Project: dir})
			mustDo(b, err)
			files := map[string]string{}
			for i := range hooks {
				files[fmt.Sprint(i, ".lua")] = strings.Repeat(says("x")+"\n", 30)
			}
			r := newRig(b, files, func(o *Options) { o.Guard = guard })
			w := r.chain.ToolWatch()
			for b.Loop() {
				for _, e := range []agent.Event{&agent.ToolExecutionStart{}, &agent.ToolExecutionEnd{}, &agent.TurnEnd{}, &agent.AgentSettled{}} {
					mustDo(b, w.Handle(context.Background(), e))
				}
			}
		})
	}
}

// A hook that talks to a server waits for a thousand answers by their ids: a hundred functions ask, and
// the answers come in another job, which sleeps until somebody has asked.
func BenchmarkAThousandAnswersByID(b *testing.B) {
	r := newRig(b, map[string]string{"a.lua": `
		local asked, ids, wake = {}, {}, pi.promise()
		local function ask(id)
			asked[id], ids[#ids + 1] = pi.promise(), id
			wake.resolve()
			return asked[id].wait{ timeout = 5000 }
		end
		pi.on("input", function()
			local askers, left = {}, 1000
			for i = 1, 100 do
				askers[i] = pi.async(function()
					for n = 1, 10 do assert(ask(10 * i + n) == 10 * i + n) end
				end)
			end
			while left > 0 do
				wake.wait()
				local answered = ids
				ids, wake = {}, pi.promise()
				for _, id in ipairs(answered) do
					asked[id].resolve(id)
					asked[id], left = nil, left - 1
				end
			end
			for i = 1, 100 do askers[i].wait() end
			return { text = "all" }
		end)`})
	b.ReportAllocs()
	for b.Loop() {
		if got := r.input(""); got != "all" {
			b.Fatalf("%q: %q", got, r.host.notices())
		}
	}
}

// BenchmarkChild makes the chain of a child, with no hooks and with ten of the examples, and says what
// one holds while it is open.
func BenchmarkChild(b *testing.B) {
	files := map[string]string{}
	for _, name := range strings.Fields("bookmark claude_rules command_hooks modes permission_gate preset protected_paths redact todo web") {
		code, err := os.ReadFile(filepath.Join("..", "examples", name+".lua"))
		mustDo(b, err)
		files[name+".lua"] = string(code)
	}
	for _, of := range []struct {
		name  string
		hooks map[string]string
	}{{"none", nil}, {"examples", files}} {
		b.Run(of.name, func(b *testing.B) {
			r := newRig(b, of.hooks)
			o := ChildOptions{Agent: agent.Identity{Name: "reviewer", Depth: 1}, Cwd: r.cwd}
			first := r.chain.Child(context.Background(), o)
			defer first.Close(context.Background())
			const many = 8
			before := heapInUse()
			var open []*Chain
			for range many {
				open = append(open, r.chain.Child(context.Background(), o))
			}
			held := float64(heapInUse()-before) / many
			for _, c := range open {
				c.Close(context.Background())
			}
			b.ReportAllocs()
			for b.Loop() {
				c := r.chain.Child(context.Background(), o)
				b.StopTimer()
				c.Close(context.Background())
				b.StartTimer()
			}
			b.ReportMetric(held, "held-B/child")
		})
	}
}

// heapInUse is what the heap holds without garbage.
func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
