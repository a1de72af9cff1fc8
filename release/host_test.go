//go:build unix

package release

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The release of this machine is built from two folders, one in no repository and one in a repository without a commit,
// by two shells, at two times, for users with other habits. Its name says that root does that too: in CI root's cache has
// the program, and an ordinary user's has nothing.
func TestAReleaseIsTheSameBytesAsRoot(t *testing.T) {
	t.Parallel()
	needsCache(t)
	here, there := newTree(t), newTree(t)
	target := strings.Replace(host(), "-", "/", 1)
	mustBuild(t, here, []string{"sh"}, []string{"GOFLAGS=-mod=mod -buildvcs=true", "GOAMD64=v3"}, version, target)
	mustRun(t, "git", "init", "-q", there)
	age(t, there)
	mustBuild(t, there, lastShell(), []string{"TZ=Asia/Tokyo", "LANG=de_DE.UTF-8", "CGO_ENABLED=1"}, "-o", "out", version, target)
	dist := filepath.Join(here, "dist", version)
	mustEqual(t, dist, filepath.Join(there, "out"))

	checkSums(t, dist)
	name := "pi-" + version + "-" + host()
	all := unpack(t, filepath.Join(dist, name+".tar.gz"))
	checkOrder(t, name, all, time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC))
	for file, says := range map[string]string{
		"completions/pi.bash": "complete ", "completions/_pi": "#compdef pi", "completions/pi.fish": "complete -c pi",
		"man/pi.1": `.TH "pi" 1 "" "pi ` + version + `"`, "man/pi-hooks.7": `.TH "pi\-hooks" 7`,
	} {
		if text := find(t, all, file); !strings.Contains(text, says) {
			t.Errorf("%s does not say %s:\n%.300s", file, says, text)
		}
	}
	checkBill(t, []byte(find(t, all, "pi")), mustRead(t, filepath.Join(dist, name+".cdx.json")))
	t.Run("container", func(t *testing.T) { testContainer(t, dist) })
}

// age makes all files of a tree old.
func age(t *testing.T, tree string) {
	t.Helper()
	mustRun(t, "find", tree, "-exec", "touch", "-t", "200102030405", "{}", "+")
}

// bill is what a test reads in a bill of materials.
type bill struct {
	SpecVersion  string
	SerialNumber *string
	Metadata     struct {
		Timestamp *string
		Component part
	}
	Components   []part
	Dependencies []struct {
		Ref       string
		DependsOn []string
	}
}

type part struct {
	Type, Name, Version, Purl string
	Ref                       string `json:"bom-ref"`
	Licenses                  []struct{ License struct{ ID string } }
}

func (p part) licences() (ids []string) {
	for _, l := range p.Licenses {
		ids = append(ids, l.License.ID)
	}
	return ids
}

// checkBill holds a bill against the binary that it is of, and against NOTICE.
func checkBill(t *testing.T, binary []byte, text string) {
	t.Helper()
	var b bill
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	if b.SpecVersion != "1.6" || b.SerialNumber != nil || b.Metadata.Timestamp != nil {
		t.Errorf("CycloneDX %s, number %v, time %v", b.SpecVersion, b.SerialNumber, b.Metadata.Timestamp)
	}
	if c := b.Metadata.Component; c.Type != "application" || c.Name != "pi" || c.Version != version || !slices.Equal(c.licences(), []string{"MIT"}) {
		t.Errorf("it is of %+v", c)
	}
	path := filepath.Join(t.TempDir(), "pi")
	if err := os.WriteFile(path, binary, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		want[m.Path] = m.Version
	}
	if len(want) < 10 {
		t.Errorf("the binary has the modules %v", want)
	}
	notice, got, refs := mustRead(t, "../NOTICE"), map[string]string{}, []string{}
	for _, c := range b.Components {
		refs = append(refs, c.Ref)
		if c.Type == "library" {
			got[c.Name] = c.Version
		}
		checkLicences(t, notice, c)
	}
	if !maps.Equal(got, want) {
		t.Errorf("the bill has %v\nthe binary %v", got, want)
	}
	if len(b.Dependencies) != len(refs)+1 || b.Dependencies[0].Ref != "pi" || !slices.Equal(b.Dependencies[0].DependsOn, refs) {
		t.Errorf("it depends on %+v", b.Dependencies)
	}
}

// checkLicences holds the licences of a part against the heading that it has in NOTICE.
func checkLicences(t *testing.T, notice string, c part) {
	t.Helper()
	headings := map[string]string{"MIT": "MIT License", "BSD-3-Clause": "BSD 3-Clause License", "Apache-2.0": "Apache License 2.0", "MPL-2.0": "Mozilla Public License 2.0"}
	purl := fmt.Sprintf("pkg:golang/%s@%s", c.Name, c.Version)
	if len(c.Licenses) == 0 || c.Purl != purl || c.Ref != purl {
		t.Errorf("%+v", c)
		return
	}
	if c.Name == "std" || c.Type == "data" {
		return // these have a paragraph, and no heading
	}
	begin, _, found := strings.Cut(notice, "    "+c.Name)
	heading, last := "", -1
	for id, words := range headings {
		if at := strings.LastIndex(begin, "\n"+words+"\n"); at > last {
			heading, last = id, at
		}
	}
	if !found || !slices.Contains(c.licences(), heading) {
		t.Errorf("%s has the licences %v, and stands in NOTICE under %q", c.Name, c.licences(), heading)
	}
}
