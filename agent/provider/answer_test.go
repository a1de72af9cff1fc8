package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

// Events of the Messages API.

const (
	claudeBegin = `{"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}`
	claudeText  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}` // is never closed
	claudeCall  = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x":1}}}`
	claudeStop  = `{"type":"message_stop"}`
)

// claudeReason is the event that says why an answer ends.
func claudeReason(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":5}}`
}

// claudeEnds is an answer of one block that ends for a reason.
func claudeEnds(block, reason string) string {
	return events(claudeBegin, block, claudeReason(reason), claudeStop)
}

// Events of Chat Completions.

const (
	chatCall = `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	chatStop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	chatEnd  = chatStop + "\n\ndata: [DONE]"
)

func chatDelta(delta string) string {
	return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func chatCalls(pieces string) string { return chatDelta(`{"tool_calls":[` + pieces + `]}`) }

func chatFinish(delta, reason string) string {
	return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":"` + reason + `"}]}`
}

// Events of the Responses API.

const (
	textKind    = "output_text"
	summaryKind = "reasoning_summary_text"
	innerKind   = "reasoning_text"
	callKind    = "function_call_arguments"
)

func itemAdded(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func itemDone(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

// itemPiece is a delta; its item id is another one each time.
func itemPiece(kind string, index, part int, text string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","item_id":%q,"output_index":%d,"content_index":%d,"summary_index":%d,"delta":%q,"obfuscation":"xyz"}`, kind, text, index, part, part, text)
}

// itemOf is a delta whose item id is that of its item.
func itemOf(id, kind string, index int, text string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","item_id":%q,"output_index":%d,"delta":%q}`, kind, id, index, text)
}

func itemsEnd(output string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + output + `],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}`
}

func messageItem(id, text string) string {
	return `{"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}`
}

func callItem(call, id, args string) string {
	return fmt.Sprintf(`{"type":"function_call","id":%q,"call_id":%q,"name":"f","arguments":%q}`, id, call, args)
}

// Events of generateContent.

const geminiCall = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}],"role":"model"},"index":0}]}`

// geminiParts is an event with the given parts.
func geminiParts(all ...string) string {
	return `{"candidates":[{"content":{"parts":[` + strings.Join(all, ",") + `],"role":"model"},"index":0}]}`
}

// geminiText is an event with one text; the last one has a reason.
func geminiText(text, finish string) string {
	return `{"candidates":[{"content":{"parts":[{"text":"` + text + `"}]},"finishReason":"` + finish + `"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2}}`
}

// geminiEnds is an answer of one event, and one that says why it ends.
func geminiEnds(event, reason string) string {
	return events(event, `{"candidates":[{"finishReason":"`+reason+`"}]}`)
}

// shape shows the blocks of an answer.
func shape(a wiretest.Answer) string {
	var all []string
	for _, b := range a.Content {
		switch b.Type {
		case message.BlockToolCall:
			all = append(all, fmt.Sprintf("call %s %s %s", b.ID, b.Name, b.Arguments))
		default:
			all = append(all, fmt.Sprintf("%s %q sig %s", b.Type, b.Text, b.Signature))
		}
	}
	for _, raw := range a.Broken {
		all = append(all, "broken "+raw)
	}
	return strings.Join(all, ", ")
}

func TestEventsBecomeTheBlocksOfAnAnswer(t *testing.T) {
	const open = `{"type":"reasoning","id":"rs_1","encrypted_content":"z","summary":[]}`
	const both = `{"type":"reasoning","id":"rs_1","summary":[{"text":"hm"}],"content":[{"text":"hm"}]}`
	const noChoice = `{"index":1,"delta":{"content":"no","tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]},"finish_reason":"length"}`
	ended := func(items ...string) string { return events(append(items, itemsEnd(""))...) }
	server := func(delta string) string { return `{"type":"content_block_delta","index":0,"delta":{` + delta + `}}` }
	for api, cases := range map[string][]struct{ name, stream, want string }{
		"anthropic-messages": {
			// Servers that speak this API in front of other models send the signature whole.
			{"a signature in the start of a block is kept", events(claudeBegin,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"s1=="}}`, `{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"done"}}`, `{"type":"content_block_stop","index":1}`, claudeReason("end_turn"), claudeStop),
				`thinking "hm" sig s1==, text "done" sig `},
			{"arguments of the start of a block count", claudeEnds(claudeCall, "tool_use"), `call a f {"x":1}`},
			{"a block that nobody asked for is skipped whole", events(claudeBegin, `{"type":"content_block_start","index":0,"content_block":{"type":"server_thing","id":"a","name":"f","text":"no","input":{}}}`,
				server(`"type":"text_delta","text":"no"`), server(`"type":"thinking_delta","thinking":"no"`), server(`"type":"signature_delta","signature":"no"`),
				server(`"type":"input_json_delta","partial_json":"{}"`), server(`"type":"new_delta"`), `{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"yes"}}`, claudeReason("end_turn"), claudeStop),
				`text "yes" sig `},
			{"what is no error", events(claudeBegin, `{"error":null}`, claudeReason("end_turn"), claudeStop), ""},
		},
		"openai-completions": {
			{"without index, several", events(chatCalls(`{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}`), chatEnd), "call a f {}, call b g {}"},
			{"without index, in pieces", events(chatCalls(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), chatCalls(`{"function":{"arguments":":1}"}}`), chatEnd), `call a f {"x":1}`},
			{"id and name on each piece", events(chatCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), chatCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`), chatEnd), `call a f {"x":1}`},
			{"another id on each piece", events(chatCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), chatCalls(`{"index":0,"id":"b","function":{"arguments":":1}"}}`), chatEnd), `call a f {"x":1}`},
			{"name after the id", events(chatCalls(`{"index":0,"id":"a"}`), chatCalls(`{"index":0,"function":{"name":"f","arguments":"{}"}}`), chatEnd), "call a f {}"},
			{"id and name after the arguments", events(chatCalls(`{"index":0,"function":{"arguments":"{\"x\""}}`), chatCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`), chatEnd), `call a f {"x":1}`},
			{"never a name", events(chatCalls(`{"index":0,"id":"a","function":{"arguments":"{\"x\""}}`), chatCalls(`{"index":0,"function":{"arguments":":1}"}}`), chatEnd), `call a  {"x":1}`},
			{"no arguments at all", events(chatCalls(`{"index":0,"id":"a","function":{"name":"f"}}`), chatEnd), "call a f {}"},
			{"interleaved", events(chatCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), chatCalls(`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`), chatCalls(`{"index":0,"function":{"arguments":":1}"}}`), chatEnd), `call a f {"x":1}, call b g {}`},
			{"null fields", events(chatCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`), chatCalls(`{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}`), chatEnd), "call a f {}"},
			{"a thought keeps the name it came under", events(chatDelta(`{"reasoning_content":"hm"}`), chatEnd), `thinking "hm" sig reasoning_content`},
			{"or the other", events(chatDelta(`{"reasoning":"hm"}`), chatEnd), `thinking "hm" sig reasoning`},
			{"or the third", events(chatDelta(`{"reasoning_text":"hm"}`), chatEnd), `thinking "hm" sig reasoning_text`},
			{"the first of two", events(chatDelta(`{"reasoning_content":"hm","reasoning":"hm"}`), chatEnd), `thinking "hm" sig reasoning_content`},
			{"details that say the same do not count", events(chatDelta(`{"reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`), chatEnd), `thinking "hm" sig reasoning_content`},
			{"unless they say more", events(chatDelta(`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`), chatEnd), `thinking "hm" sig [{"data":"x","type":"reasoning.encrypted"}]`},
			{"a summary is one", events(chatDelta(`{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]}`), chatEnd), `thinking "hm" sig [{"summary":"hm","type":"reasoning.summary"}]`},
			{"parts of the content are one", events(chatDelta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), chatEnd), `thinking "hm" sig content`},
			{"a thought that is withheld stands where it came", events(chatDelta(`{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`), chatDelta(`{"content":"hi"}`), chatEnd),
				`thinking "" sig [{"data":"x","type":"reasoning.encrypted"}], text "hi" sig `},
			{"what is no UTF-8 is replaced", events(chatDelta("{\"content\":\"a\xff\",\"reasoning\":\"b\xc3\"}"), chatEnd), "thinking \"b\uFFFD\" sig reasoning, text \"a\uFFFD\" sig "},
			{"only the first choice counts", events(`{"choices":[`+noChoice+`]}`, `{"choices":[`+noChoice+`,{"index":0,"delta":{"content":"yes"},"finish_reason":null}]}`, chatEnd), `text "yes" sig `},
			{"what cannot be read spoils nothing behind the reason", events(chatDelta(`{"content":"hi"}`), chatStop, `{"choices":`, "[DONE]"), `text "hi" sig `},
		},
		"openai-responses": {
			// Items are joined by their index.
			{"interleaved", ended(itemAdded(0, callItem("a", "", "")), itemAdded(1, callItem("b", "", "")), itemPiece(callKind, 1, 0, `{"x"`), itemPiece(callKind, 0, 0, `{}`), itemPiece(callKind, 1, 0, `:1}`)),
				`call a f {}, call b f {"x":1}`},
			{"events without a beginning", ended(itemPiece(textKind, 0, 0, "a"), itemPiece(textKind, 0, 1, "b"), itemPiece(callKind, 1, 0, `{"x":`), itemDone(1, callItem("c", "fc", `{"x":1}`))),
				`text "ab" sig , call c|fc f {"x":1}`},
			{"items that come whole", ended(itemDone(0, open), itemDone(1, messageItem("msg_1", "a")), itemDone(2, callItem("c", "", `{"x":1}`))),
				`thinking "" sig ` + open + `, text "a" sig msg_1, call c f {"x":1}`},
			{"arguments at the beginning only", ended(itemAdded(0, callItem("c", "", `{"x":1}`))), `call c f {"x":1}`},
			{"no arguments", ended(itemAdded(0, callItem("c", "", "")), itemAdded(1, callItem("d", "", "")), itemDone(1, callItem("d", "", ""))), `call c f {}, call d f {}`},
			{"arguments as an object", ended(itemDone(0, `{"type":"function_call","call_id":"c","name":"f","arguments":{"x":1}}`)), `call c f {"x":1}`},
			{"arguments that stay incomplete", ended(itemAdded(0, callItem("c", "", "")), itemPiece(callKind, 0, 0, `{"x"`)), `call c f {}, broken {"x"`},
			{"a finished item goes on where the pieces ended", ended(itemPiece(textKind, 0, 0, "a"), itemDone(0, messageItem("msg_1", "abc"))), `text "abc" sig msg_1`},
			{"and wins over other pieces", ended(itemPiece(textKind, 0, 0, "x"), itemDone(0, messageItem("msg_1", "abc")), itemAdded(1, callItem("c", "", "")), itemPiece(callKind, 1, 0, `{"x":2}`), itemDone(1, callItem("c", "", `{"x":1}`))),
				`text "abc" sig msg_1, call c f {"x":1}`},
			{"but not over the same in other words", ended(itemAdded(0, callItem("c", "", "")), itemPiece(callKind, 0, 0, `{ "x":1}`), itemDone(0, callItem("c", "", `{"x":1}`))), `call c f { "x":1}`},
			{"nor when it says nothing", ended(itemPiece(textKind, 0, 0, "a"), itemDone(0, messageItem("msg_1", ""))), `text "a" sig msg_1`},
			{"what follows a finished item is ignored", ended(itemDone(0, messageItem("msg_1", "a")), itemPiece(textKind, 0, 0, "b"), itemDone(0, messageItem("msg_1", "ab"))), `text "a" sig msg_1`},
			{"in order of the index", ended(itemPiece(textKind, 1, 0, "a"), itemPiece(summaryKind, 0, 0, "hm"), itemDone(1, messageItem("", "a"))), `thinking "hm" sig , text "a" sig `},
			{"also what comes last and whole", ended(itemDone(1, messageItem("", "a")), itemDone(0, open)), `thinking "" sig ` + open + `, text "a" sig `},
			{"and calls", ended(itemDone(2, callItem("c", "", "{}")), itemDone(1, callItem("b", "", "{}")), itemPiece(textKind, 0, 0, "a")), `text "a" sig , call b f {}, call c f {}`},
			{"places that stay empty", ended(itemPiece(textKind, 3, 0, "a"), itemAdded(1, `{"type":"web_search_call","id":"ws_1"}`)), `text "a" sig `},
			{"an index far away", ended(itemPiece(textKind, 1<<40, 0, "a")), `text "a" sig `},
			{"thoughts in the open", ended(itemPiece(innerKind, 0, 0, "a"), itemPiece(innerKind, 0, 1, "b")), "thinking \"a\\n\\nb\" sig "},
			{"thoughts that come twice", ended(itemPiece(summaryKind, 0, 0, "hm"), itemPiece(innerKind, 0, 0, "hm"), itemDone(0, both)), `thinking "hm" sig ` + both},
			{"an unknown event and unknown items", ended(`{"type":"response.new_thing","delta":{"a":1}}`, itemAdded(0, `{"type":"mcp_call","id":"m"}`), itemPiece(textKind, 0, 0, "no"), itemDone(0, `{"type":"mcp_call","id":"m","name":"f","arguments":"{}"}`), itemPiece(textKind, 1, 0, "a")), `text "a" sig `},
			{"a refusal is what the model says", ended(itemPiece("refusal", 0, 0, "I can't")), `text "I can't" sig `},
			{"a finished refusal", ended(itemDone(0, `{"type":"message","id":"msg_1","content":[{"type":"refusal","refusal":"I can't"}]}`)), `text "I can't" sig msg_1`},
			// Items that share an index are told apart.
			{"calls one after the other", ended(
				itemAdded(0, callItem("a", "fc_1", "")), itemOf("fc_1", callKind, 0, `{"x":1}`), itemDone(0, callItem("a", "fc_1", `{"x":1}`)),
				itemAdded(0, callItem("b", "fc_2", "")), itemOf("fc_2", callKind, 0, `{"x":2}`), itemDone(0, callItem("b", "fc_2", `{"x":2}`))),
				`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
			{"a thought, and a message and a call behind it", ended(
				itemAdded(0, open), itemDone(0, open), itemAdded(1, messageItem("msg_1", "")), itemOf("msg_1", textKind, 1, "a"),
				itemAdded(1, callItem("c", "fc_1", "")), itemOf("fc_1", callKind, 1, `{"x":1}`), itemDone(1, callItem("c", "fc_1", `{"x":1}`)),
				itemOf("msg_1", textKind, 1, "b"), itemDone(1, messageItem("msg_1", "ab"))),
				`thinking "" sig ` + open + `, text "ab" sig msg_1, call c|fc_1 f {"x":1}`},
			{"calls whose pieces interleave", ended(
				itemAdded(0, callItem("a", "fc_1", "")), itemAdded(0, callItem("b", "fc_2", "")), itemOf("fc_2", callKind, 0, `{"x"`), itemOf("fc_1", callKind, 0, `{}`), itemOf("fc_2", callKind, 0, `:2}`),
				itemDone(0, callItem("a", "fc_1", `{}`)), itemDone(0, callItem("b", "fc_2", `{"x":2}`))),
				`call a|fc_1 f {}, call b|fc_2 f {"x":2}`},
			{"a piece of an unknown id goes to the newest", ended(
				itemAdded(0, callItem("a", "fc_1", "")), itemDone(0, callItem("a", "fc_1", `{}`)), itemAdded(0, callItem("b", "fc_2", "")), itemPiece(callKind, 0, 0, `{"x":2}`)),
				`call a|fc_1 f {}, call b|fc_2 f {"x":2}`},
			{"one of a known id to its item, whatever its index", ended(
				itemAdded(0, callItem("a", "fc_1", "")), itemAdded(1, callItem("b", "fc_2", "")), itemOf("fc_2", callKind, 0, `{"x":2}`)),
				`call a|fc_1 f {}, call b|fc_2 f {"x":2}`},
			{"an id that all items have says nothing", ended(
				itemAdded(0, callItem("a", "i", "")), itemAdded(1, callItem("b", "i", "")), itemOf("i", callKind, 0, `{"x":1}`), itemOf("i", callKind, 1, `{"x":2}`)),
				`call a|i f {"x":1}, call b|i f {"x":2}`},
			{"the same id of an item, another call", ended(
				itemAdded(0, callItem("a", "fc_1", "")), itemDone(0, callItem("a", "fc_1", `{"x":1}`)), itemAdded(0, callItem("b", "fc_1", "")), itemDone(0, callItem("b", "fc_1", `{"x":2}`))),
				`call a|fc_1 f {"x":1}, call b|fc_1 f {"x":2}`},
			{"the same item twice", ended(
				itemAdded(0, callItem("a", "fc_1", "")), itemAdded(0, callItem("b", "fc_2", "")), itemAdded(0, callItem("a", "fc_1", "")), itemDone(0, callItem("a", "fc_1", `{"x":1}`)), itemDone(0, callItem("b", "fc_2", `{"x":2}`)), itemDone(0, callItem("a", "fc_1", `{"x":1}`))),
				`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
			{"items that come whole", ended(itemDone(0, messageItem("msg_1", "a")), itemDone(0, callItem("a", "fc_1", `{"x":1}`)), itemDone(0, callItem("b", "fc_2", `{"x":2}`))),
				`text "a" sig msg_1, call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
			{"a whole call while another is open", ended(itemAdded(0, callItem("a", "fc_1", "")), itemDone(0, callItem("b", "fc_2", `{"x":2}`)), itemDone(0, callItem("a", "fc_1", `{"x":1}`))),
				`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
			{"words without a beginning, then a call", ended(itemPiece(textKind, 0, 0, "a"), itemAdded(0, callItem("a", "fc_1", "")), itemDone(0, callItem("a", "fc_1", `{"x":1}`))),
				`text "a" sig , call a|fc_1 f {"x":1}`},
			{"an item whose id is another one each time", ended(itemAdded(0, callItem("a", "x1", "")), itemPiece(callKind, 0, 0, `{"x":1}`), itemDone(0, callItem("a", "x2", `{"x":1}`)), itemAdded(1, messageItem("x3", "")), itemPiece(textKind, 1, 0, "a"), itemDone(1, messageItem("x4", "a"))),
				`call a|x1 f {"x":1}, text "a" sig x4`},
			{"a call whose ids are others in each event", ended(
				itemAdded(0, callItem("a", "x1", "")), itemPiece(callKind, 0, 0, `{"x":1}`), itemDone(0, callItem("b", "", `{"x":1}`))),
				`call a|x1 f {"x":1}`},
			{"a whole call that comes again with another id of its item", ended(
				itemAdded(0, callItem("a", "x1", "")), itemDone(0, callItem("a", "x2", `{"x":1}`)), itemDone(0, callItem("a", "x3", `{"x":1}`))),
				`call a|x1 f {"x":1}`},
			{"an index that a shared one took", ended(
				itemAdded(0, callItem("a", "fc_1", "")), itemAdded(0, callItem("b", "fc_2", "")), itemAdded(1, callItem("c", "fc_3", "")), itemPiece(callKind, 1, 0, `{"x":3}`), itemOf("fc_2", callKind, 0, `{"x":2}`), itemDone(1, callItem("c", "fc_3", `{"x":3}`))),
				`call a|fc_1 f {}, call b|fc_2 f {"x":2}, call c|fc_3 f {"x":3}`},
			// The list at the end finishes what was not.
			{"an answer without events", events(itemsEnd(open + "," + callItem("c", "fc_1", `{"x":1}`))), `thinking "" sig ` + open + `, call c|fc_1 f {"x":1}`},
			{"items that are not finished, by their ids", events(itemAdded(0, open), itemAdded(1, callItem("c", "fc_1", "")), itemPiece(callKind, 1, 0, `{"x"`), itemsEnd(callItem("c", "fc_1", `{"x":1}`)+","+open)),
				`thinking "" sig ` + open + `, call c|fc_1 f {"x":1}`},
			{"or their place, where they have none", events(itemPiece(textKind, 0, 0, "ab"), itemsEnd(messageItem("msg_1", "abc"))), `text "abc" sig msg_1`},
			{"a call that never came", events(itemAdded(0, callItem("a", "fc_1", "")), itemDone(0, callItem("a", "fc_1", `{"x":1}`)), itemsEnd(callItem("a", "fc_1", `{"x":1}`)+","+callItem("b", "fc_2", `{"x":2}`))),
				`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
			{"also behind a message", events(itemAdded(0, messageItem("msg_1", "")), itemPiece(textKind, 0, 0, "a"), itemDone(0, messageItem("msg_1", "a")), itemsEnd(messageItem("msg_1", "a")+","+callItem("b", "fc_2", `{"x":2}`))),
				`text "a" sig msg_1, call b|fc_2 f {"x":2}`},
			{"not one that came with another id of its item", events(itemAdded(0, callItem("a", "x1", "")), itemDone(0, callItem("a", "x2", `{"x":1}`)), itemsEnd(callItem("a", "x9", `{"x":1}`))),
				`call a|x1 f {"x":1}`},
			{"nor one that has the same to say under another id", events(itemAdded(0, callItem("a", "x1", "")), itemDone(0, callItem("b", "", `{"x":1}`)), itemsEnd(callItem("c", "", `{"x": 1}`))),
				`call a|x1 f {"x":1}`},
			{"but the same once more", events(itemDone(0, callItem("a", "x1", `{"x":1}`)), itemsEnd(callItem("c", "", `{"x":1}`)+","+callItem("d", "", `{"x":1}`))),
				`call a|x1 f {"x":1}, call d f {"x":1}`},
			{"and the same as one that is in the list itself", events(itemDone(0, callItem("a", "x1", `{"x":1}`)), itemsEnd(callItem("a", "x1", `{"x":1}`)+","+callItem("d", "", `{"x":1}`))),
				`call a|x1 f {"x":1}, call d f {"x":1}`},
			{"an open call of that id", events(itemAdded(3, callItem("a", "x1", "")), itemsEnd(callItem("a", "x9", `{"x":1}`))), `call a|x1 f {"x":1}`},
			{"those that are finished stay", events(itemDone(0, messageItem("msg_1", "a")), itemsEnd(messageItem("msg_1", "other"))), `text "a" sig msg_1`},
		},
		"google-generative-ai": {
			{"only the first candidate counts, and unknown parts are skipped", events(`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"SAFETY"},{"index":0,"content":{"parts":[` +
				`{"executableCode":{"code":"1"}},{"codeExecutionResult":{}},{"inlineData":{"data":"QUJD","mimeType":"image/png"},"thoughtSignature":"c2ln"},{"fileData":{}},{"text":"yes"}]},"finishReason":"STOP"}]}`),
				`text "yes" sig `},
		},
	} {
		for _, c := range cases {
			t.Run(api+"/"+c.name, func(t *testing.T) {
				a := answered(t, api, c.stream)
				if got := shape(a); got != c.want || a.Err != nil {
					t.Errorf("got  %s\nwant %s\n%v", got, c.want, a.Err)
				}
				want := message.StopEnd
				if len(a.Calls()) > 0 {
					want = message.StopToolUse
				}
				if a.Stop.Reason != want {
					t.Errorf("it stops with %+v", a.Stop)
				}
			})
		}
	}
}

// What came without an id of its call may be any call of the list, so none is added.
func TestACallWithoutAnIDIsNotRunTwice(t *testing.T) {
	a := answered(t, "openai-responses", events(itemDone(0, callItem("", "", `{"x":1}`)), itemsEnd(callItem("a", "fc_1", `{"x":1}`))))
	if a.Err != nil || len(a.Calls()) != 1 {
		t.Errorf("%s", a)
	}
}

// The ids that were given stay, but for one that stands there twice.
func TestIDsOfCallsAreMadeWhereTheyAreMissingOrRepeated(t *testing.T) {
	for api, c := range map[string]struct{ stream, given string }{
		"openai-completions":   {events(chatCalls(`{"index":0,"id":"","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"0","function":{"name":"f","arguments":"{}"}},{"index":2,"id":"0","function":{"name":"f","arguments":"{}"}}`), chatEnd), "0"},
		"openai-responses":     {events(itemDone(0, callItem("", "fc_1", "{}")), itemDone(1, callItem("0", "", "{}")), itemDone(2, callItem("0", "", "{}")), itemsEnd("")), "0"},
		"google-generative-ai": {events(geminiParts(`{"functionCall":{"name":"f"}}`, `{"functionCall":{"name":"f","id":""}}`, `{"functionCall":{"name":"f","id":"g"}}`), geminiText("", "STOP")), "g"},
	} {
		seen := map[string]bool{"": true}
		for _, b := range answered(t, api, c.stream).Calls() {
			id, _, _ := strings.Cut(b.ID, "|")
			if seen[id] || api == "google-generative-ai" && id != c.given && !strings.HasPrefix(id, "call_pi_") {
				t.Errorf("%s: id %q", api, b.ID)
			}
			seen[id] = true
		}
		if len(seen) != 4 || !seen[c.given] {
			t.Errorf("%s: %v", api, seen)
		}
	}
}

func TestTheEndIsMapped(t *testing.T) {
	end := func(kind, response string) string {
		return events(`{"type":"response.` + kind + `","response":` + response + `}`)
	}
	for api, cases := range map[string][]struct {
		stream string
		want   message.StopReason
		raw    string
	}{
		"anthropic-messages": {
			{claudeEnds(claudeText, "end_turn"), message.StopEnd, "end_turn"}, {claudeEnds(claudeText, "stop_sequence"), message.StopEnd, "stop_sequence"}, {claudeEnds(claudeText, "stop"), message.StopEnd, "stop"}, {claudeEnds(claudeCall, "tool_calls"), message.StopToolUse, "tool_calls"},
			{claudeEnds(claudeCall, "tool_use"), message.StopToolUse, "tool_use"}, {claudeEnds(claudeCall, "end_turn"), message.StopToolUse, "end_turn"}, {claudeEnds(claudeText, "tool_use"), message.StopEnd, "tool_use"},
			{claudeEnds(claudeText, ""), message.StopEnd, ""}, {claudeEnds(claudeText, "new_word"), llm.StopRefusal, "new_word"}, {claudeEnds(claudeCall, "new_word"), llm.StopRefusal, "new_word"}, {claudeEnds(claudeText, "content_filter"), llm.StopRefusal, "content_filter"},
			{claudeEnds(claudeText, "length"), message.StopLength, "length"}, {claudeEnds(claudeCall, "max_tokens"), message.StopLength, "max_tokens"}, {claudeEnds(claudeText, "model_context_window_exceeded"), message.StopLength, "model_context_window_exceeded"},
			{claudeEnds(claudeText, "refusal"), llm.StopRefusal, "refusal"}, {claudeEnds(claudeText, "sensitive"), llm.StopRefusal, "sensitive"}, {claudeEnds(claudeText, "pause_turn"), llm.StopPause, "pause_turn"},
			{events(claudeBegin, claudeText, claudeReason("max_tokens"), `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":6}}`, claudeStop), message.StopLength, "max_tokens"},
		},
		"openai-completions": {
			{events(chatFinish(`{}`, "stop")), message.StopEnd, "stop"}, {events(chatFinish(`{}`, "end")), message.StopEnd, "end"}, {events(chatFinish(`{}`, "whatever")), message.StopEnd, "whatever"},
			{events(chatFinish(`{}`, "tool_calls")), message.StopEnd, "tool_calls"}, {events(chatFinish(chatCall, "stop")), message.StopToolUse, "stop"}, {events(chatFinish(chatCall, "tool_calls")), message.StopToolUse, "tool_calls"},
			{events(chatFinish(`{}`, "length")), message.StopLength, "length"}, {events(chatFinish(chatCall, "length")), message.StopLength, "length"}, {events(chatFinish(`{}`, "model_length")), message.StopLength, "model_length"},
			{events(chatFinish(`{}`, "content_filter")), llm.StopRefusal, "content_filter"}, {events(chatFinish(`{}`, "sensitive")), llm.StopRefusal, "sensitive"}, {events(chatFinish(`{"refusal":"I will not"}`, "stop")), llm.StopRefusal, "stop"},
		},
		"openai-responses": {
			{end("completed", `{"status":"completed"}`), message.StopEnd, "completed"},
			{end("completed", `{}`), message.StopEnd, "completed"},
			{end("done", `{"status":"completed"}`), message.StopEnd, "completed"},
			{events(`{"type":"response.completed"}`), message.StopEnd, "completed"},
			{events(itemDone(0, callItem("c", "", "{}"))) + end("completed", `{"status":"completed"}`), message.StopToolUse, "completed"},
			{events(itemDone(0, callItem("c", "", "{}"))) + end("incomplete", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`), message.StopLength, "incomplete:max_output_tokens"},
			{end("incomplete", `{"incomplete_details":{"reason":"content_filter"}}`), llm.StopRefusal, "incomplete:content_filter"},
			{end("incomplete", `{"incomplete_details":null}`), message.StopLength, "incomplete"},
			{end("completed", `{}`) + "data: [DONE]\n\n", message.StopEnd, "completed"},
			{"data: [DONE]\n\n" + end("completed", `{}`), message.StopEnd, "completed"},
		},
		"google-generative-ai": {
			{geminiEnds(geminiParts(), "STOP"), message.StopEnd, "STOP"}, {geminiEnds(geminiCall, "STOP"), message.StopToolUse, "STOP"}, {geminiEnds(geminiParts(), "FINISH_REASON_UNSPECIFIED"), message.StopEnd, "FINISH_REASON_UNSPECIFIED"},
			{geminiEnds(geminiParts(), "stop"), message.StopEnd, "stop"}, {geminiEnds(geminiParts(), "NEW_WORD"), llm.StopRefusal, "NEW_WORD"}, {geminiEnds(geminiCall, "NEW_WORD"), llm.StopRefusal, "NEW_WORD"}, {geminiEnds(geminiCall, "MAX_TOKENS"), message.StopLength, "MAX_TOKENS"}, {geminiEnds(`{}`, "MAX_TOKENS"), message.StopLength, "MAX_TOKENS"},
			{geminiEnds(geminiParts(), "SAFETY"), llm.StopRefusal, "SAFETY"}, {geminiEnds(geminiParts(), "RECITATION"), llm.StopRefusal, "RECITATION"}, {geminiEnds(geminiParts(), "BLOCKLIST"), llm.StopRefusal, "BLOCKLIST"},
			{geminiEnds(geminiCall, "PROHIBITED_CONTENT"), llm.StopRefusal, "PROHIBITED_CONTENT"}, {geminiEnds(geminiParts(), "SPII"), llm.StopRefusal, "SPII"}, {geminiEnds(geminiParts(), "LANGUAGE"), llm.StopRefusal, "LANGUAGE"},
		},
	} {
		for _, c := range cases {
			a := answered(t, api, c.stream)
			if a.Err != nil || a.Stop.Reason != c.want || a.Stop.Raw != c.raw || (a.Stop.Message == "") == (c.want == llm.StopRefusal) {
				t.Errorf("%s: %s: %s", api, c.stream, a)
			}
		}
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	for api, cases := range map[string]map[string]string{
		"openai-completions": {events(chatFinish(`{"refusal":"I will not"}`, "stop")): "I will not"},
		"google-generative-ai": {
			events(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":8}}`):                                "the service refused the prompt",
			events(`{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"not this"},"usageMetadata":{"promptTokenCount":8}}`): "not this",
		},
	} {
		for stream, want := range cases {
			a := answered(t, api, stream)
			if a.Err != nil || a.Stop.Reason != llm.StopRefusal || a.Stop.Message != want || api == "google-generative-ai" && (a.Usage == nil || a.Usage.Input != 8) {
				t.Errorf("%s: %s", stream, a)
			}
		}
	}
}

// failure is the error of an answer; what is empty does not matter.
type failure struct {
	kind, code, message string
	status              int
	retry, overflow     bool
}

func TestAFailureInTheStreamIsReportedOnce(t *testing.T) {
	failed := events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no"}}}`)
	type cases []struct {
		name, stream string
		want         failure
	}
	all := map[string]cases{
		"anthropic-messages": {
			{"an error without a type is one", events(`{"error":{"message":"upstream is gone","code":502}}`, claudeReason("end_turn"), claudeStop), failure{message: "upstream is gone", status: 502, retry: true}},
		},
		"openai-completions": {
			{"unreadable before the end", events(`{"choices":`, chatEnd), failure{message: "the answer holds something that cannot be read", retry: true}},
		},
		"openai-responses": {
			{"error at the top", events(`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null,"sequence_number":3}`) + failed, failure{code: "rate_limit_exceeded", message: "slow down", retry: true}},
			{"error under its name", events(`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no credit"}}`) + failed, failure{code: "insufficient_quota", message: "no credit", retry: false}},
			{"error without a type", events(`{"error":{"code":502,"message":"upstream"}}`), failure{code: "502", message: "upstream", retry: true}},
			{"error by the name of the event", "event: error\n" + events(`{"message":"no"}`), failure{code: "", message: "no", retry: true}},
			{"failed", failed, failure{code: "server_error", message: "no", retry: true}},
			{"failed without a word", events(`{"type":"response.failed","response":{"error":null}}`), failure{code: "server_error", message: "the server gave up the answer", retry: true}},
			{"cancelled", events(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), failure{code: "cancelled", message: "the server gave up the answer", retry: false}},
			{"cut off", "", failure{code: "", message: "the answer ended early", retry: true}},
			{"an error that is none", events(`{"error":null}`), failure{code: "", message: "the answer ended early", retry: true}},
			{"cut off behind its mark", "data: [DONE]\n\n", failure{code: "", message: "the answer ended early", retry: true}},
			{"unreadable", "data: {\"type\n\n", failure{code: "", message: "the answer holds something that cannot be read", retry: true}},
			{"an overflow", events(`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`), failure{overflow: true}},
			{"an overflow that failed", events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Please adjust your input"}}}`), failure{overflow: true}},
		},
		"google-generative-ai": {
			{"an error by the name of the event", "event: error\n" + events(`{"message":"no room","code":503}`, geminiText("", "STOP")), failure{message: "no room", status: 503, retry: true}},
			{"cut off behind a call", events(geminiCall, "[DONE]"), failure{message: "the answer ended early", retry: true}},
		},
	}
	for kind, retry := range map[string]bool{"overloaded_error": true, "api_error": true, "rate_limit_error": true, "invalid_request_error": false, "authentication_error": false} {
		all["anthropic-messages"] = append(all["anthropic-messages"], cases{{kind, "event: error\n" + events(`{"type":"error","error":{"type":"`+kind+`","message":"no"}}`), failure{kind: kind, message: "no", retry: retry}}}...)
	}
	for _, reason := range []string{"error", "network_error", "insufficient_system_resource"} {
		all["openai-completions"] = append(all["openai-completions"], cases{{reason, events(chatFinish(`{}`, reason)), failure{message: "the server gave up the answer: " + reason, retry: true}}}...)
	}
	for _, form := range []string{`{"error":%}`, `[{"error":%}]`, `{"candidates":[],"error":%}`} {
		for _, e := range []struct {
			kind, object string
			retry        bool
		}{
			{"UNAVAILABLE", `{"code":503,"message":"no","status":"UNAVAILABLE"}`, true},
			{"RESOURCE_EXHAUSTED", `{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}`, true},
			{"INTERNAL", `{"code":500,"message":"no","status":"INTERNAL"}`, true},
			{"INVALID_ARGUMENT", `{"code":400,"message":"no","status":"INVALID_ARGUMENT"}`, false},
			{"PERMISSION_DENIED", `{"code":403,"message":"no","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"X"}]}`, false},
		} {
			all["google-generative-ai"] = append(all["google-generative-ai"], cases{{e.kind + " in " + form, events(strings.Replace(form, "%", e.object, 1)), failure{kind: e.kind, message: "no", retry: e.retry}}}...)
		}
	}
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE", "OTHER"} {
		all["google-generative-ai"] = append(all["google-generative-ai"], cases{{reason, events(`{"candidates":[{"finishReason":"` + reason + `","finishMessage":"so it is"}]}`), failure{kind: reason, message: "so it is", retry: true}}}...)
	}
	hi := map[string]string{"anthropic-messages": events(claudeBegin, claudeText), "openai-completions": events(chatDelta(`{"content":"hi"}`)),
		"openai-responses": events(itemPiece(textKind, 0, 0, "hi")), "google-generative-ai": events(geminiParts(`{"text":"hi"}`))}
	for api, cases := range all {
		for _, c := range cases {
			t.Run(api+"/"+c.name, func(t *testing.T) {
				a := answered(t, api, hi[api]+c.stream)
				e, want := providerError(t, a.Err), c.want
				if want.kind != "" && e.Type != want.kind || want.code != "" && e.Code != want.code || !strings.HasPrefix(e.Message, want.message) || want.status != 0 && e.Status != want.status ||
					e.Retryable != want.retry || e.Overflow != want.overflow {
					t.Errorf("%+v", e)
				}
				if a.Text(message.BlockText) != "hi" || a.Stop.Reason != "" {
					t.Errorf("%s", a)
				}
			})
		}
		for _, stream := range []string{"", hi[api]} {
			if e := providerError(t, answered(t, api, stream).Err); !e.Retryable || e.Message != "the answer ended early" {
				t.Errorf("%s: cut off: %+v", api, e)
			}
		}
	}
}

func TestHowLongToWaitIsReadFromTheDetails(t *testing.T) {
	const body = `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}`
	if e := refused(t, "google-generative-ai", "", 429, body); !e.Retryable || e.RetryAfter != 34070*time.Millisecond {
		t.Errorf("%+v", e)
	}
}

func TestUsageIsCountedOnce(t *testing.T) {
	chatUsage := func(usage string) string { return events(chatStop, `{"choices":[],"usage":`+usage+`}`, "[DONE]") }
	itemsUsage := func(usage string) string {
		return events(`{"type":"response.completed","response":{"usage":` + usage + `}}`)
	}
	const counts = `{"prompt_tokens":10,"completion_tokens":5}`
	finish := func(more, inner string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"` + inner + `}]` + more + "}\n\n"
	}
	const done = "data: [DONE]\n\n"
	five := message.Usage{Input: 10, Output: 5, TotalTokens: 15}
	for api, cases := range map[string][]struct {
		name, stream string
		want         *message.Usage
	}{
		"anthropic-messages": {
			{"it is overwritten, not added", events(`{"type":"message_start","message":{"usage":{"input_tokens":4,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":5,"cache_read_input_tokens":null,"output_tokens":9}}`, claudeStop),
				&message.Usage{Input: 5, Output: 9, CacheRead: 100, CacheWrite: 20, TotalTokens: 134}},
			{"also behind the reason", events(claudeBegin, claudeText, claudeReason("max_tokens"), `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":6}}`, claudeStop),
				&message.Usage{Input: 10, Output: 6, TotalTokens: 16}},
		},
		"openai-completions": {
			{"plain", chatUsage(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`), &message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
			{"cached tokens are part of the prompt", chatUsage(`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":6,"cache_write_tokens":3}}`), &message.Usage{Input: 1, Output: 5, CacheRead: 6, CacheWrite: 3, TotalTokens: 15}},
			{"cached under another name", chatUsage(`{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":6}`), &message.Usage{Input: 4, Output: 5, CacheRead: 6, TotalTokens: 15}},
			{"reasoning is part of the completion", chatUsage(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":3}}`), &message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
			{"unless the total says otherwise", chatUsage(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":3}}`), &message.Usage{Input: 10, Output: 8, TotalTokens: 18}},
			{"nulls and nonsense", chatUsage(`{"prompt_tokens":10,"completion_tokens":null,"prompt_tokens_details":"none"}`), &message.Usage{Input: 10, TotalTokens: 10}},
			// It is found wherever it stands.
			{"a chunk of its own", finish("", "") + `data: {"choices":[],"usage":` + counts + "}\n\n" + done, &five},
			{"the finishing chunk", finish(`,"usage":`+counts, "") + done, &five},
			{"a repeated finish", finish(`,"usage":null`, "") + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":` + counts + "}\n\n" + done, &five},
			{"every chunk", finish(`,"usage":{"prompt_tokens":10,"completion_tokens":1}`, "") + `data: {"choices":[],"usage":` + counts + "}\n\n", &five},
			{"a field of Groq", finish(`,"x_groq":{"usage":`+counts+"}", "") + done, &five},
			{"the choice", finish("", `,"usage":`+counts) + done, &five},
			{"a choice that is no other", `data: {"choices":[{"index":1,"usage":{"prompt_tokens":99}},{"index":0,"delta":{"content":"hi"},"finish_reason":"stop","usage":` + counts + "}]}\n\n" + done, &five},
		},
		"openai-responses": {
			{"plain", itemsUsage(`{"input_tokens":10,"output_tokens":5,"total_tokens":15}`), &message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
			{"cached tokens are part of the input", itemsUsage(`{"input_tokens":10,"output_tokens":5,"input_tokens_details":{"cached_tokens":6,"cache_write_tokens":3}}`), &message.Usage{Input: 1, Output: 5, CacheRead: 6, CacheWrite: 3, TotalTokens: 15}},
			{"reasoning is part of the output", itemsUsage(`{"input_tokens":10,"output_tokens":5,"total_tokens":15,"output_tokens_details":{"reasoning_tokens":3}}`), &message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
			{"unless the total says otherwise", itemsUsage(`{"input_tokens":10,"output_tokens":5,"total_tokens":18,"output_tokens_details":{"reasoning_tokens":3}}`), &message.Usage{Input: 10, Output: 8, TotalTokens: 18}},
			{"nulls and nonsense", itemsUsage(`{"input_tokens":10,"output_tokens":null,"input_tokens_details":"none"}`), &message.Usage{Input: 10, TotalTokens: 10}},
			{"none", itemsUsage("null"), nil},
		},
		"google-generative-ai": {
			{"it is overwritten, not added", events(`{"usageMetadata":{"trafficType":"ON_DEMAND"}}`, `{"usageMetadata":{"promptTokenCount":120,"candidatesTokenCount":1,"thoughtsTokenCount":50,"cachedContentTokenCount":100}}`,
				geminiText("hi", "STOP"), `{"usageMetadata":{"promptTokenCount":125,"candidatesTokenCount":9,"cachedContentTokenCount":null}}`), &message.Usage{Input: 25, Output: 59, CacheRead: 100, TotalTokens: 184}},
			{"without counts it is none", events(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"trafficType":"ON_DEMAND"}}`), nil},
		},
	} {
		for _, c := range cases {
			a := answered(t, api, c.stream)
			if a.Err != nil || (a.Usage == nil) != (c.want == nil) || c.want != nil && *a.Usage != *c.want || strings.Contains(c.stream, `"hi"`) && a.Text(message.BlockText) != "hi" {
				t.Errorf("%s: %s: %s", api, c.name, a)
			}
		}
	}
}

func TestUsageHasItsPrice(t *testing.T) {
	for api, stream := range map[string]string{
		"anthropic-messages":   events(`{"type":"message_start","message":{"usage":{"input_tokens":1000000,"output_tokens":500000}}}`, claudeReason("end_turn"), claudeStop),
		"openai-completions":   events(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":500000}}`),
		"openai-responses":     events(`{"type":"response.completed","response":{"usage":{"input_tokens":1000000,"output_tokens":500000}}}`),
		"google-generative-ai": events(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1000000,"candidatesTokenCount":500000}}`),
	} {
		m := modelOf(api)
		m.Cost = &llm.Price{Input: 2, Output: 8}
		var usage *message.Usage
		for _, d := range deltasOf(t, &llm.Request{Model: m}, strings.Replace(stream, `"output_tokens":5}`, `"output_tokens":500000}`, 1)) {
			if d.Kind == llm.DeltaUsage {
				usage = d.Usage
			}
		}
		if usage == nil || usage.Cost != (message.Cost{Input: 2, Output: 4, Total: 6}) {
			t.Errorf("%s: %+v", api, usage)
		}
	}
}

// deltasOf are the deltas of a whole answer.
func deltasOf(t *testing.T, r *llm.Request, stream string) (out []llm.Delta) {
	t.Helper()
	f := wiretest.Folder{Status: http.StatusOK}
	p := client(t, r.Model.API)(f.Client(func() io.Reader { return strings.NewReader(stream) }))
	for d, err := range p.Stream(context.Background(), r) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

func TestEveryEventIsASignOfLife(t *testing.T) {
	const ping, usage, text, stop = llm.DeltaPing, llm.DeltaUsage, llm.DeltaText, llm.DeltaStop
	for api, c := range map[string]struct {
		stream string
		want   []llm.DeltaKind
	}{
		"anthropic-messages":   {events(`{"type":"ping"}`, `{"type":"new_event"}`) + claudeEnds(claudeText, "end_turn"), []llm.DeltaKind{ping, ping, ping, usage, text, usage, stop}},
		"openai-completions":   {events(chatDelta(`{}`), chatDelta(`{"content":"hi"}`), chatEnd), []llm.DeltaKind{ping, ping, text, ping, stop}},
		"openai-responses":     {events(`{"type":"response.created"}`, `{"type":"response.new"}`, itemAdded(0, messageItem("", "")), itemPiece(textKind, 0, 0, "a"), itemsEnd("")), []llm.DeltaKind{ping, ping, ping, ping, text, usage, stop}},
		"google-generative-ai": {events(`{"responseId":"x"}`, geminiParts(`{"text":""}`), geminiText("hi", "STOP")), []llm.DeltaKind{ping, ping, ping, text, usage, stop}},
	} {
		var kinds []llm.DeltaKind
		for _, d := range deltasOf(t, &llm.Request{Model: modelOf(api)}, ": hi\n\n"+c.stream) {
			kinds = append(kinds, d.Kind)
		}
		if !slices.Equal(kinds, c.want) {
			t.Errorf("%s: deltas %v; want %v", api, kinds, c.want)
		}
	}
}

// Claude Sonnet 5.5 says what it does between its calls in thoughts, where it does not think.
func TestWhatIsSaidBetweenCallsIsMarkedAsSpoken(t *testing.T) {
	stream := events(claudeBegin, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"I "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"look"}}`, `{"type":"content_block_stop","index":0}`, claudeReason("end_turn"), claudeStop)
	for _, c := range []struct {
		id, level string
		off       string // the switch thinking_off
		spoken    bool
	}{
		{"claude-sonnet-5-5", "", "between_tools", true},
		{"claude-sonnet-5-5", "off", "between_tools", true},
		{"claude-sonnet-5-5", "low", "between_tools", false},
		{"claude-opus-5-5", "off", "low", false},
		{"claude-haiku-5-5", "off", "disabled", false},
	} {
		m := claude(c.id)
		m.Compat = map[string]any{"adaptive_thinking": true, "thinking_off": c.off}
		n := 0
		for _, delta := range deltasOf(t, &llm.Request{Model: m, Thinking: c.level}, stream) {
			if delta.Kind == llm.DeltaThinking {
				if n++; delta.Spoken != c.spoken {
					t.Errorf("%s at %q: %+v", c.id, c.level, delta)
				}
			}
		}
		if n != 2 {
			t.Errorf("%s at %q: %d thoughts", c.id, c.level, n)
		}
	}
}

// With thinking on it does so as well, beside its other thoughts.
func TestAThoughtBeforeACallIsSpokenBetweenCalls(t *testing.T) {
	calls := []*message.Message{{Role: message.RoleAssistant, Content: []message.Block{{Type: message.BlockToolCall, ID: "a", Name: "f"}}},
		{Role: message.RoleToolResult, ToolCallID: "a", ToolName: "f"}, {Role: message.RoleUser, Content: []message.Block{message.TextBlock("and?")}}}
	const thought, call, text = `"type":"thinking","thinking":"hm"`, `"type":"tool_use","id":"b","name":"f"`, `"type":"text","text":"so"`
	for _, c := range []struct {
		name     string
		off      string // the switch thinking_off
		messages []*message.Message
		blocks   []string
		spoken   []int
	}{
		{"behind a call", "between_tools", calls[:2], []string{thought, call}, []int{0}},
		{"and what was steered", "between_tools", calls, []string{thought, thought, call, thought, call}, []int{1, 3}},
		{"the first thought is none", "between_tools", calls[2:], []string{thought, call}, nil},
		{"but the next may be", "between_tools", calls[2:], []string{thought, thought, call}, []int{1}},
		{"before the end", "between_tools", calls, []string{thought, text}, nil},
		{"before a text", "between_tools", calls, []string{thought, text, call}, nil},
		{"another model", "low", calls, []string{thought, call}, nil},
	} {
		m := claude("claude-sonnet-5-5")
		m.Compat = map[string]any{"adaptive_thinking": true, "thinking_off": c.off}
		lines := []string{claudeBegin}
		for i, b := range c.blocks {
			lines = append(lines, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{%s}}`, i, b), fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
		}
		var spoken []int
		for _, d := range deltasOf(t, &llm.Request{Model: m, Thinking: "high", Messages: c.messages}, events(append(lines, claudeReason("tool_use"), claudeStop)...)) {
			if d.Spoken {
				spoken = append(spoken, d.Index)
			}
		}
		if !slices.Equal(spoken, c.spoken) {
			t.Errorf("%s: %v are spoken, want %v", c.name, spoken, c.spoken)
		}
	}
}
