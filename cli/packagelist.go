package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/cli/packages"
	"pi/internal/printable"
	"pi/luahooks/examples"
	"pi/repl/terminal"

	"github.com/spf13/cobra"
)

func hooksPackages(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "packages", Short: "List the packages: where each came from, at which commit, and whether it is in force", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			list, err := listPackages(p)
			if err != nil {
				return err
			}
			added, err := addedExamples(p)
			if err != nil {
				return err
			}
			list = append(list, added...)
			if asJSON {
				return printJSON(list)
			}
			printPackages(cmd.OutOrStdout(), paletteOf(p), list)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// listedPackage is a package in a list.
type listedPackage struct {
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description,omitempty"`
	Source      string   `json:"source,omitempty"` // "": the lock does not know it
	Commit      string   `json:"commit,omitempty"`
	Sum         string   `json:"sum,omitempty"`
	State       string   `json:"state"` // runs, changed, missing, untrusted; of an example added, older, changed
	Hooks       []string `json:"hooks"`
	Files       int      `json:"files"`
	Dir         string   `json:"dir"`
}

// listPackages lists the packages that there are a folder, an approval or an entry of the lock of.
func listPackages(p *app.Place) ([]listedPackage, error) {
	lock, err := readLock(p)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, name := range append(lock.Names(), p.Packages().Names()...) {
		names[name] = true
	}
	for _, pack := range p.Guard.Packages(p.Places()) {
		if !pack.OfProject {
			names[pack.Name] = true
		}
	}
	list := []listedPackage{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, listPackage(p, lock, name))
	}
	return list, nil
}

// addedExamples lists the examples among the hooks of the user that the program has written there.
func addedExamples(p *app.Place) (list []listedPackage, err error) {
	all, err := app.ListExamples(p.Places())
	for _, e := range all {
		if e.State != examples.Absent && e.Known {
			list = append(list, listedPackage{Name: e.Name, Description: e.About(), Source: examples.Prefix + e.Name, State: string(e.State), Hooks: []string{e.Name}, Files: 2, Dir: p.Places().GlobalDir()})
		}
	}
	return list, err
}

// listPackage describes a package by what is on the disk of it.
func listPackage(p *app.Place, lock packages.Lock, name string) listedPackage {
	dir := p.Packages().Dir(name)
	l := listedPackage{Name: name, Dir: dir, Hooks: []string{}}
	if e, ok := lock.Packages[name]; ok {
		l.Source, l.Commit, l.Sum = packages.Source{Kind: e.Kind, Address: e.Source, Ref: e.Ref}.String(), e.Commit, e.Sum
	}
	approved := p.Guard.ApprovedPackage(dir)
	on, err := packages.ReadFolder(dir)
	switch {
	case len(approved) == 0:
		l.State = "untrusted"
	case !isFolder(dir):
		l.State = "missing"
	case err != nil || !maps.Equal(on.Sums(), approved):
		l.State = "changed"
	default:
		l.State = "runs"
	}
	l.Files = len(on.Files())
	for _, hook := range packages.HooksOf(on) {
		l.Hooks = append(l.Hooks, packages.HookName(name, hook))
	}
	if text, ok := on.Find(packages.ManifestFile); ok {
		if m, err := packages.ParseManifest(text.Code); err == nil {
			l.Version, l.Description = m.Version, m.Description
		}
	}
	return l
}

func printPackages(out io.Writer, colours terminal.Palette, list []listedPackage) {
	if len(list) == 0 {
		fmt.Fprintln(out, "no packages; pi hooks add SOURCE adds one")
	}
	for _, l := range list {
		from := cmp.Or(l.Source, "unknown source")
		if l.Commit != "" {
			from += fmt.Sprintf(" (%.12s)", l.Commit)
		}
		what := printable.Count(l.Files, "file")
		if len(l.Hooks) > 0 {
			what = strings.Join(l.Hooks, ", ")
		}
		fmt.Fprintf(out, "%-20s %-10s %s %s\n", l.Name, printable.VisibleLine(cmp.Or(l.Version, "-")), paintState(colours, l.State, 9), printable.VisibleLine(from+"  "+what))
	}
}
