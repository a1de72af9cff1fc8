package provider

import (
	"iter"
	"net"
	"net/url"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
)

// quirksOf yields what is known of how a model is asked, as names and values of switches: of
// its server, then of its family. Later ones win.
func quirksOf(m *llm.Model) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		server := serverOf(m)
		if server == "" && isStrange(m) {
			server = strangers
		}
		for i := range quirks {
			q := &quirks[i]
			value := q.value
			if !listed(q.apis, m.API) || !listed(q.servers, server) || value == reasoners && !m.Reasoning {
				continue
			}
			if value == reasoners {
				value = true
			}
			if !yield(q.name, value) {
				return
			}
		}
		for s := range catalogue.Switches(m.ID) {
			if listed(s.APIs, m.API) && listed(s.Servers, server) && !yield(s.Name, s.Value) {
				return
			}
		}
	}
}

// listed reports whether a list of words has a word; an empty list has all.
func listed(list, word string) bool {
	if list == "" {
		return true
	}
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// serverOf names the kind of server that a model is served by: by its address, else by
// the provider's name, which is right for gateways and proxies. It is "" for a kind
// that is not known.
func serverOf(m *llm.Model) string {
	u, err := url.Parse(m.BaseURL)
	if err == nil && u.Host != "" {
		for i := range kinds {
			if kinds[i].answersAt(u) {
				return kinds[i].server
			}
		}
	}
	name := strings.ToLower(m.Provider)
	for i := range kinds {
		if k := &kinds[i]; k.server == name || k.names != "" && listed(k.names, name) {
			return k.server
		}
	}
	return ""
}

// isStrange reports whether a model of no known kind of server is not at the address of a
// provider of the catalogue either.
func isStrange(m *llm.Model) bool {
	u, err := url.Parse(m.BaseURL)
	return err != nil || !catalogue.HasHost(u.Host)
}

// answersAt reports whether an address is of this kind of server.
func (k *kind) answersAt(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	for suffix := range strings.FieldsSeq(k.hosts) {
		if port, local := strings.CutPrefix(suffix, "localhost:"); local {
			if u.Port() == port && (host == "localhost" || net.ParseIP(host).IsLoopback()) {
				return true
			}
		} else if host == suffix || strings.HasSuffix(host, "."+suffix) || suffix[0] == '-' && strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}
