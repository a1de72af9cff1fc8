package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/packages"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

// updatePackages brings packages to what their sources have now. What cannot be had or is not agreed to leaves
// the version that is there in force, and the others go on.
func updatePackages(cmd *cobra.Command, p *app.Place, names []string, a *answers) error {
	if len(names) == 0 {
		return nil
	}
	store, err := beginPackages(p, a)
	if err != nil {
		return err
	}
	lock, err := readLock(p)
	if err != nil {
		return err
	}
	var offers []*offering
	var failed []error
	for _, name := range names { // all are fetched before the tests of one take the environment away
		o := &offering{cmd: cmd, place: p, answers: a, store: store}
		if err := o.fetchUpdate(cmd.Context(), name, lock.Packages[name]); err != nil {
			failed = append(failed, fmt.Errorf("update %s: %w; the version that is there stays in force", name, err))
			continue
		}
		offers = append(offers, o)
	}
	for _, o := range offers {
		if err := o.takeUpdate(); err != nil {
			failed = append(failed, fmt.Errorf("update %s: %w", o.pack.Name, err))
		}
	}
	return errors.Join(failed...)
}

// fetchUpdate fetches what the source of a package has now, and finds out what became of its reference.
func (o *offering) fetchUpdate(ctx context.Context, name string, was packages.Entry) error {
	s, err := was.From()
	if err != nil {
		return err
	}
	if o.pack, err = fetchPackage(ctx, o.place, s); err != nil {
		return err
	}
	if o.pack.Name != name {
		return fmt.Errorf("what is there now is called %s; `pi hooks add` adds it under that name", o.pack.Name)
	}
	o.compare(was)
	o.said = append(o.said, o.moved(ctx, s)...)
	return nil
}

// moved says what became of the reference of a package: a tag that names another commit, or a history that
// somebody has rewritten, is told.
func (o *offering) moved(ctx context.Context, s packages.Source) []string {
	was, now := o.was.Commit, o.pack.Commit
	if s.Kind != packages.Git || was == now {
		return nil
	}
	what := "branch " + s.Ref
	if s.Ref == "" {
		what = "the default branch"
	}
	switch {
	case o.was.Named != o.pack.Named:
		return []string{fmt.Sprintf("MOVED: %s was a %s (%.12s) and is a %s now (%.12s)", s.Ref, o.was.Named, was, o.pack.Named, now)}
	case o.was.Named == packages.NamesTag:
		return []string{fmt.Sprintf("MOVED: the tag %s named %.12s and names %.12s now", s.Ref, was, now)}
	}
	switch answer, err := o.place.Fetcher().History(ctx, s, was, now); {
	case err != nil:
		return []string{fmt.Sprintf("%s went from %.12s to %.12s; cannot tell whether its history was rewritten: %v", what, was, now, err)}
	case answer == packages.Follows:
		return []string{fmt.Sprintf("%s went on from %.12s to %.12s", what, was, now)}
	case answer == packages.Forced:
		return []string{fmt.Sprintf("REWRITTEN: the history of %s no longer has %.12s (a force push); it is at %.12s now", what, was, now)}
	}
	return []string{fmt.Sprintf("%s went from %.12s to %.12s; cannot tell whether its history was rewritten: it is too long", what, was, now)}
}

// takeUpdate offers what came, unless it is what is there.
func (o *offering) takeUpdate() error {
	out := o.cmd.OutOrStdout()
	if !o.isCurrent() || o.answers.json {
		return o.offer()
	}
	at := ""
	if o.pack.Commit != "" {
		at = fmt.Sprintf(" (%.12s)", o.pack.Commit)
	}
	fmt.Fprintf(out, "%s has what its source has%s\n", o.pack.Name, at)
	for _, said := range o.said {
		fmt.Fprintln(out, "  "+printable.VisibleLine(said)+", with the same files")
	}
	if o.was.Commit == o.pack.Commit || o.answers.dryRun {
		return nil
	}
	return o.store.NoteCommit(o.pack)
}

// removePackages takes packages away, unless another one that stays needs one of them.
func removePackages(cmd *cobra.Command, p *app.Place, names []string, yes bool) error {
	store, err := beginPackages(p, &answers{})
	if err != nil {
		return err
	}
	if err := store.CheckNeeded(names); err != nil {
		return err
	}
	lock, err := readLock(p)
	if err != nil {
		return err
	}
	for _, name := range names {
		if lost := wouldBeLost(store.Dir(name), name, lock.Packages[name]); lost != "" && !yes {
			return fmt.Errorf("%s would be lost; --yes removes %s all the same", lost, printable.VisibleLine(config.Tilde(store.Dir(name))))
		}
	}
	for _, name := range names {
		if err := store.Remove(name); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "removed: the package "+name)
	}
	return nil
}

// wouldBeLost names what of the folder of a package would not come back with it; "" for nothing.
func wouldBeLost(dir, name string, was packages.Entry) string {
	if !isFolder(dir) {
		return ""
	}
	on, err := packages.ReadFolder(dir)
	switch {
	case was.Files == nil:
		return fmt.Sprintf("%s was put there by hand, or nobody knows where it came from: its files", name)
	case err != nil:
		return fmt.Sprintf("%s has something that did not come with it (%s), which", name, printable.VisibleLine(err.Error()))
	case !maps.Equal(on.Sums(), was.Files):
		return fmt.Sprintf("files of package %s were changed here since it came, and", name)
	case isFolder(filepath.Join(dir, ".git")):
		return fmt.Sprintf("%s has a repository of git, which did not come with it and", name)
	}
	return ""
}

// hasPackage reports whether there is a package of a name, be it one of which only a part is left.
func hasPackage(p *app.Place, lock packages.Lock, name string) bool {
	if packages.CheckName(name) != nil {
		return false
	}
	_, locked := lock.Packages[name]
	dir := p.Packages().Dir(name)
	return locked || isFolder(dir) || len(p.Guard.ApprovedPackage(dir)) > 0
}

// cutPackages divides names into those of packages and others, which are of examples.
func cutPackages(p *app.Place, words []string) (packs, others []string, err error) {
	lock, err := readLock(p)
	if err != nil {
		return nil, nil, err
	}
	for _, word := range words {
		if hasPackage(p, lock, word) {
			packs = append(packs, word)
		} else {
			others = append(others, word)
		}
	}
	if len(words) == 0 {
		packs = lock.Names()
	}
	return packs, others, nil
}
