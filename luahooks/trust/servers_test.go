package trust

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAProgramOfAServerMayBeLongerThanAHook(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "server")
	long := bytes.Repeat([]byte("x"), MaxHook+1)
	if err := os.WriteFile(path, long, 0o700); err != nil {
		t.Fatal(err)
	}
	g := NewForRun(dir)
	if f := g.Describe([]string{path}); len(f) != 1 || f[0].Problem == "" || f[0].SHA256 != Unreadable {
		t.Errorf("a long file that is no program: %+v", f)
	}
	g = NewForRun(dir)
	g.NoteServers(nil, []string{path})
	files := g.Describe([]string{path, filepath.Join(dir, "gone")})
	if len(files) != 1 || files[0].SHA256 != Sum(long) || files[0].Size != int64(len(long)) || files[0].Approved || files[0].Problem != "" {
		t.Fatalf("%+v", files)
	}
	g.ApproveRun(files)
	if files := g.Describe([]string{path}); !files[0].Approved {
		t.Error("it is approved, and does not count")
	}
	long[MaxHook] = 'y'
	if err := os.WriteFile(path, long, 0o700); err != nil {
		t.Fatal(err)
	}
	again := NewForRun(dir)
	again.NoteServers(nil, []string{path})
	again.ApproveRun(files)
	if files := again.Describe([]string{path}); files[0].Approved || files[0].SHA256 != Sum(long) {
		t.Errorf("the last byte is another one, and it is approved: %+v", files[0])
	}
}

func TestWhichServersFilesAreWatchedAndConcernARun(t *testing.T) {
	agent, project := t.TempDir(), t.TempDir()
	g, err := NewGuard(GuardOptions{AgentDir: agent, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	own, theirs, script := filepath.Join(agent, "mcp.json"), filepath.Join(project, ".mcp.json"), filepath.Join(project, "server.js")
	p := Places{AgentDir: agent, Cwd: project, Servers: []string{theirs}, Programs: []string{script}}
	paths, _ := g.deciding(p)
	for path, scope := range map[string]Scope{own: "", theirs: ScopeProject, script: ScopeProject} {
		if got, watched := paths[path]; !watched || got != scope {
			t.Errorf("%s: %q, %v", path, got, watched)
		}
	}
	p.NoProject = true
	paths, _ = g.deciding(p)
	if _, watched := paths[theirs]; watched || len(paths) == 0 {
		t.Error("a project of which nothing counts is watched")
	}
	for _, tt := range []struct {
		pending Pending
		places  Places
		want    bool
	}{
		{Pending{Path: own, Kind: kindServers}, p, true},
		{Pending{Path: theirs, Kind: kindServers, Scope: ScopeProject}, p, false},
		{Pending{Path: theirs, Kind: kindServers, Scope: ScopeProject}, Places{AgentDir: agent, Cwd: project, NoHooks: true}, true},
		{Pending{Path: script, Kind: kindProgram, Scope: ScopeProject}, Places{AgentDir: agent, Cwd: project}, true},
		{Pending{Path: script, Kind: kindProgram, Scope: ScopeProject}, Places{AgentDir: agent, Cwd: t.TempDir()}, false},
	} {
		if got := tt.pending.Concerns(tt.places); got != tt.want {
			t.Errorf("%s, without the project %v: %v", tt.pending.Kind, tt.places.NoProject, got)
		}
	}
}

func TestServersThatChangedInAWindowWaitAndTheirCopyHasNoSecrets(t *testing.T) {
	agent, project := t.TempDir(), t.TempDir()
	path := filepath.Join(agent, "mcp.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mask := func(text []byte) ([]byte, bool) { return bytes.ReplaceAll(text, []byte("secret"), []byte("…")), true }
	write("one secret")
	g, err := NewGuard(GuardOptions{AgentDir: agent, Project: project, MaskServers: mask})
	if err != nil {
		t.Fatal(err)
	}
	write("two secret") // by the user
	if v := g.Current(path); string(v.Code) != "two secret" {
		t.Errorf("%q", v.Code)
	}
	if err := g.OpenWindow(Places{AgentDir: agent, Cwd: project}, nil, false); err != nil {
		t.Fatal(err)
	}
	write("three secret")
	if v := g.Current(path); string(v.Code) != "two secret" {
		t.Errorf("what a tool wrote is in force: %q", v.Code)
	}
	g.CloseWindow()
	pending := g.ShowPending()
	if len(pending) != 1 || pending[0].Kind != "MCP servers" || strings.Contains(pending[0].Diff, "secret") || !strings.Contains(pending[0].Diff, "+three …") {
		t.Fatalf("%+v", pending)
	}
	g.Close()
	err = filepath.WalkDir(filepath.Join(agent, "trust"), func(path string, d os.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); bytes.Contains(text, []byte("secret")) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	next, err := NewGuard(GuardOptions{AgentDir: agent, Project: project, MaskServers: mask})
	if err != nil {
		t.Fatal(err)
	}
	if v := next.Current(path); string(v.Code) != "two …" {
		t.Errorf("the next program has %q in force", v.Code)
	}
	next.ShowPending()
	if err := next.Accept(path); err != nil {
		t.Fatal(err)
	}
	if v := next.Current(path); string(v.Code) != "three secret" {
		t.Errorf("%q", v.Code)
	}
	next.Close()
}

func TestAFileOfServersThatAUserChangesIsReadAnewAndNeedsAnotherYes(t *testing.T) {
	agent, project := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own, theirs := filepath.Join(agent, "mcp.json"), filepath.Join(project, ".mcp.json")
	write(own, "one")
	write(theirs, "one")
	g, err := NewGuard(GuardOptions{AgentDir: agent, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	g.NoteServers([]string{theirs}, nil)
	is := func(want string, approved bool) {
		t.Helper()
		if own := g.Current(own); string(own.Code) != want {
			t.Errorf("of the user: %q, want %q", own.Code, want)
		}
		v := g.Current(theirs)
		if string(v.Code) != want || g.MayRunVersion(ScopeProject, theirs, v) != approved {
			t.Errorf("of the project: %q, want %q, approved %v", v.Code, want, approved)
		}
	}
	is("one", false)
	if err := g.ApproveAlways(g.Describe([]string{theirs})); err != nil {
		t.Fatal(err)
	}
	is("one", true)
	write(own, "two")
	write(theirs, "two")
	is("two", false)
	g.ApproveRun(g.Describe([]string{theirs}))
	is("two", true)

	// What tools may have written waits, and what was approved before counts.
	p := Places{AgentDir: agent, Cwd: project}
	if err := g.OpenWindow(p, nil, false); err != nil {
		t.Fatal(err)
	}
	write(own, "three")
	write(theirs, "three")
	is("two", true)
	if !g.IsPending(own) || !g.IsPending(theirs) {
		t.Error("what tools may have written does not wait")
	}
}
