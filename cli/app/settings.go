package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/cli/config"
	"pi/repl/terminal/keymap"
)

// configFile is the user's own config.toml.
func (p *Place) configFile() string { return filepath.Join(p.AgentDir, "config.toml") }

// errPendingSettings says that the file of settings has changes that nobody approved.
var errPendingSettings = errors.New("config.toml was changed while the agent was at work (or pi had not ended in order) and waits for approval: `pi trust` shows the change and asks")

// WriteSetting writes a setting into the user's config.toml, see [config.Set].
func (p *Place) WriteSetting(key, value string) (warnings []config.Problem, err error) {
	if p.Guard.IsPending(p.configFile()) {
		return nil, errPendingSettings
	}
	if err := p.checkKeys(key, value); err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	return config.Set(p.configFile(), key, value, p.Env.getenv)
}

// checkKeys returns an error if a setting of [keys] would have no effect: there is no such
// action or key, or another action has the key. Of other settings it says nothing.
func (p *Place) checkKeys(key, value string) error {
	if !strings.HasPrefix(key, "keys.") {
		return nil
	}
	changed, err := p.Config.Change(key, value, p.configFile(), p.Env.getenv)
	if err != nil {
		return err
	}
	_, before := keymap.Parse(p.Config.Bindings())
	_, wrong := keymap.Parse(changed.Bindings())
	wrong = slices.DeleteFunc(wrong, func(text string) bool { return slices.Contains(before, text) })
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// RemoveSetting removes a setting from the user's config.toml, see [config.Unset].
func (p *Place) RemoveSetting(key string) (was bool, err error) {
	if p.Guard.IsPending(p.configFile()) {
		return false, errPendingSettings
	}
	return config.Unset(p.configFile(), key)
}

// SettingFrom returns where the setting that is in force here comes from; "" if that is
// file, or if it has its default.
func (p *Place) SettingFrom(key, file string) string {
	all := p.Config.Settings()
	i := slices.IndexFunc(all, func(s config.Setting) bool { return s.Key == key })
	if i < 0 || all[i].Origin == "default" || file != "" && strings.HasPrefix(all[i].Origin, file+":") {
		return ""
	}
	return config.Tilde(all[i].Origin)
}
