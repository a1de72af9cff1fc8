package catalogue

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
)

var noon = time.Date(2027, 1, 2, 12, 0, 0, 0, time.UTC)

func nobody(string) bool { return false }

func read(t *testing.T, list string) *Update {
	t.Helper()
	u, err := Read([]byte(list), "a list", noon, func(name string) bool { return name == "mine" })
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestAListThatIsNotGoodIsRefusedWhole(t *testing.T) {
	good := `{"id":"anthropic","name":"A","models":[{"id":"claude-x"}]}`
	many := "[" + strings.Repeat(good+",", maxProviders) + good + "]"
	for why, c := range map[string]struct{ list, want string }{
		"no JSON":            {"{", "read the list"},
		"no list":            {`{"providers":[]}`, "read the list"},
		"nothing":            {"[]", "no models of a provider that is known"},
		"nothing for us":     {`[{"id":"acme","models":[{"id":"m"}]}]`, "no models of a provider that is known"},
		"a provider twice":   {"[" + good + "," + good + "]", "no name of its own"},
		"a nameless one":     {`[{"id":"","models":[]}]`, "no name of its own"},
		"too many providers": {many, "more than 500 providers"},
		"too many models":    {`[{"id":"anthropic","models":[` + strings.Repeat(`{"id":"m"},`, maxModels) + `{"id":"n"}]}]`, "10000 models"},
		"too large":          {strings.Repeat(" ", MaxList+1), "larger than 8 MiB"},
		"a text for a price": {`[{"id":"anthropic","models":[{"id":"m","cost_per_1m_in":"free"}]}]`, "read the list"},
	} {
		if _, err := Read([]byte(c.list), "x", noon, nobody); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", why, err, c.want)
		}
	}
}

// A model of two bytes takes a hundred times as much in memory.
func TestAListIsReadUpToWhatIsTooMuch(t *testing.T) {
	const each = 5000
	var list strings.Builder
	for i := range maxProviders {
		fmt.Fprintf(&list, `%c{"id":"p%d","models":[{}%s]}`, "[,"[min(i, 1)], i, strings.Repeat(",{}", each))
	}
	list.WriteString("]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read([]byte(list.String()), "x", noon, nobody)
	runtime.ReadMemStats(&after)
	if list.Len() > MaxList || !errors.Is(err, errTooMany) {
		t.Errorf("%d bytes: %v", list.Len(), err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
		t.Errorf("reading it took %d MiB", took)
	}
}

func TestAListIsCleaned(t *testing.T) {
	u := read(t, `[{"id":"anthropic","api_endpoint":"https://evil.example","api_key":"$OTHER","models":[
		{"id":"claude-x","name":" A \u001b[31m\nname ","context_window":999,"default_max_tokens":1e12,"cost_per_1m_in":1e-300,"cost_per_1m_out":20000},
		{"id":"claude-x","name":"again"},{"id":"with blank"},{"id":"=other"},{"id":"-flag"},{"id":"esc\u001b"},{"id":"a/../../b"},{"id":".."},{"id":"a?b"},{"id":"a#b"},{"id":"a%2fb"},{"id":"a\\b"},{"id":"`+strings.Repeat("x", longestID+1)+`"}]}]`)
	if u.Wrong != 12 {
		t.Errorf("%d models were left out, want 12", u.Wrong)
	}
	c := Open(t.TempDir())
	if err := c.Keep(u); err != nil {
		t.Fatal(err)
	}
	m := c.Models("anthropic")[0]
	if m.ID != "claude-x" || strings.ContainsAny(m.Name, "\x1b\n") || m.ContextWindow != 0 || m.MaxTokens != 0 || m.Cost != nil {
		t.Errorf("it is %+v", *m)
	}
	if m.BaseURL != "https://api.anthropic.com" || m.API != claudeAPI {
		t.Errorf("a list leads the key of anthropic to %s over %s", m.BaseURL, m.API)
	}
}

// Who serves a model, and with which key, is never a matter of a list.
func TestProvidersThatNobodyKnowsAreLeftOut(t *testing.T) {
	u := read(t, `[{"id":"anthropic","models":[{"id":"claude-x"}]},{"id":"acme","api_key":"$ANTHROPIC_API_KEY","api_endpoint":"https://evil.example","models":[{"id":"m"}]},
		{"id":"mine","api_endpoint":"https://evil.example","models":[{"id":"m","context_window":5000}]},{"id":"bedrock","models":[{"id":"b"}]}]`)
	if !slices.Equal(u.Left, []string{"acme"}) {
		t.Errorf("left out are %q", u.Left)
	}
	c := Open(t.TempDir())
	if err := c.Keep(u); err != nil {
		t.Fatal(err)
	}
	if c.Models("acme") != nil || c.Models("bedrock") != nil {
		t.Error("a provider that nobody knows has models")
	}
	if m := c.Models("mine"); len(m) != 1 || m[0].BaseURL != "" || m[0].API != "" || m[0].ContextWindow != 5000 {
		t.Errorf("the models of a provider of the settings are %+v", m)
	}
}

func TestAFetchedListIsUsedWhereItIsNewer(t *testing.T) {
	dir := t.TempDir()
	u := read(t, `[{"id":"anthropic","models":[{"id":"claude-x","context_window":9000}]}]`)
	if err := Open(dir).Keep(u); err != nil {
		t.Fatal(err)
	}
	c := Open(dir)
	if m := c.Models("claude"); m[0].ID != "claude-x" || !c.Date().Equal(noon) {
		t.Errorf("of %v is %s", c.Date(), m[0].ID)
	}
	if len(c.Models("openai")) != len(Models("openai")) {
		t.Error("what a list does not have is not the program's own any more")
	}
	if info, err := os.Stat(filepath.Join(dir, FileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}

	older := *u
	older.Date = ownDate().Add(-time.Hour)
	if err := c.Keep(&older); err == nil || !strings.Contains(err.Error(), "by the clock of this machine") {
		t.Errorf("a list that would not be used is kept: %v", err)
	}
	file := filepath.Join(dir, FileName)
	data, _ := os.ReadFile(file)
	data = []byte(strings.Replace(string(data), noon.Format(time.RFC3339), older.Date.Format(time.RFC3339), 1))
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := Open(dir); c.Models("anthropic")[0].ID == "claude-x" || c.Problem() != nil || !c.Date().Equal(ownDate()) {
		t.Errorf("a list that is older than the program is used: %v", c.Problem())
	}

	if was, err := c.Reset(); !was || err != nil {
		t.Errorf("going back: %v, %v", was, err)
	}
	if was, err := c.Reset(); was || err != nil {
		t.Errorf("going back twice: %v, %v", was, err)
	}
	if before, err := os.ReadFile(filepath.Join(dir, FileName+".before")); err != nil || !strings.Contains(string(before), "claude-x") {
		t.Errorf("what was there before is %q, %v", before, err)
	}
}

func TestADamagedFileIsSaidAndNotUsed(t *testing.T) {
	for why, contents := range map[string]string{"no JSON": "{", "empty": "", "of another time": `{"version":9,"date":"2030-01-01T00:00:00Z","providers":{"anthropic":"m"}}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		c := Open(dir)
		if len(c.Models("anthropic")) != len(Models("anthropic")) || c.Problem() == nil || !strings.Contains(c.Problem().Error(), "pi models update") {
			t.Errorf("%s: %v", why, c.Problem())
		}
	}
}

func TestWhatAListChangesIsToldByProvider(t *testing.T) {
	c := Open(t.TempDir())
	first := read(t, `[{"id":"zai","models":[{"id":"one","cost_per_1m_in":1,"cost_per_1m_out":2},{"id":"two"},{"id":"three"},
		{"id":"free","cost_per_1m_in":1,"cost_per_1m_out":2},{"id":"wide","context_window":9000,"default_max_tokens":800},{"id":"cached","cost_per_1m_in":1,"cost_per_1m_out":2,"cost_per_1m_out_cached":0.1}]},
		{"id":"mine","models":[{"id":"m"}]},{"id":"xai","models":[{"id":"grok-1"}]}]`)
	if err := c.Keep(first); err != nil {
		t.Fatal(err)
	}
	c = Open(filepath.Dir(c.path))
	second := read(t, `[{"id":"zai","models":[{"id":"one","cost_per_1m_in":1.5,"cost_per_1m_out":2},{"id":"two"},{"id":"four"},
		{"id":"free"},{"id":"wide","context_window":8000,"default_max_tokens":800},{"id":"cached","cost_per_1m_in":1,"cost_per_1m_out":2,"cost_per_1m_out_cached":0.2}]},
		{"id":"mine","models":[{"id":"m"},{"id":"n"}]},{"id":"xai","models":[{"id":"grok-1","name":"Grok"}]}]`)
	got, _ := json.Marshal(c.Compare(second))
	want := `[{"Provider":"xai","New":null,"Gone":null,"Dearer":null,"Smaller":null,"Other":true},` +
		`{"Provider":"zai","New":["four"],"Gone":["three"],"Dearer":["one (1.5 / 2, was 1 / 2)","free (unknown, was 1 / 2)","cached (1 / 2, was 1 / 2)"],"Smaller":["wide (8000 / 0, was 9000 / 800)"],"Other":true},` +
		`{"Provider":"mine","New":["n"],"Gone":null,"Dearer":null,"Smaller":null,"Other":true}]`
	if string(got) != want {
		t.Errorf("it changes %s\nwant %s", got, want)
	}
	if changes := c.Compare(first); changes != nil {
		t.Errorf("the same list changes %v", changes)
	}
}

func TestAPriceIsDearerWhereItIsForSomePrompt(t *testing.T) {
	price := func(input float64, above ...llm.Step) *llm.Price {
		p, err := (&llm.Price{Input: input}).WithSteps(above)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	above := func(tokens int, input float64) llm.Step {
		return llm.Step{Tokens: tokens, Price: llm.Price{Input: input}}
	}
	for why, c := range map[string]struct {
		before, after *llm.Price
		want          bool
	}{
		"the same":                    {price(1, above(100, 2)), price(1, above(100, 2)), false},
		"a new step":                  {price(1), price(1, above(100, 2)), true},
		"a new step that is no more":  {price(2), price(1, above(100, 2)), false},
		"a dearer step":               {price(1, above(100, 2)), price(1, above(100, 3)), true},
		"a step for shorter prompts":  {price(1, above(200, 2)), price(1, above(100, 2)), true},
		"a step for longer prompts":   {price(1, above(100, 2)), price(1, above(200, 2)), false},
		"a step that is gone":         {price(1, above(100, 2)), price(1), false},
		"cheaper at first, then more": {price(1, above(100, 2)), price(0.5, above(50, 1), above(200, 3)), true},
		"not known any more":          {price(1), nil, true},
		"not known before":            {nil, price(1), false},
		"a step that is not known":    {price(1, above(100, 2)), price(1, above(100, -1)), true},
	} {
		if got := isDearer(c.before, c.after); got != c.want {
			t.Errorf("%s: %v", why, got)
		}
	}
}

// A list of a gateway alone is mended by what the program knows of makers.
func TestAGatewayAloneHasThePricesOfMakers(t *testing.T) {
	u := read(t, `[{"id":"openrouter","models":[{"id":"openai/gpt-6.1-sol","cost_per_1m_in":1,"cost_per_1m_out":5}]}]`)
	if got := u.records["openrouter"]; !strings.Contains(got, "2/10/") || !strings.Contains(got, ";272000:") {
		t.Errorf("it has %q", got)
	}
}

// A list may know a provider by another name, but not by two.
func TestAProviderIsOnceInAList(t *testing.T) {
	u := read(t, `[{"id":"grok","models":[{"id":"grok-9","cost_per_1m_in":1,"cost_per_1m_out":2}]},{"id":"xai-2","models":[{"id":"m"}]},
		{"id":"claude","models":[{"id":"claude-y"}]},{"id":"anthropic","models":[{"id":"claude-x"}]}]`)
	if got := u.records["xai"]; !strings.Contains(got, "1/2/?/?;200000:2/4") {
		t.Errorf("xai has %q", got)
	}
	if !strings.Contains(u.records["anthropic"], "claude-x") || strings.Contains(u.records["anthropic"], "claude-y") || !slices.Equal(u.Left, []string{"claude", "xai-2"}) {
		t.Errorf("anthropic has %q, left out are %q", u.records["anthropic"], u.Left)
	}
}

// Where a model is asked is for the program to say, also of a list that another one kept.
func TestModelsOfAListAreAskedWhereTheProgramSays(t *testing.T) {
	dir := t.TempDir()
	if err := Open(dir).Keep(read(t, `[{"id":"opencode-zen","models":[{"id":"claude-x"},{"id":"glm-x"}]},{"id":"mistral","models":[{"id":"mistral-large-9"}]},{"id":"openai","models":[]}]`)); err != nil {
		t.Fatal(err)
	}
	c := Open(dir)
	if m := c.Models("opencode"); len(m) != 2 || m[0].API != claudeAPI || m[0].BaseURL != "https://opencode.ai/zen" || m[1].API != chatAPI {
		t.Errorf("%+v, %+v", *m[0], *m[1])
	}
	file := filepath.Join(dir, FileName)
	data, _ := os.ReadFile(file)
	if strings.Contains(string(data), "https://") {
		t.Errorf("an address is kept: %s", data)
	}
	led := strings.Replace(string(data), "mistral-large-9", `mistral-large-9\t\t9000\t\t\t\t\topenai-responses\thttps://evil.example`, 1)
	if err := os.WriteFile(file, []byte(led), 0o600); err != nil || led == string(data) {
		t.Fatal(err, led)
	}
	if m := Open(dir).Models("mistral")[0]; m.ID != "mistral-large-9" || m.ContextWindow != 9000 || m.API != chatAPI || m.BaseURL != "https://api.mistral.ai/v1" {
		t.Errorf("a file leads the key of mistral to %s over %s: %+v", m.BaseURL, m.API, *m)
	}
	if !slices.ContainsFunc(c.Models("mistral"), func(m *llm.Model) bool { return m.ID == "mistral-large-9" }) {
		t.Error("a provider that the program has by hand takes no list")
	}
	if len(c.Models("openai")) != len(Models("openai")) {
		t.Error("a provider without models in a list has none")
	}
}

func validLevels(m *llm.Model) bool {
	return !slices.ContainsFunc(m.Levels, func(l string) bool { return !llm.ValidThinking(l) })
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"id":"anthropic","models":[{"id":"claude-x","context_window":9000,"reasoning_levels":["low","none","?"],"can_reason":true}]}]`))
	f.Add([]byte(`[{"id":"openrouter","models":[{"id":"a/b:free","cost_per_1m_in":1e-9},{"id":"a\tb"}]}]`))
	f.Add([]byte(`[{"id":"mine","models":[{"id":"\u202e"}]},null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := Read(data, "x", noon, func(string) bool { return true })
		if err != nil {
			return
		}
		for name, record := range u.records {
			p := Provider{Name: name, API: "a", BaseURL: "b"}
			for _, m := range p.decodeAll(record) {
				if m.ID == "" || strings.ContainsAny(m.ID+m.Name, "\t\r\n\x1b") || m.ContextWindow < 0 || m.ContextWindow > largest || m.MaxTokens < 0 || len(m.Name) > longestName && m.Name != m.ID || !validLevels(m) || m.Cost != nil && m.Cost.Input > 2*dearest || m.ContextWindow > 0 && m.MaxTokens > m.ContextWindow || m.API == "" {
					t.Errorf("%s has %+v", name, *m)
				}
			}
		}
	})
}
