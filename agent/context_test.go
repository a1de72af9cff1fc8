package agent

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

// unsaved is a session in memory that begins with these prompts.
func unsaved(t *testing.T, prompts ...string) *session.Session {
	t.Helper()
	s := session.New(session.Options{Cwd: "/p", Now: testTime})
	for _, text := range prompts {
		if _, err := s.AppendMessage(userMessage([]message.Block{message.TextBlock(text)})); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// unscaled leaves images as they are.
func unscaled() imageScaler { return imageScaler{settings: newInForce(Settings{})} }

func TestTheResultOfAChainIsThatOfItsSession(t *testing.T) {
	one, other := unsaved(t, "a", "b"), unsaved(t, "c")
	upper := on(func(e *Context) {
		e.Items = []session.Item{{Message: userMessage([]message.Block{message.TextBlock("A")}), Entry: e.Items[0].Entry}}
	})
	c := newConversation(listening(upper), unscaled(), one)
	seen := func() (texts []string) {
		items, _ := c.seen()
		for _, it := range items {
			texts = append(texts, it.Message.Text())
		}
		return texts
	}
	want := func(what string, texts ...string) {
		t.Helper()
		if got := seen(); !slices.Equal(got, texts) {
			t.Errorf("%s: %q, want %q", what, got, texts)
		}
	}
	edited := one.Branch()[0].ID
	c.noteEdit(one, edited) // nothing was shown yet
	want("before a chain", "a", "b")
	c.runChain(t.Context())
	want("after it", "A")
	c.noteEdit(other, edited)
	want("an edit of another session", "A")
	c.noteEdit(one, edited)
	want("an edit", "a")
	if previous := c.replace(other); previous != one || c.current() != other {
		t.Error("the session was not replaced")
	}
	if _, chain := c.seen(); chain.branch != nil {
		t.Error("another session has the chain")
	}
	want("another session", "c")
	c.runChain(t.Context())
	c.forgetChain()
	want("forgotten", "c")
}

func TestAChainOverASessionThatIsLeftMeanwhileIsForgotten(t *testing.T) {
	one, other := unsaved(t, "a"), unsaved(t, "b")
	c := newConversation(listening(), unscaled(), one)
	c.events = listening(on(func(*Context) { c.replace(other) }))
	if got := c.runChain(t.Context()).items; len(got) != 1 || got[0].Message.Text() != "a" {
		t.Errorf("%+v", got)
	}
	if got, chain := c.seen(); len(got) != 1 || got[0].Message.Text() != "b" || chain.branch != nil {
		t.Errorf("%+v of %+v", got, chain)
	}
}

func TestAViewOfASessionGrowsWithItAndForgetsIt(t *testing.T) {
	var v contextView
	s := unsaved(t, strings.Repeat("abcd", 100))
	if n := v.tokens(v.core(s)).Rest; n != 100 {
		t.Errorf("%d tokens", n)
	}
	if _, err := s.AppendMessage(userMessage([]message.Block{message.TextBlock(strings.Repeat("abcd", 50))})); err != nil {
		t.Fatal(err)
	}
	if items := v.core(s); len(items) != 2 || v.tokens(items).Rest != 150 || len(v.forModel(items)) == 0 {
		t.Errorf("%d items, %d tokens", len(items), v.tokens(items).Rest)
	}
	v.reset()
	if items := v.core(unsaved(t, "x")); len(items) != 1 || v.tokens(items).Rest != 1 {
		t.Errorf("another session has %d items", len(items))
	}
}

func TestEditChangesEveryLaterRequestAndNotTheHistory(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("look")}}, use(call{"a", "look", `{}`}), say("the secret is 42"), say("b"), say("c"))
	r.prompt("tell me")
	ids := map[string]string{}
	for _, it := range r.Session().Context() {
		ids[string(it.Message.Role)+"/"+it.Message.Text()] = it.Entry.ID
	}
	r.Context(t.Context())
	if _, err := r.EditContext(t.Context(), ids["assistant/the secret is 42"], nil); err != nil {
		t.Fatal(err)
	}
	shorter := &session.Replacement{Content: []message.Block{message.TextBlock("(cleared)")}}
	if _, err := r.EditContext(t.Context(), ids["toolResult/look{}"], shorter); err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, it := range r.Seen() {
		seen = append(seen, it.Message.Text())
	}
	if !reflect.DeepEqual(seen, []string{"tell me", "", "(cleared)"}) {
		t.Errorf("seen %q", seen)
	}
	r.prompt("more")
	path := r.Session().File()
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := r.SwitchSession(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	r.prompt("and more")
	for i, q := range r.model.requests[2:] {
		for _, m := range q.Messages {
			if s := m.Text(); strings.Contains(s, "secret") || strings.Contains(s, "look{}") {
				t.Errorf("request %d still has %q", i+3, s)
			}
		}
	}
	if file := r.file(); !strings.Contains(file, "the secret is 42") || !strings.Contains(file, `look{}`) {
		t.Errorf("the history has changed:\n%s", file)
	}
}

func TestEditKeepsWhatListenersToTheContextMadeOfTheRest(t *testing.T) {
	upper := on(func(e *Context) {
		for i, it := range e.Items {
			m := it.Message.Clone()
			m.Content = []message.Block{message.TextBlock(strings.ToUpper(m.Text()))}
			e.Items[i].Message = m
		}
	})
	r := newHarness(t, Options{Listeners: []Listener{upper}}, say("a"))
	r.prompt("one")
	id := r.Session().Context()[0].Entry.ID
	r.Context(t.Context())
	if _, err := r.EditContext(t.Context(), id, &session.Replacement{Content: []message.Block{message.TextBlock("uno")}}); err != nil {
		t.Fatal(err)
	}
	if seen := r.Seen(); len(seen) != 2 || seen[0].Message.Text() != "uno" || seen[1].Message.Text() != "A" {
		t.Errorf("%d messages, first %q", len(seen), seen[0].Message.Text())
	}
}

func TestLastOfSeveralEditsIsSeen(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	r.prompt("one")
	id := r.Session().Context()[0].Entry.ID
	for _, now := range []*session.Replacement{nil, {Content: []message.Block{message.TextBlock("uno")}}, {Content: []message.Block{message.TextBlock("eins")}}} {
		if _, err := r.EditContext(t.Context(), id, now); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	for _, it := range r.Seen() {
		seen = append(seen, it.Message.Text())
	}
	if !reflect.DeepEqual(seen, []string{"eins", "a"}) {
		t.Errorf("seen %q", seen)
	}
}

func TestOnlyMessagesOfTheBranchCanBeEdited(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	r.prompt("one")
	s := r.Session()
	custom, err := s.Append(session.TypeCustom, session.Custom{CustomType: "x"})
	if err != nil {
		t.Fatal(err)
	}
	bash, err := s.AppendMessage(&message.Message{Role: message.RoleBashExecution, Command: "ls"})
	if err != nil {
		t.Fatal(err)
	}
	answer := s.Branch()[len(s.Branch())-3]
	if _, err = moveLeaf(s, s.Context()[0].Entry.ID); err != nil {
		t.Fatal(err)
	}
	left := answer.ID
	if _, err = r.EditContext(t.Context(), left, nil); err == nil || err.Error() != fmt.Sprintf("edit context: entry %q is not on the current branch", left) {
		t.Error(err)
	}
	if _, err = moveLeaf(s, bash.ID); err != nil {
		t.Fatal(err)
	}
	before := len(s.Entries())
	for id, want := range map[string]string{
		"nothing": `no entry "nothing"`, custom.ID: "is a custom; only messages", bash.ID: "is a bashExecution; only messages",
	} {
		if _, err := r.EditContext(t.Context(), id, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if len(s.Entries()) != before {
		t.Error("a refused edit is in the session")
	}
}
