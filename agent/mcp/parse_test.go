package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/internal/printable"
)

// FuzzQuestion checks that whatever a server asks is a form that can be asked, or an error.
func FuzzQuestion(f *testing.F) {
	f.Add("Who?", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}},"required":["b"]}`)
	f.Add("\x1b[2J", `{"properties":{"a":{"type":"string","oneOf":[{"const":"x"}]},"b":{"type":"string","enum":["a"],"enumNames":["A","B"]}}}`)
	f.Add("", `[]`)
	f.Fuzz(func(t *testing.T, message, form string) {
		var schema any
		if json.Unmarshal([]byte(form), &schema) != nil {
			t.Skip()
		}
		q, err := newQuestion("s", &sdk.ElicitParams{Message: message, RequestedSchema: schema})
		if err != nil {
			return
		}
		if strings.ContainsRune(q.Message, 0x1b) || !utf8.ValidString(q.Message) || len(q.Fields) > maxFields {
			t.Errorf("%+v", q)
		}
		optional := false
		for i := range q.Fields {
			if optional && q.Fields[i].Required {
				t.Error("a required field behind an optional one")
			}
			optional = !q.Fields[i].Required
			_, _ = q.Fields[i].Check("x")
		}
		_ = q.words()
	})
}

// FuzzClean checks that cleaned text is short, has nothing that is not seen, and does not
// change when it is cleaned again.
func FuzzClean(f *testing.F) {
	f.Add("plain", 10)
	f.Add("\x1b[31mred\x1b[0m\u200b\u200d", 100)
	f.Add("👩\u200d👩\u200d👧", 100)
	f.Add("\xff\xfe", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 1 || most > 1<<16 {
			t.Skip()
		}
		cleaned, _ := clean(text, most)
		if len(cleaned) > most+len("…") || !utf8.ValidString(cleaned) || strings.ContainsRune(cleaned, 0x1b) {
			t.Errorf("%q becomes %q", text, cleaned)
		}
		if len(text) < most && printable.HiddenIn(cleaned) != "" {
			t.Errorf("%q: %s", cleaned, printable.HiddenIn(cleaned))
		}
	})
}

func FuzzForwards(f *testing.F) {
	for _, seed := range []string{`{"call":"s/echo","arguments":{"a":1}}`, `{"call":"mcp__s__echo"}`, `{"call":"echo","server":"s","arguments":"{}"}`, `{"search":"x"}`, `{"call":"a__b/c"}`, `[]`, `{"call":"s/echo","arguments":" [1] "}`, `{"call":"s/echo","arguments":"oops"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		s := Open(Options{})
		defer s.Close()
		p := &proxy{set: s}
		name, arguments, ok := p.Forwards(json.RawMessage(input))
		if ok && (!IsName(name) || len(name) > maxName || strings.ContainsFunc(name, isNoNameRune) || !json.Valid(arguments) || arguments[0] != '{') {
			t.Errorf("%q: %q %q", input, name, arguments)
		}
		if wrapped, isOne := p.Wrap(name, arguments); ok && !isOne || isOne && !json.Valid(wrapped) {
			t.Errorf("%q: wrapped %q", input, wrapped)
		}
	})
}

func TestACacheThatCannotBeReadIsNone(t *testing.T) {
	for name, contents := range map[string]string{"no JSON": "{", "another format": `{"Format":99,"Definitions":{"Tools":[{"Tool":"x"}]},"Rows":{}}`, "a list": "[]", "empty": ""} {
		l := one(t, "good")
		_ = l.ask("echo", `{"text":"a"}`)
		l.Close()
		files, err := filepath.Glob(filepath.Join(l.cache.dir, "*.json"))
		if err != nil || len(files) != 2 {
			t.Fatalf("%q, %v", files, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			if err := os.WriteFile(file, []byte(contents), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again := open(t, Options{Entries: []Entry{entry("s", "good")}, Dir: l.o.Dir})
		if again.List()[0].Known {
			t.Errorf("%s: known", name)
		}
		if got := again.ask("echo", `{"text":"a"}`); got != "a" {
			t.Errorf("%s: %q", name, got)
		}
		if !again.List()[0].Known {
			t.Errorf("%s: still not known", name)
		}
	}
}

func TestTheIndexDoesNotGrowWithoutEnd(t *testing.T) {
	rows := map[string]row{"old": {Seen: 1}, "new": {Seen: 2}}
	dropOldest(rows)
	if _, ok := rows["new"]; !ok || len(rows) != 1 {
		t.Errorf("%v", rows)
	}
}

func TestTheLogTurns(t *testing.T) {
	l := logFile{path: filepath.Join(t.TempDir(), "sub", "mcp.log")}
	row := strings.Repeat("x", 1000)
	for range 2 * logSize / 1000 {
		l.row("s", row)
	}
	l.close()
	for _, path := range []string{l.path, l.path + ".1"} {
		info, err := os.Stat(path)
		if err != nil || info.Size() > logSize || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	l.row("s", "one more") // after the end it is opened again
	l.close()
	if b, err := os.ReadFile(l.path); err != nil || !strings.HasSuffix(string(b), "s: one more\n") {
		t.Errorf("%v", err)
	}
}
