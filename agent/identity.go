package agent

// Identity says which agent of a tree this is. The agent of the user's own session has none.
type Identity struct {
	Name   string // its definition's, or that which the hook gave it
	Depth  int    // 1 for one that the user's own agent uses
	Parent string // the name of the agent that uses it; "" for the user's own
}
