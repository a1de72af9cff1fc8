package wiretest

import (
	"fmt"
	"strings"
	"testing"
)

const withBeta = "other," + bindingBeta

// boundBody is a request that goes on behind an answer with a thought.
func boundBody(head, first, thought string) []byte {
	return fmt.Appendf(nil, `{%s"messages":[{"role":"user","content":[%s]},{"role":"assistant","content":[%s{"type":"text","text":"yes"}]},{"role":"user","content":[{"type":"text","text":"on"}]}]}`,
		head, first, thought)
}

func TestAThoughtIsBoundToAllThatStandsBeforeIt(t *testing.T) {
	const hello, marked = `{"type":"text","text":"hello"}`, `{"cache_control":{"type":"ephemeral"},"text":"hello","type":"text"}`
	const head = `"system":[{"type":"text","text":"s"}],"tools":[{"name":"ls"}],`
	const drop = `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},`
	asked, err := CheckBound("", fmt.Appendf(nil, `{%s"messages":[{"role":"user","content":[%s]}]}`, head, hello))
	if err != nil {
		t.Fatal(err)
	}
	signature := asked.Think("hm")
	thought := fmt.Sprintf(`{"type":"thinking","thinking":"hm","signature":%q},`, signature)
	withheld := fmt.Sprintf(`{"type":"redacted_thinking","data":%q},`, signature)
	for _, c := range []struct{ name, beta, head, first, thought, want string }{
		{"as it was", "", head, hello, thought, "1+0"},
		{"withheld", "", head, hello, withheld, "1+0"},
		{"markers do not count, nor do other fields", withBeta, drop + strings.Replace(head, `"s"}`, `"s","cache_control":{"type":"ephemeral"}}`, 1), marked, thought, "1+0"},
		{"no thought", "", `"tools":[],`, hello, "", "0+0"},
		{"another prompt", "", head, `{"type":"text","text":"hullo"}`, thought, "thinking` block. The block is bound to a different conversation"},
		{"another prompt, withheld", "", head, `{"type":"text","text":"hullo"}`, withheld, "redacted_thinking` block. The block is bound"},
		{"another prompt, and the beta is not asked for", "other", head, `{"type":"text","text":"hullo"}`, thought, "requires the `thinking-binding-controls-2026-08-01` value"},
		{"another system prompt", "", strings.Replace(head, `"s"`, `"t"`, 1), hello, thought, "bound to a different"},
		{"another tool", "", strings.Replace(head, "ls", "cat", 1), hello, thought, "bound to a different"},
		{"twice", "", head, hello, thought + thought, "bound to a different"},
		{"dropped", withBeta, drop + strings.Replace(head, "ls", "cat", 1), hello, thought, "0+1"},
		{"no beta", "other", drop + head, hello, thought, "Extra inputs are not permitted"},
		{"not while thinking is forbidden", bindingBeta, strings.Replace(drop, "adaptive", "disabled", 1) + head, hello, thought, "Extra inputs are not permitted"},
		{"nor while it is only between calls", bindingBeta, strings.Replace(drop, "adaptive", "between_tools", 1) + head, hello, thought, "Extra inputs are not permitted"},
		{"another wish", bindingBeta, strings.Replace(drop, "drop_block", "keep", 1) + head, hello, thought, "Input should be"},
	} {
		b, err := CheckBound(c.beta, boundBody(c.head, c.first, c.thought))
		if got := fmt.Sprint(err); err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		} else if err == nil && fmt.Sprintf("%d+%d", b.Kept, b.Dropped) != c.want {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
}

// What the server says itself is part of what later thoughts are bound to, in the form in
// which it comes back.
func TestAThoughtIsBoundToTheAnswerBeforeIt(t *testing.T) {
	b, err := CheckBound("", []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	first := b.Think("one")
	b.Text("x")
	b.Call("c1", "ls", `{"b": 1, "a": 2}`)
	second := b.Think("two")
	back := fmt.Sprintf(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"one","signature":%q},`+
		`{"type":"text","text":"x"},{"type":"tool_use","id":"c1","name":"ls","input":{"a":2,"b":1}},{"type":"thinking","thinking":"two","signature":%q}]}]}`, first, second)
	if got, err := CheckBound("", []byte(back)); err != nil || got.Kept != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := CheckBound("", []byte(strings.Replace(back, `"x"`, `"y"`, 1))); err == nil {
		t.Error("the second thought goes with another answer before it")
	}
}
