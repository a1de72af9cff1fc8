package replay

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pi/agent/tool"
	"pi/session"
	"pi/session/folder"
)

// BenchmarkATrivialGateOverManySessions replays a gate over a folder of 500 recorded sessions
// of 40 calls each, on one core with -cpu 1. It reports events per second.
func BenchmarkATrivialGateOverManySessions(b *testing.B) {
	const sessions, calls = 500, 40
	r := newRig(b, `pi.on("tool_call", function(event)
		if event.tool_name == "bash" and event.input.command:find("rm %-rf") then return { block = true, reason = "no" } end
	end)`)
	root := filepath.Join(r.dir, "sessions")
	output := make([]byte, 1500)
	for i := range output {
		output[i] = "a line of output\n"[i%17]
	}
	for i := range sessions {
		r.s = session.New(session.Options{Dir: root, Cwd: r.dir, Now: func() time.Time { return time.Unix(int64(1_700_000_000+i), 0) }})
		r.prompt("do something useful")
		for n := range calls {
			r.call("bash", fmt.Sprintf(`{"command":"go test ./package%d"}`, n), string(output))
		}
		r.answer("done")
		if err := r.s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	tools := tool.All(tool.Options{Cwd: r.dir})
	b.ResetTimer()
	events := 0
	for b.Loop() {
		paths, err := folder.Paths(root, "")
		if err != nil || len(paths) != sessions {
			b.Fatal(len(paths), err)
		}
		sum := NewTally()
		if err := Run(b.Context(), r.chain, paths, Options{Hook: "a", Tools: tools}, func(result *Result) error {
			sum.Add(&result.Hook.Tally)
			return result.Err
		}); err != nil {
			b.Fatal(err)
		}
		if sum.Total() != sessions*calls {
			b.Fatalf("%d events", sum.Total())
		}
		events += sum.Total()
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
