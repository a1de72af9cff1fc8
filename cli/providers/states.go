package providers

import (
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/keyring"
)

// State is where the key of a provider is, or what it lacks.
type State struct {
	From    string // a variable, config.toml, auth.json; "" if there is none
	Missing string // what is to be set before it can be used; "" if nothing is
}

// States returns for each provider, by name, where its key is and what is missing to use
// it. No command that prints a key is run.
func States(cfg config.Config, ring *keyring.Ring) map[string]State {
	states := map[string]State{}
	for _, p := range sources(cfg, ring) {
		key := p.key()
		state := State{key.Place(), key.Missing()}
		if p.unusable() != "" {
			state.Missing = "base_url"
		}
		states[p.Name] = state
	}
	return states
}

// Expired returns a line about each login that has run out and is not renewed by itself.
func Expired(cfg config.Config, ring *keyring.Ring) []string {
	return ring.Expired(func(name string) *llm.Login {
		for _, p := range sources(cfg, ring) {
			if p.Name == name || slices.Contains(p.Aliases, name) {
				return p.login()
			}
		}
		return nil
	})
}

// KeyVariables returns the variables of the environment that hold keys of providers: those that the
// catalogue knows, and those that the settings name.
func KeyVariables(cfg config.Config) (names []string) {
	for _, p := range sources(cfg, nil) {
		names = append(names, p.KeyVars...)
		if name, ok := strings.CutPrefix(p.set.APIKey, "env:"); ok {
			names = append(names, strings.TrimSpace(name))
		}
		for _, value := range p.set.Headers {
			if name, ok := strings.CutPrefix(value, "env:"); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Section returns the name of the section that a provider has in config.toml, "" if it has
// none. known is false for a provider that is neither in the catalogue nor in the
// settings, such as one of a hook.
func Section(cfg config.Config, provider string) (section string, known bool) {
	for _, p := range sources(cfg, nil) {
		if p.Name == provider {
			return p.section, true
		}
	}
	return "", false
}

// Misplaced returns the setting that keeps provider from being asked where the user
// wants it; "" if there is none. With others, a section that cannot be used counts too,
// whichever provider it is for.
func Misplaced(cfg config.Config, ring *keyring.Ring, provider string, others bool) string {
	for _, p := range sources(cfg, ring) {
		_, ok := p.addressOfVariable()
		switch {
		case p.Name == provider && p.set.BaseURL == "" && !ok:
			return "the variable " + p.BaseVar
		case p.section != "" && p.unusable() != "" && others:
			return "[providers." + p.section + "]"
		}
	}
	return ""
}
