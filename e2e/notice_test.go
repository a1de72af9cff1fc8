package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestNoticeNamesTheModulesInTheBinary(t *testing.T) {
	notice, err := os.ReadFile(inModule("NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, word := range strings.Fields(string(notice)) {
		words[word] = true
	}
	linked := map[string]bool{"charm.land/catwalk": true} // data, not code
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, module := range linkedModules(t, system) {
			linked[module] = true
			if !words[module] {
				t.Errorf("NOTICE does not name %s, which the %s binary contains", module, system)
			}
		}
	}
	for word := range words {
		if host, _, found := strings.Cut(word, "/"); found && strings.Contains(host, ".") && !linked[word] {
			t.Errorf("NOTICE names %s, which no binary contains", word)
		}
	}
}

// The data has the version that its generator asks for.
func TestNoticeNamesTheVersionOfTheCatalogue(t *testing.T) {
	for line := range strings.Lines(mustRead(t, inModule("agent/provider/catalogue/generate/go.mod"))) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "require charm.land/catwalk "); ok {
			if !strings.Contains(mustRead(t, inModule("NOTICE")), "charm.land/catwalk "+version+",") {
				t.Errorf("NOTICE does not name version %s of charm.land/catwalk", version)
			}
			return
		}
	}
	t.Error("the generator does not require charm.land/catwalk")
}

// The text of every licence of what is linked is shipped as it is, and nothing else
// is.
func TestLicencesOfWhatIsInTheBinaryAreWhole(t *testing.T) {
	want := licencesIn(t, "go", strings.TrimSpace(goTool(t, "env", "GOROOT")))
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, module := range linkedModules(t, system) {
			dir := strings.TrimSpace(goTool(t, "list", "-m", "-f", "{{.Dir}}", module))
			maps.Copy(want, licencesIn(t, strings.ReplaceAll(module, "/", "_"), dir))
		}
	}
	const data = "charm.land_catwalk-LICENSE" // its module is the generator's only
	shipped, err := os.ReadDir(inModule("LICENSES"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range shipped {
		text := licenceText(t, inModule("LICENSES/"+f.Name()))
		if f.Name() != data && text != want[f.Name()] {
			t.Errorf("LICENSES/%s is not that of what is linked", f.Name())
		}
		delete(want, f.Name())
	}
	for name := range want {
		t.Errorf("LICENSES/%s is missing", name)
	}
}

// licencesIn are the licences in the root of a module, by their name in LICENSES.
func licencesIn(t *testing.T, prefix, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, begin := range []string{"licen", "copying", "notice", "patents"} {
			if strings.HasPrefix(strings.ToLower(f.Name()), begin) && f.Type().IsRegular() {
				found[prefix+"-"+f.Name()] = licenceText(t, filepath.Join(dir, f.Name()))
			}
		}
	}
	if len(found) == 0 {
		t.Errorf("%s has no licence", prefix)
	}
	return found
}

func goTool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %q: %v", args, err)
	}
	return string(out)
}

// linkedModules are the modules of all packages that the program is built from;
// that each can be built is for other tests to say.
func linkedModules(t *testing.T, system string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "pi")
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages of the program: %v", err)
	}
	modules := strings.Fields(string(out))
	if len(modules) == 0 {
		t.Fatal("go list names no module")
	}
	return modules
}

func licenceText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
