// Package globs bounds what a glob may cost. The alternatives of its braces are tried
// in every combination, for each path anew, and nothing stops a match that is under way.
//
// It knows nothing of the rest of the program.
package globs

import "fmt"

// maxCombinations is how many combinations of alternatives a glob may have.
const maxCombinations = 1024

// Check is an error for a glob that would take too long.
func Check(pattern string) error {
	if combinations(pattern) > maxCombinations {
		return fmt.Errorf("the braces of the pattern have more than %d combinations", maxCombinations)
	}
	return nil
}

// combinations returns in how many ways one alternative of each pair of braces can be
// chosen. It stops counting above maxCombinations.
func combinations(pattern string) int {
	var open []int // alternatives of the braces that are not closed yet
	n := 1
	for i := 0; i < len(pattern) && n <= maxCombinations; i++ {
		last := len(open) - 1
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 1)
		case ',':
			if last >= 0 {
				open[last]++
			}
		case '}':
			if last >= 0 {
				n *= open[last]
				open = open[:last]
			}
		}
	}
	return n
}
