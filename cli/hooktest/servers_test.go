package hooktest

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	lua "github.com/yuin/gopher-lua"

	"pi/agent/mcp"
)

// What hooks add is played too, or it is an error: no process is started, and no address reached.
func TestOnlyPlayedServersAreUsed(t *testing.T) {
	t.Parallel()
	s := &playedServers{}
	s.add(serverScript{entry: mcp.Entry{Name: "played"}, diesAfter: -1})
	servers := mcp.Open(mcp.Options{Cwd: t.TempDir(), Play: s.play})
	defer s.lives.Wait()
	defer servers.Close()
	for _, e := range []mcp.Entry{
		{Name: "played", URL: "http://127.0.0.1:1/mcp", Protocol: "2026-07-28"},
		{Name: "process", Command: "touch", Args: []string{"started"}},
		{Name: "address", URL: "http://127.0.0.1:1/mcp"},
	} {
		if err := servers.Add(e); err != nil {
			t.Fatal(err)
		}
		_, _, _, err := servers.Definitions(t.Context(), e.Name)
		if e.Name == "played" && err != nil || e.Name != "played" && (err == nil || !strings.Contains(err.Error(), "a test starts no server")) {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

// A server ends with its client also while a call of it waits.
func TestAPlayedServerEndsWithItsClient(t *testing.T) {
	t.Parallel()
	s := &playedServers{}
	called := make(chan struct{})
	s.add(serverScript{entry: mcp.Entry{Name: "s"}, diesAfter: -1, tools: []*playedTool{{listed: &sdk.Tool{Name: "wait", InputSchema: map[string]any{"type": "object"}}, function: &lua.LFunction{}}}})
	s.result = func(ctx context.Context, _ *playedTool, _ serverCall) *sdk.CallToolResult {
		close(called)
		<-ctx.Done()
		return failedResult("given up")
	}
	servers := mcp.Open(mcp.Options{Cwd: t.TempDir(), Play: s.play, Entries: []mcp.Entry{{Name: "s"}}})
	over := make(chan error, 1)
	go func() {
		_, err := servers.Call(t.Context(), "s", "wait", nil, mcp.CallOptions{})
		over <- err
	}()
	<-called
	servers.Close()
	s.lives.Wait()
	if err := <-over; err == nil {
		t.Error("a call was answered by nobody")
	}
}
