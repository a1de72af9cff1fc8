package rpc

import (
	"strings"
	"testing"

	"pi/session/message"
)

// Every entry of a conversation is nested one deeper than the one before it, which is more
// than the encoder of the standard library goes.
func TestTheTreeOfALongConversationIsAnswered(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	const long = 12_000
	for range long {
		if _, err := c.agent.Session().AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}}); err != nil {
			t.Fatal(err)
		}
	}
	tree := c.answerTo(`{"id":"1","type":"get_tree"}`)
	check(t, tree[:100], `{"id":"1","type":"response","command":"get_tree","success":true,"data":{"tree":[{*`)
	if n := strings.Count(tree, `"children":[`); n < long {
		t.Errorf("the tree has %d entries of %d", n, long)
	}
	if end := strings.Repeat("]}", long) + `],"leafId":"` + c.agent.Session().Leaf() + `"}}`; !strings.HasSuffix(tree, end) {
		t.Errorf("the tree ends with %s", tree[len(tree)-80:])
	}
}
