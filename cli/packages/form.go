package packages

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/safefile"
	"pi/luahooks/trust"
	"pi/luavm"
)

// Package is what came from a source, in the form that packages have here.
type Package struct {
	Name     string
	Manifest Manifest
	Source   Source
	Commit   string // of a repository
	Named    string // what the reference names there, see [Fetched]
	Files    Tree   // as they will lie in the folder of the package

	// Others are what comes along and is not taken, each with the command that would use it.
	Others []string
}

// New finds out what package the files are that were fetched. The error says why they are none, or what is
// wrong with them.
func New(got Fetched) (*Package, error) {
	p := &Package{Source: got.Source, Commit: got.Commit, Named: got.Named, Files: got.Files}
	text, isNamed := got.Files.Find(ManifestFile)
	_, isPlugin := got.Files.Find(pluginFile)
	switch {
	case isNamed:
		m, err := ParseManifest(text.Code)
		if err != nil {
			return nil, err
		}
		p.Manifest = m
	case isPlugin:
		if err := p.takePlugin(); err != nil {
			return nil, err
		}
	}
	p.Name = cmp.Or(p.Manifest.Name, got.Source.Name())
	if err := CheckName(p.Name); err != nil {
		if got.Source.Kind == File {
			return nil, fmt.Errorf("%w: the file has to be called otherwise", err)
		}
		return nil, fmt.Errorf("%w; %s in it can give it one: name = \"…\"", err, ManifestFile)
	}
	if slices.Contains(p.Manifest.Needs, p.Name) {
		return nil, fmt.Errorf("%s: needs: it names the package itself", ManifestFile)
	}
	return p, p.checkForm()
}

// checkForm returns why the files are no package.
func (p *Package) checkForm() error {
	_, hasInit := p.Files.Find("init.lua")
	hooks := p.Hooks()
	switch {
	case hasInit && len(hooks) > 1:
		return errors.New("it has both init.lua and hooks/*.lua, and a package has one of them")
	case len(hooks) > 0, len(p.Files.Below("prompts")) > 0, len(p.Files.Below("skills")) > 0, len(p.Files.Below("agents")) > 0:
		return nil
	}
	if _, ok := p.Files.Find(".claude-plugin/marketplace.json"); ok {
		return errors.New("it is a list of plugins and none itself; add the folder of one of them, or its own repository")
	}
	return errors.New("it is no package: there is neither hooks/*.lua nor init.lua, and no prompts/, skills/ or agents/")
}

// Hooks lists the hooks of a package, by their paths in it, in the order in which they are asked. Its
// tests and modules are none.
func (p *Package) Hooks() []string { return HooksOf(p.Files) }

// HooksOf is [Package.Hooks] for the files of a package.
func HooksOf(t Tree) (paths []string) {
	for _, f := range t.Files() {
		if isHook(f.Path) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// isHook reports whether a file of a package is a hook, by its path there.
func isHook(file string) bool {
	_, ok := trust.HookOfPackage("", file)
	return ok
}

// IsTest reports whether a file is a test of hooks.
func IsTest(file string) bool { return strings.HasSuffix(file, "_test.lua") }

// HasTests reports whether a package has tests of its hooks.
func (p *Package) HasTests() bool {
	return slices.ContainsFunc(p.Files.Files(), func(f TreeFile) bool { return IsTest(f.Path) })
}

// Broken lists the hooks and modules that do not compile, each with why. With one in force no tool would be.
func (p *Package) Broken() (problems []string) {
	for _, f := range p.Files.Files() {
		if problem := problemOf(f); problem != "" && !IsTest(f.Path) {
			problems = append(problems, f.Path+" "+problem)
		}
	}
	return problems
}

// problemOf says why a file of Lua does not compile; "" for what does, and for other files.
func problemOf(f TreeFile) string {
	if !strings.HasSuffix(f.Path, ".lua") {
		return ""
	}
	if _, err := luavm.Compile(f.Path, f.Code); err != nil {
		return "does not compile: " + err.Error()
	}
	return ""
}

// Sum is one hash over the name and all files of the package.
func (p *Package) Sum() string { return p.Files.Sum(p.Name) }

// HookName is what a hook of a package is called everywhere, by its path there.
func HookName(pack, file string) string {
	name, _ := trust.HookOfPackage(pack, file)
	return name
}

// Around returns the package that a folder of hooks belongs to, and what that is called: one whose author
// works on it has a package.toml, one that came lies among the packages.
func Around(dir string) (root, name string, ok bool) {
	for _, root := range []string{dir, filepath.Dir(dir)} {
		if root != dir && filepath.Base(dir) != "hooks" {
			break
		}
		name := filepath.Base(root)
		text, err := safefile.Read(filepath.Join(root, ManifestFile), maxFile)
		above := filepath.Base(filepath.Dir(root))
		switch {
		case err == nil:
			if m, err := ParseManifest(text); err == nil {
				name = cmp.Or(m.Name, name)
			}
		case above != "packages" && !strings.HasPrefix(above, stagePrefix):
			continue
		}
		return root, name, CheckName(name) == nil
	}
	return "", "", false
}
