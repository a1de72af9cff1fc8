package luahooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent"

	"pi/luahooks/trust"

	"github.com/fsnotify/fsnotify"
)

// says is a hook that answers an input with a word.
func says(word string) string {
	return fmt.Sprintf(`pi.on("input", function(e) return { text = e.text .. %q } end)`, word)
}

// watched is a rig whose files are watched.
func watched(t testing.TB, files map[string]string, change ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, files, change...)
	r.host.heard = make(chan struct{}, 1)
	mustDo(t, r.chain.Watch(context.Background()))
	return r
}

// waitFor waits until the chain makes want of an empty input.
func (r *rig) waitFor(want string) {
	r.t.Helper()
	r.waitUntil(func() bool { return r.input("") == want }, func() string {
		return fmt.Sprintf("want %q, have %q", want, r.input(""))
	})
}

// waitUntil looks whenever the chain says something: it does after each change.
func (r *rig) waitUntil(done func() bool, why func() string) {
	r.t.Helper()
	late := time.After(3 * time.Second)
	for !done() {
		select {
		case <-r.host.heard:
		case <-late:
			r.t.Fatalf("%s; notices:\n%s", why(), strings.Join(r.host.notices(), "\n"))
		}
	}
}

func TestSavingTakesEffectHoweverTheEditorSaves(t *testing.T) {
	path := func(r *rig) string { return filepath.Join(r.dir, "h.lua") }
	const betweenLooks = quiet + lookAgain/2 // the moment that two of the ways are about
	ways := map[string]func(t *testing.T, r *rig, code string){
		"in place": func(t *testing.T, r *rig, code string) { mustDo(t, os.WriteFile(path(r), []byte(code), 0o644)) },
		"truncated and written in pieces": func(t *testing.T, r *rig, code string) {
			f, err := os.Create(path(r))
			mustDo(t, err)
			for len(code) > 0 {
				n := min(10, len(code))
				_, err = f.WriteString(code[:n])
				mustDo(t, err)
				code = code[n:]
			}
			mustDo(t, f.Close())
		},
		"to a temporary file that is renamed": func(t *testing.T, r *rig, code string) {
			mustDo(t, os.WriteFile(path(r)+".tmp", []byte(code), 0o644))
			mustDo(t, os.Rename(path(r)+".tmp", path(r)))
		},
		"with the old file moved away": func(t *testing.T, r *rig, code string) {
			mustDo(t, os.Rename(path(r), path(r)+"~"))
			mustDo(t, os.WriteFile(path(r), []byte(code), 0o644))
			mustDo(t, os.Remove(path(r)+"~"))
		},
		"with the old file moved away for a while": func(t *testing.T, r *rig, code string) {
			mustDo(t, os.Rename(path(r), path(r)+"~"))
			time.Sleep(betweenLooks)
			mustDo(t, os.WriteFile(path(r), []byte(code), 0o644))
		},
		"by another file at the end of a link": func(t *testing.T, r *rig, code string) {
			next := filepath.Join(r.cwd, "elsewhere.lua")
			mustDo(t, os.WriteFile(next, []byte(code), 0o644))
			mustDo(t, os.Symlink(next, path(r)+".tmp"))
			mustDo(t, os.Rename(path(r)+".tmp", path(r)))
		},
		"after an empty file": func(t *testing.T, r *rig, code string) {
			mustDo(t, os.WriteFile(path(r), nil, 0o644))
			time.Sleep(betweenLooks)
			mustDo(t, os.WriteFile(path(r), []byte(code), 0o644))
		},
	}
	for name, save := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n []string
			for range 5 { // on a busy machine a look may fall into the middle of a save
				r := watched(t, map[string]string{"a.lua": says("a"), "h.lua": "pi.state.kept = 'kept '\n" + says("old"), "z.lua": says("z")})
				save(t, r, `pi.on("input", function(e) return { text = e.text .. pi.state.kept .. "new" } end)`)
				r.waitFor("akept newz")
				r.waitFor("akept newz")
				if n = r.host.notices(); len(n) == 1 && n[0] == "info: hook h loaded" {
					return
				}
			}
			t.Errorf("one load per save: %q", n)
		})
	}
}

func TestWriteThroughALinkTakesEffect(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	real := filepath.Join(r.cwd, "dots", "h.lua")
	mustDo(t, os.MkdirAll(filepath.Dir(real), 0o755))
	mustDo(t, os.WriteFile(real, []byte(`pi.on("input", function(e) return { text = require "word" } end)`), 0o644))
	mustDo(t, os.WriteFile(filepath.Join(r.cwd, "dots", "word.lua"), []byte(`return "beside the file"`), 0o644))
	mustDo(t, os.Symlink(real, filepath.Join(r.dir, "h.lua")))
	r.host.heard = make(chan struct{}, 1)
	mustDo(t, r.chain.Watch(context.Background()))
	r.waitFor("beside the file")
	mustDo(t, os.WriteFile(real, []byte(says("written")), 0o644))
	r.waitFor("written")
}

func TestANewFileAppearsAndADeletedOneDisappears(t *testing.T) {
	t.Parallel()
	r := watched(t, map[string]string{"b.lua": says("b")})
	r.write("c.lua", says("c"))
	r.write("a/init.lua", says("a"))
	r.waitFor("abc")
	mustDo(t, os.Remove(filepath.Join(r.dir, "b.lua")))
	mustDo(t, os.RemoveAll(filepath.Join(r.dir, "a")))
	r.waitFor("c")
	r.write("a/init.lua", says("A"))
	r.waitFor("Ac")
	mustDo(t, os.WriteFile(filepath.Join(r.dir, "c.lua"), nil, 0o644))
	r.waitFor("A")
	if h := r.chain.Hooks(); len(h) != 2 {
		t.Errorf("hooks are %v", h)
	}
}

func TestADirectoryThatWasNotThereIsSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, func(o *Options) {
		o.Places.AgentDir = filepath.Join(o.Cwd, "home", ".config", "agent")
		o.ApproveProject = true
	})
	r.dir = filepath.Join(r.cwd, "home", ".config", "agent", "hooks")
	r.host.heard = make(chan struct{}, 1)
	mustDo(t, r.chain.Watch(context.Background()))
	r.write("a.lua", says("a"))
	r.waitFor("a")
	r.dir = filepath.Join(r.cwd, ".pi", "hooks")
	r.ui.ask = func(context.Context, string, string) (string, bool, error) { return "", true, nil }
	r.write("p.lua", says("p"))
	r.waitFor("ap")
}

func TestADirectoryThatGoesAndComesAgainIsSeen(t *testing.T) {
	t.Parallel()
	r := watched(t, map[string]string{"a.lua": says("a")})
	mustDo(t, os.RemoveAll(r.dir))
	r.waitFor("")
	r.write("a.lua", says("again"))
	r.waitFor("again")
	mustDo(t, os.RemoveAll(filepath.Dir(r.dir)))
	r.write("a.lua", says("at once"))
	r.waitFor("at once")
	mustDo(t, os.Rename(r.dir, r.dir+".away"))
	r.waitFor("")
	mustDo(t, os.Rename(r.dir+".away", r.dir))
	r.waitFor("at once")
	r.write("a.lua", says("still watched"))
	r.waitFor("still watched")
}

func TestTenFilesAtOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprint(i, ".lua")] = says("-")
	}
	r := watched(t, files)
	for i := range 10 {
		r.write(fmt.Sprint(i, ".lua"), says(fmt.Sprint(i)))
	}
	r.waitFor("0123456789")
}

func TestABrokenFileLeavesTheLastGoodVersionUntilItIsFixed(t *testing.T) {
	t.Parallel()
	r := watched(t, map[string]string{"a.lua": says("good")})
	r.write("a.lua", "local x = = 1")
	r.waitUntil(func() bool { return r.said("hook a did not load, the last good version keeps running", "a.lua:1:") }, func() string { return "no error" })
	if got := r.input(""); got != "good" {
		t.Errorf("got %q", got)
	}
	r.write("a.lua", says("better"))
	r.waitFor("better")
	if h := r.chain.Hooks()[0]; h.LastError != "" || h.State != "active" {
		t.Errorf("hook is %+v", h)
	}
}

func TestModulesCount(t *testing.T) {
	t.Parallel()
	r := watched(t, map[string]string{
		"a.lua":           `local m = require "m"; pi.on("input", function(e) return { text = e.text .. m } end)`,
		"lib/m.lua":       `return "one"`,
		"late/init.lua":   `pi.on("input", function(e) return { text = e.text .. require "word" } end)`,
		"late/word.lua":   `return " late"`,
		"broken/init.lua": `require "missing"`,
	})
	r.waitFor("one late")
	r.write("lib/m.lua", `return "two"`)
	r.waitFor("two late")
	r.write("late/word.lua", `return " later"`)
	r.waitFor("two later")
	r.write("m.lua", `return "nearer"`)
	r.waitFor("nearer later")
	r.write("m.lua", `return = 1`)
	r.waitUntil(func() bool { return r.said("hook a did not load, the last good", "m.lua:1") }, func() string { return "no error" })
	r.write("m.lua", `return "fixed"`)
	r.waitFor("fixed later")
	r.write("broken/lib/missing.lua", says(" found"))
	r.waitFor("fixed found later")
}

func TestAReloadKeepsStateAndGreetsOnlyTheHookThatIsNew(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.state.n = (pi.state.n or 0) + 1; pi.state.big = pi.state.big or require "pi.json".decode("[12345678901234567890, []]")
			pi.on("session_start", function(e, ctx) pi.send(e.reason .. " " .. pi.state.n .. " " .. require "pi.json".encode(pi.state.big) .. " " .. (e.session_id == ctx.session_id and "same" or "other")) end)
			pi.command("x", { handler = print })
			pi.tool{ name = "t", description = "d", execute = print }`,
		"b.lua": `pi.on("session_start", function() error("greeted") end)`,
	})
	for range 3 {
		code, _ := os.ReadFile(filepath.Join(r.dir, "a.lua"))
		r.write("a.lua", string(code)+"\n")
		r.chain.Reload(context.Background(), false)
	}
	r.chain.Reload(context.Background(), false) // nothing changed
	var got []string
	for _, p := range r.host.sent {
		got = append(got, p.Text)
	}
	if want := "reload 2 [12345678901234567890, []] same|reload 3 [12345678901234567890, []] same|reload 4 [12345678901234567890, []] same"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
	if h := r.chain.Hooks()[0]; len(h.Events) != 1 || len(h.Commands) != 1 || len(h.Tools) != 1 || len(r.host.tools) != 1 || len(r.chain.Commands()) != 1 {
		t.Errorf("registrations are doubled: %+v", h)
	}
	if n := r.chain.roster.wanted[agent.KindSessionStart].Load(); n != 2 {
		t.Errorf("%d handlers are counted", n)
	}
}

func TestStateThatIsNoDataIsReportedWithItsPlaceAndTheRestIsKept(t *testing.T) {
	first := `pi.state.f = { g = print } pi.state.n = { 7 }
		pi.on("input", function() return { text = pi.state.f and "first" } end)`
	r := newRig(t, map[string]string{"a.lua": first})
	r.write("a.lua", `pi.on(`)
	r.chain.Reload(context.Background(), false)
	r.mustSay("hook a: not carried over: pi.state: at .f.g: a function")
	if got := r.input(""); got != "first" {
		t.Errorf("a version that does not load took the state of the one that runs: %q", got)
	}
	r.write("a.lua", `pi.on("input", function() return { text = tostring(pi.state.f) .. pi.state.n[1] } end)`)
	r.chain.Reload(context.Background(), false)
	if got := r.input(""); got != "nil7" {
		t.Errorf("got %q", got)
	}
}

func TestAHandlerInFlightFinishesOnTheOldCode(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("input", function(e, ctx) ctx.ui.confirm("wait"); return { text = e.text .. "old" } end)
		pi.on("input", function(e) return { text = e.text .. " old2" } end)`})
	r.ui.ask = func(context.Context, string, string) (string, bool, error) {
		r.write("a.lua", says("first")+"\n"+says(" new2"))
		r.chain.Reload(context.Background(), false)
		return "", true, nil
	}
	if got := r.input(""); got != "old old2" {
		t.Errorf("got %q", got)
	}
	if got := r.input(""); got != "first new2" {
		t.Errorf("got %q", got)
	}
	for _, n := range r.host.notices() {
		if n != "info: hook a loaded" {
			t.Errorf("notice %q", n)
		}
	}
}

func TestADialogInSessionStartDoesNotHoldUpTheNextSave(t *testing.T) {
	r := watched(t, map[string]string{"a.lua": says("a")})
	asked := make(chan struct{})
	r.ui.ask = func(ctx context.Context, _, _ string) (string, bool, error) {
		close(asked)
		<-ctx.Done()
		return "", false, ctx.Err()
	}
	r.write("a.lua", `pi.on("session_start", function(e, ctx) ctx.ui.confirm("?") end)`+says("b"))
	<-asked
	r.write("a.lua", says("c"))
	r.waitFor("c")
}

// noHooks is what a watcher brings up to date, without any.
type noHooks struct{ updater }

func (noHooks) files() []string        { return nil }
func (noHooks) agentFolders() []string { return nil }

func TestLogLinesAreNoChangeOfAHook(t *testing.T) {
	agentDir := t.TempDir()
	dir := filepath.Join(agentDir, "hooks")
	mustDo(t, os.Mkdir(dir, 0o755))
	fs, err := fsnotify.NewWatcher()
	mustDo(t, err)
	defer fs.Close()
	w := &watcher{hooks: noHooks{}, places: &trust.Places{AgentDir: agentDir, Cwd: t.TempDir()}, fs: fs}
	w.follow()
	for _, c := range []struct {
		path string
		want bool
	}{
		{filepath.Join(filepath.Dir(dir), "hooks.log"), false},
		{filepath.Join(filepath.Dir(dir), "config.toml"), false},
		{dir, true},
		{filepath.Dir(dir), true},
		{filepath.Join(dir, "x.lua"), true},
		{filepath.Join(dir, ".x.lua.swp"), false},
		{filepath.Join(dir, "4913"), false},
		{filepath.Join(dir, "newdir"), true},
	} {
		if w.matters(fsnotify.Event{Name: c.path, Op: fsnotify.Chmod}) {
			t.Errorf("%s matters when only its mode changes", c.path)
		}
		if got := w.matters(fsnotify.Event{Name: c.path, Op: fsnotify.Write}); got != c.want {
			t.Errorf("%s matters: %v", c.path, got)
		}
	}
}

func TestAGateWhoseDirectoryCannotBeReadIsNotAnOpenOne(t *testing.T) {
	r := newRig(t, map[string]string{"gate.lua": `pi.on("tool_call", function() return { block = true, reason = "no" } end)`})
	mustDo(t, os.Rename(r.dir, r.dir+".away"))
	mustDo(t, os.WriteFile(r.dir, nil, 0o600)) // reading it as a directory fails, also for root
	r.chain.Reload(context.Background(), false)
	if !r.bash("x").Block {
		t.Error("the gate is open")
	}
	r.mustSay("hooks in "+r.dir, "stay as they are")
	mustDo(t, os.Remove(r.dir))
	r.chain.Reload(context.Background(), false)
	if r.bash("x").Block {
		t.Error("the gate is shut though its directory is gone")
	}
}

func TestAHookThatLeadsNowhereIsReported(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ""})
	mustDo(t, os.Symlink("nowhere.lua", filepath.Join(r.dir, "gate.lua")))
	if found := r.chain.opts.Places.Discover(nil); len(found.Sources) != 2 || !found.Sources[1].Missing() || !strings.Contains(found.Sources[1].Err.Error(), "gate.lua: no such file") {
		t.Errorf("found: %+v", found)
	}
}

func TestWhatWasSavedBeforeTheWatchBeginsIsLiveThen(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"h.lua": says("old")})
	r.host.heard = make(chan struct{}, 1)
	begin := make(chan time.Time)
	r.chain.WatchFrom(context.Background(), begin, func(err error) { t.Error(err) })
	mustDo(t, os.WriteFile(filepath.Join(r.dir, "h.lua"), []byte(says("new")), 0o644))
	if r.chain.watcher.Load().fs != nil {
		t.Error("it is watched before that")
	}
	r.wantInput("old")
	begin <- time.Now()
	r.waitFor("new")
	mustDo(t, os.WriteFile(filepath.Join(r.dir, "h.lua"), []byte(says("newer")), 0o644))
	r.waitFor("newer")
}

func TestAWatchThatNeverBeganEndsWithTheChain(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"h.lua": says("h")})
	r.chain.WatchFrom(context.Background(), make(chan time.Time), func(err error) { t.Error(err) })
	r.chain.Close(context.Background())
	if r.chain.watcher.Load().fs != nil {
		t.Error("files were watched")
	}
}
