package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// After a program was killed, a tool or a process of one may have removed or
// forged what it wrote down. Then it cannot be known what was in force, and a
// hook that is gone would not be missed. So nothing is in force, no hook and no
// setting, until a person has seen all files that there are.

// pendingDamaged describes, as one pending store, all files that there are and that come into
// force if the person accepts it. It notes in s.seen what it showed.
func (s *state) pendingDamaged() *Pending {
	all := *s.home
	all.store, all.named = nil, map[string]bool{}
	reader := newGuard(&all)
	p := s.home.places()
	p.NoProject = true // what is of the project needs approval in any case
	paths, _ := reader.deciding(p)
	var text, sums strings.Builder
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if v := reader.Read(path); v.exists() {
			text.WriteString(Diff(path, nil, s.home.shownCode(path, v)))
			fmt.Fprintln(&sums, path, v.Sum, v.real)
		}
	}
	if text.Len() == 0 {
		text.WriteString("there are no hooks and no settings; if there were some, they are gone\n")
	}
	s.seen = reader.state.ledger.files
	return &Pending{Name: "trust.json", Path: s.home.store.Path(), Kind: "approvals", Change: "lost", Since: time.Now().UTC(), Lost: true,
		Diff: s.damaged.Error() + "; what was in force cannot be known. This is what there is:\n" + text.String(), sum: Sum([]byte(sums.String()))}
}

// acceptDamaged mends the store: all files come into force as a person was shown them, and the
// store is written anew. It fails if one of them has changed since.
func (s *state) acceptDamaged() error {
	shown := s.ledger.shown[s.home.store.Path()]
	if p := s.pendingDamaged(); p.sum != shown {
		return fmt.Errorf("%s: %w", s.home.store.Path(), ErrChangedAgain)
	}
	files := s.seen
	known := Known{Files: map[string]File{}, Dirs: map[string]string{}}
	for path, v := range files {
		known.Files[path] = s.ledger.fileOf(path, v, "")
	}
	err := s.home.store.Change(s.mayCount, func(d *Data) { d.Known = known })
	if err == nil {
		s.damaged, s.seen = nil, nil
		for path, v := range files {
			s.ledger.put(path, v)
		}
	}
	return err
}
