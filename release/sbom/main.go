// Sbom writes what the program consists of, for each target that it is built for, as bills of materials in the JSON of
// CycloneDX 1.6:
//
//	sbom VERSION BINARIES FOLDER GOOS/GOARCH...
//
// FOLDER gets pi-VERSION-GOOS-GOARCH.cdx.json. Sbom is started in the top folder of the program, whose folder LICENSES
// has the licence of each module. Of the same tree a bill says the same at all times: it has no serial number and no
// time. What the compiler has noted in the binaries, which are in the folder BINARIES as pi-GOOS-GOARCH (.exe for
// windows), has to be what their bills name.
package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 4 {
		return errors.New("give the version, the folder of the binaries, a folder, and targets")
	}
	licences, err := readLicences("LICENSES")
	if err != nil {
		return err
	}
	own, err := licencesIn("LICENSE")
	if err != nil {
		return err
	}
	for _, target := range args[3:] {
		system, processor, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("%s is no target", target)
		}
		modules, err := linkedModules(system, processor)
		if err != nil {
			return err
		}
		name := system + "-" + processor
		if err := checkBinary(args[1], name, modules); err != nil {
			return err
		}
		parts, err := components(modules, licences)
		if err != nil {
			return err
		}
		bill := newBill(newProgram(args[0], system, processor, own), parts)
		if err := write(bill, args[2]+"/pi-"+args[0]+"-"+name+".cdx.json"); err != nil {
			return err
		}
	}
	return nil
}

// linkedModules are the modules whose packages are in the program, with their versions.
func linkedModules(system, processor string) (map[string]string, error) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of the program: %w", err)
	}
	modules := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			modules[path] = version
		}
	}
	return modules, nil
}

// checkBinary returns an error if the binary of a target was not built from just these modules. One that no compiler
// of Go has made, as tests pack them, says nothing of that.
func checkBinary(folder, target string, modules map[string]string) error {
	path := folder + "/pi-" + target
	if strings.HasPrefix(target, "windows-") {
		path += ".exe"
	}
	info, err := buildinfo.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return nil
	}
	built := map[string]string{}
	for _, m := range info.Deps {
		built[m.Path] = m.Version
	}
	if !maps.Equal(built, modules) {
		return fmt.Errorf("%s was built from %v, and the tree has %v", path, built, modules)
	}
	return nil
}

// readLicences reads which licences the files of a folder are, by the beginning of their names: the module, with _
// for /. Grants of patents that stand beside a licence are none.
func readLicences(folder string) (map[string][]string, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	isLicence := regexp.MustCompile(`^(.*)-(?:LICENSE|COPYING)(?:[-.][A-Za-z]+)?$`)
	licences := map[string][]string{}
	for _, f := range files {
		name := isLicence.FindStringSubmatch(f.Name())
		if name == nil {
			continue
		}
		ids, err := licencesIn(folder + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		licences[name[1]] = append(licences[name[1]], ids...)
	}
	return licences, nil
}

// licencesIn are the licences whose text a file has, by their names in the list of SPDX.
func licencesIn(path string) (ids []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, m := range licensecheck.Scan(text).Match {
		if !m.IsURL && !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	if ids == nil {
		return nil, fmt.Errorf("%s is no licence that is known", path)
	}
	return ids, nil
}

// newProgram is the program itself.
func newProgram(version, system, processor string, ids []string) *cdx.Component {
	c := &cdx.Component{BOMRef: "pi", Type: cdx.ComponentTypeApplication, Name: "pi", Version: version, Licenses: choices(ids)}
	c.Properties = &[]cdx.Property{
		{Name: "cdx:gomod:build:env:CGO_ENABLED", Value: "0"},
		{Name: "cdx:gomod:build:env:GOARCH", Value: processor},
		{Name: "cdx:gomod:build:env:GOOS", Value: system},
	}
	return c
}

// components are what the program consists of besides its own packages, by name: modules, the library of Go, and data.
func components(modules map[string]string, licences map[string][]string) (all []cdx.Component, err error) {
	add := func(kind cdx.ComponentType, path, version, licence string) {
		ids := licences[licence]
		if len(ids) == 0 {
			err = errors.Join(err, fmt.Errorf("LICENSES has no licence of %s", path))
		}
		url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
		all = append(all, cdx.Component{BOMRef: url, Type: kind, Name: path, Version: version, Licenses: choices(ids), PackageURL: url})
	}
	for path, version := range modules {
		add(cdx.ComponentTypeLibrary, path, version, strings.ReplaceAll(path, "/", "_"))
	}
	add(cdx.ComponentTypeLibrary, "std", strings.TrimPrefix(runtime.Version(), "go"), "go")
	version, failed := catalogueVersion()
	add(cdx.ComponentTypeData, catalogueModule, version, strings.ReplaceAll(catalogueModule, "/", "_"))
	slices.SortFunc(all, func(a, b cdx.Component) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(err, failed)
}

// catalogueModule is where the data about models comes from, which is in the program without a package.
const catalogueModule = "charm.land/catwalk"

// catalogueVersion is the version of the data that is in the program: the one that its generator asks for.
func catalogueVersion() (string, error) {
	const file = "agent/provider/catalogue/generate/go.mod"
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^require ` + regexp.QuoteMeta(catalogueModule) + ` (\S+)$`).FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s does not require %s", file, catalogueModule)
	}
	return string(found[1]), nil
}

func choices(ids []string) *cdx.Licenses {
	var all cdx.Licenses
	for _, id := range ids {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &all
}

// newBill is the bill of a program and of what it consists of.
func newBill(program *cdx.Component, parts []cdx.Component) *cdx.BOM {
	uses := cdx.Dependency{Ref: program.BOMRef, Dependencies: &[]string{}}
	all := []cdx.Dependency{}
	for _, p := range parts {
		*uses.Dependencies = append(*uses.Dependencies, p.BOMRef)
		all = append(all, cdx.Dependency{Ref: p.BOMRef})
	}
	all = append([]cdx.Dependency{uses}, all...)
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{Component: program, Lifecycles: &[]cdx.Lifecycle{{Phase: cdx.LifecyclePhaseBuild}}}
	b.Components, b.Dependencies = &parts, &all
	return b
}

func write(b *cdx.BOM, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cdx.SpecVersion1_6), f.Close())
}
