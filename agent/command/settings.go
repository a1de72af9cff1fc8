package command

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
)

// Setting is one setting of the program as a user sees it.
type Setting struct {
	Key     string   // "compaction.enabled"
	Value   string   // in force, as config.toml would have it; no secret is in it
	Text    string   // in force, as Apply and Write want it; "" of a secret
	Default string   // as config.toml would have it; "" if there is none
	Origin  string   // "default", a file with its line, "environment NAME", "this run"
	Meaning string   // one line
	Kind    string   // flag, number, duration, text or list (of words, with commas between)
	Choices []string // the words allowed; nil: any
	Secret  bool     // its value is not shown
	Live    bool     // a change holds at once; else it counts from the next start, once it is written
}

// Settings is what /settings works on. The functions may be called from any goroutine.
type Settings struct {
	// List returns all settings with their values of this moment.
	List func() []Setting
	// Apply changes a setting for this run and writes nothing. It is an error if the
	// value is not allowed, or if the setting is not Live.
	Apply func(ctx context.Context, key, value string) error
	// Write writes a setting into config.toml, where all else stays as it is, and
	// returns the path of that file for people. It does not apply it.
	Write func(key, value string) (file string, err error)
}

// settingsCommand returns /settings, which lists the settings, tells about one, or changes
// one for this run.
func settingsCommand(settings *Settings, ui agent.UI) Command {
	return Command{
		Name: "settings", Args: "[key [value]]", Help: "list the settings, tell about one, or change it for this run",
		More: "A change is gone with the program, unless Ctrl+S in the list, or `pi config set KEY VALUE` in a shell, writes it.",
		Complete: func(prefix string) []string {
			var keys []string
			for _, s := range settings.List() {
				keys = append(keys, s.Key)
			}
			return withPrefix(keys, prefix)
		},
		Run: func(ctx context.Context, args string) (Outcome, error) {
			key, value, _ := strings.Cut(args, " ")
			value = strings.TrimSpace(value)
			switch {
			case key == "":
				if out, ok, err := pickSettings(ctx, ui, settings); ok {
					return out, err
				}
				return Outcome{Status: settingLines(settings.List())}, nil
			case value == "":
				return tellSetting(settings, key)
			}
			if err := settings.Apply(ctx, key, value); err != nil {
				return Outcome{}, fmt.Errorf("settings: %w", err)
			}
			return tellSetting(settings, key)
		},
	}
}

// settingLines returns a line for each setting: key, value, and where that comes from if
// it is not the default.
func settingLines(all []Setting) string {
	width := 0
	for _, s := range all {
		width = max(width, len(s.Key))
	}
	lines := make([]string, len(all))
	for i, s := range all {
		lines[i] = fmt.Sprintf("%-*s  %s", width, s.Key, s.Value)
		if s.Origin != "default" {
			lines[i] += "  (" + s.Origin + ")"
		}
	}
	return strings.Join(lines, "\n")
}

// tellSetting returns what there is to say about one setting.
func tellSetting(settings *Settings, key string) (Outcome, error) {
	var keys []string
	for _, s := range settings.List() {
		if s.Key != key {
			keys = append(keys, s.Key)
			continue
		}
		lines := []string{fmt.Sprintf("%s = %s  (%s)", s.Key, s.Value, s.Origin), s.Meaning}
		if len(s.Choices) > 0 {
			lines = append(lines, "one of "+strings.Join(s.Choices, ", "))
		}
		if !s.Live {
			lines = append(lines, "a change counts from the next start: pi config set "+s.Key+" VALUE")
		}
		return Outcome{Status: strings.Join(lines, "\n")}, nil
	}
	return Outcome{}, fmt.Errorf("settings: there is no setting %q%s", key, suggest.Hint(key, keys))
}
