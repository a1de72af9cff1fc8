package summary

import (
	"slices"

	"pi/session"
)

// Abandoned returns the messages of seen that belong to entries, a branch that is left.
// Messages that hooks made, which have no entry, count if no message that stays comes
// after them.
func Abandoned(seen []session.Item, entries []*session.Entry) []session.Item {
	if !slices.ContainsFunc(entries, func(e *session.Entry) bool { return e.Message() != nil }) {
		return nil
	}
	left := make(map[*session.Entry]bool, len(entries))
	for _, e := range entries {
		left[e] = true
	}
	var items []session.Item
	for _, it := range seen {
		if it.Entry == nil || left[it.Entry] {
			items = append(items, it)
		} else {
			items = slices.DeleteFunc(items, func(it session.Item) bool { return it.Entry == nil })
		}
	}
	return items
}
