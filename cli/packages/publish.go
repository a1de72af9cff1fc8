package packages

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pi/internal/printable"
)

// An author publishes a package by pushing a commit with a tag. What others would be
// refused, or would miss, is told before.

// Candidate is a package as its author has it.
type Candidate struct {
	*Package        // nil: it is none yet
	Tag      string // what its version is to be called in the repository; "" without a version or a repository
	Tagged   bool   // it is called so there already

	raw     Tree // the folder: of a plugin the package has other files
	missing []string
}

// Check looks at the folder of an author and says what is missing before others can add what is
// in it. Nothing of it is run; of git it is asked which tags there are and what is committed. The
// error says that the folder cannot be looked at.
func (f Fetcher) Check(ctx context.Context, dir string, reserved []string) (c *Candidate, missing []string, err error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, nil, err
	} else if !info.IsDir() {
		return nil, nil, fmt.Errorf("%s is no folder", dir)
	}
	c = &Candidate{}
	r, err := f.ofAuthor(dir)
	if err != nil {
		return nil, nil, err
	}
	ignored, err := r.ignored(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	if c.raw, err = readFolder(dir, ignored); err != nil {
		c.miss("%v", err)
		return c, c.missing, nil
	}
	if p, err := New(Fetched{Source: Source{Kind: Folder, Address: dir}, Files: c.raw}); err != nil {
		c.miss("%v", err)
	} else {
		c.Package = p
		c.checkManifest()
		c.checkFiles()
		c.checkNames(reserved)
	}
	if r != nil {
		if err := c.checkCommitted(ctx, r); err != nil {
			c.miss("%v", err)
		}
	}
	return c, c.missing, nil
}

// ofAuthor is the repository that a folder has of its own; nil for none.
func (f Fetcher) ofAuthor(dir string) (*repository, error) {
	git := filepath.Join(dir, ".git")
	if info, err := os.Stat(git); err != nil || !info.IsDir() {
		return nil, nil
	}
	return newRepository(git, Source{Address: git}, f)
}

// ignored are the files and folders of a work tree that git ignores, by their paths there. They are not published.
func (r *repository) ignored(ctx context.Context, dir string) (map[string]bool, error) {
	paths := map[string]bool{}
	if r == nil {
		return paths, nil
	}
	out, err := r.run(ctx, "-C", dir, "--work-tree="+dir, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, fmt.Errorf("list what git ignores: %w", err)
	}
	for name := range strings.SplitSeq(out, "\x00") {
		paths[strings.TrimSuffix(name, "/")] = true
	}
	return paths, nil
}

// miss notes a line of what is missing.
func (c *Candidate) miss(format string, args ...any) {
	c.missing = append(c.missing, fmt.Sprintf(format, args...))
}

// checkManifest looks for what others want to know of a package.
func (c *Candidate) checkManifest() {
	file, m := ManifestFile, c.Manifest
	_, isNamed := c.raw.Find(ManifestFile)
	_, isPlugin := c.raw.Find(pluginFile)
	switch {
	case !isNamed && isPlugin:
		file = pluginFile
	case !isNamed:
		c.miss("%s is missing: it says name, description, version and license, and pi_api = %d", ManifestFile, API)
		return
	}
	for _, field := range [][2]string{{"name", m.Name}, {"description", m.Description}, {"version", m.Version}, {"license", m.License}} {
		if strings.TrimSpace(field[1]) == "" {
			c.miss("%s: %s is missing", file, field[0])
		}
	}
	if _, ok := parseVersion(m.Version); m.Version != "" && !ok {
		c.miss("%s: version %q is to be of three numbers, such as 1.0.0", file, printable.Short(m.Version))
	}
}

// checkFiles looks for the text of a licence, for a test of each hook, and for Lua that does not compile.
func (c *Candidate) checkFiles() {
	isLicence := func(f TreeFile) bool {
		name := strings.ToUpper(f.Path)
		return strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING")
	}
	if !slices.ContainsFunc(c.Files.Files(), isLicence) {
		c.miss("no LICENSE: the text of the license is to come along")
	}
	for _, hook := range c.Hooks() {
		if !c.isTested(hook) {
			c.miss("%s has no test: %s_test.lua beside it is one", hook, strings.TrimSuffix(hook, ".lua"))
		}
	}
	for _, f := range c.Files.Files() {
		if problem := problemOf(f); problem != "" {
			c.miss("%s %s", f.Path, problem)
		}
	}
}

// isTested reports whether there is a test of a hook, by its name or because a test names its file.
func (c *Candidate) isTested(hook string) bool {
	if _, ok := c.Files.Find(strings.TrimSuffix(hook, ".lua") + "_test.lua"); ok {
		return true
	}
	return slices.ContainsFunc(c.Files.Files(), func(f TreeFile) bool {
		return IsTest(f.Path) && bytes.Contains(f.Code, []byte(path.Base(hook)))
	})
}

// checkNames looks for commands that nobody reaches, because the program has them.
func (c *Candidate) checkNames(reserved []string) {
	for _, l := range c.List(There{}) {
		for _, command := range l.Commands {
			if slices.Contains(reserved, command.Name) {
				c.miss("%s: /%s is a command of pi, so this one is not reached", l.Path, command.Name)
			}
		}
	}
}

// checkCommitted compares the files of a folder with what is committed, which is what others get, and the
// version with the tags.
func (c *Candidate) checkCommitted(ctx context.Context, r *repository) error {
	head, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
	head = strings.TrimSpace(head)
	if err != nil || head == "" {
		return errors.New("nothing is committed yet, and others get what is committed")
	}
	committed, err := r.files(ctx, head)
	if err != nil {
		return fmt.Errorf("what is committed: %w", err)
	}
	clean := true
	for _, change := range Changes(committed, c.raw) {
		clean = false
		c.miss("%s is not committed as it is here: %s", printable.VisibleLine(change.Path), change.What)
	}
	if c.Package == nil {
		return nil
	}
	return c.checkTags(ctx, r, head, clean)
}

// checkTags looks whether the version is above those that were published. A tag at a commit that is
// what the folder has is this version itself.
func (c *Candidate) checkTags(ctx context.Context, r *repository, head string, clean bool) error {
	now, ok := parseVersion(c.Manifest.Version)
	if !ok {
		return nil // it was told
	}
	out, err := r.run(ctx, "for-each-ref", "--sort=-creatordate", "--count=500", "--format=%(objectname) %(*objectname) %(refname:strip=2)", "refs/tags")
	if err != nil {
		return fmt.Errorf("list the tags: %w", err)
	}
	c.Tag = "v" + c.Manifest.Version
	highest, last, isHere := "", version{}, false
	for line := range strings.Lines(out) {
		fields := strings.Fields(line) // the tag object or the commit, the commit of a tag object, the name
		tag := fields[len(fields)-1]
		if v, ok := parseVersion(tag); ok && (highest == "" || v.compare(last) > 0) {
			highest, last, isHere = tag, v, clean && slices.Contains(fields[:len(fields)-1], head)
		}
	}
	order := last.compare(now)
	if highest != "" && highest[0] != 'v' { // as the author calls the others
		c.Tag = c.Manifest.Version
	}
	switch c.Tagged = order == 0 && isHere; {
	case highest == "", c.Tagged:
	case order == 0:
		c.miss("version %s is published already, as the tag %s: what has changed has a version above it", c.Manifest.Version, printable.VisibleLine(highest))
	case order > 0:
		c.miss("version %s is not above %s, which is published", c.Manifest.Version, printable.VisibleLine(highest))
	}
	return nil
}

// version is three numbers, and what stands before them is not out yet.
type version struct {
	numbers [3]int
	before  string // of 1.0.0-rc.1 rc.1; "": it is out
}

var versionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?$`)
})

// parseVersion reads a version, or the tag of one.
func parseVersion(s string) (v version, ok bool) {
	parts := versionForm().FindStringSubmatch(s)
	if parts == nil {
		return v, false
	}
	for i := range v.numbers {
		v.numbers[i], _ = strconv.Atoi(parts[i+1])
	}
	v.before = parts[4]
	return v, true
}

// compare orders versions as Semantic Versioning 2.0.0 does.
func (v version) compare(w version) int {
	if c := slices.Compare(v.numbers[:], w.numbers[:]); c != 0 || v.before == w.before {
		return c
	}
	switch "" {
	case v.before:
		return 1
	case w.before:
		return -1
	}
	return slices.CompareFunc(strings.Split(v.before, "."), strings.Split(w.before, "."), func(a, b string) int {
		m, notM := strconv.Atoi(a)
		n, notN := strconv.Atoi(b)
		switch {
		case notM == nil && notN == nil:
			return cmp.Compare(m, n)
		case notM == nil:
			return -1
		case notN == nil:
			return 1
		}
		return cmp.Compare(a, b)
	})
}
