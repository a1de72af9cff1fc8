package provider

import (
	"strings"

	"pi/agent/provider/catalogue"
)

// Rows yields the rows of the tables of servers and families, one per API, for tests from
// outside.
func Rows(yield func(api, name string, value any) bool) {
	for _, row := range allRows() {
		if row.value == reasoners {
			row.value = true
		}
		for api := range strings.FieldsSeq(row.apis) {
			if !yield(api, row.name, row.value) {
				return
			}
		}
	}
}

func allRows() (all []quirk) {
	all = append(all, quirks...)
	for s := range catalogue.AllSwitches {
		all = append(all, quirk{s.APIs, s.Servers, s.Name, s.Value})
	}
	return all
}
