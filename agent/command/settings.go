package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	Watched bool     // it counts as soon as it is written
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
		switch {
		case s.Watched:
			lines = append(lines, "a change counts as soon as it is written: pi config set "+s.Key+" VALUE")
		case !s.Live:
			lines = append(lines, "a change counts from the next start: pi config set "+s.Key+" VALUE")
		}
		return Outcome{Status: strings.Join(lines, "\n")}, nil
	}
	return Outcome{}, fmt.Errorf("settings: there is no setting %q%s", key, suggest.Hint(key, keys))
}

// keyWrite is the key that writes a setting into config.toml.
const keyWrite = "ctrl+s"

// settingsList is the list of settings in a terminal with arrows. A change holds for this
// run, or from the next start where that is not possible, and the list says which.
type settingsList struct {
	*Settings
	ui      agent.UI
	ctx     context.Context // dialogs in it stand above the list
	panel   List
	said    []string          // what was done, the last at the end
	problem string            // why the last thing was not done
	written map[string]string // what counts from the next start, by key
}

// pickSettings shows the settings until the user leaves the list. ok is false where there
// is no such list.
func pickSettings(ctx context.Context, ui agent.UI, settings *Settings) (out Outcome, ok bool, err error) {
	p := &settingsList{Settings: settings, ui: ui, written: map[string]string{}}
	p.ctx, p.panel = OpenList(ctx, ui, p.view())
	if p.panel == nil {
		return Outcome{}, false, nil
	}
	defer p.panel.Close()
	for {
		x, err := p.panel.Next()
		switch s, found := p.find(x.Row); {
		case err != nil:
			return Outcome{}, true, err
		case x.Key == "":
			return p.outcome(), true, nil
		case found && x.Key == keyWrite:
			p.write(s)
		case found:
			err = p.change(s)
		}
		if err != nil {
			return Outcome{}, true, err
		}
		p.panel.Show(p.view())
	}
}

// outcome is all that was done.
func (p *settingsList) outcome() Outcome {
	if len(p.said) == 0 {
		return unchosen("settings: nothing has changed")
	}
	return Outcome{Status: strings.Join(p.said, "\n")}
}

func (p *settingsList) find(key string) (Setting, bool) {
	all := p.List()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

// view is the list as it is now: below the title stands what was done last, or why not.
func (p *settingsList) view() ListView {
	all := p.List()
	v := ListView{Title: fmt.Sprintf("Settings · %d", len(all)), Right: "type to filter", Enter: "change", Keys: []ListKey{{keyWrite, "write to config.toml"}}}
	if last := len(p.said) - 1; p.problem != "" {
		v.Title += "\n" + p.problem
	} else if last >= 0 {
		v.Title += "\n" + p.said[last]
	}
	for _, s := range all {
		value := s.Value
		if next, ok := p.written[s.Key]; ok {
			value += " (next start: " + next + ")"
		}
		v.Rows = append(v.Rows, Row{ID: s.Key, Columns: []string{s.Key, value, s.Origin}, Description: s.Meaning, Search: strings.Join(s.Choices, "\n")})
	}
	return v
}

// note notes what was done.
func (p *settingsList) note(text string) { p.said, p.problem = append(p.said, text), "" }

// change asks for another value of a setting until it is an allowed one, or the user
// gives up, and makes it hold for this run. Where that is not possible, it offers to write
// it.
func (p *settingsList) change(s Setting) error {
	value := s.Text
	for p.problem = ""; ; {
		changed, ok, err := p.ask(s, value)
		if err != nil || !ok {
			p.problem = ""
			return err
		}
		value = changed
		if !s.Live {
			err = p.offer(s, value)
		} else if err = p.Apply(p.ctx, s.Key, value); err == nil {
			p.note(fmt.Sprintf("%s = %s, for this run; Ctrl+S writes it to config.toml", s.Key, shownValue(s, value)))
		}
		if err == nil || p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		p.problem = err.Error()
		if s.Kind == "flag" {
			return nil // there is no other value to ask for
		}
	}
}

// ask asks for another value of a setting. One of two values is not asked for.
func (p *settingsList) ask(s Setting, value string) (string, bool, error) {
	title := strings.TrimRight(fmt.Sprintf("%s · %s\n%s", s.Key, cmp.Or(s.Meaning, s.Kind), p.problem), "\n")
	switch {
	case s.Kind == "flag":
		return map[bool]string{true: "false", false: "true"}[value == "true"], true, nil
	case len(s.Choices) > 0 && s.Kind != "list":
		return selectOne(p.ctx, p.ui, title, agent.Choices(s.Choices...), agent.DialogOptions{Default: []string{value}})
	case s.Secret:
		return p.ui.Input(p.ctx, title, "", agent.DialogOptions{Secret: true})
	}
	if s.Kind == "list" {
		title += "\nwords with commas between them"
	}
	changed, ok, err := p.ui.(Lister).EditText(p.ctx, title, value)
	return strings.TrimSpace(changed), ok, err
}

// offer offers to write a value that cannot hold for this run. The error says that it is
// not allowed, or was not written.
func (p *settingsList) offer(s Setting, value string) error {
	counts := "counts from the next start"
	if s.Watched {
		counts = "counts once it is written"
	}
	answer, err := p.ui.Confirm(p.ctx, s.Key+" "+counts+" only. Write it to config.toml?",
		s.Key+" = "+shownValue(s, value), agent.DialogOptions{})
	if err != nil || answer == agent.No {
		return err
	}
	file, err := p.Write(s.Key, value)
	if err != nil {
		return err
	}
	if s.Watched {
		p.note(fmt.Sprintf("%s = %s, written to %s", s.Key, shownValue(s, value), file))
		return nil
	}
	p.written[s.Key] = shownValue(s, value)
	p.note(fmt.Sprintf("%s = %s, written to %s; it counts from the next start", s.Key, shownValue(s, value), file))
	return nil
}

// write writes the value that a setting has in this run.
func (p *settingsList) write(s Setting) {
	switch {
	case s.Secret:
		p.problem = s.Key + " is not shown, so it is not written from here; Enter asks for another one"
	case s.Origin == "default":
		p.problem = s.Key + " has its default; Enter changes it"
	default:
		file, err := p.Write(s.Key, s.Text)
		if err != nil {
			p.problem = err.Error()
			return
		}
		p.note(fmt.Sprintf("%s = %s, written to %s", s.Key, s.Value, file))
	}
}

// shownValue is a value as the user may see it.
func shownValue(s Setting, value string) string {
	switch {
	case s.Secret:
		return "(a secret)"
	case value == "":
		return `""`
	}
	return value
}
