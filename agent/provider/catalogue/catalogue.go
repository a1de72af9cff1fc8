// Package catalogue is what is known beforehand of providers and their models:
// addresses, key variables, wire APIs, windows, prices, thinking levels, and the
// model to begin with.
//
// It is generated, and nothing of it is fetched while the program runs, unless a user
// asks for it (update.go, store.go):
//
//	go generate ./agent/provider/catalogue
//
// prints what charm.land/catwalk knows at the version that generate/go.mod pins, and
// compiles it (compile.go) with what is decided by hand:
//
//	hand.go        which providers there are, in which order, their names, addresses and APIs
//	handmodels.go  models that catwalk lacks
//	families.go    what is known of models by their ids: how they think, how long they answer
//
// families.go serves three: the compiled table, ids that no list has (Describe), and the
// switches of the clients. The result is table.go, the providers, and a record of models
// for each of them: models.txt is for people and shows in a diff what changed, models.bin
// holds the same records packed. The generator is a module of its own, which wants a newer
// Go than this program, so nothing that it needs is a dependency. The same versions,
// of Go too, give the same bytes. Catwalk is under the MIT License, whose text is in
// LICENSES/charm.land_catwalk-LICENSE.
//
// A record is text, one model per line, with fields set apart by tabs:
//
//	id  name  window  answer  images  thinking  price  api  base
//
// An empty name is the id; images is "i" if it takes them; thinking is empty if
// the model does not reason, "?" if its levels are not known, else a digit for
// each level (0 is off, 6 is max); price is input/output/cache read/cache write
// per million tokens, "?" for one that is not known, then ";tokens:" and the four prices
// of a request whose prompt is longer than that; api and base are given if they are not
// those of the provider. Fields at the end may be missing.
//
// Bedrock, whose requests are signed, and Copilot, which has a login of its own, are
// not in it.
//
// A record is unpacked each time it is asked for: a caller that needs the models of a
// provider more than once stores them.
package catalogue

import (
	"compress/flate"
	_ "embed"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pi/agent/llm"
)

//go:generate sh -c "GOTOOLCHAIN=go1.26.10 go -C generate run . | go run write.go"

// Provider is a service or a local server that needs no settings beside a key.
type Provider struct {
	Name    string   // as it stands in settings, sessions and auth.json
	Title   string   // for people
	Aliases []string // other names that it goes by; see Find
	API     string   // the wire API of its models, unless one says otherwise
	BaseURL string   // as llm.Model has it; "" if the user has to give it, see Hint
	KeyVars []string // environment variables for the key, the first that is set counts
	BaseVar string   // environment variable for the base URL; "" if there is none
	Default string   // id of the model to begin with; "" if none is known
	Local   bool     // runs on this machine: no key, and only it knows its models
	Hint    string   // what is to be set beside the key; "" if nothing

	at, size int // of its record in models.bin
}

// Providers lists the providers in the order in which one is picked for whoever
// has keys for several; those on this machine are the last. The list is the
// caller's, the lists in its elements are not.
func Providers() []Provider { return slices.Clone(table) }

// Find returns the provider of a name or an alias.
func Find(name string) (Provider, bool) {
	for i := range table {
		if table[i].Name == name {
			return table[i], true
		}
	}
	for i := range table {
		if slices.Contains(table[i].Aliases, name) {
			return table[i], true
		}
	}
	return Provider{}, false
}

// HasHost reports whether the models of a provider are at a host, such as "api.example.com". On
// this machine anything may be at the address of any.
func HasHost(host string) bool {
	return slices.ContainsFunc(table, func(p Provider) bool {
		u, err := url.Parse(p.BaseURL)
		return err == nil && !p.Local && u.Host != "" && strings.EqualFold(u.Host, host)
	})
}

// Models decodes the models that the program itself lists of the provider of a name or an
// alias, in the order of the provider's own list. There are none for those on this machine,
// and for names that are not known. The models are new each time.
func Models(name string) []*llm.Model {
	p, ok := Find(name)
	if !ok {
		return nil
	}
	return p.decodeAll(p.record())
}

// decodeAll decodes a record of models of the provider.
func (p *Provider) decodeAll(record string) []*llm.Model {
	if record == "" {
		return nil
	}
	names := llm.ThinkingLevels()
	room := make([]llm.Model, strings.Count(record, "\n"))
	models := make([]*llm.Model, 0, len(room))
	for line := range strings.Lines(record) {
		if len(models) == len(room) { // a record without its last end of line
			break
		}
		m := &room[len(models)]
		m.Provider, m.API, m.BaseURL, m.NeedsKey = p.Name, p.API, p.BaseURL, !p.Local
		decode(m, strings.TrimSuffix(line, "\n"), names)
		models = append(models, m)
	}
	return models
}

//go:embed models.bin
var records string

// record unpacks the lines of a provider; "" if it has no models.
func (p *Provider) record() string {
	if p.size == 0 {
		return ""
	}
	packed := flate.NewReader(strings.NewReader(records[p.at : p.at+p.size]))
	text, _ := io.ReadAll(packed) // an error would mean that the program is damaged
	return string(text)
}

// decode fills a model from its line. names are those of the thinking levels.
func decode(m *llm.Model, line string, names []string) {
	field := func() (f string) {
		f, line, _ = strings.Cut(line, "\t")
		return f
	}
	m.ID, m.Name = field(), field()
	if m.Name == "" {
		m.Name = m.ID
	}
	m.ContextWindow, _ = strconv.Atoi(field())
	m.MaxTokens, _ = strconv.Atoi(field())
	m.Input = []string{"text", "image"}
	if field() == "" {
		m.Input = m.Input[:1:1]
	}
	thinking := field()
	m.Reasoning, m.Levels = thinking != "", levels(thinking, names)
	m.Cost = price(field())
	if api := field(); api != "" {
		m.API = api
	}
	if base := field(); base != "" {
		m.BaseURL = base
	}
}

// levels names the thinking levels of a list of digits; nil if they are not known.
func levels(digits string, names []string) []string {
	if digits == "" || digits == "?" {
		return nil
	}
	known := make([]string, 0, len(digits))
	for _, d := range []byte(digits) {
		if i := int(d - '0'); i < len(names) {
			known = append(known, names[i])
		}
	}
	return known
}

// price parses the four prices of a model, -1 for one that is not known, and those of longer
// prompts behind them; nil if there are none at all. A step that is not longer than the one
// before it is left out.
func price(s string) *llm.Price {
	if s == "" {
		return nil
	}
	plain, steps, _ := strings.Cut(s, ";")
	first := fourPrices(plain)
	last := &first
	tokens := 0
	for step := range strings.SplitSeq(steps, ";") {
		above, prices, ok := strings.Cut(step, ":")
		n, err := strconv.Atoi(above)
		if !ok || err != nil || n <= tokens {
			continue
		}
		last.Above = &llm.Step{Tokens: n, Price: fourPrices(prices)}
		last, tokens = &last.Above.Price, n
	}
	return &first
}

func fourPrices(s string) llm.Price {
	r, _ := ratesOf(s)
	for i := range r {
		if !(r[i] >= 0) {
			r[i] = -1
		}
	}
	return llm.Price{Input: r[0], Output: r[1], CacheRead: r[2], CacheWrite: r[3]}
}
