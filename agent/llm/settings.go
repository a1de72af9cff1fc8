package llm

import "fmt"

// ProviderSettings are what config.toml or a hook says of a provider. What they
// leave out is as it was before, if the provider is known.
type ProviderSettings struct {
	Name    string // of the provider
	Hook    string // the hook that says it; "": config.toml does
	BaseURL string // without a slash at the end
	API     string // the wire API; "lua" with Stream
	APIKey  string // "env:NAME", "!command" or the key itself; "": not given
	Headers map[string]string
	Compat  map[string]any  // switches of the wire API
	Cache   string          // "short", "long": how long its prompt cache shall last; "": not given
	Models  []ModelSettings // nil: not given
	Stream  Provider        // a script that answers in place of a server; nil: none
	Login   *Login          // how a user signs in; nil: not given
}

// ModelSettings are what config.toml or a hook says of one model. What is empty or
// nil is as it was before, if the model is known.
type ModelSettings struct {
	ID, Name      string
	ContextWindow *int // tokens
	MaxTokens     *int
	Reasoning     *bool
	Levels        []string // thinking levels, in any order; with Reasoning nil they decide about it
	Input         []string // "text", "image"
	Cost          *Price
	Headers       map[string]string
	Compat        map[string]any
}

// WithSteps returns a price with what longer prompts cost, the shortest first. The error says
// which step does not follow the one before it.
func (p *Price) WithSteps(steps []Step) (*Price, error) {
	priced := *p
	last, tokens := &priced, 0
	for _, step := range steps {
		if step.Tokens <= tokens {
			return nil, fmt.Errorf("above %d tokens comes behind above %d: steps are in order, and begin above 0", step.Tokens, tokens)
		}
		next := step
		last.Above, tokens = &next, step.Tokens
		last = &next.Price
	}
	return &priced, nil
}

// NewPrice returns a price of which parts may be nil, that is, not known. Cache prices
// that are not known are those of other input.
func NewPrice(input, output, cacheRead, cacheWrite *float64) *Price {
	first := func(prices ...*float64) float64 {
		for _, p := range prices {
			if p != nil {
				return *p
			}
		}
		return -1
	}
	return &Price{Input: first(input), Output: first(output), CacheRead: first(cacheRead, input), CacheWrite: first(cacheWrite, input)}
}
