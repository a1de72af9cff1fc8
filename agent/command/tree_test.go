package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// grown is a session in a file, of words: u1 a prompt, a2 an answer, t3 a call,
// r4 its result, l5:1=name a label of entry 1, k6 a moved leaf, s7 a summary of a
// branch, o8 an entry of a hook; ^n names the parent, else it is the one before.
func grown(t testing.TB, words string) *session.Session {
	t.Helper()
	lines := []string{`{"type":"session","version":3,"id":"grown","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p"}`}
	for _, word := range strings.Fields(words) {
		lines = append(lines, grownLine(word))
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func grownLine(word string) string {
	word, parent, _ := strings.Cut(word, "^")
	word, arg, _ := strings.Cut(word, ":")
	var n int
	fmt.Sscan(word[1:], &n)
	if parent == "" {
		parent = fmt.Sprint(n - 1)
	}
	quoted := `"id` + parent + `"`
	if parent == "0" {
		quoted = "null"
	}
	body := map[byte]string{
		'u': `"type":"message","message":{"role":"user","content":"ask %[1]d","timestamp":1}`,
		'a': `"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"\n\nsay %[1]d\nmore"}],"provider":"p","model":"one","stopReason":"stop","timestamp":1}`,
		't': `"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path":"x.go"}}],"provider":"p","model":"one","stopReason":"toolUse","timestamp":1}`,
		'r': `"type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"out %[1]d"}],"isError":false,"timestamp":1}`,
		'k': `"type":"custom","customType":"pi.leaf"`,
		's': `"type":"branch_summary","fromId":"x","summary":"## Goal\nsum %[1]d"`,
		'o': `"type":"hook_own","name":"own"`,
	}[word[0]]
	if word[0] == 'l' {
		target, name, _ := strings.Cut(arg, "=")
		body = fmt.Sprintf(`"type":"label","targetId":"id%s","label":%q`, target, name)
	} else if strings.Contains(body, "%") {
		body = fmt.Sprintf(body, n)
	}
	return fmt.Sprintf(`{"id":"id%d","parentId":%s,"timestamp":"2026-01-02T03:04:05.000Z",%s}`, n, quoted, body)
}

func TestTheTreeIsFlatWhereNothingBranches(t *testing.T) {
	for _, c := range []struct{ name, words, filter, want string }{
		{"a line", "u1 t2 r3 a4", "", `
* id1  user: ask 1
* id2  assistant: read x.go
> id4  assistant: say 4`},
		{"a branch that was left", "u1 a2 u3 a4 u5^2 a6", "", `
* id1  user: ask 1
* id2  assistant: say 2
  id3    - user: ask 3
  id4      assistant: say 4
* id5  user: ask 5
> id6  assistant: say 6`},
		{"branches of a branch that was left", "u1 a2 u3^2 a4 u5^4 u6^4 u7^2", "", `
* id1  user: ask 1
* id2  assistant: say 2
  id3    - user: ask 3
  id4      assistant: say 4
  id5        - user: ask 5
  id6      user: ask 6
> id7  user: ask 7`},
		{"what was undone", "u1 a2 u3 a4 k5^2", "", `
* id1  user: ask 1
> id2  assistant: say 2
  id3    - user: ask 3
  id4      assistant: say 4`},
		{"all was undone", "u1 a2 k3^0", "", `
  id1    - user: ask 1
  id2      assistant: say 2`},
		{"two beginnings", "u1 a2 u3^0 a4", "", `
  id1    - user: ask 1
  id2      assistant: say 2
* id3  user: ask 3
> id4  assistant: say 4`},
		{"labels and summaries", "u1 a2 l3:2=here u4^1 s5 u6", "", `
* id1  user: ask 1
  id2    - assistant: say 2  [here]
* id4  user: ask 4
* id5  branch summary: sum 5
> id6  user: ask 6`},
		{"everything", "u1 t2 r3 o4 k5^3", "all", `
* id1  user: ask 1
* id2  assistant: read x.go
* id3  result of read: out 3
  id4    - hook own: own
> id5  custom: pi.leaf`},
		{"without tools", "u1 t2 r3 a4", "no-tools", `
* id1  user: ask 1
> id4  assistant: say 4`},
		{"only prompts", "u1 t2 r3 a4 u5", "user", `
* id1  user: ask 1
> id5  user: ask 5`},
		{"only labels", "u1 t2 r3 l4:3=x a5", "labeled", `
> id3  result of read: out 3  [x]`},
		{"a text", "u1 a2 u3 a4 u5^2 a6", "SAY 4", `
  id4  assistant: say 4`},
		{"a text further down", "u1 a2 u3 a4", "more", `
* id2  assistant: say 2
> id4  assistant: say 4`},
		{"a label", "u1 a2 l3:1=Start u4", "start", `
> id1  user: ask 1  [Start]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			for _, row := range newTreeView(grown(t, c.words), newTreeFilter(c.filter)).rows(nil) {
				lines = append(lines, row.text)
			}
			if got := "\n" + strings.Join(lines, "\n"); got != c.want {
				t.Errorf("the tree is%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestBranchesThatWereLeftAreFoldedUntilSomebodyLooks(t *testing.T) {
	v := newTreeView(grown(t, "u1 a2 u3 a4 u5^4 u6^4 u7^2 u8^2"), newTreeFilter(""))
	folded := `
* id1  user: ask 1
* id2  assistant: say 2
  id3    + user: ask 3  (3 more)
  id7    - user: ask 7
> id8  user: ask 8`
	if got := texts(v.rows(map[string]bool{})); got != folded {
		t.Errorf("folded it is%s", got)
	}
	unfolded := `
* id1  user: ask 1
* id2  assistant: say 2
  id3    - user: ask 3
  id4      assistant: say 4
  id5        - user: ask 5
  id6      user: ask 6
  id7    - user: ask 7
> id8  user: ask 8`
	if got := texts(v.rows(map[string]bool{"id3": true})); got != unfolded {
		t.Errorf("unfolded it is%s", got)
	}
}

func texts(rows []treeRow) string {
	text := ""
	for _, row := range rows {
		text += "\n" + row.text
	}
	return text
}

func TestEveryEntryIsInTheTreeOnce(t *testing.T) {
	s := grown(t, "u1 a2 u3^1 a4 u5^1 a6 u7^5 u8^0 k9^6 o10 l11:3=x u12^9 s13^12 r14^3")
	rows := newTreeView(s, newTreeFilter("all")).rows(nil)
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.id] {
			t.Errorf("%s stands there twice", row.id)
		}
		seen[row.id] = true
	}
	if len(rows) != len(s.Entries()) {
		t.Errorf("%d rows for %d entries", len(rows), len(s.Entries()))
	}
}

func TestNoTextOfAnEntryReachesTheTerminalAsACommand(t *testing.T) {
	s := session.New(session.Options{})
	text := "a\x1b[2Jb\u202ec\r"
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(session.TypeLabel, session.Label{TargetID: s.Leaf(), Label: text}); err != nil {
		t.Fatal(err)
	}
	for _, row := range newTreeView(s, newTreeFilter("all")).rows(nil) {
		if strings.ContainsAny(row.text, "\x1b\r\u202e") {
			t.Errorf("%q", row.text)
		}
	}
}

// user answers dialogs from a list; an answer chooses the first option that
// has it in it.
type user struct {
	agent.NoUI
	answers []string
	asked   [][]string
}

func (*user) HasUI() bool { return true }

func (p *user) next() (string, bool) {
	if len(p.answers) == 0 {
		return "", false
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, true
}

func (p *user) Select(_ context.Context, _ string, choices []agent.Choice, _ agent.DialogOptions) ([]string, bool, error) {
	var shown []string
	for _, c := range choices {
		shown = append(shown, strings.TrimRight(c.Text()+"  "+c.Description, " "))
	}
	p.asked = append(p.asked, shown)
	answer, ok := p.next()
	for i, c := range choices {
		if ok && strings.Contains(shown[i], answer) {
			return []string{c.Value}, true, nil
		}
	}
	return nil, false, nil
}

func (p *user) Input(context.Context, string, string, agent.DialogOptions) (string, bool, error) {
	answer, ok := p.next()
	return answer, ok, nil
}

// onTree is an agent on a session, with the commands; ui may be nil.
func onTree(t *testing.T, s *session.Session, ui agent.UI) (*agent.Agent, func(line string) Outcome) {
	t.Helper()
	model := &llm.Model{Provider: "p", ID: "one", API: "x"}
	models := llm.NewModels(nil)
	models.Register(llm.ProviderSpec{Name: "p", Models: llm.Listed(model)})
	dir := t.TempDir()
	a := agent.New(agent.Options{Session: s, Models: models, Model: model,
		CopySession: func(s *session.Session, leaf string) (*session.Session, error) {
			return s.CopyPath(leaf, session.Options{Dir: dir, Cwd: "/p"})
		}})
	t.Cleanup(func() { _ = a.Session().Close() })
	set := NewSet(Core(Options{Agent: a, UI: ui}), nil)
	return a, func(line string) Outcome {
		t.Helper()
		out, err := set.Run(t.Context(), line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return out
	}
}

func TestCommandsOfTheTreeSayWhatTheyDid(t *testing.T) {
	const words = "u1 a2 u3 a4"
	for _, c := range []struct{ lines, status, draft, left string }{
		{"/undo", "undone (/redo takes it back): the conversation (2 messages) ends with assistant: say 2", "ask 3", "ask 1|say 2"},
		{"/undo 2", "undone (/redo takes it back): the conversation is empty here", "ask 1", ""},
		{"/redo", "nothing to redo: nothing was undone since the last message", "", "ask 1|say 2|ask 3|say 4"},
		{"/undo;/redo", "redone: the conversation (4 messages) ends with assistant: say 4", "", "ask 1|say 2|ask 3|say 4"},
		{"/undo 2;/undo", "nothing to undo: no prompt on this branch", "", ""},
		{"/tree id2", "moved: the conversation (2 messages) ends with assistant: say 2", "", "ask 1|say 2"},
		{"/tree id3", "moved: the conversation (2 messages) ends with assistant: say 2", "ask 3", "ask 1|say 2"},
		{"/undo;/tree id4 summary", "moved; nothing was left that could be summed up: the conversation (4 messages) ends with assistant: say 4", "", "ask 1|say 2|ask 3|say 4"},
		{"/tree id4", "you are there already: the conversation (4 messages) ends with assistant: say 4", "", "ask 1|say 2|ask 3|say 4"},
		{"/tree nowhere", `no entry has "nowhere" in it; /tree all lists them`, "", "ask 1|say 2|ask 3|say 4"},
		{"/tree labeled", "no entry is shown with the filter labeled; /tree all lists them", "", "ask 1|say 2|ask 3|say 4"},
		{"/tree user", "* id1  user: ask 1\n> id3  user: ask 3", "", "ask 1|say 2|ask 3|say 4"},
		{"/label", "no entry has a label", "", "ask 1|say 2|ask 3|say 4"},
		{"/label the end", `label "the end": assistant: say 4`, "", "ask 1|say 2|ask 3|say 4"},
		{"/label id1 a start", `label "a start": user: ask 1`, "", "ask 1|say 2|ask 3|say 4"},
		{"/label id1 x;/label id2 y;/label", "id1  [x]  user: ask 1\nid2  [y]  assistant: say 2", "", "ask 1|say 2|ask 3|say 4"},
		{"/label id1 x;/label id1", "no label any more: user: ask 1", "", "ask 1|say 2|ask 3|say 4"},
		{"/label id1", "id1 has no label", "", "ask 1|say 2|ask 3|say 4"},
		{"/branch", "id3  user: ask 3\nid1  user: ask 1", "", "ask 1|say 2|ask 3|say 4"},
	} {
		t.Run(c.lines, func(t *testing.T) {
			a, run := onTree(t, grown(t, words), nil)
			var out Outcome
			for _, line := range strings.Split(c.lines, ";") {
				out = run(line)
			}
			if out.Status != c.status || out.Draft != c.draft {
				t.Errorf("it said %q and gave back %q; want %q and %q", out.Status, out.Draft, c.status, c.draft)
			}
			again, err := session.Read(a.Session().File())
			if err != nil || heard(again) != c.left || heard(a.Session()) != c.left {
				t.Errorf("left is %q, in the file %q, %v", heard(a.Session()), heard(again), err)
			}
		})
	}
}

// heard is what is in the context.
func heard(s *session.Session) string {
	var said []string
	for _, it := range s.Context() {
		said = append(said, firstLine(it.Message.Text()))
	}
	return strings.Join(said, "|")
}

func TestWrongArgumentsOfTheTreeAreRefusedWithWhatIsRight(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"/undo x", `a number from 1, not "x"`},
		{"/undo 0", "a number from 1"},
		{"/undo 3", "3 is not from 1 to 2, the number of prompts on this branch"},
		{"/redo 2", "takes no argument"},
		{"/branch nothing", `no entry "nothing" in this session; /tree all lists them`},
	} {
		s := grown(t, "u1 a2 u3 a4")
		a, _ := onTree(t, s, nil)
		_, err := NewSet(Core(Options{Agent: a}), nil).Run(t.Context(), c.line)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.line, err)
		}
		if len(s.Entries()) != 4 || a.Session() != s {
			t.Errorf("%s has changed something", c.line)
		}
	}
}

func TestAnEntryIsNamedByTheBeginningOfItsID(t *testing.T) {
	s := session.New(session.Options{})
	var ids []string
	for range 3 {
		e, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	if e, err := needEntry(s, ids[1][:6]); err != nil || e.ID != ids[1] {
		t.Errorf("%v, %v", e, err)
	}
	if e, err := needEntry(s, ids[1][:2]); err == nil {
		t.Errorf("two letters named %s", e.ID)
	}
	long := grown(t, "u10001 u10002 u3^0")
	if _, err := needEntry(long, "id1000"); err == nil || !strings.Contains(err.Error(), "id10001 and id10002") {
		t.Errorf("two that begin alike: %v", err)
	}
}

func TestAUserPicksAnEntryAndWhatToDoWithIt(t *testing.T) {
	const words = "u1 a2 u3 a4 u5^2 a6"
	for _, c := range []struct {
		name    string
		answers []string
		status  string
		draft   string
	}{
		{"goes there", []string{"id2 ", wayGo}, "moved: the conversation (2 messages) ends with assistant: say 2", ""},
		{"unfolds and goes there", []string{"id3 ", "id4 ", wayGo}, "moved: the conversation (4 messages) ends with assistant: say 4", ""},
		{"before a prompt", []string{"id5 ", wayGo}, "moved: the conversation (2 messages) ends with assistant: say 2", "ask 5"},
		{"labels it", []string{"id2 ", wayLabel, "two words"}, `label "two words": assistant: say 2`, ""},
		{"looks on", []string{"id2 ", wayBack, "id1 ", wayGo}, "moved: the conversation is empty here", "ask 1"},
		{"chooses nothing", nil, "nothing has moved", ""},
		{"does nothing with it", []string{"id2 "}, "nothing has moved", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ui := &user{answers: c.answers}
			_, run := onTree(t, grown(t, words), ui)
			if out := run("/tree"); out.Status != c.status || out.Draft != c.draft {
				t.Errorf("it said %q and gave back %q after %q", out.Status, out.Draft, ui.asked)
			}
		})
	}
}

func TestAUserBranchesFromTheTreeAndFromTheListOfPrompts(t *testing.T) {
	for _, c := range []struct {
		line    string
		answers []string
		left    string
		draft   string
	}{
		{"/tree", []string{"id3 ", wayBranch}, "ask 1|say 2", "ask 3"},
		{"/branch", []string{"ask 3"}, "ask 1|say 2", "ask 3"},
		{"/fork", []string{"ask 1"}, "", "ask 1"},
		{"/branch", []string{branchHere}, "ask 1|say 2|ask 3|say 4", ""},
		{"/branch here", nil, "ask 1|say 2|ask 3|say 4", ""},
		{"/branch id2", nil, "ask 1|say 2", ""},
	} {
		s := grown(t, "u1 a2 u3 a4")
		a, run := onTree(t, s, &user{answers: c.answers})
		out := run(c.line)
		if a.Session() == s || heard(a.Session()) != c.left || out.Draft != c.draft || !strings.HasSuffix(out.Status, "branched off grown") {
			t.Errorf("%s: %q left, given back %q, said %q", c.line, heard(a.Session()), out.Draft, out.Status)
		}
		if a.Session().Header().ParentSession != s.File() {
			t.Errorf("%s: the parent is %q", c.line, a.Session().Header().ParentSession)
		}
	}
}

func TestALargeTreeIsLookedAtInPieces(t *testing.T) {
	var words strings.Builder
	for n := 1; n <= 100; n++ {
		fmt.Fprintf(&words, "u%d ", n)
	}
	ui := &user{answers: []string{"before these", "before these", "after these", "before these", "before these", "ask 1"}}
	_, run := onTree(t, grown(t, words.String()), ui)
	run("/tree")
	if first := ui.asked[0]; !slices.ContainsFunc(first, func(o string) bool { return strings.HasPrefix(o, "> id100 ") }) {
		t.Errorf("the leaf is not in %q", first)
	}
	seen := map[string]bool{}
	for _, options := range ui.asked {
		if len(options) > window+2 {
			t.Errorf("%d options at once", len(options))
		}
		for _, o := range options {
			seen[o] = true
		}
	}
	if !seen["* id1  user: ask 1"] {
		t.Error("the beginning cannot be reached")
	}
}

func TestPicturesThatWentWithAPromptAreSpokenOf(t *testing.T) {
	s := session.New(session.Options{})
	content := []message.Block{message.TextBlock("look"), {Type: message.BlockImage, Data: "AA==", MimeType: "image/png"}}
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: content}); err != nil {
		t.Fatal(err)
	}
	_, run := onTree(t, s, nil)
	if out := run("/undo"); out.Draft != "look" || !strings.Contains(out.Status, "1 attachment went with that prompt") {
		t.Errorf("%+v", out)
	}
}

func BenchmarkTree30000(b *testing.B) {
	var words strings.Builder
	for n := 1; n <= 30000; n++ {
		kind := [...]string{"u", "t", "r", "a"}[n%4]
		fmt.Fprintf(&words, "%s%d", kind, n)
		if n%50 == 0 {
			fmt.Fprintf(&words, "^%d", n-20)
		}
		words.WriteByte(' ')
	}
	s := grown(b, words.String())
	b.ResetTimer()
	for b.Loop() {
		newTreeView(s, newTreeFilter("")).rows(map[string]bool{})
	}
}
