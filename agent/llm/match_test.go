package llm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
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

// Each case has its own list of one provider; a want with a blank is that of several that may
// be meant.
func TestWordsBeginWordsAndNumbersAreWhole(t *testing.T) {
	const (
		claude = "claude-opus-4-5-20251101 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-opus-5-fast claude-sonnet-4-5-20250929 claude-sonnet-5 claude-3-7-sonnet claude-haiku-4-5 claude-haiku-4-5-20251001"
		gpt    = "gpt-4.1 gpt-4.1-mini gpt-4.10 gpt-4o gpt-4o-mini gpt-5.4 gpt-5.4-mini gpt-6 gpt-6-codex gpt-6.1-sol gpt-oss-120b gpt-oss-20b o3 o3-mini o4-mini"
		gemini = "gemini-2.5-flash gemini-2.5-flash-lite gemini-2.5-pro gemini-3-flash-preview"
		glm    = "glm-4.5v glm-5 glm-5-turbo glm-5.1 glm-5.2 glm-5v-turbo"
		others = "moonshotai/kimi-k2-0905 kimi-k2-thinking kimi-k2.5 kimi-k3 minimax-m2.5 minimax-m3 mistral-large-3 mistral-medium-3.5 deepseek-v3.2 deepseek-v4-pro qwen3-32b qwen3.5-9b qwen3-8b qwen-3-235b"
	)
	for _, c := range []struct{ ids, ref, want string }{
		{claude, "haiku", "claude-haiku-4-5"},
		{claude, "opus", "claude-opus-4-5-20251101 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-opus-5-fast"},
		{claude, "opus-5", "claude-opus-5"}, {claude, "opus 5", "claude-opus-5"}, {claude, "opus5", "claude-opus-5"}, {claude, "5 opus", "claude-opus-5"},
		{claude, "Opus-5.5", "claude-opus-5-5"}, {claude, "opus 5 5", "claude-opus-5-5"}, {claude, "opus 5 fa", "claude-opus-5-fast"},
		{claude, "opus 4.5", "claude-opus-4-5-20251101"}, {claude, "opus 20251101", "claude-opus-4-5-20251101"}, {claude, "opus 4.5 20251101", "claude-opus-4-5-20251101"},
		{claude, "sonnet 4.5", "claude-sonnet-4-5-20250929"}, {claude, "sonnet 3.7", "claude-3-7-sonnet"}, {claude, "claude sonnet 5", "claude-sonnet-5"},
		{claude, "sonnet", "claude-3-7-sonnet claude-sonnet-4-5-20250929 claude-sonnet-5"}, // not 3.7, although its name ends so
		{claude, "maker opus 5", "claude-opus-5"}, {claude, "maker/opus 5", "claude-opus-5"}, {claude, "maker claude-opus-5-5", "claude-opus-5-5"},
		{claude, "opus 4", ""}, {claude, "opus 8", ""}, {claude, "opus 5-4", ""}, {claude, "opus 4.5 2025", ""}, {claude, "opus 4.5 20250929", ""},
		{claude, "pus 5", ""}, {claude, "claude-opus-6", ""}, {claude, "op5", ""}, {claude, "opus-55", ""}, {claude, "opus-5.5.1", ""},
		{"claude-opus-4-5-20251101", "opus-5", ""}, {"claude-opus-4-5-20251101", "claude-opus-5-5", ""}, {"claude-opus-4-5", "opus-5", ""},
		{"claude-opus-4-20250514 claude-opus-4-5", "opus-4", "claude-opus-4-20250514"}, {"claude-opus-4-5@20251101", "opus 4.5", "claude-opus-4-5@20251101"},
		{gpt, "gpt6", "gpt-6"}, {gpt, "gpt 6", "gpt-6"}, {gpt, "gpt 6.1", "gpt-6.1-sol"}, {gpt, "gpt-5.4", "gpt-5.4"}, {gpt, "5.4", "gpt-5.4"}, {gpt, "5.4 m", "gpt-5.4-mini"},
		{gpt, "4.1", "gpt-4.1"}, {gpt, "4.10", "gpt-4.10"}, {gpt, "4", "o4-mini"}, {gpt, "gpt-4", ""}, {gpt, "1", ""}, {gpt, "gpt-7", ""}, {gpt, "4o", "gpt-4o"},
		{gpt, "oss 120b", "gpt-oss-120b"}, {gpt, "20b", "gpt-oss-20b"}, {gpt, "0b", ""}, {gpt, "120", ""}, {gpt, "o3", "o3"}, {gpt, "o3-m", "o3-mini"}, {gpt, "o4", "o4-mini"},
		{"gpt-6.1-sol gpt-5.4", "gpt-6", ""}, {"gpt-6-luna gpt-6-terra", "gpt-6", "gpt-6-luna gpt-6-terra"}, {"gpt-6-luna gpt-5", "gpt-6", "gpt-6-luna"},
		{"gpt-6-2026-09-10", "gpt 6", "gpt-6-2026-09-10"}, {"gpt-4-0613 gpt-4-32k", "gpt 4", "gpt-4-0613"},
		{gemini, "gemini flash lite", "gemini-2.5-flash-lite"}, {gemini, "2.5 flash", "gemini-2.5-flash"}, {gemini, "gemini 3", "gemini-3-flash-preview"}, {gemini, "lite flash", "gemini-2.5-flash-lite"},
		{gemini, "gemini flash", "gemini-2.5-flash gemini-2.5-flash-lite gemini-3-flash-preview"}, {gemini, "mini", ""},
		{glm, "glm-5", "glm-5"}, {glm, "glm5", "glm-5"}, {glm, "glm 5.2", "glm-5.2"}, {glm, "glm-4", ""}, {glm, "glm 4.5v", "glm-4.5v"}, {glm, "5v", "glm-5v-turbo"},
		{"glm-5-turbo zai-org-glm-5 glm-5.1", "glm-5", "zai-org-glm-5"},
		{others, "k3", "kimi-k3"}, {others, "kimi 3", "kimi-k3"}, {others, "K2.5", "kimi-k2.5"}, {others, "k2", "moonshotai/kimi-k2-0905"}, {others, "kimi k2 th", "kimi-k2-thinking"},
		{others, "m3", "minimax-m3"}, {others, "minimax 2.5", "minimax-m2.5"}, {others, "m2", ""}, {others, "v4", "deepseek-v4-pro"}, {others, "deepseek 3.2", "deepseek-v3.2"}, {others, "v3", ""},
		{others, "qwen3", "qwen-3-235b qwen3-32b qwen3-8b"}, {others, "qwen 8b", "qwen3-8b"}, {others, "2b", ""}, {others, "kimi/k3", "kimi-k3"},
		{"qwen3:8b qwen3:30b-a3b phi3:3.8b", "qwen3:30b", "qwen3:30b-a3b"}, {"qwen3:8b phi3:3.8b", "phi3", "phi3:3.8b"}, {"phi3:3.8b", "phi3:3", ""}, {"a/glm-4/5", "glm-4.5", ""},
		{"devstral-2512 devstral-medium-2512", "devstral 2512", "devstral-2512"}, {"mistral-medium-2604", "mistral medium 26", ""}, {"mistral-medium-3-2604", "mistral-medium 3", "mistral-medium-3-2604"},
	} {
		model, _, err := newShelf("maker key " + c.ids).Match(c.ref)
		var got []string
		if model != nil {
			got = []string{model.ID}
		}
		if several, ok := errors.AsType[*AmbiguousError](err); ok {
			for _, name := range several.Candidates {
				got = append(got, strings.TrimPrefix(name, "maker/"))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q among %s is %q, %v; want %q", c.ref, c.ids, got, err, c.want)
		}
	}
}

func TestFullNameThatIsNotListedGoesAsItIsTyped(t *testing.T) {
	m := newShelf(`
		maker key open alias=factory claude-opus-5 claude-opus-5-fast claude-opus-4-5-20251101 gpt-6-mini gpt-4o-mini mistral-nemo claude-haiku-4-5
		router key open z-ai/glm-5 z-ai/glm-5.1 qwen/qwen3-32b`)
	for ref, want := range map[string]string{
		"maker/claude-opus-5-5":    "maker/claude-opus-5-5",
		"maker/opus-5-5":           "maker/opus-5-5",
		"maker/opus-6:high":        "maker/opus-6",
		"factory/claude-opus-4":    "maker/claude-opus-4",
		"maker/gpt-6":              "maker/gpt-6", // its little sister is another model
		"maker/gpt-4o":             "maker/gpt-4o",
		"maker/claude-5":           "maker/claude-5",
		"router/glm-5.2":           "router/glm-5.2",
		"maker/opus-5":             "maker/claude-opus-5",
		"maker/Claude-Opus-4.5":    "maker/claude-opus-4-5-20251101",
		"maker/opus-4-5":           "maker/claude-opus-4-5-20251101",
		"factory/haiku":            "maker/claude-haiku-4-5",
		"maker/mistral":            "maker/mistral-nemo",
		"router/glm-5":             "router/z-ai/glm-5",
		"router/glm-5.1:low":       "router/z-ai/glm-5.1",
		"router/qwen3-32b":         "router/qwen/qwen3-32b",
		"router/qwen 32b":          "router/qwen/qwen3-32b",
		"maker/gpt 6":              "maker/gpt-6-mini", // no id has a blank
		"router/moonshotai/kimi-9": "router/moonshotai/kimi-9",
	} {
		if model, _, err := m.Match(ref); err != nil || model.Ref() != want {
			t.Errorf("%q is %v, %v; want %s", ref, model, err, want)
		}
	}
	if model, _, err := m.Match("maker/claude opus 5-5"); err == nil {
		t.Errorf("%v", model.Ref())
	}
}

func TestNameIsCompletedIfAnIDHasMore(t *testing.T) {
	m := newShelf(manyModels)
	for ref, want := range map[string]string{
		"openai/gpt-5": "", "GPT-5:high": "", " gpt-4-1 ": "", "openai/gpt-4.1:low": "", "o3:high": "", "o3:high:low": "", "google/gemini-2.5-pro": "",
		"anthropic/claude-next": "", "router/qwen3-coder:free": `"router/qwen3-coder:free" means router/qwen/qwen3-coder:free`,
		"haiku-3:high": `"haiku-3" means anthropic/claude-haiku-3-20250101`, "claude-haiku-3": `"claude-haiku-3" means anthropic/claude-haiku-3-20250101`,
		"flash lite": `"flash lite" means gemini/gemini-2.5-flash-lite`, "gpt-4o-mini": `"gpt-4o-mini" means router/openai/gpt-4o-mini`, "maker:low": `"maker" means maker/first`,
	} {
		model, _, err := m.Match(ref)
		if err != nil {
			t.Errorf("%q: %v", ref, err)
			continue
		}
		if got := m.Completed(ref, model); got != want {
			t.Errorf("%q: %q, want %q", ref, got, want)
		}
	}
}

func TestUnknownNameNamesTheNearest(t *testing.T) {
	m := newShelf(`
		anthropic open claude-opus-4-1 claude-opus-4-5-20251101 claude-opus-4-8 claude-opus-4-10 claude-opus-5 claude-opus-5-fast claude-sonnet-5 claude-haiku-4-5
		router key anthropic/claude-opus-4.8 openai/gpt-5.6 openai/gpt-5.4 openai/gpt-4o moonshotai/kimi-k2.5 z-ai/glm-5.2 z-ai/glm-5
		openai gpt-5.6 gpt-5.4-mini gpt-4.1`)
	for ref, want := range map[string]string{
		"claude-opus-5-5": "anthropic/claude-opus-5, anthropic/claude-opus-5-fast or anthropic/claude-opus-4-10",
		"opus 4.7":        "router/anthropic/claude-opus-4.8",
		"gpt-6":           "router/openai/gpt-5.6 or router/openai/gpt-5.4", // what can be used
		"openai/gpt-5.7":  "openai/gpt-5.6, openai/gpt-5.4-mini or openai/gpt-4.1",
		"openai/gtp-4.1":  "openai/gpt-4.1",
		"kimi-k3:high":    "router/moonshotai/kimi-k2.5",
		"glm-5.3":         "router/z-ai/glm-5.2 or router/z-ai/glm-5",
		"claudehaiku4-5":  "anthropic/claude-haiku-4-5", // by its spelling
		"sonet":           "anthropic/claude-sonnet-5",
		"claude-opus-9-" + strings.Repeat("9", 100): "",
		"4.9": "", "llama": "", "some other claude": "",
	} {
		_, _, err := m.Match(ref)
		said := "(/model or"
		if want != "" {
			said = "; did you mean " + want + "? " + said
		}
		if err == nil || !strings.Contains(err.Error(), said) || want == "" && strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%q: %v; want %s", ref, err, want)
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

// numbersOf finds runs of numbers in a name, by another way than [Models.Match].
var numbersOf = regexp.MustCompile(`\d+(?:[^\pL\pN/:]+\d+)*`)

// versionOf returns what a run of numbers in a name has before its date, and before a number
// with letters behind it.
func versionOf(name string, at []int) string {
	run := name[at[0]:at[1]]
	if next, _ := utf8.DecodeRuneInString(name[at[1]:]); unicode.IsLetter(next) || unicode.IsDigit(next) {
		run = run[:1+strings.LastIndexFunc(run, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })]
	}
	numbers := strings.FieldsFunc(run, func(r rune) bool { return r < '0' || r > '9' })
	for i, n := range numbers {
		if len(n) > 3 || len(n) > 1 && n[0] == '0' {
			numbers = numbers[:i]
			break
		}
	}
	return strings.Join(numbers, ".")
}

// What fits a typed name has every version in it, and none that goes on.
func FuzzMatchHasTheTypedVersion(f *testing.F) {
	for _, seed := range []string{"opus-5", "claude opus 5.5", "sonnet 4-5", "4.1", "gpt4", "k2", "maker/opus-4", "qwen3 8b", "5 opus 4.1", "glm-5:high", "kimi k2-0905", "x/4/5"} {
		f.Add(seed)
	}
	m := newShelf("maker key claude-opus-5 claude-opus-5-5 claude-opus-4-5-20251101 claude-opus-4-20250514 claude-sonnet-4-5@20250929 gpt-4.1 gpt-4.10-mini gpt-4o gpt-6.1-sol" +
		" kimi-k2-0905 kimi-k2.5 kimi-k3 glm-4.5v glm-5.1 qwen3-8b qwen3.5-0.8b qwen-2-7b o3-2025-04-16 minimax-m3 mistral-large-2512 x/4/5")
	f.Fuzz(func(t *testing.T, ref string) {
		model, level, err := m.Match(ref)
		if err != nil {
			return
		}
		typed := strings.TrimSpace(ref)
		if level != "" {
			typed = typed[:strings.LastIndexByte(typed, ':')]
		}
		base, _ := Dated(model.ID)
		if bare := strings.TrimPrefix(plainName(typed), "maker-"); bare == plainName(base) || bare == plainName(model.ID) {
			return // the id itself, in whatever punctuation
		}
		var has []string
		for _, at := range numbersOf.FindAllStringIndex(model.ID, -1) {
			has = append(has, versionOf(model.ID, at))
		}
		for _, at := range numbersOf.FindAllStringIndex(typed, -1) {
			if version := versionOf(typed, at); version != "" && !slices.Contains(has, version) {
				t.Errorf("%q is %s, which has no version %s but %q", ref, model.ID, version, has)
			}
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
