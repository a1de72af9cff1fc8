package completion

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"go.uber.org/goleak"

	"pi/agent/command"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project makes files, and folders where a name ends in a slash, and returns where.
func project(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), "")
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func commands() []command.Command {
	withPrefix := func(words ...string) func(string) []string {
		return func(prefix string) []string {
			return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, prefix) })
		}
	}
	return []command.Command{
		{Name: "help", Help: "list the commands"},
		{Name: "model", Help: "choose the model", Complete: withPrefix("anthropic/claude-opus", "anthropic/claude-sonnet", "openai/gpt-5")},
		{Name: "new", Aliases: []string{"clear"}, Help: "begin a new session"},
		{Name: "mode", Help: "switch the way to work"},
		{Name: "resume", Complete: func(string) []string { return []string{"0a1b", "fix the lexer"} }, Describe: func(candidate string) string { return "about " + candidate }},
		{Name: "deploy", Hook: "deploy.lua", Complete: func(string) []string { return []string{"to staging", "to production", "rollback", "src/"} }},
	}
}

// newCompleter completes in a project; the test closes what it opens.
func newCompleter(t testing.TB, dir string) *Completer {
	files := NewFiles(dir)
	t.Cleanup(files.Close)
	return &Completer{Commands: commands, Files: files, Cwd: dir}
}

// offers are the values of a result with what they replace: "@ag>@agent/".
func offers(text string, r Result) string {
	var values []string
	for _, item := range r.Items {
		values = append(values, item.Value+strings.Replace(item.Append, " ", "_", 1))
	}
	return text[r.Start:r.End] + " > " + strings.Join(values, " | ")
}

func TestComplete(t *testing.T) {
	dir := project(t, "main.go", "my file.txt", "agent/tool/bash.go", "agent/tool.go", "docs/a b/c.md", ".env", ".ci/run", "build/out.o",
		"src/x.go", "x\x1b[31m.go", "Mu\u0308ller.txt", "日本語.md")
	write(t, filepath.Join(dir, ".gitignore"), "build\n")
	outside := project(t, "shared/notes.md", "shared/.secret")
	bin := project(t, "gofmt", "go", "git")
	c := newCompleter(t, dir)
	c.Home, c.Programs = outside, NewPrograms(bin)
	tests := []struct{ text, want string }{
		{"/", "/ > /help_ | /model_ | /new_ | /mode_ | /resume_ | /deploy_"},
		{"/mo", "/mo > /model_ | /mode_"},
		{"/mode", "/mode > /mode_ | /model_"},
		{"/MD", "/MD > /model_ | /mode_"},
		{"/cle", "/cle > /clear_"},
		{"/zz", "/zz > "},
		{"/tmp/x", " > "},
		{"say /mo", " > "},
		{"/model opus", "opus > anthropic/claude-opus_"},
		{"/model ", " > anthropic/claude-opus_ | anthropic/claude-sonnet_ | openai/gpt-5_"},
		{"/model ocl", "ocl > anthropic/claude-opus_ | anthropic/claude-sonnet_"},
		{"/help x", " > "},
		{"/resume lex", "lex > fix the lexer_"},
		{"/resume fix the l", "fix the l > fix the lexer_"},
		{"/deploy stg", "stg > to staging_"},
		{"/deploy to pr", "to pr > to production_"},
		{"/deploy now rol", "now rol > now rollback_"},
		{"/deploy sr", "sr > src/"},
		{"@", "@ > @src/ | @docs/ | @agent/ | @main.go_ | @\"my file.txt\"_ | @Mu\u0308ller.txt_ | @日本語.md_ | @src/x.go_ | @\"docs/a b/ | @agent/tool/ | @agent/tool.go_ | @\"docs/a b/c.md\"_ | @agent/tool/bash.go_"},
		{"look at @mago", "@mago > @main.go_"},
		{"@tool", "@tool > @agent/tool/ | @agent/tool.go_ | @agent/tool/bash.go_"},
		{"(@main", "@main > @main.go_"},
		{"me@main", " > "},
		{"@my", "@my > @\"my file.txt\"_"},
		{"@\"my fi", "@\"my fi > @\"my file.txt\"_"},
		{"@\"docs/a", "@\"docs/a > @\"docs/a b/ | @\"docs/a b/c.md\"_"},
		{"@mü", "@mü > @Mu\u0308ller.txt_"},
		{"@日語", "@日語 > @日本語.md_"},
		{"@./ma", "@./ma > @./main.go_"},
		{"@.", "@. > @.ci/ | @.env_ | @.gitignore_ | @.ci/run_ | @main.go_ | @\"my file.txt\"_ | @Mu\u0308ller.txt_ | @日本語.md_ | @src/x.go_ | @agent/tool.go_ | @\"docs/a b/c.md\"_ | @agent/tool/bash.go_"},
		{"@env", "@env > "},
		{"@.en", "@.en > @.env_"},
		{"@build/", "@build/ > @build/out.o_"}, // asked for by its folder
		{"@bui", "@bui > @build/"},
		{"@~/sh", "@~/sh > @~/shared/"},
		{"@~/shared/", "@~/shared/ > @~/shared/notes.md_"},
		{"@" + outside + "/shared/.s", "@" + outside + "/shared/.s > @" + outside + "/shared/.secret_"},
		{"@.. ", " > "},
		{"/help @main", "@main > @main.go_"},
		{"!g", "g > git_ | go_ | gofmt_"},
		{"!!  gf", "gf > gofmt_"},
		{"!git log ma", "ma > main.go_"},
		{"!cat my", "my > my\\ file.txt_"},
		{"!cat 'my", "'my > 'my file.txt'_"},
		{"!cat \"docs/a", "\"docs/a > \"docs/a b/ | \"docs/a b/c.md\"_"},
		{"!cat docs/a\\ b/", "docs/a\\ b/ > docs/a\\ b/c.md_"},
		{"!go build && gi", "gi > git_"},
		{"!./ma", "./ma > ./main.go_"},
		{"!ls build/", "build/ > build/out.o_"},
		{"!x --file=ma", "ma > main.go_"},
		{"!cat <ma", "ma > main.go_"},
		{"!echo `gi", "gi > git_"},
		{"!", " > "},
		{"", " > "},
		{"plain text", " > "},
	}
	for _, tt := range tests {
		if got := offers(tt.text, c.Complete(t.Context(), tt.text, len(tt.text))); got != tt.want {
			t.Errorf("%q\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestResultIsApplied(t *testing.T) {
	tests := []struct {
		text   string
		cursor int
		want   string // | is the cursor
	}{
		{"/mod rest", 4, "/model |rest"},
		{"/mod", 4, "/model |"},
		{"see @ma, please", 7, "see @main.go |, please"},
		{"see @sr", 7, "see @src/|"},
	}
	c := newCompleter(t, project(t, "main.go", "src/x.go"))
	for _, tt := range tests {
		r := c.Complete(t.Context(), tt.text, tt.cursor)
		text, cursor := r.Apply(tt.text, r.Items[0])
		if got := text[:cursor] + "|" + text[cursor:]; got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	if _, ok := (Result{Items: make([]Item, 2)}).Only(); ok {
		t.Error("one of two is the only one")
	}
	if item, ok := (Result{Items: []Item{{Value: "x"}}}).Only(); !ok || item.Text() != "x" {
		t.Error("the only item is not it")
	}
}

func TestCandidatesAreDescribed(t *testing.T) {
	c := &Completer{Commands: commands}
	for text, want := range map[string]string{"/mode": "switch the way to work", "/resume 0a": "about 0a1b", "/clea": "/new: begin a new session"} {
		if item := c.Complete(t.Context(), text, len(text)).Items[0]; item.Description != want {
			t.Errorf("%s: %q, want %q", text, item.Description, want)
		}
	}
}

func TestSources(t *testing.T) {
	var asked []string
	c := &Completer{Sources: func() []Source {
		return []Source{
			{Prefix: "#", Description: "issue", Complete: func(_ context.Context, word string) ([]Item, error) {
				asked = append(asked, word)
				return []Item{{Value: "12", Label: "12 crash at start"}, {Value: "#21", Description: "open"}, {Value: "3"}}, nil
			}},
			{Prefix: "#", Complete: func(context.Context, string) ([]Item, error) { return []Item{{Value: "x"}}, errors.New("no network") }},
			{Prefix: "%%", Complete: func(context.Context, string) ([]Item, error) { return []Item{{Value: "%%done", Append: ""}}, nil }},
		}
	}}
	r := c.Complete(t.Context(), "fix #1", 6)
	if got := offers("fix #1", r); got != "#1 > #12_ | #21_" {
		t.Errorf("got %s", got)
	}
	if r.Items[0].Text() != "12 crash at start" || r.Items[0].Description != "issue" || r.Items[1].Description != "open" {
		t.Errorf("items %+v", r.Items)
	}
	if !slices.Equal(asked, []string{"1"}) {
		t.Errorf("asked with %q, want the word without its prefix, once", asked)
	}
	if got := offers("%%d", c.Complete(t.Context(), "%%d", 3)); got != "%%d > %%done_" {
		t.Errorf("got %s", got)
	}
	if got := offers("a#1", c.Complete(t.Context(), "a#1", 3)); got != " > " {
		t.Errorf("within a word: %s", got)
	}
}

func TestASourceAddsToTheNamesOfCommands(t *testing.T) {
	c := &Completer{
		Commands: func() []command.Command { return []command.Command{{Name: "skill:care"}, {Name: "skip"}} },
		Sources: func() []Source {
			return []Source{{Prefix: "/skill:", Complete: func(_ context.Context, word string) ([]Item, error) {
				return []Item{{Value: "/skill:cargo"}, {Value: "care"}}, nil
			}}}
		},
	}
	for text, want := range map[string]string{
		"/skill:ca":     "/skill:ca > /skill:cargo_ | /skill:care_",
		"/sk":           "/sk > /skill:care_ | /skip_",
		"say /skill:ca": "/skill:ca > /skill:cargo_ | /skill:care_",
	} {
		if got := offers(text, c.Complete(t.Context(), text, len(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestALateSourceIsLeftOut(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	c := &Completer{Sources: func() []Source {
		return []Source{
			{Prefix: "#", Complete: func(context.Context, string) ([]Item, error) { <-release; return []Item{{Value: "late"}}, nil }},
			{Prefix: "#", Complete: func(context.Context, string) ([]Item, error) { return []Item{{Value: "early"}}, nil }},
		}
	}}
	if got := offers("#", c.Complete(t.Context(), "#", 1)); got != "# > #early_" {
		t.Errorf("got %s", got)
	}
}

func TestRunnerDeliversTheNewestOnly(t *testing.T) {
	release := make(chan struct{})
	c := &Completer{Sources: func() []Source {
		return []Source{{Prefix: "#", Complete: func(ctx context.Context, word string) ([]Item, error) {
			if word == "slow" {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return []Item{{Value: word}}, ctx.Err()
		}}}
	}}
	delivered := make(chan Result, 10)
	r := NewRunner(c, func(result Result) { delivered <- result })
	defer r.Close()
	if _, ready := r.Ask("#slow", 5, 0); ready {
		t.Fatal("a slow answer is there at once")
	}
	if result, ready := r.Ask("#fast", 5, 1<<40); !ready || offers("#fast", result) != "#fast > #fast_" {
		t.Errorf("the fast answer: %v %v", result, ready)
	}
	r.Ask("#slow", 5, 0)
	r.Forget()
	r.Ask("#slow", 5, 0)
	close(release)
	if result := <-delivered; offers("#slow", result) != "#slow > #slow_" {
		t.Errorf("delivered: %+v", result)
	}
	r.Close()
	if len(delivered) != 0 {
		t.Errorf("%d more results were delivered", len(delivered))
	}
	if result, ready := r.Ask("#fast", 5, 0); !ready || len(result.Items) != 0 {
		t.Error("a closed runner asks")
	}
}

// hasInOrder reports whether text has the characters of typed in their order, case aside.
func hasInOrder(text, typed string) bool {
	left := []rune(strings.ToLower(typed))
	for _, r := range strings.ToLower(text) {
		if len(left) > 0 && r == left[0] {
			left = left[1:]
		}
	}
	return len(left) == 0
}

func FuzzCompletionLosesNoCharacter(f *testing.F) {
	dir := project(f, "main.go", "my file.txt", "a/b/c.go", "a b/c d", "it's", `q"x`, "$HOME", "~x", "-n", "a=b", ".x")
	c := newCompleter(f, dir)
	c.Programs = NewPrograms(dir)
	c.Sources = func() []Source {
		return []Source{{Prefix: "#", Complete: func(context.Context, string) ([]Item, error) {
			return []Item{{Value: "main"}, {Value: "#x"}, {Value: "a b"}}, nil
		}}}
	}
	for _, seed := range []string{"/mo", "@my", "!cat my", "!cat 'i", "/deploy to st", "#m", "x @\"a b/", "!m", "!cat \"$H", "@a=", "!echo \\~"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 60 || strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
			return
		}
		r := c.Complete(t.Context(), text, len(text))
		if len(r.Items) > 0 && (r.Start < 0 || r.Start > r.End || r.End != len(text)) {
			t.Fatalf("%q: the range is %d to %d", text, r.Start, r.End)
		}
		for _, item := range r.Items {
			applied, cursor := r.Apply(text, item)
			if cursor != len(applied) {
				t.Errorf("%q: the cursor is at %d of %d", text, cursor, len(applied))
			}
			if strings.HasPrefix(text, "!") { // quotes may change, and what they hold may not
				line := strings.TrimPrefix(text[1:], "!")
				begun, whole := lastShellWord(line), lastShellWord(strings.TrimSuffix(line[:r.Start-len(text)+len(line)]+item.Value, " "))
				if !hasInOrder(whole.text, begun.text) {
					t.Errorf("%q becomes %q: %q is lost from %q", text, applied, begun.text, whole.text)
				}
				continue
			}
			if !hasInOrder(item.Value, text[r.Start:]) {
				t.Errorf("%q becomes %q", text, applied)
			}
		}
	})
}
