package agent

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"pi/agent/llm"
	"pi/agent/schema"
)

// toolset is the active tools. All methods may be called from any goroutine.
type toolset struct {
	mu       sync.Mutex // guards what follows, which changes together
	tools    []Tool     // without a mode
	by       string     // the hook that chose them; "" for none
	always   Tool       // is active beside the others, in place of one of its name; nil: none
	limited  bool       // only, not tools, are the active ones
	only     []Tool
	checkers map[string]*schema.Checker // by tool name, made on first use
}

// set replaces the active tools, and forgets the argument checkers of the old ones. by is
// the hook that chose the tools, "" if none did.
func (t *toolset) set(tools []Tool, by string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tools, t.by, t.checkers = tools, by, map[string]*schema.Checker{}
}

// Restrict makes only the active tools, whatever set is given meanwhile, until Lift.
func (t *toolset) Restrict(only []Tool) { t.limit(true, only) }

// Lift ends a Restrict.
func (t *toolset) Lift() { t.limit(false, nil) }

func (t *toolset) limit(limited bool, only []Tool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if limited || t.limited {
		t.limited, t.only, t.checkers = limited, only, map[string]*schema.Checker{}
	}
}

// active returns the active tools in the order the model sees them.
func (t *toolset) active() []Tool {
	tools, _ := t.toolsAndChooser()
	return tools
}

// toolsAndChooser returns the active tools and the hook that chose them, "" if a user did
// with a mode.
func (t *toolset) toolsAndChooser() ([]Tool, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limited {
		return t.withAlways(t.only), ""
	}
	return t.withAlways(t.tools), t.by
}

// withAlways returns a copy of tools with the one that is always active as the last.
func (t *toolset) withAlways(tools []Tool) []Tool {
	if t.always == nil {
		return slices.Clone(tools)
	}
	name := t.always.Spec().Name
	all := slices.DeleteFunc(slices.Clone(tools), func(other Tool) bool { return other.Spec().Name == name })
	return append(all, t.always)
}

// names lists the active tools.
func (t *toolset) names() []string {
	var names []string
	for _, tool := range t.active() {
		names = append(names, tool.Spec().Name)
	}
	return names
}

// tool returns the active tool of a name, or nil.
func (t *toolset) tool(name string) Tool {
	for _, tool := range t.active() {
		if tool.Spec().Name == name {
			return tool
		}
	}
	return nil
}

// checker returns what checks the arguments of a tool; it is compiled once and remembered.
// warn is called with a text for the user if parts of the schema cannot be used. The
// error says that nothing of it can.
func (t *toolset) checker(tool Tool, warn func(text string)) (*schema.Checker, error) {
	name := tool.Spec().Name
	t.mu.Lock()
	known := t.checkers // set puts another in its place: what is stored below must not reach that
	c := known[name]
	t.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := schema.Compile(tool.Spec().Parameters)
	if err != nil {
		return nil, err
	}
	if len(c.Dropped) > 0 {
		warn(fmt.Sprintf("tool %s: its schema does not resolve; ignoring %s", name, strings.Join(c.Dropped, ", ")))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known[name] = c
	return c, nil
}

// specsOf are the descriptions of tools as they are sent.
func specsOf(tools []Tool) []llm.ToolSpec {
	var specs []llm.ToolSpec
	for _, t := range tools {
		specs = append(specs, t.Spec())
	}
	return specs
}
