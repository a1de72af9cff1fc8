package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/session/message"
)

const headerLine = `{"type":"session","version":3,"id":"test","timestamp":"2025-01-02T03:04:05.006Z","cwd":"/w"}`

// write makes a session file of the given lines, the last with its newline.
func write(t testing.TB, lines ...string) string {
	t.Helper()
	return writeRaw(t, strings.Join(lines, "\n")+"\n")
}

func writeRaw(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) *Session {
	t.Helper()
	s, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// line makes an entry from a word: u1 user, a2 assistant, c5:3 compaction that
// keeps from 3, b10:8 branch summary; ^n names the parent, else the one before.
func line(word string) string {
	word, parent, _ := strings.Cut(word, "^")
	word, arg, _ := strings.Cut(word, ":")
	var n int
	fmt.Sscan(word[1:], &n)
	if parent == "" {
		parent = fmt.Sprint(n - 1)
	}
	quoted := `"` + parent + `"`
	if parent == "0" {
		quoted = "null"
	}
	typ, body := TypeMessage, ""
	switch word[0] {
	case 'u':
		body = fmt.Sprintf(`"message":{"role":"user","content":"%d","timestamp":1}`, n)
	case 'a':
		body = fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"text","text":"%d"}],"provider":"p","model":"m%d","stopReason":"stop","timestamp":1}`, n, n)
	case 'r':
		body = fmt.Sprintf(`"message":{"role":"toolResult","toolCallId":"c","toolName":"t","content":[{"type":"text","text":"%d"}],"isError":false,"timestamp":1}`, n)
	case 'x':
		body = fmt.Sprintf(`"message":{"role":"bashExecution","command":"%d","output":"%d","cancelled":false,"truncated":false,"timestamp":1}`, n, n)
	case 'm':
		typ, body = TypeCustomMessage, fmt.Sprintf(`"customType":"h","content":"%d","display":true`, n)
	case 'c':
		typ, body = TypeCompaction, fmt.Sprintf(`"summary":"summary%d","firstKeptEntryId":"%s","tokensBefore":9`, n, arg)
	case 'b':
		typ, body = TypeBranchSummary, fmt.Sprintf(`"fromId":"%s","summary":"branch"`, arg)
	case 'e':
		target, replacement, _ := strings.Cut(arg, "=")
		typ, body = TypeContextEdit, fmt.Sprintf(`"targetId":"%s","replacement":%s`, target, replacement)
	case 'k':
		typ, body = TypeCustom, `"customType":"pi.leaf"`
	case 'o':
		typ, body = "hook_own", `"message":{"role":"user","content":"never"}`
	}
	return fmt.Sprintf(`{"type":"%s","id":"%d","parentId":%s,"timestamp":"2025-01-02T03:04:05.006Z",%s}`, typ, n, quoted, body)
}

// story makes the lines of a session.
func story(words string) []string {
	lines := []string{headerLine}
	for _, w := range strings.Fields(words) {
		lines = append(lines, line(w))
	}
	return lines
}

func gist(items []Item) string {
	var out []string
	for _, it := range items {
		m := it.Message
		switch m.Role {
		case message.RoleCompactionSummary, message.RoleBranchSummary:
			out = append(out, m.Summary)
		case message.RoleBashExecution:
			out = append(out, m.Output)
		default:
			out = append(out, m.Text())
		}
	}
	return strings.Join(out, " ")
}

func TestContextIsBuiltFromTheBranch(t *testing.T) {
	tree := "u1 a2 u3 a4 c5:3 u6 a7 u8^3 a9 b10:7^3 u11"
	for _, c := range []struct{ name, words, want string }{
		{"no compaction", "u1 a2 u3 x4 m5", "1 2 3 4 5"},
		{"compaction", "u1 a2 u3 a4 c5:3 u6 a7", "summary5 3 4 6 7"},
		{"the last compaction counts", "u1 a2 c3:1 u4 a5 c6:4 u7", "summary6 4 5 7"},
		{"an earlier compaction among what is kept", "u1 a2 c3:1 u4 c5:2 u6", "summary5 2 4 6"},
		{"compaction that keeps nothing", "u1 a2 c3:3 u4", "summary3 4"},
		{"compaction that keeps what is not there", "u1 a2 c3:99 u4", "summary3 4"},
		{"the other branch of a tree", tree, "1 2 3 branch 11"},
		{"a leaf inside a tree", tree + " k12^7", "summary5 3 4 6 7"},
		{"a leaf at the root", "u1 a2 k3^0", ""},
		{"own entries are walked through", "u1 o2 a3", "1 3"},
		{"edit takes a message out", "u1 a2 e3:2=null u4", "1 4"},
		{"edit changes content", `u1 e2:1={"content":"new"} u3`, "new 3"},
		{"edit with blocks", `u1 e2:1={"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "ab"},
		{"the last edit wins", `u1 e2:1=null e3:1={"content":"back"}`, "back"},
		{"edit on another branch", "u1 u2 e3:1=null u4^2", "1 2 4"},
		{"edit of what is not kept", "u1 a2 e3:1=null c4:2 u5", "summary4 2 5"},
		{"edit before the compaction still counts", "u1 a2 e3:2=null c4:2 u5", "summary4 5"},
		{"edit takes out a command", "x1 e2:1=null u3", "3"},
		{"a command has no content to change", `x1 e2:1={"content":"new"}`, "1"},
		{"edit of a hook's message", "m1 e2:1=null u3", "3"},
		{"edit of a tool result", `r1 e2:1={"content":"cut"}`, "cut"},
		{"edit without content has no effect", `u1 e2:1={"other":1}`, "1"},
		{"edit takes out a summary", "u1 c2:2 e3:2=null u4", "4"},
		{"a summary has no content to change", `u1 c2:2 e3:2={"content":"new"}`, "summary2"},
		{"edit that stands before what is kept", "u1 a2 e3:4=null u4 c5:4 u6", "summary5 4 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, write(t, story(c.words)...))
			items := s.Context()
			if got := gist(items); got != c.want {
				t.Errorf("context %q, want %q", got, c.want)
			}
			for _, it := range items {
				if s.Branch()[it.Index] != it.Entry {
					t.Errorf("index %d is not that of entry %s", it.Index, it.Entry.ID)
				}
			}
		})
	}
}

func TestEditOfAnAnswerIsAListOfBlocks(t *testing.T) {
	for _, c := range []struct {
		words string
		plain bool
	}{{`a1 e2:1={"content":"x"}`, false}, {`r1 e2:1={"content":"x"}`, false}, {`u1 e2:1={"content":"x"}`, true}} {
		m := read(t, write(t, story(c.words)...)).Context()[0].Message
		if m.Plain != c.plain || m.Text() != "x" {
			t.Errorf("%s: plain %v, text %q", c.words, m.Plain, m.Text())
		}
	}
}

func TestModelAndLevelAreTheLastOnTheBranch(t *testing.T) {
	model := `{"type":"model_change","id":"20","parentId":"2","timestamp":"","provider":"q","modelId":"n"}`
	level := `{"type":"thinking_level_change","id":"21","parentId":"20","timestamp":"","thinkingLevel":"high"}`
	for _, c := range []struct {
		lines              []string
		provider, id, want string
	}{
		{story("u1 a2"), "p", "m2", ""},
		{append(story("u1 a2"), model), "q", "n", ""},
		{append(story("u1 a2"), model, level), "q", "n", "high"},
		{append(story("u1 a2"), model, level, line("u3^2")), "p", "m2", ""},
		{story("u1"), "", "", ""},
	} {
		s := read(t, write(t, c.lines...))
		p, id := s.Model()
		if p != c.provider || id != c.id || s.ThinkingLevel() != c.want {
			t.Errorf("%s/%s %q, want %s/%s %q", p, id, s.ThinkingLevel(), c.provider, c.id, c.want)
		}
	}
}

func TestMoveLeafSurvivesOpening(t *testing.T) {
	path := write(t, story("u1 a2 u3 a4")...)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moveLeaf(s, "2"); err != nil {
		t.Fatal(err)
	}
	if _, err := moveLeaf(s, "nowhere"); err == nil {
		t.Error("moved to an entry that does not exist")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = read(t, path)
	if got := gist(s.Context()); got != "1 2" {
		t.Errorf("context %q after the move", got)
	}
	if e := s.Entry(s.Leaf()); e.ParentID != "2" {
		t.Errorf("the move hangs on %q", e.ParentID)
	}
}

func TestBranchGivenOutStaysAsItWas(t *testing.T) {
	s := New(Options{})
	for i := range 10 {
		s.AppendMessage(user(fmt.Sprint(i)))
	}
	branch := s.Branch()
	before := slices.Clone(branch)
	_ = append(branch, nil)
	s.AppendMessage(user("10"))
	moveLeaf(s, branch[3].ID)
	s.AppendMessage(user("11"))
	if !slices.Equal(before, branch) {
		t.Error("a branch that was given out has changed")
	}
	if got := gist(s.Context()); got != "0 1 2 3 11" {
		t.Errorf("context %q", got)
	}
	if slices.Contains(s.Branch(), nil) {
		t.Error("a caller wrote into the branch")
	}
}

func TestUnknownTypesAreNamedInOneLine(t *testing.T) {
	s := read(t, write(t, story("u1 o2 o3")...))
	if got, want := s.UnknownTypes(nil), "Session has entries of unknown types: hook_own (2)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := read(t, write(t, story("u1")...)).UnknownTypes(nil); got != "" {
		t.Errorf("%q for a session of core types", got)
	}
}

func TestShowTellsWhatAModelWouldSee(t *testing.T) {
	got, err := read(t, write(t, story("u1 a2")...)).Show()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":3,"id":"test","cwd":"/w","leaf":"2","name":null,"model":"p/m2","thinking_level":null,"entries":2,"context":[` +
		`{"role":"user","content":"1","timestamp":1},` +
		`{"role":"assistant","content":[{"type":"text","text":"2"}],"provider":"p","model":"m2","stopReason":"stop","timestamp":1}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzViewIsTheContext lets a session grow, edits, compacts and moves it as the
// bytes say, and holds a View that is asked now and then against what is built
// from nothing. What the View gave before must not have changed.
func FuzzViewIsTheContext(f *testing.F) {
	for _, seed := range []string{"uavuavuav", "uavtvrvuv", "uaucvuaveva", "uaumvuavlvuv", "uavmvav", "uttrrvuevcvxvhv", "utvuvrvav"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 200 {
			return
		}
		s := New(Options{})
		var v View
		var given []kept
		for i, op := range ops {
			grow(t, s, op, i)
			if op == 'v' {
				given = append(given, looked(t, &v, s))
			}
		}
		given = append(given, looked(t, &v, s))
		for i, g := range given {
			if now := told(g.items, g.sent); now != g.told {
				t.Errorf("what look %d gave has become\n%s\nfrom\n%s", i, now, g.told)
			}
		}
	})
}

// grow does one thing to a session: a message of one of the roles (t: an answer
// with two calls, r: a result of one), an edit, a compaction, a move, a label.
func grow(t *testing.T, s *Session, op byte, n int) {
	branch := s.Branch()
	target := ""
	if len(branch) > 0 {
		target = branch[(n*7)%len(branch)].ID
	}
	text := []message.Block{message.TextBlock(fmt.Sprint("text ", n))}
	var err error
	switch op {
	case 'u':
		_, err = s.AppendMessage(&message.Message{Role: message.RoleUser, Content: text})
	case 'a', 'x':
		stop := map[byte]message.StopReason{'a': message.StopEnd, 'x': message.StopError}[op]
		_, err = s.AppendMessage(&message.Message{Role: message.RoleAssistant, Content: text, StopReason: stop})
	case 't':
		call := func(id string) message.Block {
			return message.Block{Type: message.BlockToolCall, ID: id, Name: "look", Arguments: json.RawMessage(`{}`)}
		}
		_, err = s.AppendMessage(&message.Message{Role: message.RoleAssistant, Content: []message.Block{call("one"), call("two")}, StopReason: message.StopToolUse})
	case 'r':
		_, err = s.AppendMessage(&message.Message{Role: message.RoleToolResult, ToolCallID: []string{"one", "two"}[n%2], Content: text})
	case 'h':
		_, err = s.Append(TypeCustomMessage, CustomMessage{CustomType: "h", Content: text})
	case 'l':
		_, err = s.Append(TypeLabel, Label{TargetID: target, Label: "here"})
	case 'e':
		_, err = s.Append(TypeContextEdit, ContextEdit{TargetID: target, Replacement: []*Replacement{nil, {Content: text}}[n%2]})
	case 'c':
		_, err = s.Append(TypeCompaction, Compaction{Summary: fmt.Sprint("summary ", n), FirstKeptEntryID: target})
	case 'm':
		if target != "" {
			_, err = moveLeaf(s, target)
		}
	}
	if err != nil {
		t.Fatalf("step %d, %c: %v", n, op, err)
	}
}

// kept is what a View gave, and what it said then.
type kept struct {
	items []Item
	sent  []*message.Message
	told  string
}

func looked(t *testing.T, v *View, s *Session) kept {
	items := v.Context(s)
	k := kept{items, v.ForModel(items), ""}
	k.told = told(k.items, k.sent)
	fresh := s.Context()
	if want := told(fresh, s.ForModel(fresh)); k.told != want {
		t.Fatalf("the view says\n%s\nthe session\n%s", k.told, want)
	}
	if !slices.Equal(items, fresh) && !hasEdits(s) {
		t.Fatal("the view has other messages or places than the session")
	}
	return k
}

// hasEdits: an edited message is made anew each time.
func hasEdits(s *Session) bool { return len(EditsOn(s.Branch())) > 0 }

func told(items []Item, sent []*message.Message) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "%d %s %s%s\n", it.Index, it.Message.Role, it.Message.Text(), it.Message.Summary)
	}
	for _, m := range sent {
		fmt.Fprintf(&b, "> %s %s %s\n", m.Role, m.ToolCallID, m.Text())
	}
	return b.String()
}
