package keyring

import (
	"fmt"
	"strings"
)

// sentKey is a key as it was sent, "" where none was.
type sentKey struct{ provider, key string }

// Sent notes what a person can do if the server of a provider refuses a key.
func (r *Ring) Sent(provider, key, advice string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == nil {
		r.from = map[sentKey]string{}
	}
	r.from[sentKey{provider, key}] = advice
}

// Advice is what [Ring.Sent] noted about a key of a provider; "" if nothing was.
func (r *Ring) Advice(provider, key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from[sentKey{provider, key}]
}

// Refused tells the ring that a server refused a key: the command that printed it,
// if one did, is run again for the next request.
func (r *Ring) Refused(key string) { r.commands.forgetKey(key) }

// adviceOnRefusal is what a person can do if the server refuses the key from p.
func (k Key) adviceOnRefusal(p keyPlace) string {
	switch {
	case k.Hook != "":
		return fmt.Sprintf("check api_key of pi.provider(%q) in its hook", k.Provider)
	case p.spec == "" && p.login == nil:
		return "no key was sent: " + k.howToSet()
	case k.Configured != "" && strings.HasPrefix(k.Configured, "!"):
		return fmt.Sprintf("the key is what the command in %s prints; it is run again for the next request", k.setting())
	case k.Configured != "":
		return "the key is from " + k.setting() + "; check it"
	case p.name == "auth.json":
		return fmt.Sprintf("the key is from %s; log in again with the program that wrote it, or set %s", k.Ring.auth.path, k.setting())
	}
	return fmt.Sprintf("the key is from the variable %s; check it, or set %s", p.name, k.setting())
}
