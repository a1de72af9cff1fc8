package providers

import (
	"fmt"
	"maps"
	"slices"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/wire"
	"pi/cli/config"
	"pi/cli/keyring"
)

// Problems returns a line for each thing in the configuration of providers that has no
// effect: problems of the login file, and [SectionProblems].
func Problems(cfg config.Config, ring *keyring.Ring) []string {
	var problems []string
	for _, p := range ring.Problems() {
		problems = append(problems, p.String())
	}
	return append(problems, SectionProblems(cfg, ring)...)
}

// SectionProblems returns a line for each address in a variable that is none, each section of
// config.toml that cannot be used, and each unknown compat switch.
func SectionProblems(cfg config.Config, ring *keyring.Ring) []string {
	var problems []string
	for _, p := range sources(cfg, ring) {
		if _, ok := p.addressOfVariable(); !ok {
			problems = append(problems, fmt.Sprintf("environment %s is ignored: expected an address such as \"http://localhost:8080/v1\"", p.BaseVar))
		}
		if p.section == "" {
			continue
		}
		if why := p.unusable(); why != "" {
			problems = append(problems, fmt.Sprintf("config.toml: [providers.%s] is left out: %s", p.section, why))
		}
		if p.set.Cache == "long" && p.forgetsSoon() {
			problems = append(problems, fmt.Sprintf("config.toml: cache = \"long\" of [providers.%s] has no effect: its server cannot be asked for that; if it can, compat.long_cache says how", p.section))
		}
		if l := p.set.Login; l != nil {
			if err := keyring.CheckLogin(*l); err != nil {
				problems = append(problems, fmt.Sprintf("config.toml: [providers.%s.login] has no effect: %v", p.section, err))
			}
		}
		problems = append(problems, p.compatProblems()...)
	}
	return problems
}

// forgetsSoon reports whether the server of the provider cannot be asked to keep its cache for
// long with any model that is known of: what a model is served with is a matter of both.
func (p *source) forgetsSoon() bool {
	ids := map[string]bool{p.Default: true}
	for _, m := range p.set.Models {
		ids[m.ID] = true
	}
	api, _ := wire.Find(p.api())
	if delete(ids, ""); len(ids) == 0 && api.MayKeepCache {
		return false
	}
	keeps := func(id string) bool {
		return provider.KeepsLonger(&llm.Model{Provider: p.Name, ID: id, API: p.api(), BaseURL: p.address(), Compat: p.set.Compat})
	}
	for id := range ids {
		if keeps(id) {
			return false
		}
	}
	return !keeps("")
}

// Unused returns a line for each provider in the settings that cannot be the one to begin
// with, because it lacks a key or a model. Expired logins are not among them, see
// [keyring.Ring.Expired].
func Unused(cfg config.Config, ring *keyring.Ring) []string {
	var lines []string
	for _, p := range sources(cfg, ring) {
		key := p.key()
		switch {
		case p.section == "" || p.unusable() != "" || key.IsLogin():
		case !key.Present():
			lines = append(lines, fmt.Sprintf("%s cannot be used, there is no key for it: %s", p.Name, key.Hint()))
		case p.defaultModel() == "":
			lines = append(lines, fmt.Sprintf("no model of %s is named: choose one with --model %s/ID or [[providers.%s.models]]; pi models --discover asks what there is", p.Name, p.Name, p.section))
		}
	}
	return lines
}

// compatProblems returns a line for each compat switch in the settings of the provider
// that its API does not know.
func (p *source) compatProblems() []string {
	var problems []string
	check := func(compat map[string]any, what string) {
		for _, name := range slices.Sorted(maps.Keys(compat)) {
			if err := p.checkSwitch(map[string]any{name: compat[name]}); err != nil {
				problems = append(problems, fmt.Sprintf("config.toml: compat of %s: %v", what, err))
			}
		}
	}
	check(p.set.Compat, fmt.Sprintf("[providers.%s]", p.section))
	for _, m := range p.set.Models {
		check(m.Compat, fmt.Sprintf("model %s/%s", p.section, m.ID))
	}
	return problems
}

// checkSwitch returns an error if the API that the settings name does not know a compat
// switch. If they name none, the models of the provider may use different APIs, and it is
// enough that one knows it.
func (p *source) checkSwitch(compat map[string]any) error {
	api, ok := wire.Find(p.api())
	if !ok {
		return nil
	}
	err := api.CheckCompat(compat)
	if p.set.API != "" {
		return err
	}
	for _, other := range wire.APIs() {
		if other.CheckCompat(compat) == nil {
			return nil
		}
	}
	return err
}
