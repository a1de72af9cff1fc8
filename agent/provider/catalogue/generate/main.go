// Generate writes the catalogue: ../table.go, the providers, and ../models.txt and
// ../models.bin, their models. It is run by go generate in the directory above it.
//
// The facts come from charm.land/catwalk, and from hand.go, which decides what is
// taken of them: see there. levels.go and price.go hold the rules for what
// catwalk does not say, or says in several ways.
package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

func main() {
	if err := generate(".."); err != nil {
		fmt.Fprintln(os.Stderr, "generate the catalogue:", err)
		os.Exit(1)
	}
}

// generate writes the files of the catalogue into a directory. It fails if catwalk has
// a provider on which nobody has decided, or one of the facts cannot be right.
func generate(dir string) error {
	known := map[string]*catwalk.Provider{}
	for _, p := range embedded.GetAll() {
		known[string(p.ID)] = &p
	}
	if err := complete(known); err != nil {
		return err
	}
	var all []provider
	for _, p := range providers() {
		if p.From != "" {
			if err := p.fill(known[p.From]); err != nil {
				return fmt.Errorf("provider %s: %w", p.Name, err)
			}
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("provider %s: %w", p.Name, err)
		}
		all = append(all, p)
	}
	return write(dir, all)
}

func write(dir string, all []provider) error {
	text, packed, err := records(all)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{"models.txt", text}, {"models.bin", packed}, {"table.go", table(all)}} {
		if err := os.WriteFile(filepath.Join(dir, file.name), file.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// complete fails if catwalk has a provider of which hand.go says nothing, or lacks one
// that hand.go names.
func complete(known map[string]*catwalk.Provider) error {
	decided := map[string]bool{}
	for _, id := range unsupported() {
		decided[id] = true
	}
	for _, p := range providers() {
		if p.From != "" && known[p.From] == nil {
			return fmt.Errorf("catwalk has no provider %q (any more)", p.From)
		}
		decided[p.From] = true
	}
	var open []string
	for id := range known {
		if !decided[id] {
			open = append(open, id)
		}
	}
	if slices.Sort(open); len(open) > 0 {
		return fmt.Errorf("hand.go says nothing about %s", strings.Join(open, ", "))
	}
	return nil
}

// provider is what is known of a provider. What is set by hand wins.
type provider struct {
	From    string // catwalk's id; "" if catwalk does not have it
	Name    string
	Title   string
	Aliases []string
	API     string
	BaseURL string
	KeyVars []string
	BaseVar string
	Default string
	Local   bool
	Hint    string
	SaysOff bool                               // it can be told that a model shall not think
	Switch  bool                               // thinking has no degrees there: it is on or off
	Pick    func(id string) bool               // which of catwalk's models; nil: all
	Rename  func(id string) string             // to what the server calls it; nil: as it is
	Route   func(id string) (api, base string) // of a model that is served elsewhere
	Models  []model

	at, size int // of its record among the packed ones
}

type model struct {
	ID, Name       string
	Window, Answer int64
	Images         bool
	Reasons        bool
	Levels         []string // "off" and so on; nil: not known
	Price          string
	API, BaseURL   string
}

// fill adds what catwalk knows of a provider, and its models; what is set by hand stays.
func (p *provider) fill(from *catwalk.Provider) error {
	p.Title = cmp.Or(p.Title, from.Name)
	if name, ok := strings.CutPrefix(from.APIKey, "$"); ok && !slices.Contains(p.KeyVars, name) {
		p.KeyVars = append(p.KeyVars, name)
	}
	if name, ok := strings.CutPrefix(from.APIEndpoint, "$"); ok {
		p.BaseVar = name
	} else if p.BaseURL == "" {
		p.BaseURL = from.APIEndpoint
	}
	p.Default = cmp.Or(p.Default, from.DefaultLargeModelID)
	for i := range from.Models {
		if p.Pick == nil || p.Pick(from.Models[i].ID) {
			p.Models = append(p.Models, p.model(&from.Models[i]))
		}
	}
	return nil
}

// model makes a model out of what catwalk knows of it, with the provider's own rules
// for its id, its address and its thinking levels.
func (p *provider) model(from *catwalk.Model) model {
	m := model{
		ID: from.ID, Name: strings.TrimSpace(from.Name), Window: from.ContextWindow, Answer: from.DefaultMaxTokens,
		Images: from.SupportsImages, Reasons: from.CanReason,
		Price: priceOf(from),
	}
	if p.Rename != nil {
		m.ID = p.Rename(m.ID)
	}
	if p.Route != nil {
		m.API, m.BaseURL = p.Route(m.ID)
	}
	if m.Reasons {
		m.Levels = p.levelsOf(cmp.Or(m.API, p.API), m.ID, from.ReasoningLevels)
	}
	return m
}

// check fails for facts of a provider that cannot be right, such as a model that is
// there twice, and drops slashes at the end of its address.
func (p *provider) check() error {
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
	if p.Default != "" && !seen[p.Default] {
		return fmt.Errorf("its first model %q is not among its models", p.Default)
	}
	return nil
}
