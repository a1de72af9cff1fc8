package providers

import (
	"pi/cli/config"
	"pi/cli/keyring"
)

// State is where the key of a provider is, or what it lacks.
type State struct {
	From    string // a variable, config.toml, auth.json; "" if there is none
	Missing string // what is to be set before it can be used; "" if nothing is
}

// States are those of the catalogue's providers and of the settings', by name.
// No command that prints a key is run.
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

// Section is the name that a provider has in the settings, "" if it has none
// there. It is not known if it is the demo or of a hook.
func Section(cfg config.Config, provider string) (section string, known bool) {
	for _, p := range sources(cfg, nil) {
		if p.Name == provider {
			return p.section, true
		}
	}
	return "", false
}

// Misplaced names what keeps a provider from being asked where the person wants,
// or, with others, any provider of the settings from being asked at all; "" where
// nothing does.
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
