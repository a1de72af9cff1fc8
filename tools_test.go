package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pi/agent"
)

// A hook that chooses a tool which the settings leave out gets one that waits for
// the others' changes of a file.
func TestToolsThatAHookActivatesShareTheFileLocksOfTheOthers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Chdir(dir)
	a, err := newApp(options{})
	if err != nil {
		t.Fatal(err)
	}
	a.cfg.Tools.Active = []string{"edit"}
	active, others := a.tools()
	edit, write := toolNamed(t, active, "edit"), toolNamed(t, others, "write")
	old := "a\n" + strings.Repeat("old line\n", 2000)
	path := filepath.Join(dir, "file")
	for range 100 {
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() { callTool(t, edit, map[string]any{"path": path, "oldText": "a\n", "newText": "b\n"}) })
		both.Go(func() { callTool(t, write, map[string]any{"path": path, "content": "a\nnew\n"}) })
		both.Wait()
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(got); s != "a\nnew\n" && s != "b\nnew\n" {
			t.Fatalf("what was written is lost: the file begins with %.20q", s)
		}
	}
}

func toolNamed(t *testing.T, tools []agent.Tool, name string) agent.Tool {
	t.Helper()
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}

func callTool(t *testing.T, tool agent.Tool, arguments map[string]any) {
	t.Helper()
	input, err := json.Marshal(arguments)
	if err != nil {
		t.Error(err)
	}
	if _, err := tool.Run(context.Background(), input, nil); err != nil {
		t.Error(err)
	}
}
