package packages

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/luahooks/trust"
)

const (
	someCommit = "0123456789012345678901234567890123456789"
	someSum    = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

func TestAProjectNamesPackagesWhole(t *testing.T) {
	t.Parallel()
	entry := func(source, commit, sum string) string {
		return "[pack]\nsource = \"" + source + "\"\ncommit = \"" + commit + "\"\nsum = \"" + sum + "\"\n"
	}
	good := entry("https://example.com/pack.git", someCommit, someSum)
	for name, c := range map[string]struct {
		text, says string
		n          int
	}{
		"nothing":          {"", "", 0},
		"one":              {good, "", 1},
		"two":              {good + "[b]\nsource = \"git@example.com:b.git\"\ncommit = \"" + someCommit + "\"\nsum = \"" + someSum + "\"\n", "", 2},
		"a path":           {entry("/srv/pack.git", someCommit, someSum), "", 1},
		"a relative path":  {entry("../pack", someCommit, someSum), "begins at the root", 0},
		"a short commit":   {entry("https://example.com/p", "01234", someSum), "[pack]: commit is to be the whole hash", 0},
		"a branch":         {entry("https://example.com/p", "main", someSum), "commit is to be the whole hash", 0},
		"no sum":           {entry("https://example.com/p", someCommit, ""), "sum is to be the hash", 0},
		"no source":        {entry("", someCommit, someSum), "source is missing", 0},
		"a reference":      {entry("https://example.com/p@v1", someCommit, someSum), "nothing stands behind @", 0},
		"an example":       {entry("example:modes", someCommit, someSum), "is a git repository", 0},
		"runs a command":   {entry("ext::sh -c x", someCommit, someSum), "source ext", 0},
		"an option":        {entry("--upload-pack=x", someCommit, someSum), "begins with -", 0},
		"name of pi":       {strings.Replace(good, "[pack]", "[pi]", 1), "no package has it", 0},
		"a name with dots": {strings.Replace(good, "[pack]", "[\"a.b\"]", 1), "no name of a package", 0},
		"a mistyped key":   {good + "sums = \"x\"\n", `[pack]: "sums" is no key, did you mean "sum"?`, 0},
		"no table":         {"pack = 1\n", "each package is a table", 0},
		"broken":           {"[pack\n", "packages.toml:2:", 0},
	} {
		team, err := ParseTeam([]byte(c.text))
		if c.says == "" && (err != nil || len(team) != c.n) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, %v; want %d, %q", name, team, err, c.n, c.says)
		}
	}
	if team, _ := ParseTeam([]byte("[b]\n" + good[7:] + good)); len(team) != 2 || team[0].Name != "b" || team[1].Source != "https://example.com/pack.git" {
		t.Errorf("in the order of the file: %+v", team)
	}
	var many strings.Builder
	for i := range maxTeam + 1 {
		many.WriteString(strings.Replace(good, "[pack]", "[p"+strings.Repeat("x", i)+"]", 1))
	}
	if _, err := ParseTeam([]byte(many.String())); err == nil || !strings.Contains(err.Error(), "at most 50") {
		t.Errorf("too many: %v", err)
	}
}

func TestAPackageOfATeamComesAsItIsNamedOrNotAtAll(t *testing.T) {
	r := newRepo(t)
	first := r.commit(map[string]string{"package.toml": "name = \"pack\"\npi_api = 1\nneeds = [\"other\"]\n", "hooks/a.lua": "-- 1\n"})
	got, err := Fetcher{}.Fetch(t.Context(), parse(t, r.bare+"@"+first))
	must(t, err)
	p, err := New(got)
	must(t, err)
	second := r.commit(map[string]string{"hooks/a.lua": "-- 2\n"})
	broken := r.commit(map[string]string{"package.toml": "name = \"pack\"\npi_api = 1\n", "hooks/a.lua": "= no Lua\n"})
	got, err = Fetcher{}.Fetch(t.Context(), parse(t, r.bare+"@"+broken))
	must(t, err)
	agentDir := filepath.Join(t.TempDir(), "agent")
	must(t, os.MkdirAll(agentDir, 0o700))
	guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: agentDir, Project: t.TempDir()})
	must(t, err)
	s := Store{AgentDir: agentDir, Guard: guard}
	good := trust.TeamPackage{Name: "pack", Source: "file://" + filepath.ToSlash(r.bare), Commit: first, Sum: p.Sum()}
	dir := trust.Places{AgentDir: agentDir}.SumDir(p.Sum())
	for name, c := range map[string]struct {
		change func(*trust.TeamPackage)
		there  []string
		says   string
	}{
		"another sum":         {func(t *trust.TeamPackage) { t.Sum = someSum }, []string{"other"}, "other files than the team has looked at"},
		"another commit":      {func(t *trust.TeamPackage) { t.Commit = second }, []string{"other"}, "other files than the team has looked at"},
		"another name":        {func(t *trust.TeamPackage) { t.Name = "mine" }, []string{"other"}, "is called pack"},
		"no Lua":              {func(t *trust.TeamPackage) { t.Commit, t.Sum = broken, got.Files.Sum("pack") }, nil, "hooks/a.lua does not compile"},
		"a commit not there":  {func(t *trust.TeamPackage) { t.Commit = someCommit }, []string{"other"}, ""},
		"what it needs":       {func(*trust.TeamPackage) {}, nil, "needs other"},
		"nothing at the path": {func(t *trust.TeamPackage) { t.Source += ".gone" }, []string{"other"}, ""},
	} {
		wants := good
		c.change(&wants)
		if err := s.FetchTeam(t.Context(), Fetcher{}, wants, c.there); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) > 0 || len(guard.ApprovedPackage(dir)) > 0 {
			t.Errorf("%s: left are %v, approved %v", name, entries, guard.ApprovedPackage(dir))
		}
	}
	for _, damage := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(filepath.Join(dir, "hooks/a.lua"), []byte("-- evil"), 0o600) },
		func() error { return os.RemoveAll(dir) },
		func() error { // another program was killed while it wrote
			old, left := time.Now().Add(-2*settling), filepath.Join(filepath.Dir(dir), stagePrefix+"left")
			return errors.Join(os.Mkdir(left, 0o700), os.Chtimes(left, old, old))
		},
	} {
		must(t, damage())
		must(t, s.FetchTeam(t.Context(), Fetcher{}, good, []string{"other"}))
		text, err := os.ReadFile(filepath.Join(dir, "hooks/a.lua"))
		if err != nil || string(text) != "-- 1\n" || guard.ApprovedPackage(dir)["hooks/a.lua"] != trust.Sum(text) {
			t.Errorf("here is %q, %v; approved %v", text, err, guard.ApprovedPackage(dir))
		}
		if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
			t.Errorf("left are %v", entries)
		}
	}
}
