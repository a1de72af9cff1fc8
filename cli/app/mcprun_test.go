package app

import "testing"

func TestToolsThatOneListingShowsToBeOthersAreToldOfTogether(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "MCP server s: the tool a is another than when it was listed first; /mcp s shows it"},
		{[]string{"a", "b", "c"}, "MCP server s: these tools are others than when they were listed first: a, b, c; /mcp s shows them"},
		{[]string{"a", "b", "c", "d", "e"}, "MCP server s: these tools are others than when they were listed first: a, b, c, and 2 more; /mcp s shows them"},
	} {
		if got := changedText("s", test.names); got != test.want {
			t.Errorf("%q", got)
		}
	}
}
