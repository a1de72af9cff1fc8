package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/children"
	"pi/agent/command"
	"pi/agent/llm"
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

// adjustable is a front end that can be changed while it runs.
type adjustable interface {
	// Adjusts reports whether a change of this setting, such as "ui.notify", holds at once.
	Adjusts(key string) bool
	// Adjust makes the value hold, which is allowed for this setting.
	Adjust(key, value string)
}

// liveSettings are the settings of a run, with what was changed in the course of it.
type liveSettings struct {
	run   *run
	front any // an adjustable, or not

	mu     sync.Mutex
	config config.Config
}

func (l *liveSettings) list() []command.Setting {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []command.Setting
	for _, s := range l.run.hookTables.laidOver(l.config).SettingsWith(l.run.hookTables.declared(l.run.chain.Settings())) {
		all = append(all, command.Setting{Key: s.Key, Value: s.Value, Text: s.Text, Default: s.Default, Origin: config.Tilde(s.Origin),
			Meaning: s.Meaning, Kind: string(s.Kind), Choices: s.Choices, Secret: s.Secret, Live: l.way(s.Key) != nil, Watched: config.IsOfHook(s.Key)})
	}
	return all
}

// thisRun is the origin of settings that were changed for the run.
const thisRun = "this run"

// apply makes another value of a setting hold for this run.
func (l *liveSettings) apply(ctx context.Context, key, value string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, err := l.config.Change(key, value, thisRun, l.run.place.Env.getenv)
	if err != nil {
		return err
	}
	way := l.way(key)
	if way == nil && config.IsOfHook(key) {
		return fmt.Errorf("%s counts as soon as it is written: pi config set %s VALUE", key, key)
	}
	if way == nil {
		return fmt.Errorf("%s counts from the next start, once it is written", key)
	}
	if err := way(ctx, changed, key, value); err != nil {
		return err
	}
	l.config = changed
	return nil
}

// way returns how a change of the setting key is made to hold; nil if it cannot be. The
// function is given the changed settings, in which the value was checked.
func (l *liveSettings) way(key string) func(ctx context.Context, changed config.Config, key, value string) error {
	front, _ := l.front.(adjustable)
	switch {
	case key == "model":
		return l.applyModel
	case key == "thinking":
		return func(ctx context.Context, c config.Config, _, _ string) error {
			return l.run.agent.SetThinking(ctx, c.Thinking)
		}
	case isOfAgent(key):
		return func(_ context.Context, c config.Config, _, _ string) error {
			l.run.agent.SetSettings(agentSettings(c))
			return nil
		}
	case strings.HasPrefix(key, "agents."):
		return func(_ context.Context, c config.Config, _, _ string) error {
			l.run.family.SetLimits(children.Limits(c.Agents))
			return nil
		}
	case front != nil && front.Adjusts(key):
		return func(_ context.Context, _ config.Config, key, value string) error {
			front.Adjust(key, value)
			return nil
		}
	}
	return nil
}

// applyModel makes the model that a user named answer from now on.
func (l *liveSettings) applyModel(ctx context.Context, _ config.Config, _, value string) error {
	model, level, err := l.run.models.Match(value)
	if err != nil {
		return err
	}
	if err := l.run.agent.Select(ctx, model, level, "set"); err != nil {
		return err
	}
	if note := l.run.models.Completed(value, model); note != "" {
		l.run.agent.Notify(ctx, agent.LevelInfo, note)
	}
	return nil
}

// write writes a setting into the user's config.toml.
func (l *liveSettings) write(key, value string) (file string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.run.place
	value = l.run.hookTables.typed(l.run.chain.Settings(), key, value)
	if _, err := p.WriteSetting(key, value); err != nil {
		return "", err
	}
	if l.config.Origins.Of(key) == thisRun {
		if changed, err := l.config.Change(key, value, p.configFile(), p.Env.getenv); err == nil {
			l.config = changed
		}
	}
	return config.Tilde(p.configFile()), nil
}

// isOfAgent reports whether a setting is among those of agentSettings.
func isOfAgent(key string) bool {
	for _, prefix := range []string{"compaction.", "retry."} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	switch key {
	case "max_turns", "max_repeats", "max_continuations", "max_cost", "max_answer_bytes", "steering", "follow_up", "stream_idle_timeout", "stream_quiet_timeout", "ui.image_scale":
		return true
	}
	return false
}

// agentSettings returns what the agent is given of the settings.
func agentSettings(c config.Config) agent.Settings {
	return agent.Settings{
		MaxTurns: c.MaxTurns, MaxRepeats: c.MaxRepeats, MaxContinuations: c.MaxContinuations, MaxCost: c.MaxCost,
		MaxAnswerBytes: c.MaxAnswerBytes, SteerAll: c.Steering == "all", FollowUpAll: c.FollowUp == "all",
		Compaction: agent.CompactionSettings(c.Compaction), Retry: agent.RetrySettings(c.Retry),
		ImageScale: c.UI.ImageScale, Patience: llm.Patience{Idle: time.Duration(c.StreamIdleTimeout) * time.Second, Quiet: time.Duration(c.StreamQuietTimeout) * time.Second},
	}
}
