package record

// AgentInfo is what hooks are told of an agent that another one uses.
type AgentInfo struct {
	Name   string
	Depth  int
	Parent *string // nil: the user's own agent uses it
}

// NewAgentInfo makes one; parent is "" for the user's own agent.
func NewAgentInfo(name string, depth int, parent string) *AgentInfo {
	i := &AgentInfo{Name: name, Depth: depth}
	if parent != "" {
		i.Parent = &parent
	}
	return i
}
