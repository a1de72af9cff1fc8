package event

import "slices"

// Table lists the events in the order of their documentation. Each call
// returns a fresh value; a Chain keeps one.
func Table() []Spec {
	return slices.Concat(startEvents(), sessionEvents(), compactEvents(), treeEvents(), endEvents(),
		promptEvents(), turnEvents(), providerEvents(), messageEvents(), choiceEvents(), recoveryEvents(), toolEvents(), serverEvents())
}

// Info is what a user or an editor is told of an event.
type Info struct {
	Name    string  `json:"name"`
	About   string  `json:"-"`
	Asking  bool    `json:"asking"`
	Fields  []Field `json:"payload"`
	Results []Field `json:"result"`
	Rule    string  `json:"rule"`
}

// Infos describes all events that hooks can listen to.
func Infos() []Info {
	var infos []Info
	for _, s := range Table() {
		infos = append(infos, Info{s.Name, s.About, s.Asking, s.Fields, s.Results, s.Rule})
	}
	return infos
}
