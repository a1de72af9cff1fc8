package wiretest

import (
	"slices"
	"testing"
)

// One conversation, as each API writes it.
func TestRequestsOfAllAPIsCarryTheSame(t *testing.T) {
	bodies := map[string]string{
		"anthropic-messages": `{"messages":[
			{"role":"user","content":[{"type":"text","text":"go"},{"type":"image","source":{"media_type":"image/png","data":"QQ=="}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"},{"type":"tool_use","id":"c","name":"f","input":{"b":1,"a":12345678901234567890}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"said"},{"type":"image","source":{"media_type":"image/png","data":"Qg=="}}]}]}]}`,
		"openai-chat": `{"messages":[
			{"role":"user","content":[{"type":"text","text":"go"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}]},
			{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s"}],"content":"I look","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":12345678901234567890, \"b\":1}"}}]},
			{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"said"},{"type":"image_url","image_url":{"url":"data:image/png;base64,Qg=="}}]}]}`,
		"openai-responses": `{"input":[
			{"role":"user","content":[{"type":"input_text","text":"go"},{"type":"input_image","image_url":"data:image/png;base64,QQ=="}]},
			{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"s"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"}]},
			{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":12345678901234567890,\"b\":1}"},
			{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"said"},{"type":"input_image","image_url":"data:image/png;base64,Qg=="}]}]}`,
		"google-generative": `{"contents":[
			{"role":"user","parts":[{"text":"go"},{"inlineData":{"data":"QQ=="}}]},
			{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"s"},{"text":"I look"},{"function_call":{"id":"c","name":"f","args":{"b":1,"a":12345678901234567890}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c","name":"","response":{"output":"said"},"parts":[{"inline_data":{"data":"Qg=="}}]}}]}]}`,
	}
	want := []Piece{
		{Kind: PieceUser, Text: "go"}, {Kind: PieceImage, Text: "QQ=="},
		{Kind: PieceThought, Text: "hm", Opaque: "s"}, {Kind: PieceText, Text: "I look"},
		{Kind: PieceCall, ID: "c", Name: "f", Text: `{"a":12345678901234567890,"b":1}`},
		{Kind: PieceResult, ID: "c", Text: "said"}, {Kind: PieceImage, Text: "Qg=="},
	}
	for api, body := range bodies {
		got, err := Carried(api, []byte(body))
		for i := range got {
			if got[i].Kind == PieceThought {
				got[i].Name = "" // each API has its own
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v\n%+v\nwant\n%+v", api, err, got, want)
		}
	}
}

func TestAPartThatNobodyKnowsIsAnError(t *testing.T) {
	for api, body := range map[string]string{
		"anthropic-messages": `{"messages":[{"role":"user","content":[{"type":"new"}]}]}`,
		"openai-chat":        `{"messages":[{"role":"tool","content":[{"type":"new"}]}]}`,
		"openai-responses":   `{"input":[{"type":"new"}]}`,
		"google-generative":  `{"contents":[{"parts":[{"new":1}]}]}`,
		"another":            `{}`,
	} {
		if got, err := Carried(api, []byte(body)); err == nil {
			t.Errorf("%s: %+v", api, got)
		}
	}
}
