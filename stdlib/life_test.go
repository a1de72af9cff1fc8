package stdlib

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// What is left running when the hook ends, ends with it: the rig waits for it,
// and no goroutine is left.
func TestTimersWatchesAndServersEndWithTheHook(t *testing.T) {
	r := newRig(t)
	err := r.run("hook.lua", `
		local timer, fs, http = require "pi.timer", require "pi.fs", require "pi.http"
		timer.every(1, function() timer.sleep(3600000) end)
		timer.after(3600000, print)
		fs.watch(".", print)
		http.listen({}, function() timer.sleep(3600000) end)
		timer.sleep(5)`, false, nil)
	if err != nil {
		t.Fatal(err)
	}
}

func TestACallbackThatFailsIsReported(t *testing.T) {
	r := newRig(t)
	var url string
	err := r.run("hook.lua", `
		local server = require "pi.http".listen({}, function(request)
			if request.method == "GET" then error("oh no") end
			return { statsu = 200 }
		end)
		url(server.url)`, false, map[string]lua.LValue{"url": r.vm.Func("url", func(s string) { url = s })})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, method := range []string{"GET", "POST"} {
		req, _ := http.NewRequest(method, url, nil)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s is answered with %d", method, resp.StatusCode)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	got := strings.Join(r.faults, "\n")
	if !strings.Contains(got, "hook.lua:3: oh no") || !strings.Contains(got, `unknown option "statsu", did you mean "status"?`) {
		t.Errorf("reported: %s", got)
	}
}

func TestWhatWaitsCanBeInterrupted(t *testing.T) {
	for name, code := range map[string]string{
		"sleep":   `begun() require "pi.timer".sleep(3600000)`,
		"request": `local http = require "pi.http" local s = http.listen({}, function() begun() require "pi.timer".sleep(3600000) end) http.get(s.url)`,
		"git":     `begun() while true do require "pi.git".root() end`,
	} {
		r := newRig(t)
		ctx, cancel := context.WithCancel(context.Background())
		proto, err := luavm.Compile("hook.lua", []byte(code))
		if err != nil {
			t.Fatal(err)
		}
		r.vm.SetRequire(func(L *lua.LState) int {
			L.Push(Module(L.CheckString(1))(r.vm, L, r.env))
			return 1
		})
		r.vm.SetGlobal("begun", r.vm.Func("begun", func() { cancel() }))
		err = r.vm.Run(ctx, luavm.Job{Run: func(L *lua.LState) error {
			L.Push(L.NewFunctionFromProto(proto))
			L.Call(0, 0)
			return nil
		}})
		var stopped *luavm.Error
		if !errors.As(err, &stopped) || stopped.Kind != luavm.Cancelled || r.vm.Dead() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWalkThroughManyDirectoriesEndsWithTheJob(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if found, err := glob(ctx, dir, "**", false); !errors.Is(err, context.Canceled) || len(found) > 1 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestWritingKeepsTheOldFileWhenItFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := replaceText(path, "old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := replaceText(path, "new"); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a file that is read-only: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("the file is %q", text)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left", len(entries))
	}
}

func TestAVMKeepsFewPatterns(t *testing.T) {
	var c patterns
	compile := func(p string) *regexp.Regexp {
		re, err := c.compile(p)
		if err != nil {
			t.Fatal(err)
		}
		return re
	}
	often, once := compile("often"), compile("once")
	for i := range maxPatterns {
		compile(fmt.Sprint(i))
		if compile("often") != often {
			t.Fatal("a pattern that is used again and again is compiled again")
		}
	}
	if len(c.used) != maxPatterns || compile("once") == once {
		t.Errorf("%d are kept", len(c.used))
	}
}

func TestDifferencesOfLargeTextsAreFoundInTime(t *testing.T) {
	var before, after strings.Builder
	for i := range 200_000 {
		before.WriteString(string(rune('a'+i%7)) + "\n")
		after.WriteString(string(rune('a'+i%11)) + "\n")
	}
	r := newRig(t)
	err := r.vm.Run(context.Background(), luavm.Job{Timeout: time.Minute, Run: func(L *lua.LState) error {
		m := openDiff(r.vm, L, r.env).(*lua.LTable)
		L.Push(luavm.Stored(m, "unified"))
		L.Push(lua.LString(before.String()))
		L.Push(lua.LString(after.String()))
		L.Call(2, 1)
		if L.Get(-1).Type() != lua.LTString {
			t.Error("no difference")
		}
		return nil
	}})
	if err != nil {
		t.Error(err)
	}
}

func TestTemporaryFilesGoWithTheHook(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	t.Cleanup(func() { // after that of the rig
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	r := newRig(t)
	err := r.run("hook.lua", `
		local fs = require "pi.fs"
		fs.write(fs.temp(), "x")
		fs.write(fs.temp{ dir = true } .. "/in/it", "x", { mkdir = true })
		fs.remove(fs.temp{ suffix = ".md" })`, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if made, _ := os.ReadDir(dir); len(made) != 2 {
		t.Errorf("made: %v", made)
	}
}
