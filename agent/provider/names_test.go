package provider

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestOnlyTheTableNamesServers holds that no code decides by the name or the
// address of a provider: what differs is a row of the table.
func TestOnlyTheTableNamesServers(t *testing.T) {
	var words, hosts []string
	for _, k := range kinds {
		words = append(words, k.server)
		words = append(words, strings.Fields(k.names)...)
		for _, host := range strings.Fields(k.hosts) {
			if !strings.HasPrefix(host, "localhost") {
				hosts = append(hosts, host)
			}
		}
	}
	// Names of fields of the APIs, of headers and values.
	allowed := []string{
		"anthropic-version", "anthropic-beta", "anthropic_version", "vertex-2023-10-16",
		"anthropic/compat.go: vertex",                     // a switch
		"discover.go: llamacpp",                           // what a server says of itself
		"wire/wire.go: anthropic", "wire/wire.go: openai", // who made an API
	}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "catalogue" || d.Name() == "testdata"):
			return filepath.SkipDir // data
		case filepath.Ext(file) != ".go", strings.HasSuffix(file, "_test.go"), file == "quirktable.go":
			return nil
		}
		for _, l := range literals(t, file) {
			low := strings.ToLower(l.text)
			if slices.Contains(allowed, low) || slices.Contains(allowed, filepath.ToSlash(file)+": "+low) {
				continue
			}
			for _, host := range hosts {
				if strings.Contains(low, host) {
					t.Errorf("%s:%d names the host %s in %q", file, l.line, host, l.text)
				}
			}
			for _, w := range strings.FieldsFunc(low, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' }) {
				if slices.Contains(words, w) {
					t.Errorf("%s:%d names %s in %q", file, l.line, w, l.text)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

type literal struct {
	text string
	line int
}

// literals are the strings of a file that are neither imports nor tags.
func literals(t *testing.T, file string) []literal {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []literal
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				found = append(found, literal{text, set.Position(n.Pos()).Line})
			}
		}
		return true
	})
	return found
}
