package compaction

import (
	"slices"

	"pi/session"
	"pi/session/message"
)

// Gauge measures a context again and again while it grows: it remembers what it
// found and looks only at what is new. The zero value is ready; it is not safe for
// concurrent use.
type Gauge struct {
	items     []session.Item
	compacted int // position on the branch of the compaction in force, -1 for none
	reading   Reading
}

// Reading is how large a context is, as far as its messages tell: what the answer
// at position At counted (-1: none did, and Counted is 0), and an estimate of what
// follows that.
type Reading struct{ At, Counted, Rest int }

// Read measures items, which must not change any more; it looks only at those that are
// new since the last call, if the others are the same. Answers from before the last
// compaction are ignored: they counted what is no longer there.
func (g *Gauge) Read(items []session.Item) Reading {
	from := len(g.items)
	if from == 0 || len(items) < from || !slices.EqualFunc(items[:from], g.items, func(a, b session.Item) bool { return a.Message == b.Message }) {
		from, g.compacted, g.reading = 0, summaryIndex(items), Reading{At: -1}
	}
	for i := from; i < len(items); i++ {
		switch m := items[i].Message; {
		case m.Role == message.RoleCompactionSummary && items[i].Index > g.compacted:
			g.items = nil
			return g.Read(items)
		case items[i].Index > g.compacted && measures(m):
			g.reading = Reading{At: i, Counted: m.Usage.ContextTokens()}
		default:
			g.reading.Rest += EstimateTokens(m)
		}
	}
	g.items = items
	return g.reading
}
