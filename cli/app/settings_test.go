package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/children"
	"pi/agent/command"
)

// adjusted is a front end whose [ui] can be changed.
type adjusted struct {
	agent.NoUI
	changes []string
}

func (*adjusted) Wants(agent.Kind) bool                     { return false }
func (*adjusted) Handle(context.Context, agent.Event) error { return nil }
func (*adjusted) Adjusts(key string) bool                   { return key == "ui.notify" }
func (a *adjusted) Adjust(key, value string)                { a.changes = append(a.changes, key+"="+value) }

func TestASettingIsChangedForTheRunAndWrittenWhenAsked(t *testing.T) {
	p := place(t, Options{}, nil)
	p.Options.Model = "demo/tour"
	r, f := p.newRun(), new(adjusted)
	err := r.with(t.Context(), front{f, f}, "print", nil, func() error {
		find := func(key string) command.Setting {
			all := r.settings.List()
			return all[slices.IndexFunc(all, func(s command.Setting) bool { return s.Key == key })]
		}
		for _, tt := range []struct {
			key, value string
			fails      string
			holds      func() bool
		}{
			{"thinking", "low", "", func() bool { return r.agent.ThinkingWish() == "low" }},
			{"thinking", "lwo", `did you mean "low"?`, func() bool { return r.agent.ThinkingWish() == "low" }},
			{"compaction.reserve_tokens", "99", "", func() bool { return r.agent.Settings().Compaction.ReserveTokens == 99 }},
			{"retry.max_delay", "5s", "", func() bool { return r.agent.Settings().Retry.MaxDelay.Seconds() == 5 }},
			{"steering", "all", "", func() bool { return r.agent.Settings().SteerAll && r.agent.Settings().Retry.MaxDelay.Seconds() == 5 }},
			{"ui.image_scale", "false", "", func() bool { return !r.agent.Settings().ImageScale && !r.toolOptions().ImageScale() }},
			{"agents.depth", "1", "", func() bool { return deepest(t, r.family) == 1 }},
			{"agents.depth", "3", "", func() bool { return deepest(t, r.family) == 3 }},
			{"agents.depth", "0", "must be at least 1, found 0", func() bool { return deepest(t, r.family) == 3 }},
			{"agents.max", "-1", "must be at least 1, found -1", func() bool { return find("agents.max").Value == "4" }},
			{"max_turns", "many", "expected integer", func() bool { return r.agent.Settings().MaxTurns == 0 }},
			{"model", "demo/tour:high", "", func() bool { return r.agent.ThinkingWish() == "high" }},
			{"model", "nobody/none", "nobody", func() bool { return r.agent.Model().Provider == "demo" }},
			{"ui.notify", "bell", "", func() bool { return slices.Equal(f.changes, []string{"ui.notify=bell"}) }},
			{"ui.notify", "loud", "is none of", func() bool { return len(f.changes) == 1 }},
			{"ui.plain", "true", "counts from the next start", func() bool { return find("ui.plain").Value == "false" }},
			{"no_such", "1", "unknown key", func() bool { return true }},
		} {
			before := find("retry.base_delay")
			err := r.settings.Apply(t.Context(), tt.key, tt.value)
			if tt.fails == "" && (err != nil || find(tt.key).Origin != "this run" || !find(tt.key).Live) || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("%s = %s: %v", tt.key, tt.value, err)
			}
			if !tt.holds() || find("retry.base_delay").Value != before.Value {
				t.Errorf("%s = %s: that does not hold", tt.key, tt.value)
			}
		}
		path := filepath.Join(p.AgentDir, "config.toml")
		if _, err := os.Stat(path); err == nil {
			t.Error("a change for the run was written")
		}
		if _, err := r.settings.Write("ui.notify", "bell"); err != nil {
			t.Error(err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "[ui]\nnotify = \"bell\"\n" {
			t.Errorf("%q, %v", data, err)
		}
		if got := find("ui.notify"); !strings.HasSuffix(got.Origin, "config.toml") || got.Text != "bell" {
			t.Errorf("afterwards it is %+v", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// deepest is how deep agents may be.
func deepest(t *testing.T, f *children.Family) (depth int) {
	var parent *children.Child
	for {
		c, err := f.Begin(t.Context(), parent, "a", children.Controls{})
		if err != nil {
			return depth
		}
		defer c.End()
		parent, depth = c, depth+1
	}
}

func TestACommandOfTheFrontEndComesBeforeThatOfTheProgram(t *testing.T) {
	named := func(help string, names ...string) (all []command.Command) {
		for _, name := range names {
			all = append(all, command.Command{Name: name, Help: help})
		}
		return all
	}
	var got []string
	for _, c := range withFront(named("program", "model", "settings"), named("front", "settings", "quit")) {
		got = append(got, c.Help+" "+c.Name)
	}
	if want := []string{"program model", "front settings", "front quit"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
