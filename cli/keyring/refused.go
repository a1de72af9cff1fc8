package keyring

import (
	"cmp"
	"fmt"
	"strings"
)

// sentKey is a key as it was sent, "" where none was.
type sentKey struct{ provider, key string }

// AnyKey stands for whatever key a provider is sent, for [Ring.Sent].
const AnyKey = "\x00any"

// Sent notes what to do if the server of a provider does not take a key.
func (r *Ring) Sent(provider, key, advice string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == nil {
		r.from = map[sentKey]string{}
	}
	r.from[sentKey{provider, key}] = advice
}

// Advice is what to do if the server of a provider does not take a key; "" if the
// key was not sent from here.
func (r *Ring) Advice(provider, key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.from[sentKey{provider, key}], r.from[sentKey{provider, AnyKey}])
}

// Refused tells the ring that a server does not take a key: a command that printed
// it is asked anew at the next request.
func (r *Ring) Refused(key string) { r.commands.forgetKey(key) }

// adviceOnRefusal says what to do if the server refuses the key of a place.
func (k Key) adviceOnRefusal(p keyPlace) string {
	setting := fmt.Sprintf("api_key of [providers.%s] in config.toml", k.Provider)
	switch {
	case p.spec == "" && p.login == nil:
		return "no key was sent: " + k.howToSet()
	case k.Configured != "" && strings.HasPrefix(k.Configured, "!"):
		return fmt.Sprintf("the key is what the command in %s prints; it is run again for the next request", setting)
	case k.Configured != "":
		return "the key is from " + setting + "; check it"
	case p.name == "auth.json":
		return fmt.Sprintf("the key is from %s; log in again with the program that wrote it, or set %s", k.Ring.auth.path, setting)
	}
	return fmt.Sprintf("the key is from the variable %s; check it, or set %s", p.name, setting)
}
