package e2e

import (
	"fmt"
	"io"
	"strings"
)

// responsesAnswer is an answer of the Responses API.
type responsesAnswer struct {
	w     io.Writer
	used  [4]int
	made  int // how many answers the server has given, this one included
	items int
}

func (a *responsesAnswer) event(kind, fields string) {
	fmt.Fprintf(a.w, "event: response.%s\ndata: {\"type\":\"response.%s\",%s}\n\n", kind, kind, fields)
}

// item streams an item: how it begins, its pieces, and all of it.
func (a *responsesAnswer) item(begin, kind string, pieces []string, whole string) {
	a.event("output_item.added", fmt.Sprintf(`"output_index":%d,"item":{%s}`, a.items, begin))
	for _, p := range pieces {
		a.event(kind+".delta", fmt.Sprintf(`"item_id":"i","output_index":%d,"content_index":0,"summary_index":0,"delta":%s`, a.items, quoted(p)))
	}
	a.event("output_item.done", fmt.Sprintf(`"output_index":%d,"item":{%s}`, a.items, whole))
	a.items++
}

// id is one that no other item has.
func (a *responsesAnswer) id(prefix string) string {
	return fmt.Sprintf(`"id":"%s_%d_%d",`, prefix, a.made, a.items)
}

func (a *responsesAnswer) think(s string) {
	head := a.id("rs") + `"type":"reasoning","summary":[`
	a.item(head+`]`, "reasoning_summary_text", []string{s}, head+`{"type":"summary_text","text":`+quoted(s)+`}],"encrypted_content":"c2VhbGVk"`)
}

func (a *responsesAnswer) text(s string) {
	head := a.id("msg") + `"type":"message","role":"assistant","phase":"commentary","content":[`
	a.item(head+`]`, "output_text", strings.SplitAfter(s, " "), head+`{"type":"output_text","annotations":[],"text":`+quoted(s)+`}]`)
}

func (a *responsesAnswer) call(id, name, arguments string) {
	half := len(arguments) / 2
	head := a.id("fc") + fmt.Sprintf(`"type":"function_call","call_id":%q,"name":%q,"arguments":`, id, name)
	a.item(head+`""`, "function_call_arguments", []string{arguments[:half], arguments[half:]}, head+quoted(arguments))
}

func (a *responsesAnswer) end() {
	input := a.used[0] + a.used[2] + a.used[3]
	a.event("completed", fmt.Sprintf(`"response":{"status":"completed","output":[],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"output_tokens":%d,"total_tokens":%d}}`,
		input, a.used[2], a.used[3], a.used[1], input+a.used[1]))
}
