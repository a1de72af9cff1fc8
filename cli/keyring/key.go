package keyring

import (
	"context"
	"fmt"
	"strings"

	"pi/agent/llm"
	"pi/cli/config"
)

// Key finds the key of one provider. Whether there is one is told without running
// anything.
type Key struct {
	Ring       *Ring
	Provider   string
	Configured string   // api_key of the settings
	Hook       string   // the hook that has Configured; "": config.toml has it
	Logins     []string // its names in auth.json
	Variables  []string // of the environment
	Optional   bool     // it may do without: its address is one of the user's own

	// Login is how a user signs in as the program or config.toml says, never a hook: logins that do not
	// say where they are from are renewed so. Script is the login of a hook that is functions,
	// for what that hook has kept. Both may be nil.
	Login, Script *llm.Login
}

// authName is the name of the file of logins for people.
const authName = "auth.json"

// keyPlace is where a key comes from.
type keyPlace struct {
	name  string // for people; "" if there is none
	spec  string // for Ring.Resolve
	login *login // of kind oauth, instead of spec
}

// Place names for people where the key comes from: config.toml, auth.json, or the
// variable; "" if it comes from nowhere.
func (k Key) Place() string { return k.place().name }

// IsLogin reports whether the key is that of a login in auth.json, which may have
// run out: [Ring.Expired] tells of these.
func (k Key) IsLogin() bool { return k.place().login != nil }

// IsOfScript reports whether the key is that of a login which the functions of this hook have kept.
func (k Key) IsOfScript() bool {
	p := k.place()
	return p.login != nil && k.scriptOf(*p.login) != nil
}

// place returns where the key is to be found: in the settings, else in auth.json, else in
// the first variable that is set. It is empty if no key is needed; if one is missing, it
// names the variable to set.
func (k Key) place() keyPlace {
	if k.Configured != "" {
		return keyPlace{name: "config.toml", spec: k.Configured}
	}
	if l, ok := k.Ring.auth.find(k.Logins...); ok {
		if l.Type == "oauth" {
			return keyPlace{name: authName, login: &l}
		}
		return keyPlace{name: authName, spec: l.spec(k.Ring.getenv)}
	}
	for _, name := range k.Variables {
		if k.Ring.getenv(name) != "" {
			return keyPlace{name: name, spec: "env:" + name}
		}
	}
	if len(k.Variables) == 0 || k.Optional {
		return keyPlace{}
	}
	return keyPlace{spec: "env:" + k.variable()}
}

// setting names the setting in which the user can write the key.
func (k Key) setting() string {
	if k.Hook != "" {
		return "api_key in hook " + k.Hook
	}
	return fmt.Sprintf("api_key of [providers.%s] in config.toml", k.Provider)
}

// Hint returns what the user can do to get a working key.
func (k Key) Hint() string { return k.hintAt(k.place()) }

// hintAt says what to do if the key of a place cannot be read.
func (k Key) hintAt(p keyPlace) string {
	name, isVariable := strings.CutPrefix(k.Configured, "env:")
	name = strings.TrimSpace(name)
	switch {
	case isVariable && config.IsMasked(name):
		return "pi trust shows the change and asks; in the terminal /hooks approve config.toml does"
	case isVariable && name == config.ShownVariable(name):
		return fmt.Sprintf("export %s, or change %s", name, k.setting())
	case k.Configured != "":
		return "check " + k.setting()
	case p.login != nil:
		return k.howToSignIn(*p.login) + ", or set " + k.setting()
	case p.name == authName:
		return fmt.Sprintf("check the entry of %s in %s, /login %s asks for another key, or set %s", k.Provider, k.Ring.auth.path, k.Provider, k.setting())
	}
	return k.howToSet()
}

// howToSignIn says how a login is replaced.
func (k Key) howToSignIn(l login) string {
	if l.TokenURL != "" || l.Hook != nil || k.Login != nil && k.Login.Kind != llm.LoginKey {
		return fmt.Sprintf("/login %s signs in again (outside of a session: pi login %s)", k.Provider, k.Provider)
	}
	return fmt.Sprintf("log in again with the program that wrote %s; /login %s keeps a key instead", k.Ring.auth.path, k.Provider)
}

// howToSet says how to set a key.
func (k Key) howToSet() string {
	if len(k.Variables) == 0 {
		return "set " + k.setting() + k.orLogin()
	}
	return fmt.Sprintf("export %s, or set %s%s", k.variable(), k.setting(), k.orLogin())
}

// orLogin names the command that asks for a key; "" for the provider of a hook, whose key
// is not kept.
func (k Key) orLogin() string {
	if k.Hook != "" {
		return ""
	}
	return fmt.Sprintf("; in the terminal /login %s asks for it", k.Provider)
}

// variable returns the one of the variables to tell the user about: one that holds an
// API key if there is one, because that is easier to get than a login.
func (k Key) variable() string {
	for _, name := range k.Variables {
		if strings.HasSuffix(name, "_API_KEY") {
			return name
		}
	}
	return k.Variables[0]
}

// Needed reports whether requests have a key: one that was found, or one that has to be
// set first.
func (k Key) Needed() bool {
	p := k.place()
	return p.spec != "" || p.login != nil
}

// Present reports whether Resolve would find a key, or that none is needed.
func (k Key) Present() bool {
	p := k.place()
	if p.login != nil {
		return !p.login.expired(k.Ring.now()) || k.mayRenew(*p.login)
	}
	name, isVariable := strings.CutPrefix(p.spec, "env:")
	return !isVariable || strings.TrimSpace(k.Ring.getenv(strings.TrimSpace(name))) != ""
}

// Missing names what the user has to set before there is a key: the environment
// variable, as people write it, or a new login for one that has expired. It is "" if
// there is a key, or none is needed.
func (k Key) Missing() string {
	if k.Present() {
		return ""
	}
	if p := k.place(); p.login == nil {
		return config.ShownVariable(strings.TrimSpace(strings.TrimPrefix(p.spec, "env:")))
	}
	return "a new login in auth.json"
}

// Resolve returns the key, "" if none is needed. A login that is about to end is renewed. That there
// is none is a [llm.ProviderError] with a hint.
func (k Key) Resolve(ctx context.Context) (string, error) {
	p := k.place()
	auth, p, err := k.resolveAt(ctx, p)
	switch {
	case err == nil:
		k.note(auth, p)
		return auth.Key, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", &llm.ProviderError{Provider: k.Provider, Message: err.Error(), Err: err, NextStep: k.hintAt(p), Retryable: mayPass(err)}
}

// note remembers what goes along with a key, and what to do if it is refused.
func (k Key) note(auth llm.Auth, p keyPlace) {
	with := sentWith{advice: k.adviceOnRefusal(p), auth: auth}
	if p.login != nil {
		l := *p.login
		with.again = func(ctx context.Context) (llm.Auth, bool, error) { return k.again(ctx, l) }
	}
	k.Ring.noteSent(k.Provider, auth.Key, with)
}

// resolveAt returns what lets requests in from p, and p as it is then. A login that has expired is an
// error, and so is a command in auth.json that may not run.
func (k Key) resolveAt(ctx context.Context, p keyPlace) (llm.Auth, keyPlace, error) {
	if p.login != nil {
		auth, l, err := k.signedIn(ctx, *p.login)
		p.login = &l
		return auth, p, err
	}
	command, isCommand := strings.CutPrefix(p.spec, "!")
	if isCommand && p.name == authName && k.Ring.mayRun != nil {
		if err := k.Ring.mayRun(command); err != nil {
			return llm.Auth{}, p, err
		}
	}
	if p.name == authName && strings.HasPrefix(p.spec, "file:") { // what wrote it knows no files
		return llm.Auth{Key: p.spec}, p, nil
	}
	key, err := k.Ring.Resolve(ctx, p.spec)
	return llm.Auth{Key: key}, p, err
}

// adviceOnRefusal returns what the user can do if the server refuses the key that came
// from p.
func (k Key) adviceOnRefusal(p keyPlace) string {
	switch {
	case k.Hook != "" && p.login == nil:
		return fmt.Sprintf("check api_key of pi.provider(%q) in its hook", k.Provider)
	case p.spec == "" && p.login == nil:
		return "no key was sent: " + k.howToSet()
	case k.Configured != "" && strings.HasPrefix(k.Configured, "!"):
		return fmt.Sprintf("the key is what the command in %s prints; it is run again for the next request", k.setting())
	case k.Configured != "":
		return "the key is from " + k.setting() + "; check it"
	case p.name == authName && p.login != nil:
		return fmt.Sprintf("the key is of the login in %s; %s", k.Ring.auth.path, k.howToSignIn(*p.login))
	case p.name == authName:
		return fmt.Sprintf("the key is from %s; /login %s asks for another, or set %s", k.Ring.auth.path, k.Provider, k.setting())
	}
	return fmt.Sprintf("the key is from the variable %s; check it, or set %s%s", p.name, k.setting(), k.orLogin())
}
