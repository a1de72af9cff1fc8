package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// draftOf is a guard, its places, and the draft "a" of a home with these files.
func draftOf(t *testing.T, texts map[string]string) (g *Guard, p Places, root string) {
	t.Helper()
	root, o := homeOf(t, nil)
	must(t, os.Mkdir(filepath.Join(root, "agent/drafts"), 0o700))
	for name, text := range texts {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	g, err := NewGuard(o)
	must(t, err)
	return g, g.state.home.places(), root
}

func textAt(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	must(t, err)
	return string(text)
}

func TestADraftBecomesAHookWithTheBytesThatWereShown(t *testing.T) {
	t.Parallel()
	g, p, root := draftOf(t, map[string]string{
		"agent/hooks/a.lua":       "print(1)\n",
		"agent/drafts/a.lua":      "print(2)\n",
		"agent/drafts/a_test.lua": "-- its test\n",
	})
	hook := filepath.Join(root, "agent/hooks/a.lua")
	if v := g.Read(hook); string(v.Code) != "print(1)\n" {
		t.Fatalf("active is %q", v.Code)
	}
	d, err := g.ReadDraft(p, "a.lua")
	must(t, err)
	for _, line := range []string{"-print(1)", "+print(2)", "+-- its test"} {
		if !strings.Contains(d.Diff, line+"\n") {
			t.Errorf("not shown: %s in\n%s", line, d.Diff)
		}
	}
	must(t, os.WriteFile(filepath.Join(root, "agent/drafts/a.lua"), []byte("print(3)\n"), 0o600)) // since it was shown
	must(t, g.Adopt(d))
	if v := g.Read(hook); string(v.Code) != "print(2)\n" || g.IsPending(hook) {
		t.Errorf("active is %q", v.Code)
	}
	for path, want := range map[string]string{"hooks/a.lua": "print(2)\n", "hooks/a_test.lua": "-- its test\n", "drafts/a.lua": "print(3)\n", "drafts/a_test.lua": "-"} {
		if got := textAt(t, filepath.Join(root, "agent", path)); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	must(t, g.OpenWindow(p, nil, false))
	g.CloseWindow()
	if list := g.ShowPending(); len(list) > 0 {
		t.Errorf("it waits: %+v", list)
	}
}

func TestADraftIsNotAdoptedInThePlaceOfWhatNobodySaw(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(g *Guard, p Places, root string) error // after it was shown
		want error
	}{
		"the hook was changed": {func(_ *Guard, _ Places, root string) error {
			return os.WriteFile(filepath.Join(root, "agent/hooks/a.lua"), []byte("print(9)\n"), 0o600)
		}, ErrChangedAgain},
		"its test was added": {func(_ *Guard, _ Places, root string) error {
			return os.WriteFile(filepath.Join(root, "agent/hooks/a_test.lua"), []byte("print(9)\n"), 0o600)
		}, ErrChangedAgain},
		"tools are at work": {func(g *Guard, p Places, _ string) error { return g.OpenWindow(p, nil, false) }, errAtWork},
	} {
		g, p, root := draftOf(t, map[string]string{"agent/hooks/a.lua": "print(1)\n", "agent/drafts/a.lua": "print(2)\n", "agent/drafts/a_test.lua": "-- test\n"})
		d, err := g.ReadDraft(p, "a")
		must(t, err)
		must(t, c.harm(g, p, root))
		before := textAt(t, filepath.Join(root, "agent/hooks/a.lua"))
		if err := g.Adopt(d); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if got := textAt(t, filepath.Join(root, "agent/hooks/a.lua")); got != before {
			t.Errorf("%s: the hook is %q", name, got)
		}
		if got := textAt(t, filepath.Join(root, "agent/drafts/a.lua")); got != "print(2)\n" {
			t.Errorf("%s: the draft is %q", name, got)
		}
	}
}

// What a tool changed waits for approval of its own: it is not what the draft was compared with.
func TestADraftDoesNotReplaceWhatWaits(t *testing.T) {
	t.Parallel()
	g, p, root := draftOf(t, map[string]string{"agent/hooks/a.lua": "print(1)\n", "agent/drafts/a.lua": "print(2)\n"})
	must(t, g.OpenWindow(p, nil, false))
	must(t, os.WriteFile(filepath.Join(root, "agent/hooks/a.lua"), []byte("print(9)\n"), 0o600))
	g.CloseWindow()
	d, err := g.ReadDraft(p, "a")
	must(t, err)
	if err := g.Adopt(d); err == nil || !strings.Contains(err.Error(), "/hooks approve a") {
		t.Errorf("adopted: %v", err)
	}
	if v := g.Read(filepath.Join(root, "agent/hooks/a.lua")); string(v.Code) != "print(1)\n" {
		t.Errorf("active is %q", v.Code)
	}
}

// A program that a tool started adopts nothing.
func TestWhatAToolStartedAdoptsNoDraft(t *testing.T) {
	t.Parallel()
	first, another := guardsOfTwo(t)
	first.Starting()(4711)
	of := another(4711)
	p := of.state.home.places()
	must(t, os.MkdirAll(p.DraftsDir(), 0o700))
	must(t, os.WriteFile(filepath.Join(p.DraftsDir(), "a.lua"), []byte("print(2)\n"), 0o600))
	d, err := of.ReadDraft(p, "a")
	must(t, err)
	if err := of.Adopt(d); !errors.Is(err, errOfTool) {
		t.Errorf("adopted: %v", err)
	}
	if got := textAt(t, filepath.Join(p.GlobalDir(), "a.lua")); got != "-- one" {
		t.Errorf("the hook is %q", got)
	}
}

func TestWhatIsNoDraftIsSaid(t *testing.T) {
	t.Parallel()
	g, p, _ := draftOf(t, map[string]string{"agent/drafts/gate.lua": "print(1)\n", "agent/drafts/gate_test.lua": "", "agent/drafts/bad.lua": "x = = 1\n",
		"agent/hooks/same.lua": "print(1)\n", "agent/drafts/same.lua": "print(1)\n", "agent/drafts/folder.lua": "print(1)\n"})
	must(t, os.MkdirAll(filepath.Join(p.DraftsDir(), "whole"), 0o700))
	must(t, os.WriteFile(filepath.Join(p.DraftsDir(), "whole/init.lua"), nil, 0o600))
	must(t, os.MkdirAll(filepath.Join(p.GlobalDir(), "folder"), 0o700))
	must(t, os.WriteFile(filepath.Join(p.GlobalDir(), "folder/init.lua"), nil, 0o600))
	for name, want := range map[string]string{
		"gat":       `no draft "gat", did you mean "gate"?; there are bad, folder, gate, same`,
		"../hooks":  "is no name of a draft",
		"":          "is no name of a draft",
		".":         "is no name of a draft",
		"gate_test": "is no name of a draft",
		"bad":       "cannot be read as Lua",
		"same":      "is what is there already",
		"folder":    "is a hook with that name",
		"whole":     "is a folder, and a draft is one file",
	} {
		if _, err := g.ReadDraft(p, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
