//go:build unix

package luahooks

import (
	"os"
	"pi/luahooks/trust"
	"syscall"
	"testing"
	"time"
)

// endsSoon fails a test whose work does not end.
func endsSoon(t *testing.T, what string, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); work() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s holds everything up", what)
	}
}

func TestALinkInAProjectTakesNoHookOfTheUsersOutOfTheChain(t *testing.T) {
	t.Parallel()
	for name, names := range map[string]func(*trust.Places, string){
		"configured":   func(p *trust.Places, path string) { p.Configured = []string{path} },
		"command line": func(p *trust.Places, path string) { p.CommandLine = []string{path} },
	} {
		for _, link := range []string{"project/.pi/hooks/gate.lua", "project/.pi/hooks/other.lua"} {
			g := newGuarded(t)
			g.write("own/gate.lua", `pi.on("tool_call", function() return { block = true, reason = "no" } end)`)
			mustDo(t, os.Symlink(g.path("own/gate.lua"), g.path(link)))
			r := g.start(func(o *Options) {
				names(&o.Places, g.path("own/gate.lua"))
				o.Places.DisableProject = []string{"gate", g.path("own/gate.lua")}
			})
			if !r.bash("x").Block {
				t.Errorf("%s, %s: the gate is open", name, link)
			}
		}
	}
}

func TestAHookOfTheProjectThatTheUserNamesRuns(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/a.lua", says("a"))
	g.write("project/.pi/hooks/b.lua", says("b"))
	r := g.start(func(o *Options) { o.Places.CommandLine = []string{g.path("project/.pi/hooks/a.lua")} })
	r.wantInput("a")
}

func TestWhatIsNoFileHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"agent/trust.json", "agent/trust/window-1", "agent/trust/lock", "agent/hooks/x.lua",
		"agent/config.toml", "project/.pi/hooks/x.lua", "project/.pi/config.toml"} {
		for kind, put := range map[string]func(path string) error{
			"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"endless":      func(path string) error { return os.Symlink("/proc/self/pagemap", path) },
		} {
			g := newGuarded(t)
			mustDo(t, os.MkdirAll(g.path("agent/trust"), 0o700))
			mustDo(t, put(g.path(name)))
			guard, _ := trust.NewGuard(trust.GuardOptions{AgentDir: g.path("agent"), Project: g.path("project")})
			places := trust.Places{AgentDir: g.path("agent"), Cwd: g.path("project")}
			endsSoon(t, name+": "+kind, func() {
				r := newRig(t, nil, func(o *Options) { o.Places, o.Cwd, o.Guard = places, places.Cwd, guard })
				r.tool(func() {})
				r.chain.Pending()
				r.quit()
			})
		}
	}
}

func TestALinkToEverythingHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/a.lua", says("a"))
	mustDo(t, os.Symlink("/", g.path("project/.pi/hooks/all")))
	if n := len(trust.Places{Cwd: g.path("project")}.ProjectPaths()); n == 0 || n > trust.MaxEntries {
		t.Errorf("%d files", n)
	}
	r := g.start()
	r.wantInput("")
	if files := r.chain.guard.ProjectFiles(r.chain.opts.Places); len(files) > 0 {
		t.Errorf("%d files are asked about, of a project that nobody can judge", len(files))
	}
	r.mustSay("no hook of this project runs")
}
