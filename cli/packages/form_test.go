package packages

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAManifestSaysWhatIsWrongWithIt(t *testing.T) {
	for text, want := range map[string]string{
		"pi_api = 1": "",
		"name = 'gate'\ndescription = 'd'\nversion = '1.0'\nlicense = 'MIT'\npi_api = 1\nneeds = ['other', 'more']": "",
		"":                                      "pi_api is missing",
		"pi_api = 2":                            "pi_api = 2 is not known here",
		"pi_api = 1\nnme = 'x'":                 `"nme" is no key of it, did you mean "name"?`,
		"pi_api = 1\n[hooks]\na = 1":            `"hooks" is no key of it`,
		"pi_api = 1\nname = 'pi'":               "no package has it",
		"pi_api = 1\nname = ''":                 "no name of a package",
		"pi_api = 1\nname = 'A'":                "no name of a package",
		"pi_api = 1\nneeds = ['../x']":          "no name of a package",
		"pi_api = 1\nneeds = ['a','a']":         "a is there twice",
		"pi_api = 1\nname = 'a'\nneeds = ['a']": "names the package itself",
		"pi_api = 1\nversion = \"a\\u001b[2J\"": "of characters that are seen",
		"pi_api = 1\nname = ":                   "package.toml:2: ",
		"pi_api = '1'":                          "package.toml",
	} {
		_, err := ParseManifest([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParseManifest holds that what is taken can be a package: its name and those that it needs are names.
func FuzzParseManifest(f *testing.F) {
	for _, seed := range []string{"", "pi_api = 1", "name = 'a'\npi_api = 1\nneeds = ['b']", "name = '../x'", "[a]\nb=1", "pi_api = 1\ndescription = '''x\ny'''", "\x00", "name = \"\\u202e\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			return
		}
		for _, name := range append(m.Needs, m.Name) {
			if name != "" && CheckName(name) != nil {
				t.Errorf("%q: %+v", text, m)
			}
		}
		if m.API != API || strings.ContainsAny(m.Description+m.Version+m.License, "\n\x1b") {
			t.Errorf("%q: %+v", text, m)
		}
	})
}

// take makes a package of files, from a source that is called thing.
func take(files map[string]string) (*Package, error) {
	var list []TreeFile
	for path, text := range files {
		list = append(list, TreeFile{Path: path, Code: []byte(text)})
	}
	tree, err := newTree(list)
	if err != nil {
		return nil, err
	}
	return New(Fetched{Source: Source{Kind: Folder, Address: "/x/thing"}, Files: tree})
}

func TestTheFormOfAPackage(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // the name, or a part of the error
		hooks []string
	}{
		"hooks":             {map[string]string{"hooks/b.lua": "", "hooks/a.lua": "", "hooks/a_test.lua": "", "hooks/lib/x.lua": "", "x.lua": ""}, "thing", []string{"hooks/a.lua", "hooks/b.lua"}},
		"init":              {map[string]string{"init.lua": "", "init_test.lua": "", "lib/x.lua": ""}, "thing", []string{"init.lua"}},
		"prompts alone":     {map[string]string{"prompts/x.md": ""}, "thing", nil},
		"a name of its own": {map[string]string{"skills/x/SKILL.md": "", ManifestFile: "name = 'other'\npi_api = 1"}, "other", nil},
		"both forms":        {map[string]string{"init.lua": "", "hooks/a.lua": ""}, "has one of them", nil},
		"nothing":           {map[string]string{"README": "", "x.lua": ""}, "it is no package", nil},
		"a list of plugins": {map[string]string{".claude-plugin/marketplace.json": "{}", "a/skills/x/SKILL.md": ""}, "a list of plugins", nil},
		"needs itself":      {map[string]string{"init.lua": "", ManifestFile: "needs = ['thing']\npi_api = 1"}, "names the package itself", nil},
	} {
		p, err := take(tt.files)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
			continue
		}
		if p.Name != tt.want || !slices.Equal(p.Hooks(), tt.hooks) {
			t.Errorf("%s: %s with %q, want %+v", name, p.Name, p.Hooks(), tt)
		}
	}
}

func TestAPluginComesAcross(t *testing.T) {
	p, err := take(map[string]string{
		pluginFile:           `{"name": "Code Review", "version": "1.2", "description": "Reviews\n code", "author": {"name": "x"}, "license": "MIT"}`,
		"skills/a/SKILL.md":  "run ${CLAUDE_PLUGIN_ROOT}/x",
		"skills/a/run.sh":    "x",
		"agents/reviewer.md": "x",
		"commands/review.md": "x",
		"commands/git/pr.md": "x",
		"hooks/hooks.json":   "{}",
		".mcp.json":          "{}",
		"scripts/x.py":       "x",
		"LICENSE":            "x",
	})
	must(t, err)
	var paths []string
	for _, f := range p.Files.Files() {
		paths = append(paths, f.Path)
	}
	want := []string{"LICENSE", "agents/reviewer.md", "package.toml", "prompts/git-pr.md", "prompts/review.md", "skills/a/SKILL.md", "skills/a/run.sh"}
	if !slices.Equal(paths, want) || p.Name != "code-review" {
		t.Errorf("%s: %q, want %q", p.Name, paths, want)
	}
	text, _ := p.Files.Find(ManifestFile)
	if m, err := ParseManifest(text.Code); err != nil || m.Version != "1.2" || m.License != "MIT" || m.Description != "Reviews code" {
		t.Errorf("%s: %+v, %v", text.Code, m, err)
	}
	others := strings.Join(p.Others, "\n")
	for _, want := range []string{"examples/command_hooks.lua", "pi mcp import", "scripts/x.py is not taken", "skills/a/SKILL.md names ${CLAUDE_PLUGIN_ROOT}"} {
		if !strings.Contains(others, want) {
			t.Errorf("no %q in\n%s", want, others)
		}
	}
	for name, files := range map[string]map[string]string{
		"two commands of one name": {pluginFile: `{"name": "x"}`, "commands/a/b.md": "", "commands/a-b.md": ""},
		"no JSON":                  {pluginFile: `{`, "commands/b.md": ""},
		"nothing to take":          {pluginFile: `{"name": "x"}`, "hooks/hooks.json": "{}"},
	} {
		if p, err := take(files); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestTheListSaysWhatEachFileDoes(t *testing.T) {
	p, err := take(map[string]string{
		"hooks/a.lua":      `pi.on("tool_call", f) pi.tool{ name = "bash" } pi.tool{ name = "mine" } pi.command("/help", {})`,
		"hooks/b.lua":      `pi.on(name, f)`,
		"hooks/a_test.lua": `t.case("x", f)`,
		"hooks/c.lua":      `= no Lua`,
		"lib.lua":          `return {}`,
		"hooks/#b.lua":     `pi.on("turn_end", f)`,
		"prompts/init.md":  "x",
	})
	must(t, err)
	there := There{Tools: map[string]string{"bash": "pi"}, Commands: map[string]string{"help": "pi", "init": "pi"}}
	there.Add("hook other", []byte(`pi.tool{ name = "mine" }`))
	listed := map[string]Listed{}
	for _, l := range p.List(there) {
		l.Size, l.SHA256 = 0, ""
		listed[l.Path] = l
	}
	for path, want := range map[string]Listed{
		"hooks/a.lua":      {Kind: "hook", Events: []string{"tool_call"}, Tools: []Registered{{"bash", "pi"}, {"mine", "hook other"}}, Commands: []Registered{{"help", "pi"}}},
		"hooks/b.lua":      {Kind: "hook", CannotTell: true},
		"hooks/a_test.lua": {Kind: "test"},
		"lib.lua":          {Kind: "module"},
		"hooks/#b.lua":     {Kind: "module", Events: []string{"turn_end"}}, // editors write such files, so it is no hook
		"prompts/init.md":  {Kind: "prompt", Commands: []Registered{{"init", "pi"}}},
	} {
		if want.Path = path; !reflect.DeepEqual(listed[path], want) {
			t.Errorf("%+v, want %+v", listed[path], want)
		}
	}
	if l := listed["hooks/c.lua"]; !l.CannotTell || l.Problem == "" {
		t.Errorf("%+v", l)
	}
}

func TestTheSumIsOverNameAndFiles(t *testing.T) {
	files := map[string]string{"init.lua": "-- 1", "lib.lua": "x"}
	base, err := take(files)
	must(t, err)
	again, err := take(files)
	must(t, err)
	if base.Sum() != again.Sum() {
		t.Error("the same files have two sums")
	}
	for name, other := range map[string]map[string]string{"a byte": {"init.lua": "-- 2", "lib.lua": "x"}, "a name": {"init.lua": "-- 1", "lic.lua": "x"}, "a file more": {"init.lua": "-- 1", "lib.lua": "x", "z": ""}} {
		p, err := take(other)
		must(t, err)
		if p.Sum() == base.Sum() {
			t.Error(name)
		}
	}
	if base.Files.Sum("thing") == base.Files.Sum("other") {
		t.Error("the name is not in the sum")
	}
	exec := Tree{slices.Clone(base.Files.files)}
	exec.files[0].Executable = true
	if c := Changes(base.Files, exec); knowsExecutable && (len(c) != 1 || c[0].Diff != "init.lua is executable now\n") {
		t.Errorf("%+v", c)
	}
	if exec.Sum("thing") == base.Sum() {
		t.Error("an executable file has the same sum")
	}
}

func TestAFolderIsReadAsItIsButForItsRepository(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"hooks/a.lua", ".git/config", ".gitignore"} {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, path), []byte(path), 0o600))
	}
	tree, err := ReadFolder(dir)
	must(t, err)
	if fmt.Sprint(len(tree.Files())) != "2" {
		t.Errorf("%+v", tree.Files())
	}
	must(t, os.MkdirAll(filepath.Join(dir, "sub", ".git"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "sub", ".git", "config"), nil, 0o600))
	if _, err := ReadFolder(dir); err == nil || !strings.Contains(err.Error(), "sub/.git is one that git has for itself") {
		t.Error(err)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "sub")))
	if os.Symlink("/etc/passwd", filepath.Join(dir, "link")) == nil {
		if _, err := ReadFolder(dir); err == nil || !strings.Contains(err.Error(), "link is a link") {
			t.Error(err)
		}
	}
}

func TestALockIsReadAsItWasWritten(t *testing.T) {
	p, err := take(map[string]string{"init.lua": "x"})
	must(t, err)
	entry := entryOf(p)
	none, err := ParseLock(nil)
	must(t, err)
	text, err := none.with("thing", &entry).encode()
	must(t, err)
	l, err := ParseLock(text)
	if again, _ := l.encode(); err != nil || string(again) != string(text) {
		t.Errorf("%v\n%s\n%s", err, text, again)
	}
	for _, s := range []Source{{Folder, "/gone/pack", ""}, {Git, "/gone/hooks.git", "v1"}, {Git, "/gone/hooks.git", ""}, {Git, "https://example.com/a", "v1"}, {Git, "git@example.com:a", ""}, {File, "/gone/a.lua", ""}} {
		if got, err := (Entry{Kind: s.Kind, Source: s.Address, Ref: s.Ref}).From(); err != nil || got != s {
			t.Errorf("%+v: %+v, %v", s, got, err)
		}
	}
	for _, e := range []Entry{{Kind: Git, Source: "ext::sh -c x"}, {Kind: Git, Source: "-x"}, {Kind: Git, Source: "/a", Ref: "-x"}, {Kind: Git, Source: "https://h/a", Ref: "--x"}, {Kind: Example, Source: "/x"}, {Kind: Folder, Source: "x"}, {Kind: File, Source: "/x"}, {Kind: "other", Source: "/x"}, {Kind: Git, Source: "/a\n"}, {Kind: Git, Source: "https://h/a@v1"}, {}} {
		if got, err := e.From(); err == nil {
			t.Errorf("%+v: %+v", e, got)
		}
	}
	for _, text := range []string{"{", `{"version": 2}`, `{"version": 1} x`, `{"version": 1, "more": 1}`, `{"version": 1, "packages": {"../x": {}}}`, `{"version": 1, "packages": {"x": {"files": {"../y": "z"}}}}`} {
		if _, err := ParseLock([]byte(text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
