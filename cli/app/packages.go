package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"pi/agent/prompts"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// FetchTeam brings packages that the project names, after the yes of a user to them: all of them, or
// the error says why one did not come. tell is told what is under way.
func (p *Place) FetchTeam(ctx context.Context, wants []trust.TeamPackage, tell func(text ...string)) error {
	named, _, err := p.Guard.Team(p.Places())
	if err != nil {
		return err
	}
	store := p.Packages()
	there := store.TeamNames(append(named, wants...))
	for _, t := range wants {
		tell(fmt.Sprintf("fetching package %s from %s", printable.VisibleLine(t.Name), printable.VisibleLine(t.Source)))
		if err := store.FetchTeam(ctx, p.Fetcher(), t, there); err != nil {
			return err
		}
	}
	return nil
}

// Accept puts in force what waits for approval and a user was shown. Packages that it names come first.
func (p *Place) Accept(ctx context.Context, w trust.Pending, tell func(text ...string)) error {
	_, wants, err := p.Guard.TeamIn(&w)
	if err == nil && len(wants) > 0 {
		err = p.FetchTeam(ctx, wants, tell)
	}
	if err != nil {
		return fmt.Errorf("%s is not approved: %w", printable.VisibleLine(config.Tilde(w.Path)), err)
	}
	return p.Guard.Accept(w.Path)
}

// packageTexts are the folders of skills and templates of the packages in force: the user's, or those
// that the project names. A file of them counts as it was approved.
func (p *Place) packageTexts(ofProject bool) (folders []prompts.Folder) {
	check := func(path string) string {
		if err := p.Guard.CheckPackageText(path); err != nil {
			return err.Error()
		}
		return ""
	}
	for _, pack := range p.Guard.Packages(p.Places()) {
		if pack.OfProject == ofProject {
			folders = append(folders, prompts.Folder{Skills: filepath.Join(pack.Dir, "skills"), Templates: filepath.Join(pack.Dir, "prompts"), From: "package " + pack.Label, Check: check})
		}
	}
	return folders
}

// PackageText is a file of a package as it is in force.
type PackageText struct {
	Package trust.Package
	Path    string // absolute
	Code    []byte
	Err     error // why there is none
}

// PackageAgents are the files agents/*.md of the packages in force.
func (p *Place) PackageAgents() (all []PackageText) {
	for _, pack := range p.Guard.Packages(p.Places()) {
		for _, path := range pack.Files {
			if filepath.Dir(path) != filepath.Join(pack.Dir, "agents") || !strings.HasSuffix(path, ".md") {
				continue
			}
			code, err := p.Guard.ReadPackageText(path)
			all = append(all, PackageText{pack, path, code, err})
		}
	}
	return all
}

// tellUnapproved leaves a warning about what lies among the packages and that nobody approved.
func (p *Place) tellUnapproved(later *messages) {
	for _, s := range p.Guard.UnapprovedPackages(p.Places()) {
		later.warn(fmt.Sprintf("%s is not approved and does not run: %s", printable.VisibleLine(config.Tilde(s.Path)), UnapprovedWay(s)))
	}
}

// UnapprovedWay is what a user can do with what lies among the packages and nobody approved.
func UnapprovedWay(s trust.Source) string {
	if s.Path == s.PackageDir {
		return "move it to another place and `pi hooks add` it from there, or remove it"
	}
	return "it came after package " + printable.VisibleLine(s.Package) + " was approved; remove it, or move it among your own hooks"
}
