package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/serve/acp"
)

// BenchmarkTwelfthSession opens a session for an editor that has eleven in the same folder,
// with ten hooks.
func BenchmarkTwelfthSession(b *testing.B) {
	for _, of := range []struct {
		name  string
		hooks map[string]string
	}{{"none", nil}, {"functions", functionHooks()}, {"examples", exampleHooks(b)}} {
		b.Run(of.name, func(b *testing.B) {
			p := place(b, Options{Model: "demo/tour", Session: SessionFlags{None: true}}, of.hooks)
			open := func() *acp.Run {
				r, err := editors{p}.Open(b.Context(), acp.SessionRequest{Cwd: p.Cwd, Listener: noListener{}, UI: new(watching)})
				if err != nil {
					b.Fatal(err)
				}
				return r
			}
			end := func(r *acp.Run) {
				if err := r.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			for range 11 {
				defer end(open())
			}
			b.ReportAllocs()
			for b.Loop() {
				twelfth := open()
				b.StopTimer()
				end(twelfth)
				b.StartTimer()
			}
		})
	}
}

// functionHooks are ten hooks of ninety small functions each.
func functionHooks() map[string]string {
	files := map[string]string{}
	for i := range 10 {
		var code strings.Builder
		for n := range 90 {
			fmt.Fprintf(&code, "local function f%d(text)\n  return text:find(\"never %d\", 1, true)\nend\n", n, i)
		}
		code.WriteString(`pi.on("input", function(event) f0(event.text) end)`)
		files[fmt.Sprintf("h%d.lua", i)] = code.String()
	}
	return files
}

// exampleHooks are ten of the examples.
func exampleHooks(b *testing.B) map[string]string {
	files := map[string]string{}
	for _, name := range strings.Fields("bookmark claude_rules command_hooks modes permission_gate preset protected_paths redact todo web") {
		code, err := os.ReadFile(filepath.Join("..", "..", "examples", name+".lua"))
		if err != nil {
			b.Fatal(err)
		}
		files[name+".lua"] = string(code)
	}
	return files
}
