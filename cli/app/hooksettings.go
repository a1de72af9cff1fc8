package app

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"pi/cli/config"
	"pi/luahooks"
	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// hookTables are the [hook.NAME] tables in force, which may change while the program runs: unlike
// the other settings they are read again when a version of their file comes into force.
type hookTables struct {
	agentDir, cwd string
	guard         *trust.Guard
	getenv        func(string) string
	secret        func(ctx context.Context, spec string) (string, error)

	mu     sync.Mutex
	files  [2][]byte // that tables was made of: the user's, the project's
	tables config.Config
}

// newHookTables makes those of a place. secret reads what a setting names as a secret.
func (p *Place) newHookTables(secret func(ctx context.Context, spec string) (string, error)) *hookTables {
	t := &hookTables{agentDir: p.AgentDir, cwd: p.Cwd, guard: p.Guard, getenv: p.Env.getenv, secret: secret, tables: p.Config}
	t.files = t.inForce()
	return t
}

// inForce returns the bytes of both files that are in force.
func (t *hookTables) inForce() (files [2][]byte) {
	for i, path := range t.guard.SettingsFiles() {
		files[i], _ = t.guard.Config(path)
	}
	return files
}

// now returns the settings of which the tables are those in force. A file that cannot be read any
// more leaves what it said before.
func (t *hookTables) now() config.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	files := t.inForce()
	if bytes.Equal(files[0], t.files[0]) && bytes.Equal(files[1], t.files[1]) {
		return t.tables
	}
	was := t.tables
	now, problems := config.Load(t.agentDir, t.cwd, t.getenv, t.guard.Config)
	for _, problem := range problems {
		switch {
		case !problem.Unread:
		case problem.File == filepath.Join(t.agentDir, "config.toml"):
			now.Hook = was.Hook
		default:
			now.ProjectHook = was.ProjectHook
		}
	}
	t.files, t.tables = files, now
	return now
}

// of returns what the settings say of a hook, for the hook.
func (t *hookTables) of(name string, ofProject bool) api.Settings {
	h := t.now().ForHook(name, ofProject)
	s := api.Settings{Table: config.KeyPath("hook", name), JSON: h.JSON(), Secret: t.secret, MaxContinuations: h.MaxContinuations, Answers: h.Answers}
	s.Where = func(path ...any) string {
		if h.File == "" { // there is no table
			return config.Tilde(filepath.Join(t.agentDir, "config.toml"))
		}
		return config.Tilde(h.Where(path...))
	}
	if h.Wrong != "" {
		s.Err = fmt.Errorf("%s: %s", s.Where(), h.Wrong)
	}
	if ofProject {
		s.Secret = nil
	}
	return s
}

// laidOver returns c with the tables of hooks that are in force now.
func (t *hookTables) laidOver(c config.Config) config.Config {
	now := t.now()
	c.Hook, c.ProjectHook = now.Hook, now.ProjectHook
	c.Origins = maps.Clone(c.Origins)
	maps.DeleteFunc(c.Origins, func(key, _ string) bool { return config.IsOfHook(key) })
	for key, origin := range now.Origins {
		if config.IsOfHook(key) {
			c.Origins[key] = origin
		}
	}
	return c
}

// declared describes what hooks have declared as settings of config.toml. Those of a project's
// hooks stand in the file of the project, which is edited by hand.
func (t *hookTables) declared(hooks []luahooks.SettingsOf) (all []config.Declared) {
	for _, of := range hooks {
		for _, s := range of.Settings {
			all = append(all, config.Declared{Hook: of.Hook, OfProject: of.OfProject, Path: s.Path, Meaning: s.Description, Type: s.Type,
				Choices: s.Choices, Default: s.Default, Value: s.Value, Secret: s.Secret})
		}
	}
	return all
}

// typed returns a value that a user typed for a setting as it is to be written: a text that a hook
// wants as a text in quotes, for by itself it may look like a number.
func (t *hookTables) typed(hooks []luahooks.SettingsOf, key, value string) string {
	for _, d := range t.declared(hooks) {
		if d.Key() == key && d.Type == "string" {
			return strconv.Quote(value)
		}
	}
	return value
}

// hookSecret reads what a setting of a hook names: a file, or what keys may stand for.
func (p *Place) hookSecret(ctx context.Context, spec string) (string, error) {
	name, isFile := strings.CutPrefix(spec, "file:")
	if !isFile {
		return p.Keys.Resolve(ctx, spec)
	}
	secret, err := p.Keys.SecretIn(name)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	return secret, nil
}
