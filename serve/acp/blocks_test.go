package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pi/session/message"
)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// shownParts writes the text of a prompt and what follows it in one line.
func shownParts(text string, rest []message.Block) string {
	all := []string{text}
	for _, b := range rest {
		if b.Type == message.BlockImage {
			all = append(all, "<"+b.MimeType+">")
		} else {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "|")
}

func TestAPromptIsReadBlockByBlock(t *testing.T) {
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	image := `{"type":"image","data":"` + png + `","mimeType":"image/webp"}`
	link := `{"type":"resource_link","name":"main.go","uri":"file:///p/main.go"}`
	file := `{"type":"resource","resource":{"uri":"file:///p/a%20b.txt","text":"one\ntwo\n","mimeType":"text/plain"}}`
	blob := func(data string) string {
		return `{"type":"resource","resource":{"uri":"zed:///agent/x","blob":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `"}}`
	}
	for _, c := range []struct{ blocks, want, wrong string }{
		{text("hello"), "hello", ""},
		{text("look at ") + "," + link + "," + text(" please"), "look at [@main.go](file:///p/main.go) please", ""},
		{`{"type":"resource_link","name":"thread","uri":"zed:///agent/thread/1"}`, "[@thread](zed:///agent/thread/1)", ""},
		{text("one") + "," + text("two"), "one\ntwo", ""},
		{text("one\n") + "," + text("two"), "one\ntwo", ""},
		{text("this") + "," + image + "," + text("and that"), "this|<image/png>|and that", ""},
		{image + "," + text("what is it"), "what is it|<image/png>", ""},
		{image, "|<image/png>", ""},
		{text("see") + "," + file + "," + text("now"), "see\n<file name=\"/p/a b.txt\" uri=\"file:///p/a%20b.txt\">\none\ntwo\n</file>\nnow", ""},
		{`{"type":"resource","resource":{"uri":"x","blob":"` + png + `"}}`, "|<image/png>", ""},
		{blob("words"), "<file name=\"x\" uri=\"zed:///agent/x\">\nwords\n</file>", ""},
		{text("a") + `,{"type":"text","text":"b","annotations":{"audience":["user"]},"_meta":{}}`, "a\nb", ""},

		{"", "", `"prompt" is empty`},
		{text(" \n"), "", `"prompt" is empty`},
		{text("a") + `,{"type":"audio","data":"","mimeType":"audio/wav"}`, "", "prompt[1]: audio is not supported"},
		{`{"type":"video"}`, "", `prompt[0]: content of the type "video" is not known`},
		{`{"text":"a"}`, "", `prompt[0]: "type" is missing`},
		{`"text"`, "", "prompt[0]: it must be an object"},
		{`{"type":"text"}`, "", `prompt[0]: "text" is missing`},
		{`{"type":"text","text":7}`, "", `prompt[0]: "text" must be a string`},
		{`{"type":"image","mimeType":"image/png"}`, "", `prompt[0]: "data" is missing`},
		{`{"type":"image","data":"!","mimeType":"image/png"}`, "", `prompt[0]: "data" is not base64`},
		{`{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}`, "", "prompt[0]: it is no image that models can see"},
		{`{"type":"resource","resource":7}`, "", `prompt[0]: "resource" must be an object`},
		{`{"type":"resource","resource":{"uri":"x"}}`, "", `"text" or "blob"`},
		{`{"type":"resource","resource":{"text":"x"}}`, "", `"uri" is missing`},
		{blob("%PDF-1.4\x00\xff"), "", "x is neither text nor an image"},
		{`{"type":"resource_link","uri":"x"}`, "", `"name" is missing`},
	} {
		f, err := parseFields(json.RawMessage(`{"prompt":[` + c.blocks + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := readPrompt(f)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: %v, not %s", c.blocks, err, c.wrong)
		case c.wrong == "" && (err != nil || shownParts(a.text, a.rest) != c.want):
			t.Errorf("%s: %q %v, not %q", c.blocks, shownParts(a.text, a.rest), err, c.want)
		}
	}
	for _, wrong := range []string{`{}`, `{"prompt":null}`, `{"prompt":"hello"}`, `{"prompt":{}}`} {
		f, _ := parseFields(json.RawMessage(wrong))
		if _, err := readPrompt(f); err == nil || !strings.Contains(err.Error(), `"prompt"`) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// What is too large for a line is sent in pieces, or left out with a word.
func TestLinesStaySmall(t *testing.T) {
	long := strings.Repeat("é\x01", 10<<20/3)
	var b strings.Builder
	for _, part := range fit(chunk{agentChunk, "m", textOf(long)}) {
		if n := len(asJSON(part)); n > 15<<20 {
			t.Errorf("a chunk of %d bytes", n)
		}
		b.WriteString(part.(chunk).Content.(textContent).Text)
	}
	if b.String() != long {
		t.Error("the pieces are not the text")
	}
	image := strings.Repeat("A", 9<<20)
	content := []any{contentOf(textOf(long)), contentOf(imageOf(image, "image/png")), contentOf(imageOf(image, "image/png")),
		diff{Type: "diff", Path: "/p", OldText: &long, NewText: "x"}, diff{Type: "diff", Path: "/p", NewText: "small"}}
	u := fit(toolCall{SessionUpdate: "tool_call", ID: "1", Content: &content, RawInput: json.RawMessage(asJSON(long))})[0].(toolCall)
	if n := len(asJSON(u)); n > 16<<20 {
		t.Errorf("a call of %d bytes", n)
	}
	if u.RawInput != nil || len(*u.Content) != 5 || !strings.Contains(asJSON((*u.Content)[3]), "too large") || len(content) != 5 {
		t.Errorf("%.300s", asJSON((*u.Content)[3]))
	}
}
