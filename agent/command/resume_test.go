package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/session"
	"pi/session/folder"
)

// answers is a user who answers each dialog as planned: a choice that begins
// or ends so, yes, or nothing.
type answers struct {
	agent.NoUI
	t     *testing.T
	plan  []string
	asked []string // what was asked, and the options
	told  []string
}

func (*answers) HasUI() bool { return true }

func (a *answers) next(title string) string {
	a.t.Helper()
	a.asked = append(a.asked, title)
	if len(a.plan) == 0 {
		a.t.Fatalf("asked once more: %s", title)
	}
	answer := a.plan[0]
	a.plan = a.plan[1:]
	return answer
}

func (a *answers) Select(_ context.Context, title string, choices []agent.Choice, _ agent.DialogOptions) ([]string, bool, error) {
	shown := title
	for _, c := range choices {
		shown += "\n" + c.Text()
	}
	answer := a.next(shown)
	if answer == "" {
		return nil, false, nil
	}
	i := slices.IndexFunc(choices, func(c agent.Choice) bool { return strings.Contains(c.Text(), answer) })
	if i < 0 {
		a.t.Fatalf("no choice has %q: %+v", answer, choices)
	}
	return []string{choices[i].Value}, true, nil
}

func (a *answers) Confirm(_ context.Context, title, message string, _ agent.DialogOptions) (agent.Answer, error) {
	if a.next(title+"\n"+message) == "yes" {
		return agent.Yes, nil
	}
	return agent.No, nil
}

func (a *answers) Notify(text string, _ agent.Level) { a.told = append(a.told, text) }

// runs runs a line of a user with these answers and wants all of them used.
func runs(t *testing.T, a *agent.Agent, store *Sessions, line string, plan ...string) (Outcome, *answers, error) {
	t.Helper()
	ui := &answers{t: t, plan: plan}
	out, err := NewSet(Core(Options{Agent: a, UI: ui, Sessions: store}), nil).Run(t.Context(), line)
	if len(ui.plan) > 0 {
		t.Errorf("not asked for %q; asked %q", ui.plan, ui.asked)
	}
	return out, ui, err
}

func TestASessionThatAnotherProcessHasIsOfferedInOtherWays(t *testing.T) {
	info := saved(t, t.TempDir(), "one")
	for _, c := range []struct {
		answer, says string
		readOnly     bool
		id           string // of the session then; "" for another than info's
	}{
		{"copy", "it is a copy of " + info.Path + ", which stays as it is", false, ""},
		{"only look", "it is open for reading only", true, info.ID},
		{"wait", "session " + info.ID, false, info.ID},
		{"a new one", "new session ", false, ""},
		{"", "session: still ", false, "-"},
	} {
		held, err := session.Open(info.Path, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := newAgent(t)
		before := a.Session().ID()
		store := withSessions(a, nil, info).Sessions
		open := store.Open
		store.Open = func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error) {
			return open(ctx, path, as, func(busy *session.BusyError) {
				waiting(busy)
				held.Close()
			})
		}
		out, ui, err := runs(t, a, store, "/resume one", c.answer)
		if err != nil || !strings.Contains(out.Status, c.says) || !strings.Contains(ui.asked[0], "in use by") {
			t.Errorf("%q: said %q, %v; asked %q", c.answer, out.Status, err, ui.asked)
		}
		s := a.Session()
		if c.id == "-" {
			c.id = before
		}
		parent := info.Path
		if c.answer == "a new one" {
			parent = ""
		}
		if s.ReadOnly() != c.readOnly || c.id != "" && s.ID() != c.id || c.id == "" && (s.ID() == info.ID || s.ID() == before || s.Header().ParentSession != parent) {
			t.Errorf("%q: the session is %s, read only %v", c.answer, s.ID(), s.ReadOnly())
		}
		if c.answer == "wait" && !strings.Contains(strings.Join(ui.told, "\n"), WaitNotice) {
			t.Errorf("told %q", ui.told)
		}
		_ = s.Close()
		_ = held.Close()
	}
}

func TestWhereSeveralSessionsAreMeantTheNextStepIsSaid(t *testing.T) {
	a := newAgent(t)
	store := withSessions(a, nil).Sessions
	store.Find = func(ref string) (string, error) {
		return "", &folder.AmbiguousError{Prefix: ref, Paths: []string{"a", "b"}}
	}
	_, _, err := runs(t, a, store, "/resume 01")
	var several *folder.AmbiguousError
	if !errors.As(err, &several) || !strings.Contains(err.Error(), `2 sessions begin with "01": write more of it`) {
		t.Error(err)
	}
}

func TestASessionThatWasOnlyLookedAtIsGoneOnWithWhenItIsFree(t *testing.T) {
	info := saved(t, t.TempDir(), "one")
	held, err := session.Open(info.Path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := newAgent(t)
	store := withSessions(a, nil, info).Sessions
	if _, _, err := runs(t, a, store, "/resume one", "only look"); err != nil || !a.Session().ReadOnly() {
		t.Fatalf("read only: %v, %v", a.Session().ReadOnly(), err)
	}
	if err := a.Prompt(t.Context(), agent.Prompt{Text: "hello"}); !errors.Is(err, session.ErrReadOnly) {
		t.Errorf("a prompt: %v", err)
	}
	if _, err := a.Bash(t.Context(), agent.UserCommand{Line: "true"}); !errors.Is(err, session.ErrReadOnly) {
		t.Errorf("a command: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runs(t, a, store, "/resume one"); err != nil || a.Session().ReadOnly() || a.Session().ID() != info.ID {
		t.Errorf("read only: %v, %v", a.Session().ReadOnly(), err)
	}
	_ = a.Session().Close()
}

func TestTheListOfSessionsIsReadAsFarAsItIsLookedAt(t *testing.T) {
	const many = 2 * pageSize
	read := 0
	wanted := saved(t, t.TempDir(), "wanted")
	store := &Sessions{Scan: func(all bool) iter.Seq2[folder.Info, error] {
		return func(yield func(folder.Info, error) bool) {
			if !all && !yield(folder.Info{}, errors.New("a file cannot be read")) {
				return
			}
			for i := range many {
				read++
				info := folder.Info{ID: fmt.Sprint("id", i), FirstPrompt: fmt.Sprint("prompt ", i), Cwd: "/elsewhere"}
				if i == many-1 {
					info = wanted
				}
				if !yield(info, nil) {
					return
				}
			}
		}
	}}
	a := newAgent(t)
	store.Open = withSessions(a, nil).Sessions.Open
	out, ui, err := runs(t, a, store, "/resume", "")
	if err != nil || read != pageSize || !strings.HasPrefix(out.Status, "session: still ") {
		t.Errorf("%d were read; said %q, %v", read, out.Status, err)
	}
	if !slices.Contains(ui.told, "a file cannot be read") || strings.Contains(ui.asked[0], "/elsewhere") || strings.Contains(ui.asked[0], "wanted") {
		t.Errorf("told %q, asked %q", ui.told, ui.asked)
	}
	out, ui, err = runs(t, a, store, "/resume", "all directories", "only those of this directory", "older ones", "wanted")
	if err != nil || !strings.Contains(out.Status, "session "+wanted.ID) {
		t.Errorf("said %q, %v", out.Status, err)
	}
	if !strings.Contains(ui.asked[1], "/elsewhere") || strings.Contains(ui.asked[3], chooseMore) {
		t.Errorf("asked at last %q", ui.asked[3])
	}
	_ = a.Session().Close()
}

func TestASessionIsDeletedOnlyWhenTheUserAgrees(t *testing.T) {
	gone := errors.New("gone")
	for _, c := range []struct {
		name    string
		plan    []string
		noTrash bool
		fails   error
		says    string
		removed string // how: "", "trash", "good"
	}{
		{"no", []string{""}, false, nil, "session x stays", ""},
		{"to the trash", []string{"yes"}, false, nil, "session x is in the trash: /trash/x", "trash"},
		{"no trash, no", []string{"yes", "no"}, true, nil, "session x stays", ""},
		{"no trash, yes", []string{"yes", "yes"}, true, nil, "deleted session x for good", "good"},
		{"fails", []string{"yes"}, false, gone, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := saved(t, t.TempDir(), "one")
			a := newAgent(t)
			store, removed := withSessions(a, nil, info).Sessions, ""
			store.Remove = func(path string, forGood bool) (string, error) {
				switch {
				case path != info.Path:
					t.Errorf("it removes %s", path)
				case c.fails != nil:
					return "", c.fails
				case c.noTrash && !forGood:
					return "", &folder.NoTrashError{Path: path, Err: gone}
				case forGood:
					removed = "good"
					return "", nil
				}
				removed = "trash"
				return "/trash/x", nil
			}
			out, _, err := runs(t, a, store, "/resume rm one", c.plan...)
			if want := strings.ReplaceAll(c.says, "session x", "session "+info.ID); out.Status != want || !errors.Is(err, c.fails) || removed != c.removed {
				t.Errorf("said %q, %v; removed %q", out.Status, err, removed)
			}
		})
	}
}

func TestTheCurrentSessionIsNotDeleted(t *testing.T) {
	info := saved(t, t.TempDir(), "one")
	a := newAgent(t)
	store := withSessions(a, nil, info).Sessions
	if _, _, err := runs(t, a, store, "/resume one"); err != nil {
		t.Fatal(err)
	}
	defer a.Session().Close()
	if _, _, err := runs(t, a, store, "/resume rm one"); err == nil || !strings.Contains(err.Error(), "is the current one") {
		t.Error(err)
	}
}

func TestALineToPickFromHasWhatPeopleKnowASessionBy(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local)
	info := folder.Info{ID: "id", FirstPrompt: "fix it\nnow", Modified: now.Add(-3 * time.Hour), Messages: 1, Size: 12_345, Cwd: "/p\x1b[2J"}
	if got, want := pickLine(info, now, false), "fix it · 3 h ago · 1 message · 12.3 kB · id"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	info.Name, info.Parent, info.Messages = "work\x07", "/other.jsonl", 2
	if got, want := pickLine(info, now, true), "(a copy) work · fix it · 3 h ago · 2 messages · 12.3 kB · /p · id"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	info.Agent = session.AgentMark{Name: "reviewer", Depth: 1} // whose parent is who used it
	if got, want := pickLine(info, now, true), "work · fix it · 3 h ago · 2 messages · 12.3 kB · /p · id"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAgesReadAsPeopleSayThem(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local)
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", 59 * time.Second: "just now", time.Minute: "1 min ago", 59 * time.Minute: "59 min ago",
		3 * time.Hour: "3 h ago", 47 * time.Hour: "1 d ago", 13 * 24 * time.Hour: "13 d ago", 30 * 24 * time.Hour: "2026-02-02",
	} {
		if got := age(now.Add(-d), now); got != want {
			t.Errorf("%v ago is %q, want %q", d, got, want)
		}
	}
}

func TestExportWritesWhereItIsToldTo(t *testing.T) {
	a := newAgent(t)
	dir := t.TempDir()
	for _, c := range []struct{ cwd, file, want string }{
		{dir, "", dir + "/usual"}, {dir, "a b.md", dir + "/a b.md"}, {"/", dir, dir + "/usual"}, {dir, "/x/y", "/x/y"},
	} {
		if got := exportPath(c.cwd, c.file, "usual"); got != c.want {
			t.Errorf("%q from %q goes to %q, want %q", c.file, c.cwd, got, c.want)
		}
	}
	for line, want := range map[string]string{"md x --force": "md x", "--force": "", "--force md": "md", "md --forced": "-", "md": "-"} {
		rest, force := cutForce(line)
		if !force {
			rest = "-"
		}
		if rest != want {
			t.Errorf("%q: %q, want %q", line, rest, want)
		}
	}
	if _, err := NewSet(Core(Options{Agent: a}), nil).Run(t.Context(), "/export pdf"); err == nil || !strings.Contains(err.Error(), "jsonl, md and html") {
		t.Error(err)
	}
}

func TestASessionInUseIsOneRow(t *testing.T) {
	path := saved(t, t.TempDir(), "refactor the tokenizer, and then its tests").Path
	now := time.Date(2026, 3, 4, 15, 6, 7, 0, time.Local)
	for _, c := range []struct {
		busy session.BusyError
		want string
	}{
		{session.BusyError{Path: path, PID: 12, Host: "laptop", Since: now.Add(-time.Hour)}, "refactor the tokenize…: in use by process 12 on laptop since 14:06"},
		{session.BusyError{Path: path, PID: 1234567, Host: "a-machine-of-many-words", Since: now.AddDate(0, 0, -2)}, "refactor the tokenize…: in use by process 1234567 on a-machine… since 2026-03-02"},
		{session.BusyError{Path: path}, "refactor the tokenize…: in use by another process"},
		{session.BusyError{Path: path + "x"}, "the session: in use by another process"},
	} {
		if got := BusyRow(&c.busy, now); got != c.want || cells.Width(got) > 80 {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
