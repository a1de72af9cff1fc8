package repl

import (
	"maps"
	"slices"

	"pi/agent"
	"pi/repl/terminal"
)

// widgetLines is how many lines of one widget, header or footer are shown.
const widgetLines = 20

// widgets are the lines that hooks show around the line, by place and key.
type widgets struct {
	each map[agent.Place]map[string][]string
	plan plan
}

// set sets the lines under a key; nil removes them.
func (w *widgets) set(place agent.Place, key string, lines []string) {
	if lines == nil {
		delete(w.each[place], key)
		return
	}
	if w.each == nil {
		w.each = map[agent.Place]map[string][]string{}
	}
	if w.each[place] == nil {
		w.each[place] = map[string][]string{}
	}
	w.each[place][key] = slices.Clone(lines)
}

// rows are those of a place, in the order of their keys.
func (w *widgets) rows(p terminal.Palette, columns int, place agent.Place) (rows []string) {
	for _, key := range slices.Sorted(maps.Keys(w.each[place])) {
		rows = append(rows, drawn(p, w.each[place][key], columns)...)
	}
	return rows
}

// drawn are the lines of a hook as rows, not too many of them.
func drawn(p terminal.Palette, lines []string, columns int) []string {
	rows := p.Painted(lines, columns)
	return rows[:min(len(rows), widgetLines)]
}
