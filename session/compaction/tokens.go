package compaction

import (
	"encoding/json"
	"math/bits"
	"slices"

	"pi/session"
	"pi/session/message"
)

// Estimates: four characters are a token, an image is as many as most models
// count for one.
const (
	charsPerToken = 4
	imageTokens   = 1200
)

// EstimateTokens is about how many tokens a message is, as the model would see
// it: 0 for one that it does not see.
func EstimateTokens(m *message.Message) int {
	if m == nil || message.Hidden(m) {
		return 0
	}
	m = message.AsUser(m)
	tokens, chars := 0, 0
	for i := range m.Content {
		b := &m.Content[i]
		chars += characters(b.Text) + characters(b.Name) + characters(b.Arguments)
		if b.Type == message.BlockImage {
			tokens += imageTokens
		}
	}
	return tokens + tokensOf(chars)
}

func tokensOf(chars int) int { return (chars + charsPerToken - 1) / charsPerToken }

// lastMeasured is the position of the last answer whose usage counts; -1 if
// there is none.
func lastMeasured(items []session.Item) int {
	compacted := summaryIndex(items)
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Index > compacted && measures(items[i].Message) {
			return i
		}
	}
	return -1
}

// countedMore returns by which factor the provider counts more tokens than are
// estimated: how much the context grew from the first answer to the last by its count,
// divided by the estimate of the messages between them. It is at least 1, at most 8 (no
// text needs more), and 1 if too little was said to tell.
func countedMore(items []session.Item) float64 {
	const enough, most = 8000, 8
	last, compacted := lastMeasured(items), summaryIndex(items)
	first := 0
	for first < last && !(items[first].Index > compacted && measures(items[first].Message)) {
		first++
	}
	if first >= last {
		return 1
	}
	estimated := 0
	for _, it := range items[first+1 : last+1] {
		estimated += EstimateTokens(it.Message)
	}
	grown := items[last].Message.Usage.ContextTokens() - items[first].Message.Usage.ContextTokens()
	if estimated < enough {
		return 1
	}
	return min(max(float64(grown)/float64(estimated), 1), most)
}

// summaryIndex is the position on the branch of the compaction that is in
// force; -1 for none.
func summaryIndex(items []session.Item) int {
	at := -1
	for _, it := range items {
		if it.Message.Role == message.RoleCompactionSummary {
			at = max(at, it.Index)
		}
	}
	return at
}

// measures reports whether a message says how large the context was with it.
func measures(m *message.Message) bool {
	return m.Role == message.RoleAssistant && m.Usage != nil && !message.Hidden(m) && m.Usage.ContextTokens() > 0
}

// characters counts the runes of valid UTF-8, eight bytes at a time: a context
// of megabytes is counted before each request.
func characters[T string | json.RawMessage](s T) int {
	n, i := len(s), 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		n -= bits.OnesCount64(w >> 7 &^ (w >> 6) & 0x0101010101010101)
	}
	for ; i < len(s); i++ {
		if s[i]&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

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
