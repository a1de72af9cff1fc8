package agent

import (
	"encoding/json"
	"strings"

	"pi/internal/printable"
)

// CallTarget is what a call of a tool is about, as a user wants to see it: the value of the
// argument that says so (of a search, the pattern and where), else all of them as JSON; "" if
// there are none. A command keeps its lines.
func CallTarget(input json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(input, &members) != nil || len(members) == 0 {
		return ""
	}
	for _, key := range []string{"command", "pattern", "path", "query", "url", "name"} {
		s, ok := members[key].(string)
		if !ok || s == "" {
			continue
		}
		if path, ok := members["path"].(string); ok && path != "" && key == "pattern" {
			s += " in " + path
		}
		if key == "command" {
			return strings.TrimSpace(printable.Text(s))
		}
		return printable.Line(s)
	}
	return printable.Line(string(input))
}
