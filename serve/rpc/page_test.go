package rpc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASessionIsExportedAsAPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := start(t, setup{dir: dir, replies: []reply{say("hello <b>")}, options: Options{Sessions: paths(dir)}})
	check(t, c.answerTo(`{"type":"export_html"}`), `{"type":"response","command":"export_html","success":false,"error":"Nothing to export yet"}`)
	c.send(prompt("1", "hi"))
	c.until(`"type":"agent_settled"`)
	usual := filepath.Join(c.agent.Cwd(), "pi-session-"+strings.TrimSuffix(filepath.Base(c.agent.Session().File()), ".jsonl")+".html")
	for range 2 { // the second replaces the first
		check(t, c.answerTo(`{"id":"2","type":"export_html"}`), `{"id":"2","type":"response","command":"export_html","success":true,"data":{"path":"`+usual+`"}}`)
	}
	if page, err := os.ReadFile(usual); err != nil || !strings.Contains(string(page), "hello &lt;b&gt;") {
		t.Errorf("%v in\n%s", err, page)
	}
	check(t, c.answerTo(`{"type":"export_html","outputPath":"it.html"}`), `*"success":true,"data":{"path":"it.html"}}`)
	if _, err := os.Stat(filepath.Join(dir, "it.html")); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.html"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, c.answerTo(`{"type":"export_html","outputPath":"notes.html"}`), `*"success":false,"error":"*notes.html*it is a file that pi did not write as a page; it is never written over*"}`)
	if notes, err := os.ReadFile(filepath.Join(dir, "notes.html")); err != nil || string(notes) != "mine" {
		t.Errorf("%q, %v", notes, err)
	}
}
