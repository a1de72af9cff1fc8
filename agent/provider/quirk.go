package provider

import (
	"iter"
	"net"
	"net/url"
	"path"
	"strings"

	"pi/agent/llm"
)

// quirksOf yields the rows that apply to a model, in the order of the table;
// later ones win.
func quirksOf(m *llm.Model) iter.Seq[*quirk] {
	return func(yield func(*quirk) bool) {
		server := serverOf(m)
		for i := range quirks {
			if row := &quirks[i]; row.applies(m, server) && !yield(row) {
				return
			}
		}
	}
}

// applies reports whether a row is about a model: its API, its server and its id are
// each in the row's list, or that is empty.
func (q *quirk) applies(m *llm.Model, server string) bool {
	return listed(q.apis, m.API) && listed(q.servers, server) && (q.models == "" || q.models == reasoners && m.Reasoning || anyGlob(q.models, m.ID))
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

// anyGlob reports whether one of the globs matches an id, in whatever case. A * stands
// for slashes too: ids of gateways begin with a path.
func anyGlob(globs, id string) bool {
	flat := strings.NewReplacer("/", "\x00")
	id = flat.Replace(strings.ToLower(id))
	for g := range strings.FieldsSeq(globs) {
		if ok, err := path.Match(flat.Replace(g), id); ok && err == nil {
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
