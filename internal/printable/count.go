package printable

import "strconv"

// Count words a number of things: "1 line", "2 lines". It adds an s to what is not one.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
