package llm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// shelf is a registry in which every list that is asked for is noted.
type shelf struct {
	*Models
	asked map[string]int
}

// newShelf fills a registry: each line is a provider, with flags and the ids that
// it lists. key: it can be used; open: it takes any id; alias=NAME; default=ID.
func newShelf(lines string) shelf {
	s := shelf{NewModels(nil), map[string]int{}}
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		s.add(fields[0], fields[1:])
	}
	return s
}

func (s shelf) add(name string, words []string) {
	spec := ProviderSpec{Name: name}
	usable := false
	var models []*Model
	for _, w := range words {
		switch flag, value, _ := strings.Cut(w, "="); flag {
		case "key":
			usable = true
		case "open":
			spec.Open = func(id string) *Model { return &Model{Provider: name, ID: id, Name: "opened"} }
		case "alias":
			spec.Aliases = append(spec.Aliases, value)
		case "default":
			spec.Default = value
		default:
			models = append(models, &Model{Provider: name, ID: w, Reasoning: true, Levels: []string{"low", "high"}})
		}
	}
	spec.HasKey = func() bool { return usable }
	spec.Models = func() []*Model { s.asked[name]++; return models }
	s.Register(spec)
}

const manyModels = `
	anthropic open default=claude-sonnet-4 claude-opus-4 claude-sonnet-4 claude-sonnet-4-5 claude-haiku-3-20250101
	openai    key gpt-5 gpt-5-mini o3:high gpt-4o-2024-05-13 gpt-4o-2024-08-06 gpt-4.1-20250414 gpt-4.1
	router    key open anthropic/claude-haiku claude-sonnet-4-5 GPT-5 qwen/qwen3-coder:free qwen/qwen3-coder openai/gpt-4o-mini lab/only
	gemini    key alias=google alias=vertex gemini-2.5-pro gemini-2.5-flash-lite gemini-1.5-pro-latest gemini-1.5-pro-20240501
	azure     gpt-5 claude-opus-4
	ollama    key open shared
	versions  key v4.1-large v4.10-large
	maker     key default=first first second
	lab       default=first first
	desk      default=first first
	mixed     key Name-X name-x shared`

func TestMatchFindsTheModelThatIsMeant(t *testing.T) {
	m := newShelf(manyModels)
	for _, c := range []struct{ ref, want, level string }{
		{"openai/gpt-5", "openai/gpt-5", ""},
		{"OPENAI/GPT-5", "openai/gpt-5", ""},
		{"  openai/gpt-5\n", "openai/gpt-5", ""},
		{"router/gpt-5", "router/GPT-5", ""},
		{"mixed/name-x", "mixed/name-x", ""},
		{"mixed/Name-X", "mixed/Name-X", ""},
		{"claude-sonnet-4-5", "router/claude-sonnet-4-5", ""}, // the one with a key
		{"anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", ""},
		{"claude-sonnet-4", "anthropic/claude-sonnet-4", ""}, // an exact id, though nobody has its key
		{"mini", "", ""}, {"gpt-5-m", "openai/gpt-5-mini", ""},
		{"sonnet", "router/claude-sonnet-4-5", ""},
		{"anthropic/opus", "anthropic/claude-opus-4", ""},
		{"anthropic/claude-haiku", "router/anthropic/claude-haiku", ""}, // an exact id elsewhere
		{"anthropic/claude-next", "anthropic/claude-next", ""},          // not listed
		{"router/x-ai/grok-9:free", "router/x-ai/grok-9:free", ""},
		{"ollama/qwen3:8b", "ollama/qwen3:8b", ""},
		{"ollama/qwen3:8b:low", "ollama/qwen3:8b", "low"},
		{"ollama/qwen3:high", "ollama/qwen3", "high"},
		{"qwen3-coder:free", "router/qwen/qwen3-coder:free", ""},
		{"qwen/qwen3-coder", "router/qwen/qwen3-coder", ""},
		{"qwen/qwen3-coder:high", "router/qwen/qwen3-coder", "high"},
		{"router/qwen/qwen3-coder:free:low", "router/qwen/qwen3-coder:free", "low"},
		{"openai/gpt-5:xhigh", "openai/gpt-5", "xhigh"},
		{"o3:high", "openai/o3:high", ""},
		{"o3:high:low", "openai/o3:high", "low"},
		{"gpt-5-mini:off", "openai/gpt-5-mini", "off"},
		{"openai/gpt-4.1", "openai/gpt-4.1", ""},
		{"gpt-4-1", "openai/gpt-4.1", ""}, // the undated one, whatever the punctuation
		{"openai/gpt-4o-2024", "openai/gpt-4o-2024-08-06", ""},
		{"gemini-1.5", "gemini/gemini-1.5-pro-latest", ""},
		{"haiku-3", "anthropic/claude-haiku-3-20250101", ""},
		{"flash lite", "gemini/gemini-2.5-flash-lite", ""},
		{"gemini flash", "gemini/gemini-2.5-flash-lite", ""},
		{"lite gemini:low", "gemini/gemini-2.5-flash-lite", "low"},
		{"gem-fl", "gemini/gemini-2.5-flash-lite", ""},
		{"google/gemini-2.5-pro", "gemini/gemini-2.5-pro", ""},
		{"Vertex/flash", "gemini/gemini-2.5-flash-lite", ""},
		{"claude-haiku-3", "anthropic/claude-haiku-3-20250101", ""},
		{"anthropic/claude-haiku-3", "anthropic/claude-haiku-3-20250101", ""},
		{"openai/gpt-4o", "openai/gpt-4o-2024-08-06", ""},
		{"OpenAI/GPT-4-1:high", "openai/gpt-4.1", "high"},
		{"gpt-4o-mini", "router/openai/gpt-4o-mini", ""}, // as a router has it
		{"qwen3-coder", "router/qwen/qwen3-coder", ""},
		{"v4.1", "versions/v4.1-large", ""}, // and not 4.10
		{"large v4.10", "versions/v4.10-large", ""},
		{"maker", "maker/first", ""},
		{"maker:low", "maker/first", "low"},
		{"lab", "router/lab/only", ""}, // a provider that cannot be used, and the maker of one that can
		{"desk", "desk/first", ""},
		{"Desk/:high", "desk/first", "high"},
		{"", "", ""}, {" ", "", ""}, {"/", "", ""}, {"openai/gpt-6", "", ""}, {"nobody/x", "", ""}, {"gpt-5:extreme", "", ""},
	} {
		model, level, err := m.Match(c.ref)
		got := ""
		if model != nil {
			got = model.Ref()
		}
		if got != c.want || level != c.level || errors.Is(err, ErrNoModel) != (c.want == "") {
			t.Errorf("%q is %q level %q, %v; want %q level %q", c.ref, got, level, err, c.want, c.level)
		}
	}
}

func TestNameThatFitsSeveralModelsIsAmbiguous(t *testing.T) {
	m := newShelf(manyModels)
	for ref, want := range map[string]string{
		"shared:low":               "mixed/shared ollama/shared", // the same id at two that can be used
		"claude-opus-4":            "anthropic/claude-opus-4 azure/claude-opus-4",
		"openai/gpt":               "openai/gpt-4.1 openai/gpt-4o-2024-08-06 openai/gpt-5 openai/gpt-5-mini",
		"mini":                     "openai/gpt-5-mini router/openai/gpt-4o-mini",
		"google/gemini":            "gemini/gemini-1.5-pro-latest gemini/gemini-2.5-flash-lite gemini/gemini-2.5-pro",
		"anthropic/claude-sonnet:": "anthropic/claude-sonnet-4 anthropic/claude-sonnet-4-5",
		"MIXED/NAME-X":             "mixed/Name-X mixed/name-x",
	} {
		var several *AmbiguousError
		model, level, err := m.Match(ref)
		if !errors.As(err, &several) || !errors.Is(err, ErrNoModel) || model != nil || level != "" {
			t.Errorf("%q: %v %q %v", ref, model, level, err)
			continue
		}
		if got := strings.Join(several.Candidates, " "); got != want || several.More != 0 {
			t.Errorf("%q may be %q and %d more; want %q", ref, got, several.More, want)
		}
	}
}

func TestAmbiguousErrorNamesTenAndCountsTheRest(t *testing.T) {
	var ids []string
	for i := range 13 {
		ids = append(ids, fmt.Sprintf("model-%c", 'n'-i))
	}
	_, _, err := newShelf("p key " + strings.Join(ids, " ")).Match("model")
	if err == nil || !strings.HasPrefix(err.Error(), `"model" may be any of p/model-b, p/model-c, `) ||
		!strings.HasSuffix(err.Error(), "p/model-k and 3 more; name more of it") {
		t.Error(err)
	}
}

func TestUnknownNameOrLevelSaysWhatThereIs(t *testing.T) {
	m := newShelf(manyModels)
	for ref, want := range map[string]string{
		"openai/gtp-5-mini": `"openai/gtp-5-mini"; did you mean openai/gpt-5-mini?`,
		"gemini-2.5-por":    `did you mean gemini/gemini-2.5-pro?`,
		"claude-opsu-4":     `did you mean anthropic/claude-opus-4?`,
		"something-else":    "no such model: \"something-else\" (/model or `pi models` lists them)",
		"gpt-5-mini:loud":   `openai/gpt-5-mini has no thinking level "loud"; levels are low, high`,
	} {
		if _, _, err := m.Match(ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", ref, err, want)
		}
	}
}

func TestExactNameTouchesItsProviderOnly(t *testing.T) {
	for _, ref := range []string{"openai/gpt-5", "OpenAI/gpt-5", "google/gemini-2.5-pro", "anthropic/claude-opus-4:high", "router/qwen/qwen3-coder:free"} {
		m := newShelf(manyModels)
		model, _, err := m.Match(ref)
		if err != nil || len(m.asked) != 1 || m.asked[model.Provider] == 0 {
			t.Errorf("%q: %v, asked %v", ref, err, m.asked)
		}
	}
	m := newShelf(manyModels)
	if m.Find("openai", "gpt-5") == nil || m.Find("vertex", "gemini-2.5-pro") == nil || len(m.asked) != 2 {
		t.Errorf("asked %v", m.asked)
	}
}

func TestAliasFindsTheProviderUnlessOneHasThatName(t *testing.T) {
	m := newShelf("gemini key alias=google g\n google key real")
	if s, ok := m.Lookup("google"); !ok || s.Name != "google" {
		t.Errorf("%+v", s)
	}
	m.Unregister("google")
	if s, ok := m.Lookup("google"); !ok || s.Name != "gemini" {
		t.Errorf("%+v", s)
	}
	if _, ok := m.Lookup("goggle"); ok {
		t.Error("a provider that nobody registered")
	}
}

func FuzzMatch(f *testing.F) {
	for _, seed := range []string{"openai/gpt-5", "gpt", "a/b/c:high", ":", "/:/", "o3:high:low", "\xff", "ollama/ x:low", "İ"} {
		f.Add(seed)
	}
	m := newShelf(manyModels)
	f.Fuzz(func(t *testing.T, ref string) {
		model, level, err := m.Match(ref)
		switch {
		case (model == nil) == (err == nil):
			t.Fatalf("%q: %v, %v", ref, model, err)
		case err != nil && (level != "" || !errors.Is(err, ErrNoModel)):
			t.Fatalf("%q: level %q, %v", ref, level, err)
		case err == nil && level != "" && !ValidThinking(level):
			t.Fatalf("%q: level %q", ref, level)
		}
		if err != nil || model.Name == "opened" {
			return
		}
		if again, _, err := m.Match(model.Ref()); err != nil || again != model {
			t.Fatalf("%q is %s, and that is %v %v", ref, model.Ref(), again, err)
		}
	})
}

// The catalogue has as many models.
func BenchmarkMatchAmong1300(b *testing.B) {
	var lines strings.Builder
	for p := range 40 {
		fmt.Fprintf(&lines, "\nprovider-%d key", p)
		for i := range 33 {
			fmt.Fprintf(&lines, " maker-%d/model-%d.%d-large-20250101", i, p, i)
		}
	}
	m := newShelf(lines.String())
	for name, ref := range map[string]string{"exact": "provider-7/maker-3/model-7.3-large-20250101", "part": "model-7.9", "words": "model 39.32 large", "unknown": "nothing like it"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := m.Match(ref); (err != nil) != (name == "unknown") {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is registered at one moment answers by itself, also for names that nobody has.
func TestProvidersAreAskedWithoutARegistry(t *testing.T) {
	asked := false
	all := providers{
		{Name: "one", Aliases: []string{"uno"}, Default: "beta", Models: Listed(&Model{Provider: "one", ID: "a-20250101"}, &Model{Provider: "one", ID: "beta"}),
			found: []*Model{{Provider: "one", ID: "beta"}, {Provider: "one", ID: "c"}}},
		{Name: "two", HasKey: func() bool { return false }, KeyHint: func() string { return "do this" },
			Models: func() []*Model { asked = true; return []*Model{{Provider: "two", ID: "d"}} }},
	}
	for ref, want := range map[string]string{"ONE/a": "one/a-20250101", "uno/c": "one/c", "uno": "one/beta", "c:high": "one/c"} {
		if m, _, err := all.match(ref); err != nil || m.Ref() != want {
			t.Errorf("%s is %v, %v", ref, m, err)
		}
	}
	if all.find("uno") != all[0] || all.find("UNO") != nil || all.findFold("UNO") != all[0] || len(all[0].list()) != 3 {
		t.Errorf("%v, %d models", all.find("uno"), len(all[0].list()))
	}
	if asked = false; len(all.models((*ProviderSpec).isUsable)) != 3 || asked {
		t.Error("a provider is asked for its models that is not wanted")
	}
	if _, err := all.findPattern("two/d"); err == nil || err.Error() != `"two/d": no key for two yet: do this` {
		t.Errorf("%v", err)
	}
	if _, _, err := all.match("one/betta"); err == nil || !strings.Contains(err.Error(), "did you mean one/beta?") {
		t.Errorf("%v", err)
	}
}
