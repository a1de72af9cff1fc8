package export

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pi/session"
)

// transcriptOf writes a session with these entries, each a child of the one
// before, and returns its transcript.
func transcriptOf(t *testing.T, entries ...string) string {
	t.Helper()
	parent := "null"
	for i, e := range entries {
		id := strconv.Quote("e" + strconv.Itoa(i+1))
		entries[i] = `{"id":` + id + `,"parentId":` + parent + `,"timestamp":"2026-01-02T03:04:05.000Z",` + e + `}`
		parent = id
	}
	s := read(t, stored(t, 3, entries...))
	var b bytes.Buffer
	if err := Markdown(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func says(role, text string) string {
	quoted, _ := json.Marshal(text)
	return `"type":"message","message":{"role":"` + role + `","provider":"p","model":"m","toolName":"bash","toolCallId":"c","content":[{"type":"text","text":` + string(quoted) + `}]}`
}

func TestATranscriptTellsWhatIsOnTheBranch(t *testing.T) {
	for _, c := range []struct {
		entry string
		want  string
	}{
		{says("user", "hello"), "\n## User\n\n*2026-01-02 03:04 UTC*\n\nhello\n"},
		{says("assistant", "yes"), "\n## Assistant (p/m)\n\n*2026-01-02 03:04 UTC*\n\nyes\n"},
		{says("toolResult", "out"), "\n*result of bash*\n\n```\nout\n```\n"},
		{`"type":"message","message":{"role":"toolResult","toolName":"x","isError":true,"content":[{"type":"image","mimeType":"image/png","data":"aa"}]}`, "\n*error of x*\n\n*image, image/png*\n"},
		{`"type":"message","message":{"role":"assistant","provider":"p","model":"m","content":[],"stopReason":"error","errorMessage":"no\nroute"}`, "*error: no route*\n"},
		{`"type":"message","message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"c","name":"edit","arguments":{"path":"a","n":1}}],"stopReason":"toolUse"}`, "\n**edit**\n\n```\n{\"path\":\"a\",\"n\":1}\n```\n"},
		{`"type":"message","message":{"role":"bashExecution","command":"ls","output":"a\n"}`, "\n## Command of the user\n\n*2026-01-02 03:04 UTC*\n\n```\n$ ls\na\n```\n"},
		{`"type":"custom_message","customType":"todo","content":"do it","display":false`, "\n## Note of todo\n\n*2026-01-02 03:04 UTC*\n\ndo it\n"},
		{`"type":"compaction","summary":"before","firstKeptEntryId":"e1","tokensBefore":12`, "\n## Summary of the conversation before\n\n*2026-01-02 03:04 UTC*\n\n*compacted from 12 tokens*\n\nbefore\n"},
		{`"type":"branch_summary","fromId":"root","summary":"aside"`, "\n## Summary of a branch that was left\n\n*2026-01-02 03:04 UTC*\n\naside\n"},
		{`"type":"branch_summary","fromId":"root","summary":""`, "started: 2026-01-02 03:04 UTC\n"},
		{`"type":"model_change","provider":"p","modelId":"m"`, "\n*model: p/m*\n"},
		{`"type":"thinking_level_change","thinkingLevel":"high"`, "\n*thinking: high*\n"},
		{`"type":"context_edit","targetId":"e9","replacement":null`, "\n*entry e9 was taken out of what the model sees*\n"},
		{`"type":"context_edit","targetId":"e9","replacement":{"content":"x"}`, "\n*entry e9 was changed for the model*\n"},
		{`"type":"message","message":3`, "\n*an entry that cannot be read: e1*\n"},
		{`"type":"label","targetId":"e1","label":"x"`, "started: 2026-01-02 03:04 UTC\n"},
		{`"type":"mine","secret":"x"`, "started: 2026-01-02 03:04 UTC\n"},
	} {
		if got := transcriptOf(t, c.entry); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s became\n%s\nwant at its end\n%s", c.entry, got, c.want)
		}
	}
}

func TestATranscriptNamesTheSessionAndItsLabels(t *testing.T) {
	got := transcriptOf(t, says("user", "a"), says("assistant", "b"), `"type":"label","targetId":"e2","label":"old"`,
		`"type":"label","targetId":"e2","label":"the\nplace"`, `"type":"session_info","name":"my work"`)
	for _, want := range []string{"# my work\n", "- session: s-1\n", "- directory: `/p`\n", "## Assistant (p/m) [the place]\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestALongOutputIsFoldedAndNothingEndsItsFence(t *testing.T) {
	long := transcriptOf(t, says("toolResult", strings.Repeat("line\n", 100)))
	if n := strings.Count(long, "line\n"); n != shownLines || !strings.Contains(long, "… (60 lines more)\n```\n") {
		t.Errorf("%d lines in\n%s", n, long)
	}
	wide := transcriptOf(t, says("toolResult", strings.Repeat("ü", 5000)))
	if strings.Count(wide, "ü") != shownRunes || !strings.Contains(wide, "… (2000 bytes more)") {
		t.Errorf("%d runes of one line", strings.Count(wide, "ü"))
	}
	fenced := transcriptOf(t, says("toolResult", "a\n```\n````\nb"))
	if !strings.Contains(fenced, "\n`````\na\n```\n````\nb\n`````\n") {
		t.Errorf("%s", fenced)
	}
	if text := transcriptOf(t, says("user", strings.Repeat("word ", 9000))); strings.Count(text, "word") != 9000 {
		t.Error("what the person said is cut")
	}
}

func FuzzATranscriptHoldsNothingThatCommandsATerminal(f *testing.F) {
	for _, seed := range []string{says("user", "\x1b]0;owned\x07\u202e"), `"type":"custom_message","customType":"\u001b[2J","content":7`,
		`"type":"message","message":{"role":"assistant","provider":"\u0007","model":"\u009b","content":[{"type":"toolCall","name":"\u0085","arguments":"\u001b"},{"type":"thinking","thinking":"\u001b"}]}`,
		`"type":"model_change","provider":"\u001b"`, `"type":"context_edit","targetId":"\u001b","replacement":null`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		text := `{"type":"session","version":3,"id":"s","cwd":"/\u001b[2J","timestamp":"\u001b"}` + "\n{" + entry + "}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := session.Read(path)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Markdown(&b, s); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%q in %q", r, b.String())
			}
		}
	})
}
