package mcp

import "testing"

// Two entries have one hash only if they start, or reach, the same.
func TestTheHashOfAnEntryHasAllThatItStarts(t *testing.T) {
	seen := map[string]int{}
	for i, e := range []Entry{
		{Command: "a"}, {URL: "a"}, {Cwd: "a"}, {Command: "a", Args: []string{"b"}}, {Command: "a", Args: []string{"b", ""}},
		{Command: "a", Args: []string{"b", "c"}}, {Command: "a", Args: []string{"b c"}}, {Command: "a", Args: []string{"b 1 c"}},
		{Command: "a", Env: map[string]string{"b": "c"}}, {Command: "a", Headers: map[string]string{"b": "c"}},
		{Command: "a", Env: map[string]string{"b": "c", "d": "e"}}, {Command: "a", Env: map[string]string{"b": "e", "d": "c"}},
	} {
		if before, ok := seen[e.Hash()]; ok {
			t.Errorf("the entries %d and %d have one hash", before, i)
		}
		seen[e.Hash()] = i
		other := e
		other.Name, other.Description, other.Exposure = "x", "y", Direct
		if other.Hash() != e.Hash() {
			t.Errorf("entry %d has another hash under another name", i)
		}
	}
}
