package agent

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

func TestTheResultOfAChainIsThatOfItsSession(t *testing.T) {
	one, other := &session.Session{}, &session.Session{}
	var l lastSeen
	l.edit(one, "a") // nothing was shown yet
	l.set(one, chained{branch: make([]*session.Entry, 3), items: make([]session.Item, 2)})
	l.edit(one, "b")
	l.edit(other, "c")
	if items, to, edited := l.of(one); len(items) != 2 || to != 3 || len(edited) != 1 || !edited["b"] {
		t.Errorf("%d items to %d, edited %v", len(items), to, edited)
	}
	if items, _, _ := l.of(other); items != nil {
		t.Error("another session has them too")
	}
	l.forget()
	if items, _, _ := l.of(one); items != nil || len(l.lastChain().branch) != 3 {
		t.Error("they are there though they were dropped, or the chain is not")
	}
}

func TestEditChangesEveryLaterRequestAndNotTheHistory(t *testing.T) {
	r := newRig(t, Options{Tools: []Tool{echo("look")}}, use(call{"a", "look", `{}`}), say("the secret is 42"), say("b"), say("c"))
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
	r := newRig(t, Options{Listeners: []Listener{upper}}, say("a"))
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
	r := newRig(t, Options{}, say("a"))
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
	r := newRig(t, Options{}, say("a"))
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
