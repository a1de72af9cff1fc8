package wiretest

import (
	"strings"
	"testing"
)

func TestCheckResponsesRefusesWhatTheAPIRefuses(t *testing.T) {
	const (
		user     = `{"role":"user","content":"go"}`
		thought  = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"z"}`
		call     = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}`
		other    = `{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"}`
		output   = `{"type":"function_call_output","call_id":"c1","output":"x"}`
		outputs  = output + `,{"type":"function_call_output","call_id":"c2","output":[{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]}`
		said     = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"a","annotations":[]}]}`
		complete = user + "," + thought + "," + said + "," + call + "," + other + "," + outputs + "," + user
	)
	input := func(items string) string { return `{"model":"m","stream":true,"input":[` + items + `]}` }
	tool := func(more string) string {
		return `{"model":"m","stream":true,"tools":[{"type":"function","name":"f","parameters":` + more + `}],"input":[` + user + `]}`
	}
	for _, c := range []struct{ name, body, want string }{
		{"a whole conversation", input(complete), ""},
		{"one with its system prompt", input(`{"role":"developer","content":"be nice"},` + complete), ""},
		{"an answer that comes first", input(said + "," + user), ""},
		{"a tool that is not strict", tool(`{"type":"object","properties":{"a":{}}},"strict":false`), ""},
		{"a strict tool", tool(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`), ""},
		{"a cache for long", `{"model":"m","stream":true,"prompt_cache_options":{"ttl":"30m"},"input":[` + user + `]}`, ""},

		{"no JSON", `{`, "unexpected"},
		{"no input", input(""), "no input"},
		{"no stream", `{"model":"m","input":[` + user + `]}`, "no stream"},
		{"a field that is not known", `{"model":"m","stream":true,"messages":[],"input":[` + user + `]}`, "messages"},
		{"a small limit", `{"model":"m","stream":true,"max_output_tokens":3,"input":[` + user + `]}`, "max_output_tokens"},
		{"a long cache key", `{"model":"m","stream":true,"prompt_cache_key":"` + strings.Repeat("k", 65) + `","input":[` + user + `]}`, "prompt_cache_key"},
		{"a cache for a time that there is not", `{"model":"m","stream":true,"prompt_cache_retention":"30m","input":[` + user + `]}`, "prompt_cache_retention"},
		{"a cache for two times", `{"model":"m","stream":true,"prompt_cache_retention":"24h","prompt_cache_options":{"ttl":"30m"},"input":[` + user + `]}`, "prompt_cache_options"},
		{"a schema that is strict by default and is not", tool(`{"type":"object","properties":{"a":{}}}`), "strict schema"},
		{"an optional property of a strict schema", tool(`{"type":"object","properties":{"a":{},"b":{}},"required":["a","a"],"additionalProperties":false},"strict":true`), "not required"},
		{"a call without output", input(user + "," + call + "," + user), "no result"},
		{"a call without output at the end", input(user + "," + call), "no result"},
		{"one of two without output before the next answer", input(user + "," + call + "," + other + "," + output + "," + said), "no result"},
		{"an output without a call", input(user + "," + output), "no call"},
		{"a second output", input(user + "," + call + "," + output + "," + output), "no call"},
		{"the same call twice", input(user + "," + call + "," + output + `,{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`), "twice"},
		{"the same item twice", input(user + "," + said + "," + said), "twice"},
		{"arguments that are no object", input(user + `,{"type":"function_call","call_id":"c1","name":"f","arguments":"{"}`), "arguments"},
		{"a name that cannot be", input(user + `,{"type":"function_call","call_id":"c1","name":"f g","arguments":"{}"}`), "name"},
		{"a long id of a call", input(user + `,{"type":"function_call","call_id":"` + strings.Repeat("c", 65) + `","name":"f","arguments":"{}"}`), "bad form"},
		{"a long id of an item", input(user + `,{"type":"function_call","id":"fc_` + strings.Repeat("c", 62) + `","call_id":"c1","name":"f","arguments":"{}"}`), "bad form"},
		{"an id of another kind", input(`{"type":"message","id":"fc_1","role":"assistant","content":"a"}`), "bad form"},
		{"a thought that led to nothing", input(user + "," + thought), "without its required following item"},
		{"nor before somebody else speaks", input(user + "," + thought + "," + user), "without its required following item"},
		{"nor before an output", input(user + "," + call + "," + thought + "," + output), "without its required following item"},
		{"a thought without summary", input(user + `,{"type":"reasoning","encrypted_content":"z"},` + said), "no summary"},
		{"empty text", input(`{"role":"user","content":""}`), "empty text"},
		{"no parts", input(`{"role":"user","content":[]}`), "no content"},
		{"an empty part", input(`{"role":"user","content":[{"type":"input_text","text":""}]}`), "a part"},
		{"a part of another role", input(`{"role":"user","content":[{"type":"output_text","text":"a"}]}`), "a part"},
		{"an image of the model", input(`{"role":"assistant","content":[{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]}`), "a part"},
		{"an image without data", input(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,"}]}`), "a part"},
		{"an unknown item", input(user + `,{"type":"web_search_call","id":"ws_1"}`), "type and role"},
		{"an unknown field of an item", input(`{"role":"user","content":"a","name":"f","thinking":"x"}`), "thinking"},
	} {
		err := CheckResponses([]byte(c.body))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
