package wiretest

import (
	"strings"
	"testing"
)

const (
	messagesCall   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	messagesResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]}]}`
	messagesUser   = `{"role":"user","content":[{"type":"text","text":"u"}]}`
)

func TestWhatTheMessagesAPIRefuses(t *testing.T) {
	says := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	cases := []struct{ name, before, messages, want string }{
		{"nothing", "", messagesUser + "," + messagesCall + "," + messagesResult, ""},
		{"a budget, and a thought before the calls", `"thinking":{"type":"enabled"},`, messagesUser + "," + says(`{"type":"thinking","thinking":"h","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{}}`) + "," + messagesResult, ""},
		{"no messages", "", "", "no messages"},
		{"an answer that begins", "", says(`{"type":"text","text":"x"}`), "role"},
		{"two of one role", "", messagesUser + "," + messagesUser, "role"},
		{"an empty message", "", `{"role":"user","content":[]}`, "empty"},
		{"blank text", "", `{"role":"user","content":[{"type":"text","text":" \n"}]}`, "empty block"},
		{"an image without a type", "", `{"role":"user","content":[{"type":"image","source":{"data":"QQ=="}}]}`, "empty block"},
		{"a call without a result", "", messagesUser + "," + messagesCall + "," + messagesUser, "no result"},
		{"a call at the end", "", messagesUser + "," + messagesCall, "no result"},
		{"a result without a call", "", messagesUser + "," + says(`{"type":"text","text":"x"}`) + "," + messagesResult, "no call"},
		{"a result behind text", "", messagesUser + "," + messagesCall + "," + `{"role":"user","content":[{"type":"text","text":"u"},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]}]}`, "no result"},
		{"an id of odd form", "", messagesUser + "," + says(`{"type":"tool_use","id":"f.a:0","name":"f","input":{}}`), "bad form"},
		{"an id that is there twice", "", messagesUser + "," + messagesCall + "," + messagesResult + "," + messagesCall + "," + messagesResult, "twice"},
		{"a thought without a signature", "", messagesUser + "," + says(`{"type":"thinking","thinking":"h"}`), "signature"},
		{"blanks at the end", "", messagesUser + "," + says(`{"type":"text","text":"x "}`), "blanks"},
		{"a budget, and no thought", `"thinking":{"type":"enabled"},`, messagesUser + "," + messagesCall + "," + messagesResult, "budget"},
		{"five markers", strings.Repeat(`"cache_control":{"type":"ephemeral"},`, 5), messagesUser, "markers"},
	}
	for _, c := range cases {
		refuses(t, c.name, CheckMessages([]byte(`{`+c.before+`"messages":[`+c.messages+`]}`)), c.want)
	}
}

func refuses(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v; want %q", name, err, want)
	}
}

func TestWhatTheChatAPIRefuses(t *testing.T) {
	const (
		user   = `{"role":"user","content":"u"}`
		call   = `{"role":"assistant","content":null,"tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		result = `{"role":"tool","tool_call_id":"abcdefghi","content":"r"}`
	)
	cases := []struct {
		name, messages string
		check          func([]byte) error
		want           string
	}{
		{"nothing", `{"role":"system","content":"s"},` + user + "," + call + "," + result, CheckChat, ""},
		{"no user", `{"role":"system","content":"s"}`, CheckChat, "no user"},
		{"an empty answer", user + `,{"role":"assistant","content":""}`, CheckChat, "empty"},
		{"an empty part", `{"role":"user","content":[{"type":"text","text":""}]}`, CheckChat, "empty"},
		{"a call without a result", user + "," + call + "," + user, CheckChat, "no result"},
		{"a result without a call", user + "," + result, CheckChat, "no call"},
		{"a long id", user + "," + strings.ReplaceAll(call, "abcdefghi", strings.Repeat("x", 41)), CheckChat, "bad form"},
		{"arguments that are none", user + "," + strings.ReplaceAll(call, `"{}"`, `"{"`), CheckChat, "arguments"},
		{"an id of another length, at Mistral", user + "," + strings.ReplaceAll(call, "abcdefghi", "abcdefgh"), CheckMistral, "bad form"},
		{"a user behind a tool, at Mistral", user + "," + call + "," + result + "," + user, CheckMistral, "right behind"},
		{"a user behind a tool", user + "," + call + "," + result + "," + user, CheckChat, ""},
		{"calls without a thought, at DeepSeek", user + "," + call + "," + result, CheckDeepSeek, "reasoning_content"},
		{"calls with a thought, at DeepSeek", user + "," + strings.Replace(call, `"content"`, `"reasoning_content":"","content"`, 1) + "," + result, CheckDeepSeek, ""},
	}
	for _, c := range cases {
		refuses(t, c.name, c.check([]byte(`{"messages":[`+c.messages+`]}`)), c.want)
	}
}

func TestHalfAPairIsRefusedAndAWholeOneIsNot(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":"\ud83d\ude00"}`: "", `{"a":"\\ud83d"}`: "", `{"a":"\\\\ud83d \n"}`: "", `{"a":"é"}`: "",
		`{"a":"\ud83d"}`: "half", `{"a":"\ude00\ud83d"}`: "half", `{"a":"\\\ud83d"}`: "half", `{"a":"\ud83d\ud83d\ude00"}`: "half",
		"{\"a\":\"\xff\"}": "UTF-8",
	} {
		refuses(t, body, checkText([]byte(body)), want)
	}
}
