package screentest

import (
	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"
)

const (
	emojiForm = '\ufe0f' // asks for the wide form of the character before it
	joiner    = '\u200d'
)

// clusterWidth is the number of cells of a grapheme cluster: 0 to 2. Terminals that
// know clusters show each in as many cells as its widest character has, two for a
// flag, and two for what asks to be shown as a picture.
func clusterWidth(cluster string) int {
	width, flags := 0, 0
	for _, r := range cluster {
		switch {
		case r == emojiForm:
			width = 2
		case r >= 0x1f1e6 && r <= 0x1f1ff:
			flags++
			width = max(width, 1)
		case r != joiner:
			width = max(width, narrow.RuneWidth(r))
		}
	}
	if flags > 1 {
		width = 2
	}
	return width
}

// narrow counts characters of ambiguous width as one cell, whatever the locale.
var narrow = &runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// isOneCluster reports whether a text is a single grapheme cluster.
func isOneCluster(text string) bool {
	clusters := graphemes.FromString(text)
	return clusters.Next() && len(clusters.Value()) == len(text)
}
