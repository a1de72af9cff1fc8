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

// Where nobody watches, in print mode, the model that answers is the one that was
// meant, or the run ends: a script takes the words of the demo, or of a model that
// a broken settings file no longer names, for an answer. In a terminal the person
// sees who answers, and the demo shows how to go on.

// tryDemo is the way to use pi without a key.
const tryDemo = "to try pi without a key, name the script that is built in: --model demo/tour"

// begun is the model of the start and what it was picked by.
type begun struct {
	model *llm.Model
	by    picked
}

// unattendedError is a prompt that is not sent.
type unattendedError struct{ text, hint string }

func (e *unattendedError) Error() string { return e.text }

// Hint is the next step.
func (e *unattendedError) Hint() string { return e.hint }

// NoKeyError is one for want of somebody to ask.
type NoKeyError struct{ unattendedError }

// checkAnswerer is asked before each prompt of an unattended run: until then a
// hook or a command may have chosen another model than that of the start.
func (r *run) checkAnswerer() error {
	m, start := r.agent.Model(), r.begun
	if m.Ref() == start.model.Ref() {
		if lost := r.lostChoice(start); lost != "" {
			return UsageError{Err: &unattendedError{"not sent: who answers depends on a setting that cannot be used: " + lost, "mend it; " + tryDemo}}
		}
		if start.by == byNothing {
			return &NoKeyError{unattendedError{"not sent: there is no model to ask, no provider has a key",
				"export ANTHROPIC_API_KEY, OPENAI_API_KEY or that of another provider, or name a server in " +
					config.Tilde(filepath.Join(r.AgentDir, "config.toml")) + "\n" + tryDemo}}
		}
	}
	if !m.NeedsKey || r.models.KeyMissing(m.Provider) == "" || r.APIKey != "" && m.Provider == start.model.Provider {
		return nil
	}
	return r.keyless(m)
}

// keyless is why a model has no key, in the words of whoever looked for it.
func (r *run) keyless(m *llm.Model) error {
	_, err := r.models.Key(context.Background(), m) // none is there, so no command runs
	var failed *llm.ProviderError
	if !errors.As(err, &failed) {
		return err
	}
	return &NoKeyError{unattendedError{failed.Error(), failed.NextStep + "\n" + tryDemo}}
}

// lostChoice names a setting without effect that has a say in who answers; ""
// if there is none.
func (r *run) lostChoice(start begun) string {
	for _, p := range r.lost {
		if !p.Warning && r.decides(p, start.model, start.by) {
			return p.Where()
		}
	}
	if r.Config.Model != "" && start.by > bySetting {
		return "model"
	}
	return providers.Misplaced(r.Config, r.Keys, start.model.Provider, start.by >= byKey)
}

// decides reports whether a lost setting has a say in who answers.
func (r *run) decides(p config.Problem, m *llm.Model, by picked) bool {
	switch {
	case p.Key == "model":
		return by >= bySetting
	case p.Key == "" && p.File != filepath.Join(r.AgentDir, "config.toml"):
		// A project's names no servers. One that holds no text at all, a directory
		// or a device, names no model either: it must not keep a person out.
		return by >= bySetting && p.Line > 0
	case p.Key == "", p.Key == "providers":
		_, known := providers.Section(r.Config, m.Provider)
		return by >= bySetting || known
	case strings.HasPrefix(p.Key, "providers."):
		section, known := providers.Section(r.Config, m.Provider)
		return by >= byKey || known && p.Key == config.KeyPath("providers", section)
	}
	return false
}
