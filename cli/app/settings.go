package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/cli/config"
)

// configFile is the person's own config.toml.
func (p *Place) configFile() string { return filepath.Join(p.AgentDir, "config.toml") }

// errPendingSettings says that the file of settings has changes that nobody approved.
var errPendingSettings = errors.New("config.toml was changed while the agent was at work and waits for approval; start pi in a terminal, which asks")

// WriteSetting writes a setting into the person's config.toml, see [config.Set].
func (p *Place) WriteSetting(key, value string) (warnings []config.Problem, err error) {
	if p.Guard.IsPending(p.configFile()) {
		return nil, errPendingSettings
	}
	return config.Set(p.configFile(), key, value, os.Getenv)
}

// RemoveSetting removes a setting from the person's config.toml, see [config.Unset].
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
