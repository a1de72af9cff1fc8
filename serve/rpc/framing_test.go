package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"pi/session/message"
)

// refused is the answer to a command that is not done.
func refused(id, name, why string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return `{` + id + `"type":"response","command":"` + name + `","success":false,"error":"` + why + `"}`
}

func TestWhatIsNoCommandIsRefusedAndTheNextOneIsRead(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	for _, test := range []struct{ line, want string }{
		{"", refused("", "parse", "Failed to parse command: *")},
		{"   ", refused("", "parse", "Failed to parse command: *")},
		{"\r", refused("", "parse", "Failed to parse command: *")},
		{`{"id":"1","type":"get_state"`, refused("", "parse", "Failed to parse command: *")},
		{`{"id":"1"} {}`, refused("", "parse", "Failed to parse command: *")},
		{"null", refused("", "parse", "Failed to parse command: a command is a JSON object")},
		{"7", refused("", "parse", "Failed to parse command: a command is a JSON object")},
		{` "abort"`, refused("", "parse", "Failed to parse command: a command is a JSON object")},
		{"true", refused("", "parse", "Failed to parse command: a command is a JSON object")},
		{`[{"type":"abort"}]`, refused("", "parse", "Failed to parse command: a command is a JSON object")},
		{"\ufeff{}", refused("", "parse", "Failed to parse command: *")},
		{strings.Repeat("[", 20_000), refused("", "parse", "Failed to parse command: *")},
		{`{}`, refused("", "parse", `\"type\" must be a string`)},
		{`{"id":"1"}`, refused(`"1"`, "parse", `\"type\" must be a string`)},
		{`{"id":"1","type":7}`, refused(`"1"`, "parse", `\"type\" must be a string`)},
		{`{"id":"1","type":null}`, refused(`"1"`, "parse", `\"type\" must be a string`)},
		{`{"id":"1","type":"dance"}`, refused(`"1"`, "dance", "Unknown command: dance")},
		{`{"type":""}`, refused("", "", "Unknown command: ")},
		{`{"type":"Abort"}`, refused("", "Abort", "Unknown command: Abort")},
		{`{"id": { "a" :[1 , 2.50]},"type":"x"}`, refused(`{ "a" :[1 , 2.50]}`, "x", "Unknown command: x")},
		{`{"id":null,"type":"x"}`, refused("null", "x", "Unknown command: x")},
		{`{"id":"\u2028\ud800<>&","type":"x"}`, refused(`"\u2028\ud800<>&"`, "x", "Unknown command: x")},
		{"{\"id\":\"\u2028\xff\",\"type\":\"x\"}", refused("\"\\u2028\ufffd\"", "x", "Unknown command: x")},
		{`{"id":1e400,"type":"x"}`, refused("1e400", "x", "Unknown command: x")},
	} {
		c.send(test.line)
		check(t, c.next(), test.want)
	}
	check(t, c.answerTo(`{"id":"2","type":"get_available_thinking_levels","unknown":[]}`),
		`{"id":"2","type":"response","command":"get_available_thinking_levels","success":true,"data":{"levels":["off"]}}`)
}

func TestAFieldThatIsWrongDoesNothing(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
	for _, test := range []struct{ command, why string }{
		{`"type":"prompt"`, `\"message\" must be a string`},
		{`"type":"prompt","message":null`, `\"message\" must be a string`},
		{`"type":"prompt","message":["a"]`, `\"message\" must be a string`},
		{`"type":"prompt","message":" \n"`, `the prompt is empty`},
		{`"type":"prompt","message":"","images":[]`, `the prompt is empty`},
		{`"type":"prompt","message":"a","streamingBehavior":"follow_up"`, `\"streamingBehavior\" must be one of steer, followUp`},
		{`"type":"prompt","message":"a","images":"x"`, `\"images\" must be a list of images`},
		{`"type":"prompt","message":"a","images":[{"type":"image","data":"` + pixel + `"},{"type":"image"}]`, `\"images[1]\" must be an image: *`},
		{`"type":"prompt","message":"a","images":[{"type":"text","data":"` + pixel + `"}]`, `\"images[0]\" must be an image: *`},
		{`"type":"prompt","message":"a","images":[7]`, `\"images[0]\" must be an image: *`},
		{`"type":"prompt","message":"a","images":[{"type":"image","data":"!"}]`, `\"images[0]\" must be an image whose data is base64`},
		{`"type":"prompt","message":"a","images":[{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]`, `\"images[0]\" must be an image of the type PNG, JPEG, GIF or WebP`},
		{`"type":"steer"`, `\"message\" must be a string`},
		{`"type":"steer","message":""`, `the prompt is empty`},
		{`"type":"follow_up","message":7`, `\"message\" must be a string`},
		{`"type":"get_entries","since":7`, `\"since\" must be a string`},
		{`"type":"get_entries","since":""`, `Entry not found: `},
		{`"type":"get_entries","since":"zz"`, `Entry not found: zz`},
		{`"type":"set_model","provider":"p"`, `\"modelId\" must be a string`},
		{`"type":"set_model","modelId":"p"`, `\"provider\" must be a string`},
		{`"type":"set_model","provider":"p","modelId":"zz"`, `Model not found: p/zz`},
		{`"type":"set_model","provider":"P","modelId":"m"`, `Model not found: P/m`},
		{`"type":"set_thinking_level"`, `\"level\" must be one of off, minimal, low, medium, high, xhigh, max`},
		{`"type":"set_thinking_level","level":"HIGH"`, `\"level\" must be one of off, minimal, low, medium, high, xhigh, max`},
		{`"type":"set_steering_mode","mode":"bogus"`, `\"mode\" must be one of all, one-at-a-time`},
		{`"type":"set_follow_up_mode"`, `\"mode\" must be one of all, one-at-a-time`},
		{`"type":"set_auto_compaction","enabled":"yes"`, `\"enabled\" must be true or false`},
		{`"type":"set_auto_retry","enabled":1`, `\"enabled\" must be true or false`},
		{`"type":"compact","customInstructions":7`, `\"customInstructions\" must be a string`},
		{`"type":"bash"`, `\"command\" must be a string`},
		{`"type":"bash","command":"a","excludeFromContext":"no"`, `\"excludeFromContext\" must be true or false`},
		{`"type":"new_session","parentSession":7`, `\"parentSession\" must be a string`},
		{`"type":"switch_session"`, `\"sessionPath\" must be a string`},
		{`"type":"switch_session","sessionPath":""`, `\"sessionPath\" must be a path`},
		{`"type":"fork"`, `\"entryId\" must be a string`},
		{`"type":"fork","entryId":"zz"`, `Invalid entry ID for forking`},
		{`"type":"clone"`, `*there is no current entry*`},
		{`"type":"set_session_name"`, `\"name\" must be a string`},
		{`"type":"set_session_name","name":" "`, `Session name cannot be empty`},
		{`"type":"export_html","outputPath":7`, `\"outputPath\" must be a string`},
		{`"type":"export_html"`, `*in-memory session*`},
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(test.command, `"type":"`), `"`)
		check(t, c.answerTo(`{"id":"1",`+test.command+`}`), refused(`"1"`, name, test.why))
	}
	if len(c.model.requests) != 0 || len(c.agent.Session().Entries()) != 0 {
		t.Errorf("%d requests were made, %d entries are there", len(c.model.requests), len(c.agent.Session().Entries()))
	}
}

func TestNullIsAsIfTheFieldWereAbsent(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	check(t, c.answerTo(`{"id":"1","type":"prompt","message":"a","images":null,"streamingBehavior":null}`), `*"success":true*`)
	c.until("agent_settled")
	check(t, c.answerTo(`{"id":"2","type":"get_entries","since":null}`), `*"success":true*`)
	check(t, c.answerTo(`{"id":"3","type":"bash","command":"a","excludeFromContext":null}`), `*"success":true*`)
	check(t, c.answerTo(`{"id":"4","type":"new_session","parentSession":null}`), `*"success":true,"data":{"cancelled":false}}`)
}

func TestTheLastLineNeedsNoEnd(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	go func() {
		_, _ = io.WriteString(c.in, `{"id":"1","type":"get_state"}`)
		_ = c.in.Close()
	}()
	check(t, c.next(), `{"id":"1","type":"response","command":"get_state","success":true*`)
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestAnImageHasTheTypeOfItsBytes(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	check(t, c.answerTo(`{"id":"1","type":"prompt","message":"","images":[{"type":"image","data":"R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=","mimeType":"image/png"}]}`), `*"success":true*`)
	c.until("agent_settled")
	m := c.agent.Session().Context()[0].Message
	if len(m.Content) != 1 || m.Content[0].Type != message.BlockImage || m.Content[0].MimeType != "image/gif" {
		t.Errorf("%+v", m.Content)
	}
}

// FuzzAnyInputIsAnswered feeds lines to a Server: none of them ends it, each has one answer
// or none, and the command behind them is answered.
func FuzzAnyInputIsAnswered(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null\n7", `{"type":"prompt","message":"a"}`, `{"type":"abort"}`, `{"type":"extension_ui_response","id":7}`,
		`{"type":"new_session"}` + "\n" + `{"type":"prompt","message":"/compact"}`, "\xff\r\n\u2028", `{"type":"get_tree"}`,
		`{"type":"fork","entryId":"a"}` + "\n" + `{"type":"bash","command":"x"}` + "\n" + `{"type":"abort_bash"}`,
		`{"type":"set_thinking_level","level":"high"}` + "\n" + `{"type":"cycle_model"}` + "\n" + `{"type":"clear_queue"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Contains(text, []byte("switch_session")) || bytes.Contains(text, []byte("export")) {
			t.Skip("would write files")
		}
		c := start(t, setup{})
		go func() {
			_, _ = c.in.Write(append(bytes.TrimSuffix(text, []byte("\n")), '\n'))
			_, _ = io.WriteString(c.in, `{"id":"the last","type":"get_state"}`+"\n")
		}()
		c.until(`{"id":"the last","type":"response","command":"get_state","success":true`)
		if err := c.end(); err != nil {
			t.Fatal(err)
		}
		answers := 0
		for _, line := range c.seen {
			if !json.Valid([]byte(line)) {
				t.Fatalf("no JSON: %q", line)
			}
			if strings.Contains(line, `"type":"response","command":`) {
				answers++
			}
		}
		commands := bytes.Count(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) + 2
		if answers > commands {
			t.Errorf("%d answers to %d lines", answers, commands)
		}
	})
}
