package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/BurntSushi/toml"

	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/internal/suggest"
	"pi/luahooks/trust"
)

// The packages of a team: a project names each with its source, its commit and the sum of its files,
// so what a user said yes to is what comes, or nothing. They lie in a folder by their sum, and are in
// force only where a project names that.

// TeamFile is the file of a project, below its .pi, that names packages.
const TeamFile = "packages.toml"

// maxTeam is how many packages a project may name, for a user to judge them.
const maxTeam = 50

// Whole hashes: of a commit, and of a list of files.
var (
	wholeCommit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })
	wholeSum    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })
)

// teamEntry is a table of the file.
type teamEntry struct {
	Source string `toml:"source"`
	Commit string `toml:"commit"`
	Sum    string `toml:"sum"`
}

// ParseTeam reads the file by which a project names packages, in its order. The error names the line, or the table.
func ParseTeam(text []byte) ([]trust.TeamPackage, error) {
	var entries map[string]teamEntry
	meta, err := toml.Decode(string(text), &entries)
	if err != nil {
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, fmt.Errorf("%s:%d: %s", TeamFile, at.Position.Line, printable.VisibleLine(at.Message))
		}
		return nil, fmt.Errorf("%s: %s; each package is a table of its name with source, commit and sum", TeamFile, printable.VisibleLine(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		key := unknown[0][len(unknown[0])-1]
		return nil, fmt.Errorf("%s: [%s]: %q is no key%s; there are source, commit and sum", TeamFile, printable.VisibleLine(unknown[0][0]), printable.Short(printable.VisibleLine(key)),
			suggest.Hint(key, []string{"source", "commit", "sum"}))
	}
	var team []trust.TeamPackage
	for _, key := range meta.Keys() {
		if len(key) != 1 {
			continue
		}
		e := entries[key[0]]
		t := trust.TeamPackage{Name: key[0], Source: e.Source, Commit: e.Commit, Sum: e.Sum}
		if _, err := teamSource(t); err != nil {
			return nil, fmt.Errorf("%s: [%s]: %w", TeamFile, printable.Short(printable.VisibleLine(t.Name)), err)
		}
		team = append(team, t)
	}
	if len(team) > maxTeam {
		return nil, fmt.Errorf("%s names %d packages, at most %d are judged", TeamFile, len(team), maxTeam)
	}
	return team, nil
}

// teamSource is what is fetched of a package of a team: the repository, at the commit. It returns
// an error for a package that is not named whole.
func teamSource(t trust.TeamPackage) (Source, error) {
	if err := CheckName(t.Name); err != nil {
		return Source{}, err
	}
	switch {
	case t.Source == "":
		return Source{}, errors.New("source is missing: the address of a git repository")
	case !wholeCommit().MatchString(t.Commit):
		return Source{}, errors.New("commit is to be the whole hash of a commit, so that it cannot become another one")
	case !wholeSum().MatchString(t.Sum):
		return Source{}, errors.New("sum is to be the hash that `pi hooks add --dry-run` shows for the package")
	}
	s, err := ParseSource(t.Source, string(filepath.Separator), func(string) What {
		if scp().MatchString(t.Source) {
			return Nothing // of that name, so it is an address
		}
		return ARepository // whether it is there is seen when it is fetched
	})
	switch {
	case err != nil:
		return Source{}, err
	case filepath.IsAbs(s.Address) && !filepath.IsAbs(t.Source) && !strings.HasPrefix(t.Source, filePrefix):
		return Source{}, fmt.Errorf("source %s: a path begins at the root, for each who has the project", printable.Short(t.Source))
	case s.Kind != Git:
		return Source{}, fmt.Errorf("source %s: what others shall have too is a git repository", printable.Short(t.Source))
	case s.Ref != "":
		return Source{}, fmt.Errorf("source %s: it is fetched at the commit, so nothing stands behind @", printable.Short(t.Source))
	}
	s.Ref = t.Commit
	return s, nil
}

// FetchTeam brings a package that a project names, after the yes of a user to exactly that, and approves its
// files. Nothing comes that is not of the commit or has another sum. there are the names of all packages that the
// project can rely on.
func (s Store) FetchTeam(ctx context.Context, f Fetcher, t trust.TeamPackage, there []string) error {
	if err := s.Guard.MayChangePackages(); err != nil {
		return fmt.Errorf("package %s: %w", t.Name, err)
	}
	p, err := fetchTeam(ctx, f, t)
	if err != nil {
		return fmt.Errorf("package %s: %w", printable.VisibleLine(t.Name), err)
	}
	if missing := p.Missing(there); len(missing) > 0 {
		return fmt.Errorf("package %s needs %s, which is not here and which the project does not name", t.Name, strings.Join(missing, ", "))
	}
	if broken := p.Broken(); len(broken) > 0 {
		return fmt.Errorf("package %s: %s", t.Name, strings.Join(broken, "; "))
	}
	if err := s.placeBySum(p, t.Sum); err != nil {
		return fmt.Errorf("write package %s: %w", t.Name, err)
	}
	return nil
}

// fetchTeam fetches a package that a project names and checks that it is the one.
func fetchTeam(ctx context.Context, f Fetcher, t trust.TeamPackage) (*Package, error) {
	source, err := teamSource(t)
	if err != nil {
		return nil, err
	}
	got, err := f.Fetch(ctx, source)
	if err != nil {
		return nil, err
	}
	p, err := New(got)
	switch {
	case err != nil:
		return nil, err
	case got.Commit != t.Commit:
		return nil, fmt.Errorf("what came is commit %s, and the project names %s", got.Commit, t.Commit)
	case p.Name != t.Name:
		return nil, fmt.Errorf("what came is called %s", p.Name)
	case p.Sum() != t.Sum:
		return nil, fmt.Errorf("what came has the sum %s, and the project names %s: these are other files than the team has looked at", p.Sum(), t.Sum)
	}
	return p, nil
}

// placeBySum puts a package into the folder of its sum, and approves it there. Whoever is killed in between
// leaves files that nobody approved, and they are replaced by the next one.
func (s Store) placeBySum(p *Package, sum string) error {
	place := trust.Places{AgentDir: s.AgentDir}.SumDir(sum)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	removeBrokenOff(filepath.Dir(place))
	stage, err := os.MkdirTemp(filepath.Dir(place), stagePrefix+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	files := p.Files.Sums()
	next := filepath.Join(stage, sum)
	if err := write(next, p.Files); err != nil {
		return err
	}
	if exists(place) && hasTree(place, files) != nil {
		err = safefile.Exchange(next, place)
	} else if !exists(place) {
		err = os.Rename(next, place)
	}
	if err == nil {
		err = safefile.SyncDir(filepath.Dir(place))
	}
	if err != nil {
		return err
	}
	return s.Guard.ApprovePackage(place, files)
}

// removeBrokenOff removes what programs that were killed have left in the folder of the packages of teams.
func removeBrokenOff(dir string) {
	entries, _ := os.ReadDir(dir) // what cannot be listed stays
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), stagePrefix) && time.Since(info.ModTime()) > settling {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// TeamNames are the names that packages of a project may need: of those that it names, and of the user's.
func (s Store) TeamNames(team []trust.TeamPackage) []string {
	names := s.Names()
	for _, t := range team {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
