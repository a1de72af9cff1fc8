package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"pi/agent/llm"
	"pi/cli/config"
)

// The key of a provider is looked for in this order, and the first place that
// names one decides, whether it can be read or not:
//
//	--api-key                      for the provider of the model that is begun with
//	api_key of [providers.NAME]    "env:NAME", "!command", or the key itself
//	auth.json                      what pi's login wrote; only read
//	the provider's variables       ANTHROPIC_API_KEY and the like
//
// Whether there is one is told without running anything.

// keyring is where the keys of one run come from. It is safe for concurrent use.
type keyring struct {
	getenv   func(string) string
	auth     *authFile
	commands *keyCommands
	now      func() time.Time
	mayRun   func(command string) error // of auth.json; nil: each may

	mu   sync.Mutex
	from map[sentKey]string // of keys that were sent, what to do if they are refused
}

func newKeyring(agentDir string) *keyring {
	return &keyring{getenv: os.Getenv, auth: newAuthFile(agentDir), commands: newKeyCommands(), now: time.Now}
}

// resolve is ResolveKey with commands that are run once.
func (r *keyring) resolve(ctx context.Context, spec string) (string, error) {
	command, ok := strings.CutPrefix(spec, "!")
	if command = strings.TrimSpace(command); ok && command != "" {
		return r.commands.key(ctx, command)
	}
	return ResolveKey(spec, r.getenv, nil)
}

// ranOut tells of logins that cannot be used any more.
func (r *keyring) ranOut() []string {
	var lines []string
	for _, name := range r.auth.expired(r.now()) {
		lines = append(lines, fmt.Sprintf("the login of %s in %s ran out; log in again with the program that wrote it", name, r.auth.path))
	}
	return lines
}

// unusedServers tells of the providers in the settings that are not begun with,
// for want of a key or of a model. Of logins that ran out ranOut tells.
func unusedServers(cfg config.Config, ring *keyring) []string {
	var lines []string
	for _, p := range providerSources(cfg) {
		p.ring = ring
		key := p.key()
		switch {
		case p.section == "" || p.unusable() != "" || key.place().login != nil:
		case !key.present():
			lines = append(lines, fmt.Sprintf("%s cannot be used, there is no key for it: %s", p.Name, key.hint()))
		case p.first() == "":
			lines = append(lines, fmt.Sprintf("no model of %s is named: choose one with --model %s/ID or [[providers.%s.models]]; pi models --discover asks what there is", p.Name, p.Name, p.section))
		}
	}
	return lines
}

// providerKey finds the key of one provider.
type providerKey struct {
	ring       *keyring
	provider   string
	configured string   // api_key of the settings
	logins     []string // its names in auth.json
	variables  []string // of the environment
	optional   bool     // it may do without: its address is one of the person's own
}

// keyPlace is where a key comes from.
type keyPlace struct {
	name  string // for people; "" if there is none
	spec  string // for keyring.resolve
	login *login // of kind oauth, instead of spec
}

// place is the first place that names a key.
func (k providerKey) place() keyPlace {
	if k.configured != "" {
		return keyPlace{name: "config.toml", spec: k.configured}
	}
	if l, ok := k.ring.auth.find(k.logins...); ok {
		return k.loginPlace(l)
	}
	for _, name := range k.variables {
		if k.ring.getenv(name) != "" {
			return keyPlace{name: name, spec: "env:" + name}
		}
	}
	if len(k.variables) == 0 || k.optional {
		return keyPlace{}
	}
	return keyPlace{spec: "env:" + k.variable()}
}

func (k providerKey) configuredHint() string {
	setting := fmt.Sprintf("api_key of [providers.%s] in config.toml", k.provider)
	name, ok := strings.CutPrefix(k.configured, "env:")
	if name = strings.TrimSpace(name); ok && name == config.ShownVariable(name) {
		return fmt.Sprintf("export %s, or change %s", name, setting)
	}
	return "check " + setting
}

func (k providerKey) loginPlace(l login) keyPlace {
	if l.Type == "oauth" {
		return keyPlace{name: "auth.json", login: &l}
	}
	return keyPlace{name: "auth.json", spec: l.spec(k.ring.getenv)}
}

// hint says what to do while there is no key.
func (k providerKey) hint() string { return k.hintAt(k.place()) }

// hintAt says what to do if the key of a place cannot be read.
func (k providerKey) hintAt(p keyPlace) string {
	switch {
	case k.configured != "":
		return k.configuredHint()
	case p.login != nil && p.login.expired(k.ring.now()):
		return fmt.Sprintf("log in again with the program that wrote %s, or set api_key of [providers.%s] in config.toml", k.ring.auth.path, k.provider)
	case p.name == "auth.json":
		return fmt.Sprintf("check the entry of %s in %s, or set api_key of [providers.%s] in config.toml", k.provider, k.ring.auth.path, k.provider)
	}
	return k.advice()
}

// advice says how to set a key.
func (k providerKey) advice() string {
	set := fmt.Sprintf("set api_key of [providers.%s] in config.toml", k.provider)
	if len(k.variables) == 0 {
		return set
	}
	return fmt.Sprintf("export %s, or %s", k.variable(), set)
}

// variable is the one that is spoken of: a key is easier to come by than a login.
func (k providerKey) variable() string {
	for _, name := range k.variables {
		if strings.HasSuffix(name, "_API_KEY") {
			return name
		}
	}
	return k.variables[0]
}

// needed reports whether a key is sent, or has to be.
func (k providerKey) needed() bool {
	p := k.place()
	return p.spec != "" || p.login != nil
}

// present reports whether resolve would find a key, or that none is needed.
func (k providerKey) present() bool {
	p := k.place()
	if p.login != nil {
		return !p.login.expired(k.ring.now())
	}
	name, isVariable := strings.CutPrefix(p.spec, "env:")
	return !isVariable || strings.TrimSpace(k.ring.getenv(strings.TrimSpace(name))) != ""
}

// missing is what is to be set before there is a key: a variable, or a new login;
// "" if nothing is.
func (k providerKey) missing() string {
	if k.present() {
		return ""
	}
	if p := k.place(); p.login == nil {
		return config.ShownVariable(strings.TrimSpace(strings.TrimPrefix(p.spec, "env:")))
	}
	return "a new login in auth.json"
}

// resolve returns the key, "" if none is needed.
func (k providerKey) resolve(ctx context.Context) (string, error) {
	p := k.place()
	key, err := k.read(ctx, p)
	switch {
	case err == nil:
		k.ring.sent(k.provider, key, k.refused(p))
		return key, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", &llm.ProviderError{Provider: k.provider, Message: err.Error(), Err: err, Hint: k.hintAt(p)}
}

func (k providerKey) read(ctx context.Context, p keyPlace) (string, error) {
	command, isCommand := strings.CutPrefix(p.spec, "!")
	if isCommand && p.name == "auth.json" && k.ring.mayRun != nil {
		if err := k.ring.mayRun(command); err != nil {
			return "", err
		}
	}
	switch {
	case p.login == nil:
		return k.ring.resolve(ctx, p.spec)
	case p.login.expired(k.ring.now()):
		return "", fmt.Errorf("read key: the login in auth.json ran out at %s", p.login.expiry().Format(time.DateTime))
	}
	return p.login.Access, nil
}
