package catalogue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// listed is a provider of a list in the form of charm.land/catwalk; what is not taken of it
// is not here.
type listed struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	APIKey       string   `json:"api_key"`      // "$NAME" for a variable
	APIEndpoint  string   `json:"api_endpoint"` // an address, or "$NAME"
	DefaultModel string   `json:"default_large_model_id"`
	Models       modelsOf `json:"models"`
}

// listedModel is a model of such a list. Prices are dollars per million tokens.
type listedModel struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	In        float64  `json:"cost_per_1m_in"`
	Out       float64  `json:"cost_per_1m_out"`
	InCached  float64  `json:"cost_per_1m_in_cached"`
	OutCached float64  `json:"cost_per_1m_out_cached"`
	Window    float64  `json:"context_window"`
	Answer    float64  `json:"default_max_tokens"`
	Reasons   bool     `json:"can_reason"`
	Efforts   []string `json:"reasoning_levels"`
	Images    bool     `json:"supports_attachments"`
}

// source is a provider while the catalogue is compiled: what hand.go decides of it, then
// what the list says besides. What is set by hand wins.
type source struct {
	From    string // id in the list; "" if it is not there
	Name    string
	Title   string
	Aliases []string
	API     string
	BaseURL string
	KeyVars []string
	BaseVar string
	First   []string // the model to begin with is the newest of their line, or that of the next
	Default string   // the model to begin with; "" if there are none
	Local   bool
	Hint    string
	Trust   trust                              // whether what is known of families holds there
	SaysOff bool                               // it can be told that a model shall not think
	Switch  bool                               // thinking has no degrees there: it is on or off
	Halves  bool                               // its list has half the limits, and some prices of a batch endpoint
	Pick    func(id string) bool               // which models of the list; nil: all
	Rename  func(id string) string             // to what the server calls it; nil: as it is
	Route   func(id string) (api, base string) // of a model that is served elsewhere
	Models  []sourceModel                      // by hand, then those of the list

	at, size int // of its record among the packed ones
}

// trust is how far what is known of a family holds at a provider.
type trust string

const (
	asMaker   trust = "maker"   // levels, answers and windows
	asGateway trust = "gateway" // levels and answers; windows are the provider's
	// Elsewhere the provider's own list counts.
)

// sourceModel is a model while the catalogue is compiled.
type sourceModel struct {
	ID, Name       string
	Window, Answer int64 // 0: not known
	Images         bool
	Reasons        bool
	Levels         []string // "off" and so on; nil: not known
	Price          string   // as a record has it
	API, BaseURL   string   // "" if they are the provider's
}

// readList parses a list, which is [] or an error. It stops at what is too much of it: a few
// bytes of a list may be a hundred in memory.
func readList(data []byte) ([]listed, error) {
	models := 0
	list, err := elements(data, func(all []listed) bool {
		models += len(all[len(all)-1].Models)
		return len(all) > maxProviders || models > maxModels
	})
	if err != nil && !errors.Is(err, errTooMany) {
		err = fmt.Errorf("read the list of providers: %w", err)
	}
	return list, err
}

// modelsOf are the models of a provider in a list.
type modelsOf []listedModel

// UnmarshalJSON stops at what is too much.
func (m *modelsOf) UnmarshalJSON(data []byte) (err error) {
	if string(data) == "null" {
		return nil
	}
	*m, err = elements(data, func(all []listedModel) bool { return len(all) > maxModels })
	return err
}

var errTooMany = fmt.Errorf("the list has more than %d providers or %d models", maxProviders, maxModels)

// elements parses a JSON array. isTooMuch is asked after each element whether those so far
// are.
func elements[T any](data []byte, isTooMuch func(all []T) bool) (all []T, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if token, err := d.Token(); err != nil || token != json.Delim('[') {
		return nil, cmp.Or(err, errors.New("it is no JSON array"))
	}
	for d.More() {
		var one T
		if err := d.Decode(&one); err != nil {
			return nil, err
		}
		if all = append(all, one); isTooMuch(all) {
			return nil, errTooMany
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind it")
	}
	return all, nil
}

// compile makes the providers of a list, and those that no list has, with what is decided by
// hand. It fails if one of the facts cannot be right.
func compile(list []listed) ([]source, error) {
	known := map[string]*listed{}
	for i := range list {
		known[list[i].ID] = &list[i]
	}
	var all []source
	for _, p := range sources() {
		if from := known[p.From]; from != nil {
			p.fill(from)
		} else if p.From != "" {
			continue
		}
		p.complete()
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("provider %s: %w", p.Name, err)
		}
		all = append(all, p)
	}
	fixPrices(all)
	return all, nil
}

// undecided names the providers of a list of which hand.go says nothing, and those that
// hand.go expects in it and that are not there.
func undecided(list []listed) (open, gone []string) {
	decided := map[string]bool{}
	for _, id := range unsupported() {
		decided[id] = true
	}
	for _, p := range sources() {
		decided[p.From] = true
		if p.From != "" && !slices.ContainsFunc(list, func(l listed) bool { return l.ID == p.From }) {
			gone = append(gone, p.From)
		}
	}
	for _, l := range list {
		if !decided[l.ID] {
			open = append(open, l.ID)
		}
	}
	return open, gone
}

// fill adds what a list has of a provider, and its models; what is set by hand stays.
func (p *source) fill(from *listed) {
	p.Title = cmp.Or(p.Title, from.Name)
	if name, ok := strings.CutPrefix(from.APIKey, "$"); ok && !slices.Contains(p.KeyVars, name) {
		p.KeyVars = append(p.KeyVars, name)
	}
	if name, ok := strings.CutPrefix(from.APIEndpoint, "$"); ok {
		p.BaseVar = name
	} else if p.BaseURL == "" {
		p.BaseURL = from.APIEndpoint
	}
	p.First = append(p.First, from.DefaultModel)
	byHand := p.Models
	p.Models = nil
	for i := range from.Models {
		if p.Pick == nil || p.Pick(from.Models[i].ID) {
			p.Models = append(p.Models, p.model(&from.Models[i]))
		}
	}
	for _, m := range byHand {
		if !slices.ContainsFunc(p.Models, func(l sourceModel) bool { return l.ID == m.ID }) {
			p.Models = append(p.Models, m)
		}
	}
}

// model makes a model out of what a list has of it, with the provider's own rules for its
// id and its address.
func (p *source) model(from *listedModel) sourceModel {
	m := sourceModel{
		ID: from.ID, Name: strings.Join(strings.Fields(from.Name), " "), Window: int64(from.Window), Answer: int64(from.Answer),
		Images: from.Images, Reasons: from.Reasons, Levels: from.Efforts, Price: priceOf(from),
	}
	if p.Trust == asGateway && isMixed(from) {
		m.Price = ""
	}
	const placeholder = 10 // catwalk puts the tenth of a window where it knows no limit
	switch {
	case m.Answer == m.Window/placeholder:
		m.Answer = 0
	case p.Halves:
		m.Answer = min(2*m.Answer, m.Window)
	}
	if p.Rename != nil {
		m.ID = p.Rename(m.ID)
	}
	if p.Route != nil {
		m.API, m.BaseURL = p.Route(m.ID)
	}
	return m
}

// complete gives the models what is known of their families, as far as that holds here, and
// chooses the model to begin with.
func (p *source) complete() {
	for i := range p.Models {
		m := &p.Models[i]
		family := FamilyOf(m.ID)
		if p.Trust != "" {
			m.Reasons = m.Reasons || family.Thinks
			m.Answer = int64(cmp.Or(family.Answer, int(m.Answer)))
		}
		if p.Trust == asMaker {
			m.Window = max(m.Window, int64(family.Window))
			m.Images = m.Images || family.Images
		}
		if family.thinkingKnown && !family.Thinks { // wherever it is served
			m.Reasons = false
		}
		if m.Window > 0 {
			m.Answer = min(m.Answer, m.Window)
		}
		m.Levels = p.levels(m, &family)
		for _, c := range corrections() {
			if c.provider == p.Name && c.id == m.ID && c.was == m.Price {
				m.Price = c.is
			}
		}
	}
	for _, id := range p.First {
		p.Default = cmp.Or(p.Default, newest(p.Models, id))
	}
}

// levels names the thinking levels of a model, lowest first; nil if they are not known or it
// does not think. Those of its family count where it is asked over the API of its maker, or
// by a gateway that translates. Elsewhere it is the efforts that the list names, which
// seldom says whether thinking can be off.
func (p *source) levels(m *sourceModel, family *Family) []string {
	efforts := m.Levels
	api := cmp.Or(m.API, p.API)
	switch {
	case !m.Reasons:
		return nil
	case family.Levels != nil && !p.Switch && (p.Trust != "" || api != chatAPI):
		return family.Levels
	case len(efforts) == 0:
		return nil
	}
	levels := slices.DeleteFunc(slices.Clone(efforts), func(effort string) bool { return effort == "none" })
	if p.Switch {
		levels = []string{"high"}
	}
	saysOff := p.SaysOff || p.Switch || p.Trust != "" || len(levels) < len(efforts)
	if !family.Always && (saysOff || slices.Contains(family.Levels, "off")) {
		levels = slices.Insert(levels, 0, "off")
	}
	return levels
}

// newest is the id of the newest model of the line that a wanted one is of: those whose
// name has the same words, whatever its numbers. "" if there is none.
func newest(models []sourceModel, wanted string) (best string) {
	line, _ := lineOf(wanted)
	var number []int
	for i := range models {
		own, version := lineOf(models[i].ID)
		if own == line && (best == "" || slices.Compare(version, number) > 0) {
			best, number = models[i].ID, version
		}
	}
	return best
}

var parts = regexp.MustCompile(`\d+|[a-z]+`)

// lineOf divides an id into the words of its name, with the maker, and its numbers. A
// second number from 20 on counts by its first digit: Grok 4.20 came before 4.3.
func lineOf(id string) (words string, version []int) {
	const odd = 20
	words = strings.ToLower(id[:strings.LastIndexByte(id, '/')+1])
	for _, part := range parts.FindAllString(familyName(id), -1) {
		n, err := strconv.Atoi(part)
		switch {
		case err != nil:
			words += " " + part
		case len(version) == 1 && n >= odd && n < 100:
			version = append(version, n/10)
		default:
			version = append(version, n)
		}
	}
	return words, version
}

// check fails for facts of a provider that cannot be right, such as a model that is
// there twice, and drops slashes at the end of its address.
func (p *source) check() error {
	switch {
	case p.Name == "" || p.Title == "" || p.API == "":
		return fmt.Errorf("it lacks a name, a title or an api")
	case p.BaseURL == "" && p.Hint == "":
		return fmt.Errorf("it has no base URL, and no hint that tells how to get one")
	case p.Local != (len(p.KeyVars) == 0):
		return fmt.Errorf("either it is local, or there is a variable for its key")
	}
	p.BaseURL = strings.TrimRight(p.BaseURL, "/")
	seen := map[string]bool{}
	for i := range p.Models {
		m := &p.Models[i]
		if m.ID == "" || seen[m.ID] || strings.ContainsAny(m.ID+m.Name, "\t\r\n") || strings.HasPrefix(m.ID, "=") {
			return fmt.Errorf("model %q is there twice, or cannot be written down", m.ID)
		}
		seen[m.ID] = true
		if m.Window < 0 || m.Answer < 0 {
			return fmt.Errorf("model %s has less than nothing", m.ID)
		}
	}
	return nil
}
