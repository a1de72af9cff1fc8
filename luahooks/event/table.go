package event

import (
	"slices"

	"pi/agent"
)

// Table lists the events in the order of their documentation. Each call
// returns a fresh value; a Chain keeps one.
func Table() []Spec {
	return slices.Concat(startEvents(), sessionEvents(), compactEvents(), treeEvents(), endEvents(),
		promptEvents(), turnEvents(), providerEvents(), messageEvents(), choiceEvents(), recoveryEvents(), toolEvents(), serverEvents(), childEvents())
}

// OtherRoles lists the events about messages of other roles than assistant, of which only those
// are told who want the messages of all roles. To them they are message_start and message_end;
// who makes use of these rows gives them a key.
func OtherRoles() (rows []Spec) {
	kinds := map[agent.Kind]agent.Kind{agent.KindMessageStart: agent.KindOtherMessageStart, agent.KindMessageEnd: agent.KindOtherMessageEnd}
	for _, s := range messageEvents() {
		if kind, ok := kinds[s.Kind]; ok {
			s.Kind = kind
			rows = append(rows, s)
		}
	}
	return rows
}

// Info is what a user or an editor is told of an event.
type Info struct {
	Name    string  `json:"name"`
	About   string  `json:"-"`
	Asking  bool    `json:"asking"`
	Fields  []Field `json:"payload"`
	Results []Field `json:"result"`
	Rule    string  `json:"rule"`
	Context string  `json:"-"`
}

// Infos describes all events that hooks can listen to.
func Infos() []Info {
	var infos []Info
	for _, s := range Table() {
		infos = append(infos, Info{s.Name, s.About, s.Asking, s.Fields, s.Results, s.Rule, s.Context})
	}
	return infos
}
