package command

import "strings"

// nearest is the known name most like name, "" if none is.
func (s *Set) nearest(name string) string {
	best, least := "", len(name)/3+2
	for _, c := range s.All() {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			d := Distance(name, known)
			if len(name) > 1 && strings.HasPrefix(known, name) {
				d = 1
			}
			if d < least {
				best, least = known, d
			}
		}
	}
	return best
}

// Distance counts the letters to add, drop, replace or swap with their
// neighbour to make b of a; it finds what a mistyped name meant.
func Distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
