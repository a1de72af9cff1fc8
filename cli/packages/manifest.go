package packages

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"pi/internal/printable"
	"pi/internal/suggest"
)

// ManifestFile is where a package says what it is.
const ManifestFile = "package.toml"

// API is the version of what hooks are given that packages are written for.
const API = 1

// Manifest is what package.toml says.
type Manifest struct {
	Name        string   `toml:"name,omitempty" json:"name,omitempty"`
	Description string   `toml:"description,omitempty" json:"description,omitempty"`
	Version     string   `toml:"version,omitempty" json:"version,omitempty"`
	License     string   `toml:"license,omitempty" json:"license,omitempty"`
	API         int64    `toml:"pi_api" json:"pi_api,omitempty"`
	Needs       []string `toml:"needs,omitempty" json:"needs,omitempty"` // names of packages
}

// ParseManifest reads a package.toml. The error names the line, and what was probably meant.
func ParseManifest(text []byte) (Manifest, error) {
	var m Manifest
	meta, err := toml.Decode(string(text), &m)
	if err != nil {
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			return Manifest{}, fmt.Errorf("%s:%d: %s", ManifestFile, at.Position.Line, printable.VisibleLine(at.Message))
		}
		return Manifest{}, fmt.Errorf("%s: %s", ManifestFile, printable.VisibleLine(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		known := []string{"name", "description", "version", "license", "pi_api", "needs"}
		key := unknown[0][0]
		return Manifest{}, fmt.Errorf("%s: %q is no key of it%s; there are %s", ManifestFile, printable.Short(printable.VisibleLine(key)), suggest.Hint(key, known), strings.Join(known, ", "))
	}
	return m, m.check(meta.IsDefined("name"))
}

// maxField is how long a field of a manifest may be.
const maxField = 1_000

// check returns what is wrong with a manifest.
func (m Manifest) check(isNamed bool) error {
	if isNamed {
		if err := CheckName(m.Name); err != nil {
			return fmt.Errorf("%s: name: %w", ManifestFile, err)
		}
	}
	for key, value := range map[string]string{"description": m.Description, "version": m.Version, "license": m.License} {
		if len(value) > maxField || printable.VisibleLine(value) != value {
			return fmt.Errorf("%s: %s is to be one line of at most %d bytes, of characters that are seen", ManifestFile, key, maxField)
		}
	}
	switch {
	case m.API == 0:
		return fmt.Errorf("%s: pi_api is missing; it is to be pi_api = %d", ManifestFile, API)
	case m.API != API:
		return fmt.Errorf("%s: pi_api = %d is not known here; this program has pi_api = %d", ManifestFile, m.API, API)
	case len(m.Needs) > maxFiles:
		return fmt.Errorf("%s: it needs more than %d packages", ManifestFile, maxFiles)
	}
	for i, name := range m.Needs {
		switch err := CheckName(name); {
		case err != nil:
			return fmt.Errorf("%s: needs: %w", ManifestFile, err)
		case name == m.Name && isNamed:
			return fmt.Errorf("%s: needs: it names the package itself", ManifestFile)
		case slices.Contains(m.Needs[:i], name):
			return fmt.Errorf("%s: needs: %s is there twice", ManifestFile, name)
		}
	}
	return nil
}
