package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
)

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
	answer, err := p.ui.Confirm(p.ctx, s.Key+" counts from the next start only. Write it to config.toml?",
		s.Key+" = "+shownValue(s, value), agent.DialogOptions{})
	if err != nil || answer == agent.No {
		return err
	}
	file, err := p.Write(s.Key, value)
	if err != nil {
		return err
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
