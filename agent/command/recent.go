package command

import (
	"iter"
	"slices"
	"sync"
	"time"

	"pi/internal/printable"
	"pi/session/folder"
)

const (
	mostRecent = 100             // sessions that are known by their names
	recentTime = 5 * time.Second // for which what was read of them counts
)

// recentSessions are the sessions of this directory that were written last, for completion:
// they are read once for the keys that are typed one after the other. Any goroutine may
// use it.
type recentSessions struct {
	read func(all bool) iter.Seq2[folder.Info, error]

	mu    sync.Mutex
	at    time.Time
	infos []folder.Info
}

func (r *recentSessions) all() []folder.Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) < recentTime {
		return r.infos
	}
	r.infos = nil
	for info, err := range r.read(false) {
		if err == nil {
			r.infos = append(r.infos, info)
		}
		if len(r.infos) == mostRecent {
			break
		}
	}
	r.at = time.Now()
	return r.infos
}

// names are the names that people gave to sessions.
func (r *recentSessions) names() (names []string) {
	for _, info := range r.all() {
		if name := printable.Line(info.Name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// describe returns what a session is about, of an id, and how old it is.
func (r *recentSessions) describe(candidate string) string {
	all := r.all()
	i := slices.IndexFunc(all, func(info folder.Info) bool {
		return candidate == info.ID || candidate == printable.Line(info.Name)
	})
	if i < 0 {
		return ""
	}
	words := age(all[i].Modified, time.Now()) + " · " + printable.Count(all[i].Messages, "message")
	if candidate == all[i].ID {
		return Title(all[i]) + " · " + words
	}
	return words
}
