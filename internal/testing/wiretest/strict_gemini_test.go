package wiretest

import (
	"strings"
	"testing"
)

func TestCheckGeminiRefusesWhatTheAPIRefuses(t *testing.T) {
	const (
		user     = `{"role":"user","parts":[{"text":"go"}]}`
		calls    = `{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"g","args":{"x":1}}}]}`
		resultF  = `{"functionResponse":{"id":"a","name":"f","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}}`
		resultG  = `{"functionResponse":{"name":"g","response":{"error":"y"}}}`
		said     = `{"role":"model","parts":[{"text":"a"},{"text":"","thoughtSignature":"c2ln"}]}`
		complete = user + "," + calls + `,{"role":"user","parts":[` + resultF + "," + resultG + `,{"text":"and"}]},` + said + "," + user
	)
	contents := func(items ...string) string { return `{"contents":[` + strings.Join(items, ",") + `]}` }
	turn := func(role string, parts ...string) string {
		return `{"role":"` + role + `","parts":[` + strings.Join(parts, ",") + `]}`
	}
	tool := func(name, parameters string) string {
		return `{"tools":[{"functionDeclarations":[{"name":"` + name + `","description":"","parameters":` + parameters + `}]}],"contents":[` + user + `]}`
	}
	property := func(schema string) string { return tool("f", `{"type":"OBJECT","properties":{"x":`+schema+`}}`) }
	const unsigned = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`
	for _, c := range []struct{ name, body, want string }{
		{"a whole conversation", contents(complete), ""},
		{"one with everything around it", `{"systemInstruction":{"parts":[{"text":"s"}]},"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"maxOutputTokens":1,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":0}},"contents":[` + complete + `]}`, ""},
		{"a tool", property(`{"anyOf":[{"type":"STRING","enum":["a"]},{"type":"ARRAY","items":{"type":"INTEGER","format":"int32"},"nullable":true}]}`), ""},
		{"a tool without parameters", `{"tools":[{"functionDeclarations":[{"name":"f","description":""}]}],"contents":[` + user + `]}`, ""},

		{"no JSON", `{`, "unexpected"},
		{"no contents", contents(), "no contents"},
		{"a field that is not known", `{"model":"m","contents":[` + user + `]}`, "model"},
		{"a field of a part that is not known", contents(turn("user", `{"type":"text","text":"a"}`)), "type"},
		{"an empty system prompt", `{"systemInstruction":{"parts":[{"text":""}]},"contents":[` + user + `]}`, "systemInstruction"},
		{"the model begins", contents(said, user), "role"},
		{"the same role twice", contents(user, user), "role"},
		{"a role of others", contents(user, turn("assistant", `{"text":"a"}`)), "role"},
		{"a turn without parts", contents(turn("user")), "no parts"},
		{"an empty text", contents(turn("user", `{"text":""}`)), "empty"},
		{"an empty image", contents(turn("user", `{"inlineData":{"mimeType":"image/png","data":""}}`)), "empty"},
		{"a part that is nothing", contents(turn("user", `{}`)), "0 things"},
		{"a part that is two things", contents(turn("user", `{"text":"a","inlineData":{"mimeType":"image/png","data":"QUJD"}}`)), "2 things"},
		{"a signature that is none", contents(user, turn("model", `{"text":"a","thoughtSignature":"a b"}`)), "base64"},
		{"a user who signs", contents(turn("user", `{"text":"a","thoughtSignature":"c2ln"}`)), "not the user's"},
		{"a user who calls", contents(turn("user", `{"functionCall":{"name":"f","args":{}}}`)), "not the user's"},
		{"a model that answers itself", contents(user, turn("model", resultG)), "gives a result"},
		{"calls without results", contents(user, calls, user), "no results"},
		{"calls without results at the end", contents(user, calls), "no results"},
		{"one result of two", contents(user, calls, turn("user", resultF)), "1 calls have no results"},
		{"results in another order", contents(user, calls, turn("user", resultG, resultF)), "the call is"},
		{"something before the results", contents(user, calls, turn("user", `{"text":"a"}`, resultF, resultG)), "part 0 is none"},
		{"a result of no call", contents(turn("user", resultG)), "no call"},
		{"a result too many", contents(user, calls, turn("user", resultF, resultG, resultG)), "no call"},
		{"a result under another id", contents(user, calls, turn("user", strings.Replace(resultF, `"a"`, `"b"`, 1), resultG)), "the call is"},
		{"a result that is no object", contents(user, calls, turn("user", resultF, `{"functionResponse":{"name":"g","response":"y"}}`)), "no object"},
		{"text among the images of a result", contents(user, calls, turn("user", strings.Replace(resultF, `{"inlineData":{"mimeType":"image/png","data":"QUJD"}}`, `{"text":"a"}`, 1), resultG)), "no image"},
		{"a call without arguments", contents(user, turn("model", `{"functionCall":{"name":"f"}}`)), "a call of"},
		{"a call of a strange name", contents(user, turn("model", `{"functionCall":{"name":"1 f","args":{}}}`)), "a call of"},

		{"a tool of a strange name", tool("1f", `{"type":"OBJECT","properties":{"x":{"type":"STRING"}}}`), "name"},
		{"parameters that are no object", tool("f", `{"type":"STRING"}`), "no object"},
		{"parameters without properties", tool("f", `{"type":"OBJECT","properties":{}}`), "0 properties"},
		{"a keyword that is not read", property(`{"type":"STRING","additionalProperties":false}`), "additionalProperties"},
		{"no type", property(`{}`), "type"},
		{"a type that is not known", property(`{"type":"NULL"}`), "type"},
		{"a format of another type", property(`{"type":"STRING","format":"uri"}`), "format"},
		{"an enum of numbers", property(`{"type":"INTEGER","enum":["1"]}`), "enum"},
		{"an enum with an empty text", property(`{"type":"STRING","enum":[""]}`), "enum"},
		{"a list of nothing", property(`{"type":"ARRAY"}`), "items"},
		{"a bad list in a list", property(`{"type":"ARRAY","items":{"type":"ARRAY"}}`), "items"},
		{"an object without properties", property(`{"type":"OBJECT"}`), "properties"},
		{"a property that is required and not there", property(`{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["b"]}`), "required"},
		{"something beside a choice", property(`{"description":"d","anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}`), "more than anyOf"},
		{"a choice of one", property(`{"anyOf":[{"type":"STRING"}]}`), "choice of one"},
		{"a bad choice", property(`{"anyOf":[{"type":"STRING"},{}]}`), "anyOf 1"},
	} {
		err := CheckGemini([]byte(c.body))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
	if err := CheckSignedGemini([]byte(contents(complete))); err != nil {
		t.Error(err)
	}
	if err := CheckSignedGemini([]byte(contents(user, unsigned))); err == nil || !strings.Contains(err.Error(), "thought_signature") {
		t.Errorf("a call without a signature: %v", err)
	}
	if err := CheckGemini([]byte(contents(user, unsigned))); err != nil {
		t.Errorf("a call without a signature, of a model that need not sign: %v", err)
	}
}
