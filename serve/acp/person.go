package acp

import (
	"slices"

	"pi/agent"
	"pi/internal/printable"
)

// person is the user interface of the hooks of a session: what they ask and show goes to
// the client. What has no place there is ignored.
type person struct {
	agent.NoUI
	session *session
}

var _ agent.UI = (*person)(nil)

// HasUI is true: the client asks the person.
func (p *person) HasUI() bool { return true }

// IsClient is true: some clients answer yes to everything.
func (p *person) IsClient() bool { return true }

// Notify shows a notice.
func (p *person) Notify(text string, level agent.Level) { p.session.notify(text, level) }

// SetPlan shows what is done and what is open. A plan of nothing is not shown: some clients
// cannot.
func (p *person) SetPlan(items []agent.PlanItem) {
	if len(items) == 0 {
		return
	}
	u := plan{SessionUpdate: "plan", Entries: []planEntry{}}
	for _, item := range items {
		e := planEntry{Content: printable.Text(item.Content), Status: item.Status, Priority: item.Priority}
		if !slices.Contains(agent.PlanStatuses(), e.Status) {
			e.Status = "pending"
		}
		if !slices.Contains(agent.PlanPriorities(), e.Priority) {
			e.Priority = "medium"
		}
		u.Entries = append(u.Entries, e)
	}
	p.session.out.send(u)
}
