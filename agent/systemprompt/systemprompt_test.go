package systemprompt

import (
	"slices"
	"testing"

	"pi/agent/llm"
)

// Only a model that can run commands can read the guides, and a person who replaced the text
// has said all there is to say.
func TestTheGuidesAreNamedToAModelThatCanReadThem(t *testing.T) {
	t.Parallel()
	bash, read := []llm.ToolSpec{{Name: "bash", Description: "runs"}}, []llm.ToolSpec{{Name: "read", Description: "reads"}}
	for _, c := range []struct {
		name  string
		from  Source
		tools []llm.ToolSpec
		want  bool
	}{
		{"with bash", Source{Docs: "d"}, bash, true},
		{"without bash", Source{Docs: "d"}, read, false},
		{"without guides", Source{}, bash, false},
		{"replaced", Source{Docs: "d", Replace: "r"}, bash, false},
	} {
		all := c.from.Sections(c.tools, "", "2026-01-02", "/p")
		if got := slices.Contains(all, Section{Docs, "d"}); got != c.want {
			t.Errorf("%s: %v", c.name, all)
		}
	}
}
