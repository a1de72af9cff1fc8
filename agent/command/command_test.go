package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/cells"
	"pi/session"
	"pi/session/folder"
	"pi/session/message"
)

func named(name, hook string, aliases ...string) Command {
	return Command{Name: name, Hook: hook, Aliases: aliases, Help: "does " + name,
		Run: func(_ context.Context, args string) (Outcome, error) {
			return Outcome{Status: hook + name + "(" + args + ")"}, nil
		}}
}

func TestLineRunsTheCommandItNames(t *testing.T) {
	set := NewSet([]Command{named("new", "", "clear")}, func() []Command {
		return []Command{named("pop", "h:"), named("new", "h:")}
	})
	for _, c := range []struct{ line, want string }{
		{"/new", "new()"},
		{"/clear", "new()"},
		{"  /pop  3  \"two words\" ", `h:pop(3  "two words")`},
		{"/pop\nline two", "h:pop(line two)"},
		{"/new x", "new(x)"}, // the hook's command of that name is not reached
	} {
		out, err := set.Run(t.Context(), c.line)
		if err != nil || out.Status != c.want {
			t.Errorf("%q ran %q, %v; want %q", c.line, out.Status, err, c.want)
		}
	}
}

func TestNoLineOfHelpIsWiderThanATerminalOfOld(t *testing.T) {
	hook := named("x", "hooks/a.lua")
	hook.Help, hook.Args = strings.Repeat("words of a hook ", 12), "[a] [rather|long] [list|of|arguments]"
	set := NewSet(append(Core(Options{Agent: newAgent(t), Sessions: &Sessions{}}), hook), nil)
	lines := []string{"/help all"}
	for _, c := range set.All() {
		lines = append(lines, "/help "+c.Name)
	}
	for _, line := range lines {
		out, err := set.Run(t.Context(), line)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range strings.Split(out.Status, "\n") {
			if n := utf8.RuneCountInString(shown); n > 99 || line == "/help all" && n > tableWidth {
				t.Errorf("%s: %q", line, shown)
			}
		}
		for _, c := range set.All() {
			if help := strings.Join(strings.Fields(out.Status), " "); line == "/help all" && !strings.Contains(help, usage(c)+" "+strings.TrimSpace(c.Help)) {
				t.Errorf("%s is not explained in %s", usage(c), out.Status)
			}
		}
	}
}

func TestCommandsOfHooksAreAskedForEachTime(t *testing.T) {
	hooks := []Command{named("pop", "h")}
	set := NewSet(nil, func() []Command { return hooks })
	if _, ok := set.Lookup("pop"); !ok {
		t.Error("pop is not known")
	}
	hooks = nil
	if _, ok := set.Lookup("pop"); ok {
		t.Error("pop is still known after its hook is gone")
	}
}

func TestUnknownCommandSuggestsTheNearest(t *testing.T) {
	set := NewSet([]Command{named("thinking", ""), named("model", ""), named("new", "", "clear")}, nil)
	for _, c := range []struct{ name, nearest string }{
		{"hlep", "help"}, {"modle", "model"}, {"thi", "thinking"}, {"claer", "clear"}, {"usr/bin/env", ""}, {"xyz", ""}, {"", ""},
	} {
		_, err := set.Run(t.Context(), "/"+c.name+" args")
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Name != c.name || strings.Join(unknown.Nearest, " ") != c.nearest {
			t.Errorf("/%s: %#v; want nearest %q", c.name, err, c.nearest)
		}
	}
}

// picker answers a Select with one option.
type picker struct {
	agent.UI
	choice  string
	choices []agent.Choice
}

func (p *picker) HasUI() bool { return p != nil }

func (p *picker) Select(_ context.Context, _ string, choices []agent.Choice, _ agent.DialogOptions) ([]string, bool, error) {
	p.choices = choices
	return []string{p.choice}, p.choice != "", nil
}

func newAgent(t *testing.T, listeners ...agent.Listener) *agent.Agent {
	t.Helper()
	one, two := &llm.Model{Provider: "p", ID: "one", API: "x", Reasoning: true}, &llm.Model{Provider: "p", ID: "two", API: "x", Reasoning: true, Levels: []string{"low", "medium", "high"},
		ContextWindow: 200000, Cost: &llm.Price{Input: 3, Output: 15.5}}
	models := llm.NewModels(nil)
	models.Register(llm.ProviderSpec{Name: "p", Models: llm.Listed(one, two)})
	models.Register(llm.ProviderSpec{Name: "q", HasKey: func() bool { return false },
		Models: llm.Listed(&llm.Model{Provider: "q", ID: "three", API: "x"})})
	open := func() *session.Session { return session.New(session.Options{}) }
	return agent.New(agent.Options{Session: open(), Models: models, Model: one, Thinking: "low", Listeners: listeners,
		NewSession:  func(string) (*session.Session, error) { return open(), nil },
		OpenSession: func(path string) (*session.Session, error) { return session.Open(path, session.Options{}) }})
}

func TestEachCommandSaysWhatItDid(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"/model", "* p/one                  thinks\n  p/two  200k  $3/$15.5  thinks low to high"},
		{"/model two", "model: p/two:low"},
		{"/model p/two:high", "model: p/two:high"},
		{"/model p/two:max", "model: p/two:high\nthinking: max, but two offers up to high: high"},
		{"/model three:high", "model: q/three:off\nthinking: high, but three is not known to think: off\nno key for q yet: set api_key of [providers.q] in config.toml, or its environment variable"},
		{"/model three", "model: q/three:off\nno key for q yet: set api_key of [providers.q] in config.toml, or its environment variable"},
		{"/thinking", "thinking: off minimal [low] medium high xhigh max"},
		{"/thinking max", "thinking: max"},
		{"/thinking High", "thinking: high"},
		{"/tools", "no tools are active"},
	} {
		a := newAgent(t)
		out, err := NewSet(Core(Options{Agent: a}), nil).Run(t.Context(), c.line)
		if err != nil || out.Status != c.want {
			t.Errorf("%s said %q, %v; want %q", c.line, out.Status, err, c.want)
		}
	}
}

func TestModelIsPickedWhereAUserCanBeAsked(t *testing.T) {
	a, ui := newAgent(t), &picker{choice: "p/two"}
	out, err := NewSet(Core(Options{Agent: a, UI: ui}), nil).Run(t.Context(), "/model")
	if err != nil || a.Model().ID != "two" || out.Status != "model: p/two:low" {
		t.Errorf("model %s, said %q, %v", a.Model().Ref(), out.Status, err)
	}
	if want := []agent.Choice{{Value: "p/one", Description: "                thinks"}, {Value: "p/two", Description: "200k  $3/$15.5  thinks low to high"}}; !slices.Equal(ui.choices, want) {
		t.Errorf("offered %+v: a model without a key cannot be used", ui.choices)
	}
	ui.choice = ""
	if _, err = NewSet(Core(Options{Agent: a, UI: ui}), nil).Run(t.Context(), "/model"); err != nil || a.Model().ID != "two" {
		t.Errorf("choosing nothing left %s, %v", a.Model().Ref(), err)
	}
}

func TestWrongArgumentsChangeNothing(t *testing.T) {
	for _, line := range []string{"/model nosuch", "/thinking much", "/new please", "/help nosuch"} {
		a := newAgent(t)
		id := a.Session().ID()
		if out, err := NewSet(Core(Options{Agent: a}), nil).Run(t.Context(), line); err == nil {
			t.Errorf("%s said %q and did not fail", line, out.Status)
		}
		if a.Model().ID != "one" || a.Thinking() != "low" || a.Session().ID() != id {
			t.Errorf("%s changed something", line)
		}
	}
}

func TestNewStartsAnEmptySession(t *testing.T) {
	a := newAgent(t)
	left := a.Session().ID()
	out, err := NewSet(Core(Options{Agent: a}), nil).Run(t.Context(), "/clear")
	if err != nil || a.Session().ID() == left || out.Status != "new session "+a.Session().ID() {
		t.Errorf("said %q, %v", out.Status, err)
	}
}

// refusing is a listener against whatever happens to the session.
type refusing struct{}

func (refusing) Wants(k agent.Kind) bool { return k == agent.KindSessionBeforeSwitch }
func (refusing) Handle(_ context.Context, e agent.Event) error {
	e.(*agent.SessionBeforeSwitch).Cancel = true
	return nil
}

func TestCommandThatAHookIsAgainstSaysSoByTheNameItWasCalled(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"/new", "New session cancelled by hook"},
		{"/clear", "Clear cancelled by hook"},
		{"/resume b", "Resume cancelled by hook"},
	} {
		a, dir := newAgent(t), t.TempDir()
		a.Listen(refusing{})
		left := a.Session()
		out, err := NewSet(Core(withSessions(a, nil, saved(t, dir, "a"), saved(t, dir, "b"))), nil).Run(t.Context(), c.line)
		var cancelled *CancelledError
		if !errors.As(err, &cancelled) || err.Error() != c.want || !errors.Is(err, agent.ErrCancelled) {
			t.Errorf("%s said %q, %v; want %q", c.line, out.Status, err, c.want)
		}
		if a.Session() != left {
			t.Errorf("%s left the session", c.line)
		}
	}
}

// saved is a session in a file, whose prompt is text.
func saved(t *testing.T, dir, text string) folder.Info {
	t.Helper()
	s := session.New(session.Options{Dir: dir, Cwd: "/p"})
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := folder.Describe(s.File())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// withSessions are options whose sessions are found by their first prompts.
func withSessions(a *agent.Agent, ui agent.UI, infos ...folder.Info) Options {
	return Options{Agent: a, UI: ui, Sessions: &Sessions{
		Scan: func(bool) iter.Seq2[folder.Info, error] {
			return func(yield func(folder.Info, error) bool) {
				for _, i := range infos {
					if !yield(i, nil) {
						return
					}
				}
			}
		},
		Find: func(ref string) (string, error) {
			for _, i := range infos {
				if i.FirstPrompt == ref {
					return i.Path, nil
				}
			}
			if _, err := os.Stat(ref); err != nil {
				return "", &folder.NotFoundError{Prefix: ref}
			}
			return ref, nil
		},
		Open: func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error) {
			return session.OpenAs(ctx, path, session.Options{}, as, waiting)
		}}}
}

func TestResumeGoesOnWithTheSessionThatIsNamedOrPicked(t *testing.T) {
	dir := t.TempDir()
	one, two := saved(t, dir, "one\x1b[2J\nmore"), saved(t, dir, strings.Repeat("long ", 40))
	for _, c := range []struct {
		name, line string
		pick       int // in the list, -1: nobody is there to pick, -2: nothing is picked
		want       string
		current    string
	}{
		{"a path", "/resume " + two.Path, -1, "session " + two.ID + ", 1 message", two.ID},
		{"nobody to pick", "/resume", -1, one.ID, ""},
		{"picked", "/resume", 1, "session " + two.ID + ", 1 message", two.ID},
		{"nothing picked", "/resume", -2, "session: still ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAgent(t)
			var ui agent.UI
			switch {
			case c.pick >= 0:
				ui = &picker{choice: []folder.Info{one, two}[c.pick].Path}
			case c.pick == -2:
				ui = &picker{}
			}
			before := a.Session().ID()
			out, err := NewSet(Core(withSessions(a, ui, one, two)), nil).Run(t.Context(), c.line)
			if err != nil || !strings.HasPrefix(out.Status, c.want) {
				t.Errorf("said %q, %v", out.Status, err)
			}
			if c.current == "" {
				c.current = before
			}
			if got := a.Session().ID(); got != c.current {
				t.Errorf("the session is %s", got)
			}
			_ = a.Session().Close()
		})
	}
	for _, info := range []folder.Info{one, two} {
		line := pickLine(info, time.Now(), true)
		if strings.ContainsAny(line, "\x1b\n") || len([]rune(line)) > 140 {
			t.Errorf("line %q", line)
		}
	}
}

func TestResumeWithoutAnythingToResumeSaysSo(t *testing.T) {
	a := newAgent(t)
	o := withSessions(a, &picker{}, folder.Info{ID: a.Session().ID()})
	out, err := NewSet(Core(o), nil).Run(t.Context(), "/resume")
	if err != nil || out.Status != "no other session in this directory" {
		t.Errorf("said %q, %v", out.Status, err)
	}
	var missing *folder.NotFoundError
	if _, err = NewSet(Core(o), nil).Run(t.Context(), "/resume /nowhere/x.jsonl"); !errors.As(err, &missing) {
		t.Error(err)
	}
	if _, ok := NewSet(Core(Options{Agent: a}), nil).Lookup("resume"); ok {
		t.Error("there is a /resume without sessions")
	}
}

func TestNameIsSetAndShown(t *testing.T) {
	a := newAgent(t)
	for _, c := range []struct{ line, want string }{
		{"/name", "the session has no name"},
		{"/name  the  second try ", "name: the  second try"},
		{"/name", "name: the  second try"},
		{"/name in\ntwo rows", "name: in two rows"},
	} {
		if out, err := NewSet(Core(Options{Agent: a}), nil).Run(t.Context(), c.line); err != nil || out.Status != c.want {
			t.Errorf("%s said %q, %v", c.line, out.Status, err)
		}
	}
}

func TestCostSaysWhatIsKnown(t *testing.T) {
	for _, c := range []struct {
		totals agent.Totals
		want   string
	}{
		{agent.Totals{Priced: true}, "$0.0000"},
		{agent.Totals{}, "unknown"},
		{agent.Totals{Usage: message.Usage{Cost: message.Cost{Total: 1.5}}}, "$1.5000 and more: not every price is known"},
	} {
		if got := cost(c.totals); got != c.want {
			t.Errorf("%+v costs %q, want %q", c.totals, got, c.want)
		}
	}
}

func TestSessionAddsUpWhatWasUsed(t *testing.T) {
	a := newAgent(t)
	usage := &message.Usage{Input: 10, Output: 5, CacheRead: 3, Cost: message.Cost{Total: 0.25}}
	for _, m := range []*message.Message{
		{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hi")}},
		{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("ho")}, Usage: usage},
		{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("ho")}, Usage: usage},
	} {
		if _, err := a.Session().AppendMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	out, err := NewSet(Core(Options{Agent: a}), nil).Run(t.Context(), "/session")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not saved", a.Session().ID(), "entries  3 (3", "1 of you, 2 of the model", "p/one:low",
		"20 in, 10 out, 6 cache read", "about 18 tokens", "$0.5000"} {
		if !strings.Contains(out.Status, want) {
			t.Errorf("no %q in\n%s", want, out.Status)
		}
	}
}

func TestArgumentsAreCompleted(t *testing.T) {
	set := NewSet(Core(Options{Agent: newAgent(t)}), nil)
	for _, c := range []struct{ name, prefix, want string }{
		{"thinking", "m", "minimal medium max"}, {"model", "p/", "p/one p/two"}, {"help", "th", "thinking"}, {"model", "z", ""},
	} {
		cmd, _ := set.Lookup(c.name)
		if got := strings.Join(cmd.Complete(c.prefix), " "); got != c.want {
			t.Errorf("/%s %s completes to %q, want %q", c.name, c.prefix, got, c.want)
		}
	}
}

// What one needs first is above the names of the commands, by topic; in a narrow window no
// line is wider than it, unless it is one character, and in the smallest usual one all of it
// can be seen.
func TestTheFirstPageOfHelpFitsTheWindow(t *testing.T) {
	hook := named("deploy", "notes")
	hook.Hook, hook.Help = "notes", "日本 deploys what there is"
	for _, columns := range []int{0, 10, 20, 40, 80, 200} {
		set := NewSet(append(Core(Options{Agent: newAgent(t), Sessions: &Sessions{}}), hook), nil)
		set.Front = func() Front {
			return Front{Rows: []HelpRow{{"!command", "runs in the shell"}}, More: "/hotkeys lists all keys.", Columns: columns}
		}
		out, err := set.Run(t.Context(), "/help")
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, want := range []string{"!command", "The model", "/model", "Sessions", "/resume", "Places in", "/tree", "The program", "/help", "Of hooks", "1", "/hotkeys", "/help all"} {
			i := strings.Index(strings.ReplaceAll(out.Status[at:], "\n", " "), want)
			if i < 0 {
				t.Fatalf("at %d columns %q is not behind the others in\n%s", columns, want, out.Status)
			}
			at += i
		}
		widest := columns
		if columns == 0 || columns > tableWidth {
			widest = tableWidth
		}
		if rows := strings.Count(out.Status, "\n") + 1; columns >= 80 && rows > 10 {
			t.Errorf("%d rows below one of the front end:\n%s", rows, out.Status)
		}
		for line := range strings.SplitSeq(out.Status, "\n") {
			if cells.Width(line) > widest {
				t.Errorf("at %d columns: %q", columns, line)
			}
		}
	}
}

// Each command of the program says where /help lists it, but those about the program.
func TestCommandsHaveATopic(t *testing.T) {
	for _, c := range NewSet(Core(Options{Agent: newAgent(t), Sessions: &Sessions{}}), nil).All() {
		if about := slices.Contains([]string{"help", "settings"}, c.Name); about != (c.Topic == TopicProgram) {
			t.Errorf("/%s has the topic %d", c.Name, c.Topic)
		}
	}
}

func TestTheOutermostErrorThatKnowsOneSaysTheNextStep(t *testing.T) {
	provider := &llm.ProviderError{Provider: "acme", NextStep: "check the key"}
	unknown := &UnknownError{Name: "nwe", Nearest: []string{"new"}}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"none":              {errors.New("x"), ""},
		"nil":               {nil, ""},
		"of the call":       {fmt.Errorf("ask: %w", provider), "check the key"},
		"of the command":    {unknown, "did you mean /new? /help lists the commands"},
		"the outermost":     {outer{provider}, "look outside"},
		"one of two joined": {errors.Join(errors.New("x"), provider), "check the key"},
	} {
		if got := HintOf(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

type outer struct{ error }

func (o outer) Unwrap() error { return o.error }

func (outer) Hint() string { return "look outside" }

func TestWordsAreSplitAsAShellQuotesThem(t *testing.T) {
	cases := map[string][]string{
		"":                {},
		"  a  b\t":        {"a", "b"},
		`"a b" 'c "d'`:    {"a b", `c "d`},
		`""`:              {""},
		`a"b"'c'`:         {"abc"},
		`a\ b \"`:         {"a b", `"`},
		`"a\"b\n\\"`:      {`a"b\n\`},
		`'a\'`:            {`a\`},
		`"open end`:       {"open end"},
		`$HOME *.go a;b `: {"$HOME", "*.go", "a;b"},
		`end\`:            {`end\`},
		"ü 日本":            {"ü", "日本"},
	}
	for in, want := range cases {
		if got := Words(in); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"a b", `"x\"`, `'\''`, "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		quoted := "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		if got := Words(" " + quoted + " x"); len(got) != 2 || got[0] != s || got[1] != "x" {
			t.Errorf("%s is split into %q", quoted, got)
		}
	})
}
