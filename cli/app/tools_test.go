package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pi/agent"
)

// toolsOf are the tools of a program whose settings name the active ones.
func toolsOf(t *testing.T, names ...string) (dir string, active, others []agent.Tool) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Chdir(dir)
	p, err := New(Options{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	p.Config.Tools.Active = names
	active, others = p.tools(p.newRun().toolOptions())
	return dir, active, others
}

// A hook that chooses a tool which the settings leave out gets one that knows what
// the others have seen of a file.
func TestToolsThatAHookActivatesKnowWhatTheOthersHaveSeen(t *testing.T) {
	dir, active, others := toolsOf(t, "read")
	path := filepath.Join(dir, "file")
	for _, text := range []string{"as it was", "as somebody else left it"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text == "as it was" {
			callTool(t, toolNamed(t, active, "read"), map[string]any{"path": path})
		}
	}
	input := json.RawMessage(`{"path":"file","content":"lost"}`)
	if _, err := toolNamed(t, others, "write").Run(t.Context(), input, nil); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("it wrote: %v", err)
	}
}

// It waits for their changes of a file, too.
func TestToolsThatAHookActivatesShareTheFileLocksOfTheOthers(t *testing.T) {
	dir, active, others := toolsOf(t, "edit")
	edit, write := toolNamed(t, active, "edit"), toolNamed(t, others, "write")
	old := "a\n" + strings.Repeat("old line\n", 2000)
	for i := range 100 {
		path := filepath.Join(dir, fmt.Sprint("file", i)) // one that no tool knows
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

func TestAToolThatIsNamedTwiceIsThereOnce(t *testing.T) {
	for _, name := range []string{"read", "bash", "edit", "write", "grep", "find", "ls"} {
		if _, active, others := toolsOf(t, name, name); len(active) != 1 || len(others) != 6 {
			t.Errorf("%s: %d are active and %d are not", name, len(active), len(others))
		}
	}
}

func TestFlagsChooseTools(t *testing.T) {
	all := []string{"read", "bash", "edit", "write", "grep", "find", "ls"}
	usual := []string{"read", "bash", "edit"}
	for _, c := range []struct {
		name      string
		flags     ToolFlags
		active    string // of the program
		has, lack string // tools that the model may have, of hooks too, and may not
	}{
		{"none", ToolFlags{}, "read bash edit", "ls own", ""},
		{"--tools", ToolFlags{Named: []string{"ls", "read"}}, "ls read", "ls read", "bash own"},
		{"--tools own", ToolFlags{Named: []string{"own"}}, "", "own", "read"},
		{"--tools ''", ToolFlags{Named: []string{}}, "", "", "read own"},
		{"a pattern", ToolFlags{Named: []string{"own_*", "*d*"}}, "read edit find", "own_x find", "bash own"},
		{"+", ToolFlags{Named: []string{"+ls", "+read"}}, "read bash edit ls", "own grep", ""},
		{"-", ToolFlags{Named: []string{"-bash", "-own"}}, "read edit", "grep other", "bash own"},
		{"+ and -, the last counts", ToolFlags{Named: []string{"-bash", "+bash", "+ls", "-ls"}}, "read bash edit", "bash", "ls"},
		{"--exclude-tools", ToolFlags{Excluded: []string{"bash", "own_*"}}, "read edit", "own", "bash own_x"},
		{"both", ToolFlags{Named: []string{"ls", "read"}, Excluded: []string{"r*"}}, "ls", "ls", "read"},
		{"--no-tools", ToolFlags{None: true}, "", "", "read own mcp mcp__s__t"},
		{"a tool of a server", ToolFlags{Named: []string{"read", "mcp__s__get_*"}}, "read", "mcp mcp__s__get_x mcp__s__*", "mcp__s__set_x mcp__t__get_x mcp__t__*"},
		{"mcp alone", ToolFlags{Named: []string{"mcp"}}, "", "mcp mcp__s__*", "mcp__s__t"},
		{"no tool of a server", ToolFlags{Excluded: []string{"mcp__s__*"}}, "read bash edit", "mcp mcp__t__x mcp__t__*", "mcp__s__x mcp__s__*"},
		{"a tool of a server less", ToolFlags{Named: []string{"-mcp__s__x"}}, "read bash edit", "mcp mcp__s__y mcp__s__*", "mcp__s__x"},
		{"--no-tools and names", ToolFlags{None: true, Named: []string{"ls"}}, "", "", "ls"},
		{"--no-builtin-tools", ToolFlags{NoBuiltIn: true}, "", "own", ""},
		{"--no-builtin-tools and +", ToolFlags{NoBuiltIn: true, Named: []string{"+ls"}}, "ls", "own", ""},
		{"--no-builtin-tools and names", ToolFlags{NoBuiltIn: true, Named: []string{"ls", "own"}}, "ls", "own", "read"},
	} {
		if err := c.flags.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := strings.Join(c.flags.active(all, usual), " "); got != c.active {
			t.Errorf("%s: active are %q, want %q", c.name, got, c.active)
		}
		for _, name := range strings.Fields(c.has) {
			if !c.flags.mayHave(name) {
				t.Errorf("%s: the model may not have %s", c.name, name)
			}
		}
		for _, name := range strings.Fields(c.lack) {
			if c.flags.mayHave(name) {
				t.Errorf("%s: the model may have %s", c.name, name)
			}
		}
	}
	for _, named := range [][]string{{"+ls", "read"}, {"read", "-ls"}, {"-l*"}, {"[a"}} {
		if err := (ToolFlags{Named: named}).Check(); err == nil {
			t.Errorf("%q is understood", named)
		}
	}
}
