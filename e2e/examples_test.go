//go:build unix

package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/agent/tool"
	"pi/luahooks"
	"pi/luahooks/api"
	"pi/luahooks/trust"
	"pi/session"
	"pi/session/message"
)

// stage is an example with a real agent around it, and a user and a model that
// the test plays. It is for what the scripts example_*.txtar cannot bring about:
// the answers of a user, and events that only Go can make.
type stage struct {
	t        *testing.T
	chain    *luahooks.Chain
	agent    *agent.Agent
	audience *audience
	model    *scriptedModel
	cwd      string
}

func newStage(t *testing.T, name string) *stage {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, audience: &audience{present: true}, model: &scriptedModel{}, cwd: filepath.Join(root, "project")}
	if err := os.Mkdir(s.cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	models := llm.NewModels(nil)
	model := &llm.Model{Provider: "script", ID: "m", API: "script", ContextWindow: 200000, Input: []string{"text"}}
	models.Register(llm.ProviderSpec{Name: "script", Models: llm.Listed(model), Stream: s.model})
	tools := tool.All(tool.Options{Cwd: s.cwd})
	s.chain = luahooks.New(luahooks.Options{
		Places: trust.Places{AgentDir: filepath.Join(root, "agent"), Cwd: s.cwd, CommandLine: []string{example(t, name)}},
		Paths:  api.Paths{Agent: filepath.Join(root, "agent"), Project: s.cwd},
		Cwd:    s.cwd, Mode: "interactive", Version: "test", Timeout: 20 * time.Second, Grace: 20 * time.Second, Memory: 256 << 20,
		Models: models, Tools: tools,
	})
	s.chain.Load(context.Background())
	s.agent = agent.New(agent.Options{Session: session.New(session.Options{Cwd: s.cwd}), Models: models, Model: model,
		Thinking: "off", Tools: tools, Prompt: &agent.SystemPrompt{}, Cwd: s.cwd,
		NewSession: func(string) (*session.Session, error) { return session.New(session.Options{Cwd: s.cwd}), nil }})
	s.agent.Listen(s.chain, s.audience)
	s.chain.Attach(s.agent, s.audience)
	s.agent.Start(context.Background())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.chain.Close(ctx)
	})
	return s
}

func (s *stage) handle(e agent.Event) {
	s.t.Helper()
	if err := s.chain.Handle(context.Background(), e); err != nil {
		s.t.Fatal(err)
	}
}

// call passes a tool call through the gates.
func (s *stage) call(name string, input map[string]any) *agent.ToolCall {
	s.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	e := &agent.ToolCall{ID: "call", Name: name, Input: raw}
	s.handle(e)
	return e
}

// ask runs a prompt, which the model answers as it is told.
func (s *stage) ask(prompt string, answers ...string) {
	s.t.Helper()
	s.model.tell(answers...)
	if err := s.agent.Prompt(context.Background(), agent.Prompt{Text: prompt}); err != nil {
		s.t.Fatal(err)
	}
}

// entry is the position on the branch of the message with this text.
func (s *stage) entry(text string) (int, *session.Entry) {
	s.t.Helper()
	branch := s.agent.Session().Branch()
	i := slices.IndexFunc(branch, func(e *session.Entry) bool { return e.Message() != nil && e.Message().Text() == text })
	if i < 0 {
		s.t.Fatalf("no message %q on the branch", text)
	}
	return i, branch[i]
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.cwd, name)
	if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// audience is a front end whose answers are fixed.
type audience struct {
	agent.NoUI
	present bool
	yes     bool   // the answer to every confirmation
	edit    string // what the editor gives back

	mu     sync.Mutex
	asked  []string
	told   []string
	status string
	plan   []agent.PlanItem
	drawer agent.Drawer
	custom chan agent.Component // gets what is shown, if it is not nil
	closed chan struct{}
	again  chan struct{} // a component wants to be drawn, a buffer of one
}

func (p *audience) Can(a agent.Ability) bool { return p.custom != nil && a == agent.CanCustom }

func (p *audience) HasUI() bool { return p.present }

func (p *audience) Confirm(_ context.Context, title, message string, _ agent.DialogOptions) (agent.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, title+" "+message)
	if p.yes {
		return agent.Yes, nil
	}
	return agent.No, nil
}

// Editor leaves nothing of what it is given but what the user writes.
func (p *audience) Editor(_ context.Context, title, prefill string, _ agent.DialogOptions) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, title+" "+prefill)
	return p.edit, p.edit != "", nil
}

func (p *audience) Notify(text string, _ agent.Level) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, text)
}

func (p *audience) SetStatus(_, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = text
}

// SetDrawer remembers what draws itself.
func (p *audience) SetDrawer(_ agent.Place, _ string, d agent.Drawer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawer = d
}

// HideStatus does nothing.
func (*audience) HideStatus(bool) {}

// drawn is what the last one that draws itself shows in a wide window.
func (p *audience) drawn() string {
	p.mu.Lock()
	d := p.drawer
	p.mu.Unlock()
	return strings.Join(d.Draw(200, agent.Surroundings{}), "|")
}

func (p *audience) Wants(k agent.Kind) bool { return k == agent.KindNotice }

func (p *audience) Handle(_ context.Context, e agent.Event) error {
	n := e.(*agent.Notice)
	p.Notify(n.Text, n.Level)
	return nil
}

func (p *audience) heard(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.told, func(s string) bool { return strings.Contains(s, text) })
}

func (p *audience) questions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// scriptedModel gives the answers it is told, in order. The answer "!" is a
// failure.
type scriptedModel struct {
	mu      sync.Mutex
	answers []string
	last    *llm.Request
}

func (m *scriptedModel) tell(answers ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = answers
}

func (m *scriptedModel) next(r *llm.Request) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = r
	if len(m.answers) == 0 {
		return "!"
	}
	answer := m.answers[0]
	m.answers = m.answers[1:]
	return answer
}

// request is the text of the last request.
func (m *scriptedModel) request() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text strings.Builder
	for _, msg := range m.last.Messages {
		text.WriteString(msg.Text() + "\n")
	}
	return text.String()
}

func (m *scriptedModel) Stream(_ context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		answer := m.next(r)
		if answer == "!" {
			yield(llm.Delta{}, &llm.ProviderError{Provider: "script", Message: "the model is tired", Err: errors.New("the model is tired")})
			return
		}
		_ = yield(llm.Delta{Kind: llm.DeltaText, Text: answer}, nil) &&
			yield(llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 100, CacheRead: 300, Output: 10, TotalTokens: 410}}, nil) &&
			yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: message.StopEnd}}, nil)
	}
}

// exampleFiles are the examples by file name.
func exampleFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(inModule("examples/*.lua"))
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.lua") })
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return files
}

// example is the path of an example.
func example(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(inModule("examples/" + name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEveryExampleSaysWhatItDoesAndHowToInstallIt(t *testing.T) {
	for _, file := range exampleFiles(t) {
		head, _, _ := strings.Cut(mustRead(t, file), "\n\n")
		name := strings.TrimSuffix(filepath.Base(file), ".lua")
		for _, want := range []string{"Install: pi hooks add example:" + name, "pi --hook " + name + ".lua"} {
			if !strings.HasPrefix(head, "-- ") || !strings.Contains(strings.ReplaceAll(head, "\n-- ", " "), want) {
				t.Errorf("the comment on top of %s does not say %q", file, want)
			}
		}
	}
}

func TestEveryExamplePassesTheCheck(t *testing.T) {
	t.Parallel()
	args := []string{"hooks", "check"}
	for _, file := range exampleFiles(t) {
		args = append(args, example(t, filepath.Base(file)))
	}
	w := newWorld(t)
	w.write(w.agentFile("config.toml"), "[hook.login_device]\nserver = \"https://models.example.com\"\nclient_id = \"c\"\n") // without it is no provider
	out := w.pi(args...)
	for _, file := range exampleFiles(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".lua")
		if !regexp.MustCompile(`(?m)^loads +` + name + ` +\S`).MatchString(out) {
			t.Errorf("%s does not load, or registers nothing:\n%s", file, out)
		}
	}
}

func TestAllExamplesAtOnceAreInNobodysWay(t *testing.T) {
	t.Parallel()
	args := []string{"--notify-after=3600"}
	for _, file := range exampleFiles(t) {
		args = append(args, "--hook", example(t, filepath.Base(file)))
	}
	w := newWorld(t)
	w.write(w.agentFile("config.toml"), demoSettings+"[hook.permissions]\nallow = [{ tool = [\"read\"] }]\n") // else it asks
	answer, notices := w.piTells(append(args, "-p", "read a.txt", "/todo")...)
	if answer != "a.txt has 2 lines:\n\n    alpha\n    beta\nNo items\n" || notices != "read {\"path\":\"a.txt\"}\n" {
		t.Errorf("the answer is %q, beside it stands %q", answer, notices)
	}
}

func TestThePageOfTheExamplesListsEachOfThem(t *testing.T) {
	page := mustRead(t, inModule("docs/examples.md"))
	for _, file := range exampleFiles(t) {
		if strings.Count(page, "\n| ["+filepath.Base(file)+"](../examples/"+filepath.Base(file)+") | ") != 1 {
			t.Errorf("docs/examples.md has no line for %s", file)
		}
	}
}

// An example that nothing runs would be a claim.
func TestEveryExampleIsRunByATest(t *testing.T) {
	tests := ""
	for _, pattern := range []string{"testdata/script/*.txtar", "testdata/screen/*.txtar", "*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			tests += mustRead(t, file)
		}
	}
	for _, file := range exampleFiles(t) {
		name := filepath.Base(file)
		if _, err := os.Stat(strings.TrimSuffix(file, ".lua") + "_test.lua"); err == nil {
			continue // cli/hooktest runs it
		}
		if !strings.Contains(tests, "$EXAMPLES/"+name) && !strings.Contains(tests, `newStage(t, "`+name+`")`) &&
			!strings.Contains(tests, `example(t, "`+name+`")`) {
			t.Errorf("no test runs %s", file)
		}
	}
}
