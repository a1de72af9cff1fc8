package provider

import "strings"

// Rows yields the rows of the table, one per API, for tests from outside.
func Rows(yield func(api, name string, value any) bool) {
	for _, row := range quirks {
		for api := range strings.FieldsSeq(row.apis) {
			if !yield(api, row.name, row.value) {
				return
			}
		}
	}
}
