package packages

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ready are the files of a package of which nothing is missing.
func ready() map[string]string {
	return map[string]string{
		"package.toml":        "name = \"careful\"\ndescription = \"asks first\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\npi_api = 1\n",
		"LICENSE":             "MIT\n",
		"hooks/gate.lua":      "pi.on(\"input\", function() end)\n",
		"hooks/gate_test.lua": "local t = require \"pi.test\"\n",
	}
}

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

func TestWhatIsMissingOfAPackageIsTold(t *testing.T) {
	t.Parallel()
	manifest := ready()["package.toml"]
	without := func(key string) map[string]string {
		var kept []string
		for line := range strings.Lines(manifest) {
			if !strings.HasPrefix(line, key) {
				kept = append(kept, line)
			}
		}
		return map[string]string{"package.toml": strings.Join(kept, "")}
	}
	for name, c := range map[string]struct {
		files map[string]string // to be there besides; "-": not there
		want  []string
	}{
		"nothing":        {nil, nil},
		"no manifest":    {map[string]string{"package.toml": "-"}, []string{"package.toml is missing: "}},
		"no name":        {without("name"), []string{"package.toml: name is missing"}},
		"no description": {without("description"), []string{"package.toml: description is missing"}},
		"no version":     {without("version"), []string{"package.toml: version is missing"}},
		"no license":     {without("license"), []string{"package.toml: license is missing"}},
		"no pi_api":      {without("pi_api"), []string{"package.toml: pi_api is missing"}},
		"odd version":    {map[string]string{"package.toml": strings.Replace(manifest, "1.2.0", "newest", 1)}, []string{`version "newest" is to be of three numbers`}},
		"a wrong name":   {map[string]string{"package.toml": strings.Replace(manifest, "careful", "pi", 1)}, []string{"pi is the name of what hooks are given"}},
		"no licence":     {map[string]string{"LICENSE": "-"}, []string{"no LICENSE"}},
		"LICENCE.md":     {map[string]string{"LICENSE": "-", "LICENCE.md": "MIT"}, nil},
		"no test":        {map[string]string{"hooks/gate_test.lua": "-"}, []string{"hooks/gate.lua has no test: hooks/gate_test.lua beside it is one"}},
		"one test for two": {map[string]string{"hooks/other.lua": "x = 1", "hooks/gate_test.lua": `t.hook("gate.lua") t.hook("other.lua")`},
			nil},
		"two without": {map[string]string{"hooks/other.lua": "", "hooks/gate_test.lua": "-"}, []string{"hooks/gate.lua has no test", "hooks/other.lua has no test"}},
		"no Lua":      {map[string]string{"hooks/gate.lua": "this is none"}, []string{"hooks/gate.lua does not compile"}},
		"a command":   {map[string]string{"hooks/gate.lua": `pi.command("quit", { handler = f })`}, []string{"hooks/gate.lua: /quit is a command of pi"}},
		"a name":      {map[string]string{"hooks/a b\u202e.lua": ""}, []string{"hooks/"}},
		"no package":  {map[string]string{"hooks/gate.lua": "-", "hooks/gate_test.lua": "-"}, []string{"it is no package"}},
	} {
		dir, files := t.TempDir(), ready()
		maps.Copy(files, c.files)
		maps.DeleteFunc(files, func(_, text string) bool { return text == "-" })
		writeAll(t, dir, files)
		_, missing, err := Fetcher{}.Check(t.Context(), dir, []string{"quit"})
		if err != nil || len(missing) != len(c.want) {
			t.Errorf("%s: %q, want %q; %v", name, missing, c.want, err)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(missing[i], want) {
				t.Errorf("%s: %q, want %q", name, missing[i], want)
			}
		}
	}
	if _, _, err := (Fetcher{}).Check(t.Context(), filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a folder that is not there has nothing missing")
	}
}

func TestAVersionIsHeldAgainstTheTags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after []string // tags before a change and behind it
		want, tag     string
	}{
		"none":              {nil, nil, "", "v1.2.0"},
		"lower ones":        {[]string{"v1.1.9", "v0.10.0", "nightly", "v1.2.0-rc.2"}, nil, "", "v1.2.0"},
		"as the others are": {[]string{"1.1.0"}, nil, "", "1.2.0"},
		"the same earlier":  {[]string{"v1.2.0"}, nil, "version 1.2.0 is published already, as the tag v1.2.0", "v1.2.0"},
		"the same here":     {[]string{"v1.1.0"}, []string{"v1.2.0"}, "", "v1.2.0"},
		"a higher one":      {[]string{"v1.10.0", "v1.9.0"}, nil, "version 1.2.0 is not above v1.10.0", "v1.2.0"},
	} {
		r := newRepo(t)
		r.commit(ready())
		for _, tag := range c.before {
			r.command("", "tag", "-a", "-m", "x", tag)
		}
		r.commit(map[string]string{"README.md": "more\n"})
		for _, tag := range c.after {
			r.command("", "tag", tag)
		}
		got, missing, err := Fetcher{}.Check(t.Context(), r.dir, nil)
		if err != nil || strings.Join(missing, "\n") != c.want && (c.want == "" || len(missing) != 1 || !strings.HasPrefix(missing[0], c.want)) {
			t.Errorf("%s: %q, want %q; %v", name, missing, c.want, err)
		} else if got.Tag != c.tag || got.Tagged != (len(c.after) > 0) {
			t.Errorf("%s: the tag is %s, want %s; there: %v", name, got.Tag, c.tag, got.Tagged)
		}
	}
}

func TestOthersGetWhatIsCommitted(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	writeAll(t, r.dir, ready())
	if _, missing, err := (Fetcher{}).Check(t.Context(), r.dir, nil); err != nil || !slices.Equal(missing, []string{"nothing is committed yet, and others get what is committed"}) {
		t.Errorf("%q, %v", missing, err)
	}
	r.commit(map[string]string{".gitignore": "out/\n"})
	writeAll(t, r.dir, map[string]string{"out/of.bin": "\x00", "hooks/new.lua": "", "hooks/new_test.lua": "", "LICENSE": "other\n"})
	must(t, os.Symlink("/", filepath.Join(r.dir, "out/link")))
	must(t, os.Remove(filepath.Join(r.dir, ".gitignore")))
	writeAll(t, r.dir, map[string]string{".git/info/exclude": "out/\n"})
	_, missing, err := Fetcher{}.Check(t.Context(), r.dir, nil)
	want := []string{".gitignore is not committed as it is here: removed", "LICENSE is not committed as it is here: changed",
		"hooks/new.lua is not committed as it is here: added", "hooks/new_test.lua is not committed as it is here: added"}
	if err != nil || !slices.Equal(missing, want) {
		t.Errorf("%q, want %q; %v", missing, want, err)
	}
}

// A clone of a stranger's repository may say what git is to run.
func TestNothingThatARepositoryNamesIsRunToCheckIt(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(ready())
	marker := filepath.Join(t.TempDir(), "ran")
	writeAll(t, r.dir, map[string]string{"evil.sh": "#!/bin/sh\ntouch " + marker + "\n", ".gitattributes": "* filter=evil\n"})
	must(t, os.Chmod(filepath.Join(r.dir, "evil.sh"), 0o700))
	evil := filepath.Join(r.dir, "evil.sh")
	for _, setting := range []string{"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "core.pager", "core.sshCommand", "core.askPass", "diff.external", "alias.ls-files"} {
		r.command("", "config", setting, evil)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman"} {
		writeAll(t, r.dir, map[string]string{".git/hooks/" + hook: "#!/bin/sh\ntouch " + marker + "\n"})
		must(t, os.Chmod(filepath.Join(r.dir, ".git/hooks", hook), 0o700))
	}
	if _, _, err := (Fetcher{}).Check(t.Context(), r.dir, nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("what the repository names was run")
	}
	r.command("", "status") // and it is run where git is asked in the usual way
	if _, err := os.Stat(marker); err != nil {
		t.Error("the repository names nothing that git would run, so that nothing was shown")
	}
}

func TestVersionsAreInOrder(t *testing.T) {
	t.Parallel()
	order := []string{"0.9.10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "v1.0.0", "1.0.1", "1.2.0", "1.10.0", "v2.0.0"}
	for i, a := range order {
		for j, b := range order {
			v, ok := parseVersion(a)
			w, fine := parseVersion(b)
			if want := max(-1, min(1, i-j)); !ok || !fine || v.compare(w) != want {
				t.Errorf("%s and %s: %d, want %d", a, b, v.compare(w), want)
			}
		}
	}
	for _, none := range []string{"", "1", "1.2", "v", "1.2.3.4", "1.2.x", "1.2.3-", "01234567890.1.1", "release-1.2.3", "1.2.3\n"} {
		if _, ok := parseVersion(none); ok {
			t.Errorf("%q is a version", none)
		}
	}
}
