package luahooks

import (
	"fmt"

	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// What config.toml says of a hook is in force as the file is: an edit of the user is at once, one
// of a tool waits for approval. The hook of which something else is said is loaded anew. Entries
// of a project are approved with its hooks.

// settingsFiles are the files that say something of hooks.
func (l *loader) settingsFiles() []string {
	if l.opts.Settings == nil {
		return nil
	}
	return l.guard.SettingsFiles()
}

// settingsOf returns what the settings say of a hook.
func (l *loader) settingsOf(h *hook) api.Settings {
	if h.of != nil {
		return h.of.said
	}
	if l.opts.Settings == nil {
		return api.Settings{Table: "hook." + h.Name}
	}
	return l.opts.Settings(h.Name, h.Scope == trust.ScopeProject)
}

// toldOf is all that settingsOf says, to be compared. A hook of the project is told another
// thing when its entries are approved.
func (l *loader) toldOf(h *hook) string {
	return fmt.Sprintf("%s %v", textOf(l.settingsOf(h)), l.checkSettings(h))
}

// textOf is what settings say, to be compared.
func textOf(s api.Settings) string {
	limit := -1
	if s.MaxContinuations != nil {
		limit = *s.MaxContinuations
	}
	return fmt.Sprintf("%s %d %t %v", s.JSON, limit, s.Answers, s.Err)
}

// checkSettings returns why a hook cannot be loaded with what is said of it.
func (l *loader) checkSettings(h *hook) error {
	s := l.settingsOf(h)
	switch {
	case s.Err != nil:
		return s.Err
	case !l.mayUseEntries(h):
		return fmt.Errorf("%s: what the project says of this hook is %w: `pi trust` shows and approves it", s.Where(), trust.ErrNotApproved)
	}
	return nil
}

// mayUseEntries reports whether what the project says of a hook of it is approved; of other
// hooks it says nothing.
func (l *loader) mayUseEntries(h *hook) bool {
	return h.Scope != trust.ScopeProject || l.settingsOf(h).JSON == nil || l.guard.MayUseEntries()
}

// SettingsOf are the settings that a hook has declared.
type SettingsOf struct {
	Hook      string
	OfProject bool
	Settings  []api.Setting
}

// Settings lists what the hooks that run have declared, in their order.
func (c *Chain) Settings() (list []SettingsOf) {
	for _, h := range c.roster.list() {
		if declared := h.registered().Settings.Load(); declared != nil {
			list = append(list, SettingsOf{h.Name, h.Scope == trust.ScopeProject, *declared})
		}
	}
	return list
}
