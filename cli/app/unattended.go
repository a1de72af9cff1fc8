package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/providers"
)

// In print mode nobody watches. So either the model that the user meant answers, or
// the run ends: a script would take the words of the demo, or of another model because
// a settings file is broken, for the answer. In a terminal the user sees which model
// answers, and the demo shows the next step.

// tryDemo is the way to use pi without a key.
const tryDemo = "to try pi without a key, name the script that is built in: --model demo/tour"

// unattendedError is a prompt that is not sent.
type unattendedError struct{ text, hint string }

func (e *unattendedError) Error() string { return e.text }

// Hint is the next step.
func (e *unattendedError) Hint() string { return e.hint }

// NoKeyError is one for want of somebody to ask.
type NoKeyError struct{ unattendedError }

// NoKey tells front ends, whose clients know this failure by their own words, what it is.
func (*NoKeyError) NoKey() bool { return true }

// check is called before each prompt of a run without a user, with m, the model that
// would answer. The error says that it should not be sent: a setting that cannot be used
// might name another model, or there is no key.
func (c *modelChoice) check(m *llm.Model) error {
	if m.Ref() == c.model.Ref() {
		if lost := c.lostSetting(); lost != "" {
			return UsageError{Err: &unattendedError{"not sent: who answers depends on a setting that cannot be used: " + lost, "mend it; " + tryDemo}}
		}
		if c.by == byNothing {
			return &NoKeyError{unattendedError{"not sent: there is no model to ask, no provider has a key",
				"export ANTHROPIC_API_KEY, OPENAI_API_KEY or that of another provider, or name a server in " +
					config.Tilde(filepath.Join(c.place.AgentDir, "config.toml")) + "\n" + tryDemo}}
		}
	}
	if !m.NeedsKey || c.models.KeyMissing(m.Provider) == "" || c.place.APIKey != "" && m.Provider == c.model.Provider {
		return nil
	}
	_, err := c.models.Key(context.Background(), m) // none is there, so no command runs
	failed, ok := errors.AsType[*llm.ProviderError](err)
	if !ok {
		return err
	}
	return &NoKeyError{unattendedError{failed.Error(), failed.NextStep + "\n" + tryDemo}}
}

// lostSetting returns the name of a setting that cannot be used, but would decide which
// model answers or at which server; "" if there is none.
func (c *modelChoice) lostSetting() string {
	for _, p := range c.place.lost {
		if !p.Warning && c.decides(p) {
			return p.Where()
		}
	}
	if c.place.Config.Model != "" && c.by > bySetting {
		return "model"
	}
	return providers.Misplaced(c.place.Config, c.place.Keys, c.model.Provider, c.by >= byKey)
}

// decides reports whether the setting that could not be read, p, might have chosen another
// model than the present one, or another server for it.
func (c *modelChoice) decides(p config.Problem) bool {
	switch {
	case p.Key == "model":
		return c.by >= bySetting
	case p.Key == "" && p.File != filepath.Join(c.place.AgentDir, "config.toml"):
		// A project's names no servers. One that holds no text at all, a directory
		// or a device, names no model either: it must not keep a user out.
		return c.by >= bySetting && p.Line > 0
	case p.Key == "", p.Key == "providers":
		_, known := providers.Section(c.place.Config, c.model.Provider)
		return c.by >= bySetting || known
	case strings.HasPrefix(p.Key, "providers."):
		section, known := providers.Section(c.place.Config, c.model.Provider)
		return c.by >= byKey || known && p.Key == config.KeyPath("providers", section)
	}
	return false
}
