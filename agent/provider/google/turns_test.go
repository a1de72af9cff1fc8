package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session"
	"pi/session/message"
)

func events(all ...string) string {
	var s strings.Builder
	for _, e := range all {
		s.WriteString("data: " + e + "\r\n\r\n")
	}
	return s.String()
}

// parts is an event with the given parts.
func parts(all ...string) string {
	return `{"candidates":[{"content":{"parts":[` + strings.Join(all, ",") + `],"role":"model"},"index":0}]}`
}

// says1 is an event with one text; the last one has a reason.
func says1(text, finish string) string {
	return `{"candidates":[{"content":{"parts":[{"text":"` + text + `"}]},"finishReason":"` + finish + `"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2}}`
}

// server answers one request after the other and keeps them.
func server(t *testing.T, answers ...string) (*httptest.Server, *[][]byte) {
	var bodies [][]byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.RawQuery != "alt=sse" || r.Header.Get("X-Goog-Api-Key") != "k" {
			t.Errorf("%s %v %v", r.URL, r.Header, err)
		}
		if err := wiretest.CheckSignedGemini(b); err != nil {
			t.Errorf("%v: %s", err, b)
		}
		bodies = append(bodies, b)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, answers[len(bodies)-1])
	}))
	t.Cleanup(s.Close)
	return s, &bodies
}

func TestASecondTurnExtendsTheFirstAndCarriesEverySignature(t *testing.T) {
	s, bodies := server(t,
		events(parts(`{"text":"hm","thought":true}`), parts(`{"text":" hm","thought":true,"thoughtSignature":"c2ln+/=="}`),
			parts(`{"text":"I"}`, `{"text":" look"}`), parts(`{"text":" it up","thoughtSignature":"dGV4dA"}`), parts(`{"text":"."}`, `{"text":"","thoughtSignature":"ZW1wdHk_"}`),
			parts(`{"functionCall":{"name":"read","args":{"path":"a<b"},"id":"8hd01vsf"},"thoughtSignature":"Y2FsbA"}`, `{"functionCall":{"name":"ls"}}`),
			parts(`{"toolCall":{"id":"x","args":{"q":"a<b"}},"thoughtSignature":"dG9vbA"}`), says1("", "STOP")),
		events(says1("done", "STOP")))
	m := model("gemini-3-pro-preview")
	m.BaseURL = s.URL
	r := &llm.Request{Model: m, APIKey: "k", Thinking: "low", System: "be nice", Messages: []*message.Message{says(message.RoleUser, text("go"), picture)},
		Tools: []llm.ToolSpec{{Name: "read", Description: "reads <it>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}, {Name: "ls"}}}
	p := New(s.Client())
	first := wiretest.Collect(p.Stream(context.Background(), r))
	calls := first.Calls()
	if first.Err != nil || first.Stop.Reason != message.StopToolUse || len(calls) != 2 {
		t.Fatalf("%s", first)
	}
	reloaded := throughAFile(t, modelSays(m, first.Content...))
	r.Messages = append(r.Messages, reloaded, toolSays(calls[0].ID, false, text("x"), picture), toolSays(calls[1].ID, true, text("no")))
	if second := wiretest.Collect(p.Stream(context.Background(), r)); second.Err != nil || second.Text(message.BlockText) != "done" {
		t.Fatalf("%s", second)
	}
	wiretest.Extends(t, (*bodies)[0], (*bodies)[1], "systemInstruction", "tools", "generationConfig")
	want := `{"role":"model","parts":[{"text":"hm","thought":true},{"text":" hm","thought":true,"thoughtSignature":"c2ln+/=="},{"text":"I look"},{"text":" it up","thoughtSignature":"dGV4dA"},{"text":"."},{"text":"","thoughtSignature":"ZW1wdHk_"},` +
		`{"functionCall":{"id":"8hd01vsf","name":"read","args":{"path":"a<b"}},"thoughtSignature":"Y2FsbA"},{"functionCall":{"name":"ls","args":{}}},{"toolCall":{"id":"x","args":{"q":"a<b"}},"thoughtSignature":"dG9vbA"}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"8hd01vsf","name":"read","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}},{"functionResponse":{"name":"ls","response":{"error":"no"}}}]}`
	if !bytes.Contains((*bodies)[1], []byte(want)) {
		t.Errorf("the answer came back as\n%s\nwant\n%s", (*bodies)[1], want)
	}
}

// throughAFile is what a message is when its session was saved and opened again,
// made ready to be sent.
func throughAFile(t *testing.T, m *message.Message) *message.Message {
	t.Helper()
	m.StopReason = message.StopToolUse
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, add := range []*message.Message{says(message.RoleUser, text("go")), m} {
		if _, err := s.AppendMessage(add); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := session.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return session.ForModel(opened.Context())[1]
}

func decodeText(t *testing.T, stream string) wiretest.Answer {
	t.Helper()
	f := wiretest.Folder{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}
	return f.Ask(New(f.Client(func() io.Reader { return strings.NewReader(stream) })), "http://model.test")
}

func TestReasonsAreMapped(t *testing.T) {
	call := parts(`{"functionCall":{"name":"f"}}`)
	cases := []struct {
		finish, before string
		want           message.StopReason
	}{
		{"STOP", parts(), message.StopEnd}, {"STOP", call, message.StopToolUse}, {"FINISH_REASON_UNSPECIFIED", parts(), message.StopEnd},
		{"stop", parts(), message.StopEnd}, {"NEW_WORD", parts(), llm.StopRefusal}, {"NEW_WORD", call, llm.StopRefusal}, {"MAX_TOKENS", call, message.StopLength}, {"MAX_TOKENS", `{}`, message.StopLength},
		{"SAFETY", parts(), llm.StopRefusal}, {"RECITATION", parts(), llm.StopRefusal}, {"BLOCKLIST", parts(), llm.StopRefusal},
		{"PROHIBITED_CONTENT", call, llm.StopRefusal}, {"SPII", parts(), llm.StopRefusal}, {"LANGUAGE", parts(), llm.StopRefusal},
	}
	for _, c := range cases {
		a := decodeText(t, events(c.before, `{"candidates":[{"finishReason":"`+c.finish+`"}]}`))
		if a.Err != nil || a.Stop.Reason != c.want || a.Stop.Raw != c.finish || c.want == llm.StopRefusal && a.Stop.Message == "" {
			t.Errorf("%s: %s", c.finish, a)
		}
	}
}

func TestAnAnswerThatWentWrongMayBeAskedForAgain(t *testing.T) {
	for _, finish := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE", "OTHER"} {
		a := decodeText(t, events(parts(`{"text":"hi"}`), `{"candidates":[{"finishReason":"`+finish+`","finishMessage":"so it is"}]}`))
		var e *llm.ProviderError
		if !errors.As(a.Err, &e) || !e.Retryable || e.Type != finish || e.Message != "so it is" || a.Text(message.BlockText) != "hi" {
			t.Errorf("%s: %+v, %s", finish, e, a)
		}
	}
}

func TestARefusedPromptIsARefusal(t *testing.T) {
	for _, c := range []struct{ feedback, want string }{
		{`{"blockReason":"SAFETY"}`, "the service refused the prompt"},
		{`{"blockReason":"OTHER","blockReasonMessage":"not this"}`, "not this"},
	} {
		a := decodeText(t, events(`{"promptFeedback":`+c.feedback+`,"usageMetadata":{"promptTokenCount":8}}`))
		if a.Err != nil || a.Stop.Reason != llm.StopRefusal || a.Stop.Message != c.want || a.Usage == nil || a.Usage.Input != 8 {
			t.Errorf("%s: %s", c.feedback, a)
		}
	}
}

func TestAnErrorInTheStreamIsJudgedLikeItsStatus(t *testing.T) {
	for _, form := range []string{`{"error":%}`, `[{"error":%}]`, `{"candidates":[],"error":%}`} {
		for object, retry := range map[string]bool{
			`{"code":503,"message":"no","status":"UNAVAILABLE"}`:        true,
			`{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}`: true,
			`{"code":500,"message":"no","status":"INTERNAL"}`:           true,
			`{"code":400,"message":"no","status":"INVALID_ARGUMENT"}`:   false,
			`{"code":403,"message":"no","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"X"}]}`: false,
		} {
			a := decodeText(t, events(parts(`{"text":"hi"}`), strings.Replace(form, "%", object, 1)))
			var e *llm.ProviderError
			if !errors.As(a.Err, &e) || e.Retryable != retry || e.Message != "no" || !strings.Contains(object, `"`+e.Type+`"`) || a.Text(message.BlockText) != "hi" {
				t.Errorf("%s of %s: %+v", form, object, e)
			}
		}
	}
}

func TestHowLongToWaitIsReadFromTheDetails(t *testing.T) {
	f := wiretest.Folder{Status: 429, Headers: map[string]string{"Content-Type": "application/json"}}
	const body = `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}`
	a := f.Ask(New(f.Client(func() io.Reader { return strings.NewReader(body) })), "http://model.test")
	var e *llm.ProviderError
	if !errors.As(a.Err, &e) || !e.Retryable || e.RetryAfter != 34070*time.Millisecond {
		t.Errorf("%+v", e)
	}
}

func TestUsageIsOverwrittenNotAdded(t *testing.T) {
	a := decodeText(t, events(
		`{"usageMetadata":{"trafficType":"ON_DEMAND"}}`,
		`{"usageMetadata":{"promptTokenCount":120,"candidatesTokenCount":1,"thoughtsTokenCount":50,"cachedContentTokenCount":100}}`,
		says1("hi", "STOP"),
		`{"usageMetadata":{"promptTokenCount":125,"candidatesTokenCount":9,"cachedContentTokenCount":null}}`))
	if want := (message.Usage{Input: 25, Output: 59, CacheRead: 100, TotalTokens: 184}); a.Usage == nil || *a.Usage != want {
		t.Errorf("%+v", a.Usage)
	}
	if a := decodeText(t, events(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"trafficType":"ON_DEMAND"}}`)); a.Usage != nil {
		t.Errorf("usage without counts: %+v", a.Usage)
	}
}

func TestAnEventNamedErrorIsOne(t *testing.T) {
	a := decodeText(t, events(parts(`{"text":"hi"}`))+"event: error\n"+events(`{"message":"no room","code":503}`, says1("", "STOP")))
	var e *llm.ProviderError
	if !errors.As(a.Err, &e) || e.Message != "no room" || e.Status != 503 || !e.Retryable {
		t.Errorf("%s", a)
	}
}

func TestAStreamWithoutAReasonWasCutOff(t *testing.T) {
	for _, stream := range []string{"", events(parts(`{"text":"hi"}`)), events(parts(`{"functionCall":{"name":"f"}}`), "[DONE]")} {
		a := decodeText(t, stream)
		var e *llm.ProviderError
		if !errors.As(a.Err, &e) || !e.Retryable {
			t.Errorf("%q: %s", stream, a)
		}
	}
}

func TestOnlyTheFirstCandidateCountsAndUnknownPartsAreSkipped(t *testing.T) {
	a := decodeText(t, events(`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"SAFETY"},{"index":0,"content":{"parts":[`+
		`{"executableCode":{"code":"1"}},{"codeExecutionResult":{}},{"inlineData":{"data":"QUJD","mimeType":"image/png"},"thoughtSignature":"c2ln"},{"fileData":{}},{"text":"yes"}]},"finishReason":"STOP"}]}`))
	if a.Err != nil || a.Stop.Reason != message.StopEnd || len(a.Content) != 1 || a.Text(message.BlockText) != "yes" {
		t.Errorf("%s", a)
	}
}

func TestMadeIdsDifferAndGivenOnesStay(t *testing.T) {
	a := decodeText(t, events(parts(`{"functionCall":{"name":"f"}}`, `{"functionCall":{"name":"f","id":""}}`, `{"functionCall":{"name":"f","id":"g"}}`), says1("", "STOP")))
	calls := a.Calls()
	if len(calls) != 3 || calls[0].ID == calls[1].ID || !strings.HasPrefix(calls[0].ID, made) || !strings.HasPrefix(calls[1].ID, made) || calls[2].ID != "g" {
		t.Errorf("%+v", calls)
	}
}

func TestEveryEventIsASignOfLife(t *testing.T) {
	f := wiretest.Folder{Status: 200}
	stream := ": hi\n\n" + events(`{"responseId":"x"}`, parts(`{"text":""}`), says1("hi", "STOP"))
	p := New(f.Client(func() io.Reader { return strings.NewReader(stream) }))
	var kinds []llm.DeltaKind
	for d, err := range p.Stream(context.Background(), &llm.Request{Model: model("m")}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, d.Kind)
	}
	want := []llm.DeltaKind{llm.DeltaPing, llm.DeltaPing, llm.DeltaPing, llm.DeltaText, llm.DeltaUsage, llm.DeltaStop}
	if !slices.Equal(kinds, want) {
		t.Errorf("deltas %v; want %v", kinds, want)
	}
}

func TestToolsThatBeginWithADigitAreToldUnderAnotherName(t *testing.T) {
	s, bodies := server(t, events(parts(`{"functionCall":{"name":"_3d","args":{}},"thoughtSignature":"c2ln"}`, `{"functionCall":{"name":"_own"}}`, `{"functionCall":{"name":"_none"}}`, `{"functionCall":{"name":"_`+strings.Repeat("9", 63)+`"}}`), says1("", "STOP")),
		events(says1("done", "STOP")))
	m := model("gemini-3-pro-preview")
	m.BaseURL = s.URL
	r := &llm.Request{Model: m, APIKey: "k", Tools: []llm.ToolSpec{{Name: "3d"}, {Name: "_own"}, {Name: "own"}, {Name: strings.Repeat("9", 64)}}, Messages: []*message.Message{says(message.RoleUser, text("go"))}}
	p := New(s.Client())
	a := wiretest.Collect(p.Stream(context.Background(), r))
	var names []string
	for _, c := range a.Calls() {
		names = append(names, c.Name)
		r.Messages = append(r.Messages, toolSays(c.ID, false, text("x")))
	}
	if !slices.Equal(names, []string{"3d", "_own", "_none", strings.Repeat("9", 64)}) {
		t.Errorf("calls of %q: %s", names, a)
	}
	r.Messages = slices.Insert(r.Messages, 1, modelSays(m, a.Content...))
	if b := wiretest.Collect(p.Stream(context.Background(), r)); b.Err != nil || !bytes.Contains((*bodies)[1], []byte(`{"functionResponse":{"name":"_3d"`)) {
		t.Errorf("%s: %s", b, (*bodies)[1])
	}
}

func TestErrorsThatASettingCuresSaySo(t *testing.T) {
	for message, want := range map[string]string{
		"Function call is missing a thought_signature in functionCall parts.":   "placeholder_signature",
		"User location is not supported for the API use.":                       "where you are",
		"API key not valid. Please pass a valid API key.":                       "api_key",
		"The input token count (1048577) exceeds the maximum number of tokens.": "/compact",
	} {
		f := wiretest.Folder{Provider: "acme", Status: 400, Headers: map[string]string{"Content-Type": "application/json"}}
		body := `{"error":{"code":400,"message":"` + message + `","status":"INVALID_ARGUMENT"}}`
		a := f.Ask(New(f.Client(func() io.Reader { return strings.NewReader(body) })), "http://model.test")
		var e *llm.ProviderError
		if !errors.As(a.Err, &e) || e.Retryable || !strings.Contains(e.NextStep, want) {
			t.Errorf("%s: %+v", message, e)
		}
	}
}
