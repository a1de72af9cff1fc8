package pick

import (
	"strings"

	"pi/internal/cells"
)

// leastMiddle is the width from which a text can be cut in its middle.
const leastMiddle = 8

// shortened fits a text into so many cells. One without blanks, which is a name or a path,
// loses its middle, because names that are listed together differ at their ends; others
// lose their end.
func shortened(text string, width int) string {
	if cells.Width(text) <= width || width < leastMiddle || strings.Contains(text, " ") {
		return cells.Cut(text, max(width, 1))
	}
	var clusters []string
	var widths []int
	for cluster, w := range cells.Clusters(text) {
		clusters, widths = append(clusters, cluster), append(widths, w)
	}
	head, room := 0, (width-1)/3
	for room >= widths[head] {
		room -= widths[head]
		head++
	}
	tail := len(clusters)
	for room += width - 1 - (width-1)/3; room >= widths[tail-1]; {
		tail--
		room -= widths[tail]
	}
	return strings.Join(clusters[:head], "") + "…" + strings.Join(clusters[tail:], "")
}
