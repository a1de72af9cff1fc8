package agent

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

// wanderer moves at random through a session that grows, and checks after each
// step what has to be true whatever was done.
type wanderer struct {
	*harness
	rand  *rand.Rand
	n     int
	file  string // of the current session, as it was after the last step
	path  string
	trail []string
}

func TestHoweverOneWandersNothingIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		w := &wanderer{rand: rand.New(rand.NewPCG(seed, 1))}
		summary := on(func(e *SessionBeforeTree) {
			e.Summary = &SummaryDraft{Summary: fmt.Sprintf("sum of %d", len(e.Preparation.EntriesToSummarize))}
		})
		w.harness = newHarness(t, Options{Listeners: []Listener{summary}})
		w.say(message.RoleUser)
		for range 60 {
			w.step()
			if w.check(); t.Failed() {
				t.Fatalf("seed %d: %s", seed, strings.Join(w.trail, ", "))
			}
		}
		_ = w.Session().Close()
	}
}

func (w *wanderer) step() {
	switch w.rand.IntN(10) {
	case 0, 1:
		w.say(message.RoleUser)
	case 2:
		w.say(message.RoleAssistant)
	case 3:
		w.note("undo", second(w.Undo(w.t.Context(), 1+w.rand.IntN(2))))
	case 4:
		w.note("redo", second(w.Redo(w.t.Context())))
	case 5, 6:
		o := NavigateOptions{Summarize: w.rand.IntN(3) == 0}
		if w.rand.IntN(3) == 0 {
			o.Label = fmt.Sprint("there", w.n)
		}
		w.note("navigate", second(w.Navigate(w.t.Context(), w.any(), o)))
	case 7:
		w.note("label", w.SetLabel(w.t.Context(), w.any(), [...]string{"", "a", "b"}[w.rand.IntN(3)]))
	case 8:
		w.addSomething()
	case 9:
		w.branch()
	}
}

func (w *wanderer) note(what string, err error) {
	if err != nil {
		what += " (" + err.Error() + ")"
	}
	w.trail = append(w.trail, what)
}

func (w *wanderer) any() string {
	entries := w.Session().Entries()
	return entries[w.rand.IntN(len(entries))].ID
}

func (w *wanderer) say(role message.Role) {
	w.n++
	m := &message.Message{Role: role, Content: []message.Block{message.TextBlock(fmt.Sprint("m", w.n))}, Timestamp: 1}
	if role == message.RoleAssistant {
		m.Provider, m.Model, m.API, m.StopReason, m.Usage = "acme", "one", "test", message.StopEnd, &message.Usage{}
	}
	_, err := w.Session().AppendMessage(m)
	w.note("say", err)
}

func (w *wanderer) addSomething() {
	s := w.Session()
	var err error
	switch w.rand.IntN(4) {
	case 0:
		_, err = s.Append("hook_own", map[string]int{"n": w.n})
	case 1:
		_, err = s.Append(session.TypeSessionInfo, session.SessionInfo{Name: fmt.Sprint("name", w.n)})
	case 2:
		if path := userMessages(s.Branch()); len(path) > 0 {
			_, err = w.EditContext(w.t.Context(), path[w.rand.IntN(len(path))].ID, nil)
		}
	case 3:
		if path := s.Branch(); len(path) > 0 {
			kept := path[w.rand.IntN(len(path))].ID
			_, err = s.Append(session.TypeCompaction, session.Compaction{Summary: fmt.Sprint("compacted", w.n), FirstKeptEntryID: kept})
		}
	}
	w.note("add", err)
}

// branch checks that what was left has not changed, and what came along.
func (w *wanderer) branch() {
	left, id := w.Session(), w.any()
	names, before := left.Labels(), mustReadFile(w.t, left.File())
	r, err := w.Branch(w.t.Context(), id)
	w.note("branch", err)
	if got := mustReadFile(w.t, left.File()); got != before {
		w.t.Error("the session that was branched off has changed")
	}
	s := w.Session()
	for _, e := range s.Entries() {
		if was := left.Entry(e.ID); was != nil && (string(was.Raw()) != string(e.Raw()) || s.Labels()[e.ID] != names[e.ID]) {
			w.t.Errorf("entry %s came along as %s, called %q", e.ID, e.Raw(), s.Labels()[e.ID])
		}
	}
	if e := left.Entry(id); r.Text != "" && r.Text != e.Message().Text() {
		w.t.Errorf("%q was given back", r.Text)
	}
	if len(s.Entries()) == 0 {
		w.say(message.RoleUser) // the file of an empty one is not there yet
	}
}

// check holds what is true after each step: the file only grew, and who opens it
// is at the same place with the same context.
func (w *wanderer) check() {
	s := w.Session()
	now := mustReadFile(w.t, s.File())
	if w.path == s.File() && !strings.HasPrefix(now, w.file) {
		w.t.Error("the file did not only grow")
	}
	w.path, w.file = s.File(), now
	again, err := session.Read(s.File())
	if err != nil {
		w.t.Fatal(err)
	}
	if again.Leaf() != s.Leaf() || talkOf(again) != talkOf(s) || len(again.Entries()) != len(s.Entries()) || again.Problems() != nil {
		w.t.Errorf("opened again it is at %s with %q; here it is at %s with %q", again.Leaf(), talkOf(again), s.Leaf(), talkOf(s))
	}
	if labels := again.Labels(); fmt.Sprint(labels) != fmt.Sprint(s.Labels()) {
		w.t.Errorf("labels %v, want %v", labels, s.Labels())
	}
}

func mustReadFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
