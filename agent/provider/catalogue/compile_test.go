package catalogue

import (
	"slices"
	"strings"
	"testing"
)

// compiled returns the models of a list that has one provider.
func compiled(t *testing.T, id string, models ...listedModel) *source {
	t.Helper()
	return compiledFrom(t, []listed{{ID: id, Name: "A name", APIKey: "$A_KEY", APIEndpoint: "https://api.example", Models: models}}, id)
}

func compiledFrom(t *testing.T, list []listed, id string) *source {
	t.Helper()
	all, err := compile(list)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].From == id {
			return &all[i]
		}
	}
	t.Fatalf("there is no %s", id)
	return nil
}

func (p *source) byID(t *testing.T, id string) sourceModel {
	t.Helper()
	for _, m := range p.Models {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("%s has no %s", p.Name, id)
	return sourceModel{}
}

func TestLevelsFollowTheFamilyTheServerAndTheList(t *testing.T) {
	three := []string{"low", "medium", "high"}
	for _, c := range []struct {
		why, from, id string
		listed        []string
		want          string
	}{
		{"nothing is known", "nebius", "acme-1", nil, ""},
		{"the server cannot be told", "nebius", "glm-5", three, "low medium high"},
		{"the server can be told", "fireworks", "glm-5", three, "off low medium high"},
		{"the server has a word for it", "nebius", "glm-5", []string{"none", "low"}, "off low"},
		{"on or off", "alibaba-us", "glm-5.2", []string{"high", "xhigh"}, "off high"},
		{"always on", "alibaba-us", "qwen3-235b-a22b-thinking-2507", three, "high"},
		{"thinks when told to", "nebius", "claude-sonnet-4.6", three, "off low medium high"},
		{"always thinks", "fireworks", "openai/gpt-5-mini", three, "low medium high"},
		{"always thinks, whatever is listed", "fireworks", "anthropic/claude-fable-5", []string{"none", "low"}, "low"},
		{"never thinks, whatever is listed", "fireworks", "grok-4.20-non-reasoning", three, ""},
		{"never thinks, wherever it is served", "cortecs", "gpt-4.1-mini", three, ""},
		{"three words of a gateway are no limit", "openrouter", "anthropic/claude-opus-5.5", three, "low medium high xhigh max"},
		{"a gateway's own model", "openrouter", "acme/one", three, "off low medium high"},
		{"the maker, corrected", "openai", "gpt-5.1", []string{"minimal", "low"}, "off low medium high"},
		{"the API of the maker", "opencode-zen", "claude-sonnet-5", three, "off low medium high xhigh max"},
		{"of the future", "openai", "gpt-7", nil, "low medium high xhigh max"},
	} {
		m := compiled(t, c.from, listedModel{ID: c.id, Window: 100000, Answer: 1, Reasons: true, Efforts: c.listed}).byID(t, c.id)
		if got := strings.Join(m.Levels, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestLimitsOfAListAreTakenForWhatTheyAre(t *testing.T) {
	for _, c := range []struct {
		why, from, id          string
		window, answer         float64
		wantWindow, wantAnswer int64
	}{
		{"a tenth of the window is a placeholder", "nebius", "acme-1", 200000, 20000, 200000, 0},
		{"half of the limit", "openrouter", "acme/one", 200000, 30000, 200000, 60000},
		{"half of the limit, which the window bounds", "openrouter", "acme/one", 200000, 180000, 200000, 200000},
		{"the limit of the family at a gateway", "openrouter", "openai/o3", 200000, 50000, 200000, 100000},
		{"the window of a gateway is its own", "openrouter", "x-ai/grok-4.7", 200000, 1, 200000, 2},
		{"the window of the maker", "xai", "grok-4.7", 200000, 20000, 500000, 0},
		{"the list is ahead of the family", "xai", "grok-4.7", 2000000, 5, 2000000, 5},
		{"elsewhere the list counts", "nebius", "deepseek-ai/DeepSeek-V4-Pro", 128000, 8000, 128000, 8000},
	} {
		m := compiled(t, c.from, listedModel{ID: c.id, Window: c.window, Answer: c.answer}).byID(t, c.id)
		if m.Window != c.wantWindow || m.Answer != c.wantAnswer {
			t.Errorf("%s: a window of %d and answers of %d, want %d and %d", c.why, m.Window, m.Answer, c.wantWindow, c.wantAnswer)
		}
	}
}

func TestPricesOfABatchEndpointAreDoubled(t *testing.T) {
	list := []listed{
		{ID: "openai", Name: "OpenAI", APIKey: "$A", Models: []listedModel{{ID: "gpt-6-sol", In: 2, Out: 10, OutCached: 0.2, Window: 1e6}, {ID: "gpt-9", In: 2, Out: 10, Window: 1e6}}},
		{ID: "openrouter", Name: "OpenRouter", APIKey: "$B", APIEndpoint: "https://r.example", Models: []listedModel{
			{ID: "openai/gpt-6-sol", In: 1, Out: 5, OutCached: 0.1, Window: 1e6},
			{ID: "openai/gpt-6-sol-pro", In: 1, Out: 5, Window: 1e6},
			{ID: "openai/gpt-9", In: 1, Out: 9, Window: 1e6},
			{ID: "openai/gpt-9-pro", In: 2, Out: 10, Window: 1e6},
			{ID: "acme/one", In: 1, Out: 5, Window: 1e6},
			{ID: "acme/two", In: 0.2, Out: 20, Window: 1e6},
		}},
		{ID: "aihubmix", Name: "A gateway", APIKey: "$C", APIEndpoint: "https://a.example", Models: []listedModel{{ID: "gpt-9-pro", In: 4, Out: 20, Window: 1e6}}},
		{ID: "nebius", Name: "A server", APIKey: "$D", APIEndpoint: "https://n.example", Models: []listedModel{{ID: "acme/two", In: 0.2, Out: 20, Window: 1e6}}},
	}
	p := compiledFrom(t, list, "openrouter")
	for id, want := range map[string]string{
		"openai/gpt-6-sol":     "2/10/0.2/?;272000:4/15/0.4/?",
		"openai/gpt-6-sol-pro": "2/10/?/?;272000:4/15/?/?",
		"openai/gpt-9":         "1/9/?/?",                  // a price of its own, so nobody knows what longer prompts cost
		"openai/gpt-9-pro":     "2/10/?/?;272000:4/15/?/?", // as the model itself, though another gateway takes twice that
		"acme/one":             "1/5/?/?",
		"acme/two":             "", // of several servers: no one's price
	} {
		if got := p.byID(t, id).Price; got != want {
			t.Errorf("%s costs %s, want %s", id, got, want)
		}
	}
	if got := compiledFrom(t, list, "nebius").byID(t, "acme/two").Price; got != "0.2/20/?/?" {
		t.Errorf("a server that is one takes %s", got)
	}
}

func TestACorrectionCountsAsLongAsTheListIsWrong(t *testing.T) {
	c := corrections()[0]
	was, _ := ratesOf(c.was)
	for _, m := range []struct {
		in   float64
		want string
	}{{was[0], c.is}, {7, "7/" + number(was[1]) + "/" + number(was[2]) + "/?"}} {
		got := compiled(t, c.provider, listedModel{ID: c.id, In: m.in, Out: was[1], InCached: was[2], Window: 1e6}).byID(t, c.id).Price
		if got != m.want {
			t.Errorf("%s at %v costs %s, want %s", c.id, m.in, got, m.want)
		}
	}
}

func TestModelsByHandAreThereUntilAListHasThem(t *testing.T) {
	if m := compiled(t, "anthropic").byID(t, "claude-haiku-5-5"); m.Name != "Claude Haiku 5.5" || !strings.HasSuffix(m.Price, ";100000:0.5/2.5/0.05/0.625") {
		t.Errorf("by hand it is %+v", m)
	}
	if m := compiled(t, "anthropic", listedModel{ID: "claude-haiku-5-5", Name: "Listed", Window: 1e6}).byID(t, "claude-haiku-5-5"); m.Name != "Listed" {
		t.Errorf("the list has %+v", m)
	}
}

// Who has no wish begins with a model of today, of the kind that was chosen for the provider.
func TestTheModelToBeginWithIsTheNewestOfItsLine(t *testing.T) {
	for _, p := range Providers() {
		line, version := lineOf(p.Default)
		for _, m := range Models(p.Name) {
			if own, other := lineOf(m.ID); own == line && slices.Compare(other, version) > 0 {
				t.Errorf("%s begins with %s, and there is %s", p.Name, p.Default, m.ID)
			}
		}
	}
	for id, want := range map[string]string{"claude-sonnet-4-6": "sonnet-5-5", "grok-4.3": "grok-4.7", "acme": ""} {
		models := []sourceModel{{ID: "claude-sonnet-4-6"}, {ID: "sonnet-9"}, {ID: "claude-sonnet-5-5"}, {ID: "grok-4.20"}, {ID: "grok-4.7"}, {ID: "grok-4.5"}}
		if want == "sonnet-5-5" {
			want = "claude-" + want
		}
		if got := newest(models, id); got != want {
			t.Errorf("the newest of the line of %s is %q, want %q", id, got, want)
		}
	}
}
