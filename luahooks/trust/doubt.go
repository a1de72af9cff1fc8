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
// setting, until a person has seen what there is.

// pendingDoubt describes all that a person says yes to. g.mu is held.
func (g *Guard) pendingDoubt() *Pending {
	g.seen = NewForRun(g.project)
	g.seen.configs, g.seen.keys, g.seen.spoken = g.configs, g.keys, g.spoken
	p := g.places()
	p.NoProject = true // what is of the project needs approval in any case
	paths, _ := g.seen.deciding(p)
	var text, sums strings.Builder
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if v := g.seen.Read(path); v.exists() {
			text.WriteString(Diff(path, nil, g.shownCode(path, v)))
			fmt.Fprintln(&sums, path, v.Sum, v.real)
		}
	}
	if text.Len() == 0 {
		text.WriteString("there are no hooks and no settings; if there were some, they are gone\n")
	}
	return &Pending{Name: "trust.json", Path: g.store.Path(), Kind: "approvals", Change: "lost", Since: time.Now().UTC(), Lost: true,
		Diff: g.doubt.Error() + "; what was in force cannot be known. This is what there is:\n" + text.String(), sum: Sum([]byte(sums.String()))}
}

// acceptDoubt puts what was shown in force. g.mu is held.
func (g *Guard) acceptDoubt() error {
	shown := g.shown[g.store.Path()]
	if p := g.pendingDoubt(); p.sum != shown {
		return fmt.Errorf("%s: %w", g.store.Path(), ErrChangedAgain)
	}
	files := g.seen.files
	known := Known{Files: map[string]File{}}
	for path, v := range files {
		known.Files[path] = g.fileOf(path, v, "")
	}
	err := g.store.Change(g.mayCount, func(d *Data) { d.Known = known })
	if err == nil {
		g.doubt, g.seen = nil, nil
		maps.Copy(g.files, files)
	}
	return err
}

// Doubt is why nothing is in force, nil in ordinary life.
func (g *Guard) Doubt() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.doubt
}
