//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pi/session/compaction"
	"pi/session/message"
)

// Servers that are configured and not used are neither started nor asked, and cost in each
// request, as it is sent, at most 200 tokens and 12 for each.
func TestServersThatAreNotUsedCostLittle(t *testing.T) {
	t.Parallel()
	for api := range apiPaths() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			model := newModelServer(api, strings.Repeat("text Done.\n---\n", 4), "")
			t.Cleanup(model.http.Close)
			w.write(w.agentFile("config.toml"), model.settings())
			var reached atomic.Int32
			listener := httptest.NewUnstartedServer(http.NotFoundHandler())
			listener.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					reached.Add(1)
				}
			}
			listener.Start()
			t.Cleanup(listener.Close)
			started := filepath.Join(w.home, "started")
			isStarted := func() bool { _, err := os.Stat(started); return err == nil }

			without := bodyTokens(w, model)
			for _, n := range []int{1, 2, 50} {
				w.write(w.agentFile("mcp.json"), serversThatTell(n, started, listener.URL+"/mcp"))
				if cost := bodyTokens(w, model) - without; cost > 200+12*n || cost < 50 {
					t.Errorf("%d servers cost %d tokens", n, cost)
				}
				if isStarted() || reached.Load() > 0 {
					t.Fatalf("of %d servers one was started (%v), or asked (%d)", n, isStarted(), reached.Load())
				}
			}
			w.write(w.agentFile("mcp.json"), serversThatTell(2, started, listener.URL+"/mcp"))
			if w.fails(1, "mcp", "list"); !isStarted() || reached.Load() == 0 {
				t.Errorf("one that is used was started: %v, asked: %d times", isStarted(), reached.Load())
			}
		})
	}
}

// bodyTokens runs a prompt, and returns how many tokens the body of its request has, as they are
// estimated.
func bodyTokens(w *world, model *modelServer) int {
	w.t.Helper()
	before := len(model.asked())
	w.says(prompts("hello"), "Done.")
	asked := model.asked()
	if len(asked) != before+1 {
		w.t.Fatalf("%d requests more", len(asked)-before)
	}
	text := message.TextBlock(string(asked[before].body))
	return compaction.EstimateTokens(&message.Message{Role: message.RoleUser, Content: []message.Block{text}})
}

// serversThatTell is an mcp.json of so many servers: half of them leave a file when they are
// started, and half are asked at an address.
func serversThatTell(n int, started, address string) string {
	servers := map[string]any{}
	for i := range n {
		is := map[string]any{"description": strings.Repeat("a long description of what it is for ", 5)}
		if i%2 == 0 {
			is["command"], is["args"] = "touch", []string{started}
		} else {
			is["url"] = address
		}
		servers[fmt.Sprintf("server-with-a-name-%02d", i)] = is
	}
	b, _ := json.Marshal(map[string]any{"mcpServers": servers})
	return string(b)
}
